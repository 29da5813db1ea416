#include "engine/gguf/parser.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <unordered_set>

#include "engine/base/text.h"

namespace tg {
namespace {

static_assert(std::endian::native == std::endian::little, "GGUF values are read as they lie in the file");

constexpr std::uint64_t kMaxSize = std::numeric_limits<std::int64_t>::max();
constexpr std::uint32_t kMaxDims = 4;
constexpr std::size_t kMaxTensorName = 63;  // ggml keeps names in 64 bytes with a closing zero
constexpr std::size_t kMaxKey = 65535;
constexpr std::uint32_t kDefaultAlignment = 32;
// Elements of all arrays together: hundreds of times the largest vocabularies. A sparse file cannot ask for more memory than that.
constexpr std::uint64_t kMaxArrayElements = std::uint64_t{1} << 26;
constexpr std::uint64_t kMaxReserve = 1 << 16;  // entries made room for before any was read
// Smallest possible entries; they bound the counts of the header by the size of the file.
constexpr std::uint64_t kMinMetadataBytes = 8 + 1 + 4 + 1;    // key length, key, type, value
constexpr std::uint64_t kMinTensorBytes = 8 + 1 + 4 + 4 + 8;  // name length, name, dimensions, type, offset

Error refuse(std::string sentence) { return make_error(ErrorCode::bad_file, std::move(sentence)); }

std::string quoted(std::string_view name) { return "\"" + printable(name, 64) + "\""; }

// Bytes of one element of a scalar type; 0 for string, array and unknown types.
std::size_t scalar_bytes(GgufType type) {
  switch (type) {
    case GgufType::u8:
    case GgufType::i8:
    case GgufType::boolean: return 1;
    case GgufType::u16:
    case GgufType::i16: return 2;
    case GgufType::u32:
    case GgufType::i32:
    case GgufType::f32: return 4;
    case GgufType::u64:
    case GgufType::i64:
    case GgufType::f64: return 8;
    case GgufType::string:
    case GgufType::array: return 0;
  }
  return 0;
}

// Walks the bytes; every read is checked against what is left.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::size_t position() const { return at_; }
  std::uint64_t left() const { return bytes_.size() - at_; }

  template <class T>
  bool read(T& value) {
    if (left() < sizeof(T)) return false;
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return true;
  }
  bool read_text(std::uint64_t length, std::string_view& text) {
    if (length > left()) return false;
    text = {reinterpret_cast<const char*>(bytes_.data()) + at_, static_cast<std::size_t>(length)};
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

template <class T>
Result<std::int64_t> read_as(Cursor& in, std::string_view key) {
  T value{};
  if (!in.read(value)) return refuse("The metadata ends early, inside the key " + quoted(key) + ".");
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    if (value > kMaxSize) return refuse("The value of the key " + quoted(key) + " is too large.");
  }
  return static_cast<std::int64_t>(value);
}

Result<std::int64_t> read_integer(Cursor& in, GgufType type, std::string_view key) {
  switch (type) {
    case GgufType::u8: return read_as<std::uint8_t>(in, key);
    case GgufType::i8: return read_as<std::int8_t>(in, key);
    case GgufType::u16: return read_as<std::uint16_t>(in, key);
    case GgufType::i16: return read_as<std::int16_t>(in, key);
    case GgufType::u32: return read_as<std::uint32_t>(in, key);
    case GgufType::i32: return read_as<std::int32_t>(in, key);
    case GgufType::u64: return read_as<std::uint64_t>(in, key);
    case GgufType::i64: return read_as<std::int64_t>(in, key);
    default: break;
  }
  const Result<std::int64_t> value = read_as<std::uint8_t>(in, key);
  if (value.ok() && *value > 1) return refuse("The truth value of the key " + quoted(key) + " is neither 0 nor 1.");
  return value;
}

Result<double> read_float(Cursor& in, GgufType type, std::string_view key) {
  float single = 0;
  double wide = 0;
  const bool read = type == GgufType::f32 ? in.read(single) : in.read(wide);
  if (!read) return refuse("The metadata ends early, inside the key " + quoted(key) + ".");
  return type == GgufType::f32 ? static_cast<double>(single) : wide;
}

Result<std::string_view> read_string(Cursor& in, std::string_view key) {
  std::uint64_t length = 0;
  std::string_view text;
  if (!in.read(length)) return refuse("The metadata ends early, inside the key " + quoted(key) + ".");
  if (!in.read_text(length, text)) return refuse("A string of the key " + quoted(key) + " is longer than the file.");
  return text;
}

bool is_float(GgufType type) { return type == GgufType::f32 || type == GgufType::f64; }

Status read_elements(Cursor& in, std::uint64_t count, std::string_view key, GgufArray& array) {
  if (array.type == GgufType::string) {
    array.strings.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto text = read_string(in, key);
      if (!text) return text.error();
      array.strings.push_back(*text);
    }
  } else if (is_float(array.type)) {
    array.floats.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto number = read_float(in, array.type, key);
      if (!number) return number.error();
      array.floats.push_back(*number);
    }
  } else {
    array.integers.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto number = read_integer(in, array.type, key);
      if (!number) return number.error();
      array.integers.push_back(*number);
    }
  }
  return Ok{};
}

