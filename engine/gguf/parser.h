// Parses the bytes of one GGUF file, which are untrusted. Internal to engine/gguf; the public side is reader.h.
// Thread: pure function. Ownership: strings and tensor data are views into the bytes given.
#pragma once
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/gguf/reader.h"

namespace tg {

struct GgufPart {
  std::vector<std::pair<std::string_view, GgufValue>> metadata;  // file order, keys unique
  std::vector<GgufTensor> tensors;                               // file order, names unique
  std::size_t header_bytes = 0;                                  // magic to the end of the tensor list
};

Result<GgufPart> parse_gguf(std::span<const std::byte> bytes);

}  // namespace tg
