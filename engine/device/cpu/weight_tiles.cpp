#include "engine/device/cpu/weight_tiles.h"

#include <cstring>

namespace tg::cpu {

TileShape tile_shape(Format format) {
  const FormatInfo& info = *format_info(format);
  TileShape shape;
  shape.block_elements = static_cast<int>(info.block_elements);
  shape.block_bytes = static_cast<int>(info.block_bytes);
  if (info.block_elements == 1) {
    shape.word = shape.block_bytes;
    return shape;
  }
  shape.head = shape.block_bytes % 4;
  // Formats that keep the odd two bytes (d) behind their quants.
  shape.head_last = format == Format::Q6_K || format == Format::Q3_K || format == Format::TQ1_0 || format == Format::TQ2_0;
  return shape;
}

namespace {

// Calls f(offset in the file row, offset in the tile at lane 0, distance between lanes, bytes) for every unit that stays together.
template <class F>
void for_units(const TileShape& s, int cols, F&& f) {
  const auto words = zu((s.block_bytes - s.head) / s.word), head = zu(s.head), word = zu(s.word);
  for (std::size_t b = 0; b < zu(cols / s.block_elements); ++b) {
    const std::size_t from = b * zu(s.block_bytes), to = from * kTileRows;
    const std::size_t first_word = from + (s.head_last ? 0 : head);
    if (s.head > 0) f(from + (s.head_last ? words * word : 0), to, head, head);
    for (std::size_t w = 0; w < words; ++w) f(first_word + w * word, to + head * kTileRows + w * word * kTileRows, word, word);
  }
}

}  // namespace

void interleave_rows(Format format, int cols, const std::byte* rows, int n_rows, std::byte* tile) {
  const TileShape shape = tile_shape(format);
  const std::size_t stride = row_bytes(*format_info(format), zu(cols));
  if (n_rows < kTileRows) std::memset(tile, 0, stride * kTileRows);
  for_units(shape, cols, [&](std::size_t from, std::size_t to, std::size_t lane, std::size_t bytes) {
    if (bytes == 4) {
      for (std::size_t r = 0; r < zu(n_rows); ++r) std::memcpy(tile + to + r * 4, rows + r * stride + from, 4);
    } else {
      for (std::size_t r = 0; r < zu(n_rows); ++r) std::memcpy(tile + to + r * lane, rows + r * stride + from, bytes);
    }
  });
}

void extract_row(Format format, int cols, const std::byte* tile, int lane, std::byte* row) {
  for_units(tile_shape(format), cols, [&](std::size_t from, std::size_t to, std::size_t step, std::size_t bytes) {
    std::memcpy(row + from, tile + to + zu(lane) * step, bytes);
  });
}

}  // namespace tg::cpu