Result<GgufType> read_type(Cursor& in, std::string_view key) {
  std::uint32_t id = 0;
  if (!in.read(id)) return refuse("The metadata ends early, inside the key " + quoted(key) + ".");
  if (id > static_cast<std::uint32_t>(GgufType::f64)) {
    return refuse("The key " + quoted(key) + " has the unknown value type " + std::to_string(id) + ".");
  }
  return static_cast<GgufType>(id);
}

Result<GgufValue> read_array(Cursor& in, std::string_view key) {
  const auto type = read_type(in, key);
  if (!type) return type.error();
  if (*type == GgufType::array) return refuse("The key " + quoted(key) + " holds an array of arrays.");
  std::uint64_t count = 0;
  if (!in.read(count)) return refuse("The metadata ends early, inside the key " + quoted(key) + ".");
  const std::size_t element = *type == GgufType::string ? sizeof(std::uint64_t) : scalar_bytes(*type);
  if (count > in.left() / element) return refuse("The array of the key " + quoted(key) + " is longer than the file.");
  if (!in.spend(count)) return refuse("The array of the key " + quoted(key) + " is too long.");
  GgufArray array;
  array.type = *type;
  const Status read = read_elements(in, count, key, array);
  if (!read) return read.error();
  return GgufValue{GgufType::array, std::move(array)};
}

Result<GgufValue> read_value(Cursor& in, std::string_view key) {
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

Status read_metadata(Cursor& in, std::uint64_t count, GgufPart& part) {
  std::unordered_set<std::string_view> seen;
  part.metadata.reserve(static_cast<std::size_t>(std::min(count, kMaxReserve)));
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t length = 0;
    std::string_view key;
    if (!in.read(length)) return refuse("The metadata ends early, before key " + std::to_string(i + 1) + ".");
    if (length > kMaxKey || !in.read_text(length, key)) {
      return refuse("Metadata key " + std::to_string(i + 1) + " is longer than the file or the format allows.");
    }
    if (key.empty()) return refuse("Metadata key " + std::to_string(i + 1) + " is empty.");
    if (!seen.insert(key).second) return refuse("The metadata holds the key " + quoted(key) + " twice.");
    auto value = read_value(in, key);
    if (!value) return value.error();
    part.metadata.emplace_back(key, std::move(*value));
  }
  return Ok{};
}

