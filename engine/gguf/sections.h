// The two sections of a GGUF header. Internal to engine/gguf.
#pragma once
#include "engine/gguf/cursor.h"
#include "engine/gguf/parser.h"

namespace tg {

// Reads COUNT keys with their values; IN stands behind them then.
Status read_gguf_metadata(GgufCursor& in, std::uint64_t count, GgufPart& part);
// Reads COUNT entries of the tensor list and finds their data in BYTES, the whole file.
Status read_gguf_tensors(GgufCursor& in, std::span<const std::byte> bytes, std::uint64_t count, std::uint32_t alignment,
                         GgufPart& part);

}  // namespace tg
