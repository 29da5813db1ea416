#include <algorithm>
#include <limits>
#include <unordered_set>

#include "engine/gguf/cursor.h"
#include "engine/gguf/sections.h"

namespace tg {
namespace {

constexpr std::size_t kMaxKey = 65535;

// Bytes of one element of a scalar type; 0 for string, array and unknown types.
std::size_t scalar_bytes(GgufType type) {
  switch (type) {
    case GgufType::u8:
    case GgufType::i8:
    case GgufType::boolean:
      return 1;
    case GgufType::u16:
    case GgufType::i16:
      return 2;
    case GgufType::u32:
    case GgufType::i32:
    case GgufType::f32:
      return 4;
    case GgufType::u64:
    case GgufType::i64:
    case GgufType::f64:
      return 8;
    case GgufType::string:
    case GgufType::array:
      return 0;
  }
  return 0;
}

template <class T>
Result<std::int64_t> read_as(GgufCursor& in, std::string_view key) {
  T value{};
  if (!in.read(value)) return refuse_gguf("The metadata ends early, inside the key " + quoted(key) + ".");
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    if (value > kMaxGgufSize) return refuse_gguf("The value of the key " + quoted(key) + " is too large.");
  }
  return static_cast<std::int64_t>(value);
}

Result<std::int64_t> read_integer(GgufCursor& in, GgufType type, std::string_view key) {
  switch (type) {
    case GgufType::u8:
      return read_as<std::uint8_t>(in, key);
    case GgufType::i8:
      return read_as<std::int8_t>(in, key);
    case GgufType::u16:
      return read_as<std::uint16_t>(in, key);
    case GgufType::i16:
      return read_as<std::int16_t>(in, key);
    case GgufType::u32:
      return read_as<std::uint32_t>(in, key);
    case GgufType::i32:
      return read_as<std::int32_t>(in, key);
    case GgufType::u64:
      return read_as<std::uint64_t>(in, key);
    case GgufType::i64:
      return read_as<std::int64_t>(in, key);
    default:
      break;
  }
  const Result<std::int64_t> value = read_as<std::uint8_t>(in, key);
  if (value.ok() && *value > 1)
    return refuse_gguf("The truth value of the key " + quoted(key) + " is neither 0 nor 1.");
  return value;
}

Result<double> read_float(GgufCursor& in, GgufType type, std::string_view key) {
  float single = 0;
  double wide = 0;
  const bool read = type == GgufType::f32 ? in.read(single) : in.read(wide);
  if (!read) return refuse_gguf("The metadata ends early, inside the key " + quoted(key) + ".");
  return type == GgufType::f32 ? static_cast<double>(single) : wide;
}

Result<std::string_view> read_string(GgufCursor& in, std::string_view key) {
  std::uint64_t length = 0;
  std::string_view text;
  if (!in.read(length)) return refuse_gguf("The metadata ends early, inside the key " + quoted(key) + ".");
  if (!in.read_text(length, text))
    return refuse_gguf("A string of the key " + quoted(key) + " is longer than the file.");
  return text;
}

Status read_elements(GgufCursor& in, std::uint64_t count, std::string_view key, GgufArray& array) {
  if (array.type == GgufType::string) {
    array.strings = GgufStrings(in.here());
    array.strings.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto text = read_string(in, key);
      if (!text) return text.error();
      if (!array.strings.append(*text)) return refuse_gguf("The array of the key " + quoted(key) + " is too long.");
    }
    return Ok{};
  }
  std::string_view bytes;
  if (!in.read_text(count * scalar_bytes(array.type), bytes)) return refuse_gguf("The metadata ends early, inside the key " + quoted(key) + ".");
  array.numbers = std::as_bytes(std::span(bytes));
  if (array.type != GgufType::boolean && array.type != GgufType::u64) return Ok{};  // every value of the others is one
  GgufCursor elements(array.numbers);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto number = read_integer(elements, array.type, key);
    if (!number) return number.error();
  }
  return Ok{};
}