Result<std::uint32_t> alignment_of(const GgufPart& part) {
  for (const auto& [key, value] : part.metadata) {
    if (key != "general.alignment") continue;
    if (value.type != GgufType::u32) return refuse("The alignment (general.alignment) has the wrong type.");
    const auto alignment = static_cast<std::uint32_t>(std::get<std::int64_t>(value.value));
    if (alignment == 0) return refuse("The alignment (general.alignment) is zero.");
    if (!std::has_single_bit(alignment)) return refuse("The alignment (general.alignment) is not a power of two.");
    return alignment;
  }
  return kDefaultAlignment;
}

// A tensor as listed, before its data are found.
struct Listed {
  GgufTensor tensor;
  std::uint64_t offset = 0;  // from the start of the data section
  std::uint64_t bytes = 0;
};

bool is_removed_type(std::uint32_t id) {
  return id == 4 || id == 5 || (id >= 31 && id <= 33) || (id >= 36 && id <= 38);
}

Status read_shape(Cursor& in, GgufTensor& tensor) {
  std::uint32_t n_dims = 0;
  if (!in.read(n_dims)) return refuse("The tensor list ends early.");
  if (n_dims > kMaxDims) {
    return refuse("The tensor " + quoted(tensor.name) + " has too many dimensions (" + std::to_string(n_dims) + ").");
  }
  std::uint64_t elements = 1;
  for (std::uint32_t i = 0; i < n_dims; ++i) {
    std::uint64_t extent = 0;
    if (!in.read(extent)) return refuse("The tensor list ends early.");
    if (extent == 0) return refuse("The tensor " + quoted(tensor.name) + " has a dimension of zero.");
    if (extent > kMaxSize / elements) return refuse("The size of the tensor " + quoted(tensor.name) + " overflows.");
    elements *= extent;
    tensor.shape.push_back(extent);
  }
  if (tensor.shape.empty()) tensor.shape.push_back(1);
  return Ok{};
}

Status read_format(Cursor& in, Listed& listed) {
  GgufTensor& tensor = listed.tensor;
  std::uint32_t type = 0;
  if (!in.read(type)) return refuse("The tensor list ends early.");
  const FormatInfo* info = format_info(type);
  if (info == nullptr) {
    return refuse("The tensor " + quoted(tensor.name) + " has the " + (is_removed_type(type) ? "removed" : "unknown") +
                  " type " + std::to_string(type) + ".");
  }
  tensor.format = info->format;
  if (tensor.shape[0] % info->block_elements != 0) {
    return refuse("The row length of the tensor " + quoted(tensor.name) + " is not a multiple of the block size of " +
                  std::string(info->name) + ".");
  }
  const std::uint64_t blocks = tensor.elements() / info->block_elements;
  if (blocks > kMaxSize / info->block_bytes) {
    return refuse("The size of the tensor " + quoted(tensor.name) + " overflows.");
  }
  listed.bytes = blocks * info->block_bytes;
  return Ok{};
}

Result<Listed> read_tensor(Cursor& in) {
  Listed listed;
  std::uint64_t length = 0;
  std::string_view name;
  if (!in.read(length)) return refuse("The tensor list ends early.");
  if (length > in.left()) return refuse("The tensor list ends early, inside a tensor's name.");
  if (length > kMaxTensorName) return refuse("A tensor's name is too long (" + std::to_string(length) + " bytes).");
  in.read_text(length, name);
  if (name.empty()) return refuse("A tensor has an empty name.");
  listed.tensor.name = name;
  const Status shape = read_shape(in, listed.tensor);
  if (!shape) return shape.error();
  const Status format = read_format(in, listed);
  if (!format) return format.error();
  if (!in.read(listed.offset)) return refuse("The tensor list ends early.");
  return listed;
}

Result<std::vector<Listed>> read_tensor_list(Cursor& in, std::uint64_t count) {
  std::vector<Listed> list;
  std::unordered_set<std::string> seen;
  list.reserve(static_cast<std::size_t>(std::min(count, kMaxReserve)));
  for (std::uint64_t i = 0; i < count; ++i) {
    auto listed = read_tensor(in);
    if (!listed) return listed.error();
    if (!seen.insert(listed->tensor.name).second) {
      return refuse("The tensor " + quoted(listed->tensor.name) + " is listed twice.");
    }
    list.push_back(std::move(*listed));
  }
  return list;
}

