// Walks the untrusted bytes of a GGUF file; every read is checked against what is left. Internal to engine/gguf.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/base/text.h"

namespace tg {

static_assert(std::endian::native == std::endian::little, "GGUF values are read as they lie in the file");

inline constexpr std::uint64_t kMaxGgufSize = std::numeric_limits<std::int64_t>::max();
// Elements of all arrays together: hundreds of times the largest vocabularies. A sparse file cannot ask for more memory
// than that.
inline constexpr std::uint64_t kMaxArrayElements = std::uint64_t{1} << 26;
inline constexpr std::uint64_t kMaxReserve = 1 << 16;  // entries made room for before any was read

inline Error refuse_gguf(std::string sentence) {
  return make_error(ErrorCode::bad_file, std::move(sentence));
}
inline std::string quoted(std::string_view name) {
  return "\"" + printable(name, 64) + "\"";
}

class GgufCursor {
 public:
  explicit GgufCursor(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::size_t position() const { return at_; }
  std::uint64_t left() const { return bytes_.size() - at_; }
  const char* here() const { return reinterpret_cast<const char*>(bytes_.data()) + at_; }

  template <class T>
  bool read(T& value) {
    if (left() < sizeof(T)) return false;
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return true;
  }
  bool read_text(std::uint64_t length, std::string_view& text) {
    if (length > left()) return false;
    text = {here(), static_cast<std::size_t>(length)};
    at_ += static_cast<std::size_t>(length);
    return true;
  }
  // Takes COUNT elements off the budget of all arrays.
  bool spend(std::uint64_t count) {
    if (count > array_budget_) return false;
    array_budget_ -= count;
    return true;
  }

 private:
  std::span<const std::byte> bytes_;
  std::uint64_t array_budget_ = kMaxArrayElements;
  std::size_t at_ = 0;
};

}  // namespace tg