Result<GgufType> read_type(GgufCursor& in, std::string_view key) {
  std::uint32_t id = 0;
  if (!in.read(id)) return refuse_gguf("The metadata ends early, inside the key " + quoted(key) + ".");
  if (id > static_cast<std::uint32_t>(GgufType::f64)) {
    return refuse_gguf("The key " + quoted(key) + " has the unknown value type " + std::to_string(id) + ".");
  }
  return static_cast<GgufType>(id);
}

Result<GgufValue> read_array(GgufCursor& in, std::string_view key) {
  const auto type = read_type(in, key);
  if (!type) return type.error();
  if (*type == GgufType::array) return refuse_gguf("The key " + quoted(key) + " holds an array of arrays.");
  std::uint64_t count = 0;
  if (!in.read(count)) return refuse_gguf("The metadata ends early, inside the key " + quoted(key) + ".");
  const std::size_t element = *type == GgufType::string ? sizeof(std::uint64_t) : scalar_bytes(*type);
  if (count > in.left() / element)
    return refuse_gguf("The array of the key " + quoted(key) + " is longer than the file.");
  if (!in.spend(count)) return refuse_gguf("The array of the key " + quoted(key) + " is too long.");
  GgufArray array;
  array.type = *type;
  const Status read = read_elements(in, count, key, array);
  if (!read) return read.error();
  return GgufValue{GgufType::array, std::move(array)};
}

Result<GgufValue> read_value(GgufCursor& in, std::string_view key) {
  const auto type = read_type(in, key);
  if (!type) return type.error();
  if (*type == GgufType::array) return read_array(in, key);
  if (*type == GgufType::string) {
    const auto text = read_string(in, key);
    if (!text) return text.error();
    return GgufValue{*type, *text};
  }
  if (is_float(*type)) {
    const auto number = read_float(in, *type, key);
    if (!number) return number.error();
    return GgufValue{*type, *number};
  }
  const auto number = read_integer(in, *type, key);
  if (!number) return number.error();
  if (*type == GgufType::boolean) return GgufValue{*type, *number != 0};
  return GgufValue{*type, *number};
}

}  // namespace

bool is_float(GgufType type) {
  return type == GgufType::f32 || type == GgufType::f64;
}

bool GgufStrings::append(std::string_view text) {
  const std::size_t end = begins_.back() + kLength + text.size();
  if (end > std::numeric_limits<std::uint32_t>::max()) return false;
  begins_.push_back(static_cast<std::uint32_t>(end));
  return true;
}

std::size_t GgufArray::size() const {
  return type == GgufType::string ? strings.size() : numbers.size() / std::max(scalar_bytes(type), std::size_t{1});
}

std::int64_t GgufArray::integer(std::size_t i) const {
  GgufCursor in(numbers.subspan(i * scalar_bytes(type)));
  return *read_integer(in, type, {});
}

double GgufArray::number(std::size_t i) const {
  if (!is_float(type)) return static_cast<double>(integer(i));
  GgufCursor in(numbers.subspan(i * scalar_bytes(type)));
  return *read_float(in, type, {});
}

Status read_gguf_metadata(GgufCursor& in, std::uint64_t count, GgufPart& part) {
  std::unordered_set<std::string_view> seen;
  part.metadata.reserve(static_cast<std::size_t>(std::min(count, kMaxReserve)));
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t length = 0;
    std::string_view key;
    if (!in.read(length)) return refuse_gguf("The metadata ends early, before key " + std::to_string(i + 1) + ".");
    if (length > kMaxKey || !in.read_text(length, key)) {
      return refuse_gguf("Metadata key " + std::to_string(i + 1) + " is longer than the file or the format allows.");
    }
    if (key.empty()) return refuse_gguf("Metadata key " + std::to_string(i + 1) + " is empty.");
    if (!seen.insert(key).second) return refuse_gguf("The metadata holds the key " + quoted(key) + " twice.");
    auto value = read_value(in, key);
    if (!value) return value.error();
    part.metadata.emplace_back(key, std::move(*value));
  }
  return Ok{};
}

}  // namespace tg