// Sum and padding of sizes that may be near 2^63; false where they leave the range.
bool add_checked(std::uint64_t& sum, std::uint64_t value) {
  if (value > kMaxSize - sum) return false;
  sum += value;
  return true;
}
bool pad_checked(std::uint64_t& value, std::uint32_t alignment) {
  return add_checked(value, (alignment - value % alignment) % alignment);
}

// Tensors lie one after another in list order, each padded to the alignment; gaps and overlaps are refused.
Status place_tensors(std::span<const std::byte> bytes, std::uint32_t alignment, std::vector<Listed>& list, GgufPart& part) {
  std::uint64_t data_begin = part.header_bytes;
  if (!pad_checked(data_begin, alignment)) return refuse("The tensor data begin past the end of the file.");
  if (list.empty() && bytes.size() > data_begin) return refuse("The file lists no tensors but holds data.");
  std::uint64_t expected = 0;
  part.tensors.reserve(list.size());
  for (Listed& listed : list) {
    const std::string name = quoted(listed.tensor.name);
    if (listed.offset % alignment != 0) return refuse("The data of the tensor " + name + " are not aligned.");
    if (listed.offset < expected) return refuse("The data of the tensor " + name + " overlap another tensor's.");
    if (listed.offset > expected) return refuse("The data of the tensor " + name + " are not where they should be.");
    std::uint64_t end = data_begin;
    if (!add_checked(end, listed.offset) || !add_checked(end, listed.bytes) || end > bytes.size()) {
      return refuse("The data of the tensor " + name + " reach past the end of the file.");
    }
    listed.tensor.data = bytes.subspan(static_cast<std::size_t>(data_begin + listed.offset), static_cast<std::size_t>(listed.bytes));
    if (!add_checked(expected, listed.bytes) || !pad_checked(expected, alignment)) {
      return refuse("The size of the tensor " + name + " overflows.");
    }
    part.tensors.push_back(std::move(listed.tensor));
  }
  return Ok{};
}

Status check_version(std::uint32_t version) {
  if (version != 0 && (version & 0xFFFF) == 0) return refuse("This GGUF file was written in another byte order.");
  if (version < 2 || version > 3) return refuse("GGUF version " + std::to_string(version) + " is not supported.");
  return Ok{};
}

}  // namespace

Result<GgufPart> parse_gguf(std::span<const std::byte> bytes) {
  Cursor in(bytes);
  std::string_view magic;
  std::uint32_t version = 0;
  std::uint64_t n_tensors = 0;
  std::uint64_t n_metadata = 0;
  if (!in.read_text(4, magic)) return refuse("The file is too short to be a GGUF file.");
  if (magic != "GGUF") return refuse("This is not a GGUF file.");
  if (!in.read(version)) return refuse("The file is too short to be a GGUF file.");
  const Status supported = check_version(version);
  if (!supported) return supported.error();
  if (!in.read(n_tensors) || !in.read(n_metadata)) return refuse("The file is too short to be a GGUF file.");
  if (n_tensors > in.left() / kMinTensorBytes) return refuse("The tensor count is larger than the file can hold.");
  if (n_metadata > in.left() / kMinMetadataBytes) return refuse("The metadata count is larger than the file can hold.");

  GgufPart part;
  const Status metadata = read_metadata(in, n_metadata, part);
  if (!metadata) return metadata.error();
  const auto alignment = alignment_of(part);
  if (!alignment) return alignment.error();
  auto list = read_tensor_list(in, n_tensors);
  if (!list) return list.error();
  part.header_bytes = in.position();
  const Status placed = place_tensors(bytes, *alignment, *list, part);
  if (!placed) return placed.error();
  return part;
}

}  // namespace tg
