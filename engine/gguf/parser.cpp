#include "engine/gguf/parser.h"

#include <bit>

#include "engine/gguf/sections.h"

namespace tg {
namespace {

constexpr std::uint32_t kDefaultAlignment = 32;
// Smallest possible entries; they bound the counts of the header by the size of the file.
constexpr std::uint64_t kMinMetadataBytes = 8 + 1 + 4 + 1;    // key length, key, type, value
constexpr std::uint64_t kMinTensorBytes = 8 + 1 + 4 + 4 + 8;  // name length, name, dimensions, type, offset

Result<std::uint32_t> alignment_of(const GgufPart& part) {
  for (const auto& [key, value] : part.metadata) {
    if (key != "general.alignment") continue;
    if (value.type != GgufType::u32) return refuse_gguf("The alignment (general.alignment) has the wrong type.");
    const auto alignment = static_cast<std::uint32_t>(std::get<std::int64_t>(value.value));
    if (alignment == 0) return refuse_gguf("The alignment (general.alignment) is zero.");
    if (!std::has_single_bit(alignment)) return refuse_gguf("The alignment (general.alignment) is not a power of two.");
    return alignment;
  }
  return kDefaultAlignment;
}

Status check_version(std::uint32_t version) {
  if (version != 0 && (version & 0xFFFF) == 0) return refuse_gguf("This GGUF file was written in another byte order.");
  if (version < 2 || version > 3) return refuse_gguf("GGUF version " + std::to_string(version) + " is not supported.");
  return Ok{};
}

}  // namespace

Result<GgufPart> parse_gguf(std::span<const std::byte> bytes) {
  GgufCursor in(bytes);
  std::string_view magic;
  std::uint32_t version = 0;
  std::uint64_t n_tensors = 0;
  std::uint64_t n_metadata = 0;
  if (!in.read_text(4, magic)) return refuse_gguf("The file is too short to be a GGUF file.");
  if (magic != "GGUF") return refuse_gguf("This is not a GGUF file.");
  if (!in.read(version)) return refuse_gguf("The file is too short to be a GGUF file.");
  const Status supported = check_version(version);
  if (!supported) return supported.error();
  if (!in.read(n_tensors) || !in.read(n_metadata)) return refuse_gguf("The file is too short to be a GGUF file.");
  if (n_tensors > in.left() / kMinTensorBytes) return refuse_gguf("The tensor count is larger than the file can hold.");
  if (n_metadata > in.left() / kMinMetadataBytes)
    return refuse_gguf("The metadata count is larger than the file can hold.");

  GgufPart part;
  if (const Status read = read_gguf_metadata(in, n_metadata, part); !read) return read.error();
  const auto alignment = alignment_of(part);
  if (!alignment) return alignment.error();
  if (const Status read = read_gguf_tensors(in, bytes, n_tensors, *alignment, part); !read) return read.error();
  return part;
}

}  // namespace tg
