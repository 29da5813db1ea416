// Writer of small GGUF files, for tests: what it writes is sound, tests then damage the bytes.
// Thread: none shared. Ownership: copies what it is given.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/formats/format.h"
#include "engine/gguf/reader.h"

namespace tg {

class GgufWriter {
 public:
  explicit GgufWriter(std::uint32_t version = 3) : version_(version) {}

  void add_u32(std::string_view key, std::uint32_t value);
  void add_u64(std::string_view key, std::uint64_t value);
  void add_i32(std::string_view key, std::int32_t value);
  void add_f32(std::string_view key, float value);
  void add_bool(std::string_view key, bool value);
  void add_string(std::string_view key, std::string_view value);
  void add_strings(std::string_view key, std::span<const std::string> values);
  void add_i32s(std::string_view key, std::span<const std::int32_t> values);
  void add_f32s(std::string_view key, std::span<const float> values);
  // Any value as it shall stand in the file.
  void add_raw(std::string_view key, GgufType type, std::string_view value_bytes);

  // SHAPE in GGUF order (row length first); DATA whole blocks of FORMAT.
  void add_tensor(std::string_view name, Format format, std::vector<std::uint64_t> shape,
                  std::span<const std::byte> data);
  void add_f32_tensor(std::string_view name, std::vector<std::uint64_t> shape, std::span<const float> data);
  void set_alignment(std::uint32_t alignment);  // also writes general.alignment

  std::string bytes() const;
  Status write(const std::string& path) const;

 private:
  struct Tensor {
    std::string name;
    Format format;
    std::vector<std::uint64_t> shape;
    std::string data;
  };
  void begin_value(std::string_view key, GgufType type);
  void begin_array(std::string_view key, GgufType type, std::size_t count);

  std::uint32_t version_;
  std::uint32_t alignment_ = 32;
  std::uint64_t n_metadata_ = 0;
  std::string metadata_;
  std::vector<Tensor> tensors_;
};

}  // namespace tg
