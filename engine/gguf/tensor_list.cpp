#include <algorithm>
#include <unordered_set>

#include "engine/gguf/cursor.h"
#include "engine/gguf/sections.h"

namespace tg {
namespace {

constexpr std::uint32_t kMaxDims = 4;
constexpr std::size_t kMaxTensorName = 63;  // ggml keeps names in 64 bytes with a closing zero

// A tensor as listed, before its data are found.
struct Listed {
  GgufTensor tensor;
  std::uint64_t offset = 0;  // from the start of the data section
  std::uint64_t bytes = 0;
};

bool is_removed_type(std::uint32_t id) {
  return id == 4 || id == 5 || (id >= 31 && id <= 33) || (id >= 36 && id <= 38);
}

Status read_shape(GgufCursor& in, GgufTensor& tensor) {
  std::uint32_t n_dims = 0;
  if (!in.read(n_dims)) return refuse_gguf("The tensor list ends early.");
  if (n_dims > kMaxDims) {
    return refuse_gguf("The tensor " + quoted(tensor.name) + " has too many dimensions (" + std::to_string(n_dims) +
                       ").");
  }
  std::uint64_t elements = 1;
  for (std::uint32_t i = 0; i < n_dims; ++i) {
    std::uint64_t extent = 0;
    if (!in.read(extent)) return refuse_gguf("The tensor list ends early.");
    if (extent == 0) return refuse_gguf("The tensor " + quoted(tensor.name) + " has a dimension of zero.");
    if (extent > kMaxGgufSize / elements)
      return refuse_gguf("The size of the tensor " + quoted(tensor.name) + " overflows.");
    elements *= extent;
    tensor.shape.push_back(extent);
  }
  if (tensor.shape.empty()) tensor.shape.push_back(1);
  return Ok{};
}

Status read_format(GgufCursor& in, Listed& listed) {
  GgufTensor& tensor = listed.tensor;
  std::uint32_t type = 0;
  if (!in.read(type)) return refuse_gguf("The tensor list ends early.");
  const FormatInfo* info = format_info(type);
  if (info == nullptr) {
    return refuse_gguf("The tensor " + quoted(tensor.name) + " has the " +
                       (is_removed_type(type) ? "removed" : "unknown") + " type " + std::to_string(type) + ".");
  }
  tensor.format = info->format;
  if (tensor.shape[0] % info->block_elements != 0) {
    return refuse_gguf("The row length of the tensor " + quoted(tensor.name) +
                       " is not a multiple of the block size of " + std::string(info->name) + ".");
  }
  const std::uint64_t blocks = tensor.elements() / info->block_elements;
  if (blocks > kMaxGgufSize / info->block_bytes) {
    return refuse_gguf("The size of the tensor " + quoted(tensor.name) + " overflows.");
  }
  listed.bytes = blocks * info->block_bytes;
  return Ok{};
}

Result<Listed> read_tensor(GgufCursor& in) {
  Listed listed;
  std::uint64_t length = 0;
  std::string_view name;
  if (!in.read(length)) return refuse_gguf("The tensor list ends early.");
  if (length > in.left()) return refuse_gguf("The tensor list ends early, inside a tensor's name.");
  if (length > kMaxTensorName)
    return refuse_gguf("A tensor's name is too long (" + std::to_string(length) + " bytes).");
  in.read_text(length, name);
  if (name.empty()) return refuse_gguf("A tensor has an empty name.");
  listed.tensor.name = name;
  const Status shape = read_shape(in, listed.tensor);
  if (!shape) return shape.error();
  const Status format = read_format(in, listed);
  if (!format) return format.error();
  if (!in.read(listed.offset)) return refuse_gguf("The tensor list ends early.");
  return listed;
}

Result<std::vector<Listed>> read_tensor_list(GgufCursor& in, std::uint64_t count) {
  std::vector<Listed> list;
  std::unordered_set<std::string> seen;
  list.reserve(static_cast<std::size_t>(std::min(count, kMaxReserve)));
  for (std::uint64_t i = 0; i < count; ++i) {
    auto listed = read_tensor(in);
    if (!listed) return listed.error();
    if (!seen.insert(listed->tensor.name).second) {
      return refuse_gguf("The tensor " + quoted(listed->tensor.name) + " is listed twice.");
    }
    list.push_back(std::move(*listed));
  }
  return list;
}

// Sum and padding of sizes that may be near 2^63; false where they leave the range.
bool add_checked(std::uint64_t& sum, std::uint64_t value) {
  if (value > kMaxGgufSize - sum) return false;
  sum += value;
  return true;
}
bool pad_checked(std::uint64_t& value, std::uint32_t alignment) {
  return add_checked(value, (alignment - value % alignment) % alignment);
}

// Tensors lie one after another in list order, each padded to the alignment; gaps and overlaps are refused.
Status place_tensors(std::span<const std::byte> bytes, std::uint32_t alignment, std::vector<Listed>& list,
                     GgufPart& part) {
  std::uint64_t data_begin = part.header_bytes;
  if (!pad_checked(data_begin, alignment)) return refuse_gguf("The tensor data begin past the end of the file.");
  if (list.empty() && bytes.size() > data_begin) return refuse_gguf("The file lists no tensors but holds data.");
  std::uint64_t expected = 0;
  part.tensors.reserve(list.size());
  for (Listed& listed : list) {
    const std::string name = quoted(listed.tensor.name);
    if (listed.offset % alignment != 0) return refuse_gguf("The data of the tensor " + name + " are not aligned.");
    if (listed.offset < expected) return refuse_gguf("The data of the tensor " + name + " overlap another tensor's.");
    if (listed.offset > expected)
      return refuse_gguf("The data of the tensor " + name + " are not where they should be.");
    std::uint64_t end = data_begin;
    if (!add_checked(end, listed.offset) || !add_checked(end, listed.bytes) || end > bytes.size()) {
      return refuse_gguf("The data of the tensor " + name + " reach past the end of the file.");
    }
    listed.tensor.data =
        bytes.subspan(static_cast<std::size_t>(data_begin + listed.offset), static_cast<std::size_t>(listed.bytes));
    if (!add_checked(expected, listed.bytes) || !pad_checked(expected, alignment)) {
      return refuse_gguf("The size of the tensor " + name + " overflows.");
    }
    part.tensors.push_back(std::move(listed.tensor));
  }
  return Ok{};
}

}  // namespace

Status read_gguf_tensors(GgufCursor& in, std::span<const std::byte> bytes, std::uint64_t count, std::uint32_t alignment,
                         GgufPart& part) {
  auto list = read_tensor_list(in, count);
  if (!list) return list.error();
  part.header_bytes = in.position();
  return place_tensors(bytes, alignment, *list, part);
}

}  // namespace tg
