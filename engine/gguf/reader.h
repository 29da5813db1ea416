// Reader of GGUF files (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md), which are untrusted input:
// every count, length, offset and product is checked before use; a refusal is one sentence naming the fault.
// Thread: immutable after open(), usable from any thread. Ownership: holds the memory mapping; tensor data are views into it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/result.h"
#include "engine/formats/format.h"

namespace tg {

enum class GgufType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

bool is_float(GgufType type);

// Strings as they stand in a file one after another, each behind the eight bytes of its length. Vocabularies have hundreds of thousands, so
// only where each begins is held: what lies between two is known when the file has been checked, and what it says later is not asked.
class GgufStrings {
 public:
  GgufStrings() = default;
  explicit GgufStrings(const char* first) : first_(first) {}
  // TEXT follows the one before it. False: it ends more than 4 GiB behind the first.
  bool append(std::string_view text);
  void reserve(std::size_t n) { begins_.reserve(n + 1); }
  std::size_t size() const { return begins_.size() - 1; }
  bool empty() const { return size() == 0; }
  std::string_view operator[](std::size_t i) const { return {first_ + begins_[i] + kLength, begins_[i + 1] - begins_[i] - kLength}; }

 private:
  static constexpr std::size_t kLength = sizeof(std::uint64_t);
  const char* first_ = nullptr;             // at the length of the first string
  std::vector<std::uint32_t> begins_{0};    // of each, and the end of the last
};

// An array of one element type. Everything stays in the mapped file.
struct GgufArray {
  GgufType type{};
  GgufStrings strings;                 // when type == string
  std::span<const std::byte> numbers;  // otherwise, as they stand in the file; checked, so that integer() and number() cannot fail
  std::size_t size() const;
  std::int64_t integer(std::size_t i) const;  // integer and bool types (u64 above 2^63-1 is refused)
  double number(std::size_t i) const;         // f32, f64 and what integer() gives
};

struct GgufValue {
  GgufType type{};
  std::variant<std::int64_t, double, bool, std::string_view, GgufArray> value;
};

struct GgufTensor {
  std::string name;
  Format format{};
  std::vector<std::uint64_t> shape;  // GGUF order: shape[0] = row length (contiguous), shape[1] = rows, ...
  std::span<const std::byte> data;   // empty where the file is vocabulary-only
  std::uint64_t rows() const;        // product of shape[1..]
  std::uint64_t elements() const;
};

class GgufFile {
 public:
  // Opens PATH (UTF-8) and, where its name ends in -00001-of-0000N.gguf, the other parts. Who opens a file that is held already and has
  // not been changed since shares it.
  static Result<std::shared_ptr<const GgufFile>> open(const std::string& path);
  // The same checks on bytes in memory (tests, fuzzing). The bytes must outlive the object.
  static Result<std::shared_ptr<const GgufFile>> parse(std::span<const std::byte> bytes);
  virtual ~GgufFile() = default;

  virtual const GgufValue* find(std::string_view key) const = 0;
  virtual std::span<const GgufTensor> tensors() const = 0;
  virtual const GgufTensor* tensor(std::string_view name) const = 0;
  virtual std::vector<std::string_view> keys() const = 0;
  virtual std::uint64_t file_bytes() const = 0;       // all parts
  virtual const std::string& path() const = 0;
  // Cheap identity of the content: hash over header, sizes and samples of the data; the same for equal files, whatever their name.
  virtual std::string fingerprint() const = 0;
  // Copies DATA, a part of a tensor, to TO without mapping its pages; false: the file cannot be read any more.
  virtual bool read(std::span<const std::byte> data, std::byte* to) const = 0;
  // Gives back the memory that the metadata take once a vocabulary has been built of them: a text is wanted now and then.
  virtual void let_go_of_metadata() const = 0;
  // False once a part of the file has become shorter than it was when opened: its data must not be touched any more.
  virtual bool whole() const = 0;
  // Waits until the system holds DATA in memory, as far as it has room.
  virtual void bring(std::span<const std::byte> data) const = 0;

  // Typed access. An absent key gives nullopt; an integer of any width is accepted where an integer is asked for.
  std::optional<std::int64_t> integer(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string_view> string(std::string_view key) const;
  const GgufArray* array(std::string_view key) const;
};

}  // namespace tg
