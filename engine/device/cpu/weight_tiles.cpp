#include "engine/device/cpu/weight_tiles.h"

#include <cstdint>
#include <cstring>

namespace tg::cpu {

TileShape tile_shape(Format format) {
  const FormatInfo& info = *format_info(format);
  TileShape shape;
  shape.block_elements = static_cast<int>(info.block_elements);
  shape.block_bytes = static_cast<int>(info.block_bytes);
  shape.head = shape.block_bytes % 4;
  // Formats that keep the odd two bytes (d) behind their quants.
  shape.head_last = format == Format::Q6_K || format == Format::Q3_K || format == Format::TQ1_0 || format == Format::TQ2_0;
  return shape;
}

namespace {

// Calls f(offset in the file row, offset in the tile at lane 0, distance between lanes, bytes) for every unit that stays together.
template <class F>
void for_units(const TileShape& s, int cols, F&& f) {
  constexpr std::size_t word = 4;
  const auto words = zu(s.block_bytes - s.head) / word, head = zu(s.head);
  for (std::size_t b = 0; b < zu(cols / s.block_elements); ++b) {
    const std::size_t from = b * zu(s.block_bytes), to = from * kTileRows;
    const std::size_t first_word = from + (s.head_last ? 0 : head);
    if (s.head > 0) f(from + (s.head_last ? words * word : 0), to, head, head);
    for (std::size_t w = 0; w < words; ++w) f(first_word + w * word, to + head * kTileRows + w * word * kTileRows, word, word);
  }
}

// Four words of each of 16 rows: sixteen 4 x 4 transposes in 128-bit registers, which every instruction set has.
using Quad = std::uint32_t __attribute__((vector_size(16), may_alias));

void transpose_quads(const std::byte* rows, std::size_t stride, std::byte* to) {
  for (std::size_t r = 0; r < kTileRows; r += 4) {
    Quad in[4];
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) std::memcpy(&in[i], rows + (r + i) * stride, sizeof(Quad));
    const Quad low01 = __builtin_shuffle(in[0], in[1], Quad{0, 4, 1, 5}), high01 = __builtin_shuffle(in[0], in[1], Quad{2, 6, 3, 7});
    const Quad low23 = __builtin_shuffle(in[2], in[3], Quad{0, 4, 1, 5}), high23 = __builtin_shuffle(in[2], in[3], Quad{2, 6, 3, 7});
    const Quad out[4] = {__builtin_shuffle(low01, low23, Quad{0, 1, 4, 5}), __builtin_shuffle(low01, low23, Quad{2, 3, 6, 7}),
                         __builtin_shuffle(high01, high23, Quad{0, 1, 4, 5}), __builtin_shuffle(high01, high23, Quad{2, 3, 6, 7})};
#pragma GCC unroll 4
    for (std::size_t w = 0; w < 4; ++w) std::memcpy(to + w * kTileRows * 4 + r * 4, &out[w], sizeof(Quad));
  }
}

// A whole tile of a format in words of 4 bytes. What is left over of a block's words is moved once more with the three before.
void interleave_tile(const TileShape& s, int cols, const std::byte* rows, std::size_t stride, std::byte* tile) {
  const auto block = zu(s.block_bytes), head = zu(s.head), words = (block - head) / 4;
  for (std::size_t b = 0; b < zu(cols / s.block_elements); ++b, rows += block, tile += block * kTileRows) {
    const std::byte* from_head = rows + (s.head_last ? words * 4 : 0);
    if (head == 1) {
      for (std::size_t r = 0; r < kTileRows; ++r) tile[r] = from_head[r * stride];
    } else if (head == 2) {
      for (std::size_t r = 0; r < kTileRows; ++r) std::memcpy(tile + r * 2, from_head + r * stride, 2);
    }
    const std::byte* from = rows + (s.head_last ? 0 : head);
    std::byte* to = tile + head * kTileRows;
    for (std::size_t w = 0; w + 4 <= words; w += 4) transpose_quads(from + w * 4, stride, to + w * 4 * kTileRows);
    if (words % 4 != 0) transpose_quads(from + (words - 4) * 4, stride, to + (words - 4) * 4 * kTileRows);
  }
}

// ---- Floats ---------------------------------------------------------------------------------------------------------------
// Where columns [c, c + 16) of a row stand in its tile.
std::size_t in_strip(int lane, int c, std::size_t element, std::size_t tile_row) {
  return zu(lane / kStripRows * kStripRows) * tile_row + zu(c * kStripRows + lane % kStripRows * kStripColumns) * element;
}

template <std::size_t Element>
void interleave_floats(int cols, const std::byte* rows, int n_rows, std::size_t tile_row, std::byte* tile) {
  constexpr std::size_t kStep = Element * kStripColumns;
  const int whole = cols / kStripColumns * kStripColumns;
  if (n_rows < kTileRows || whole < cols) std::memset(tile, 0, tile_row * kTileRows);
  for (int first = 0; first < n_rows; first += kStripRows) {
    const int n = n_rows - first < kStripRows ? n_rows - first : kStripRows;
    const std::byte* from = rows + zu(first) * zu(cols) * Element;
    std::byte* to = tile + zu(first) * tile_row;
    for (int c = 0; c < whole; c += kStripColumns, from += kStep, to += kStripRows * kStep) {
      for (std::size_t r = 0; r < zu(n); ++r) std::memcpy(to + r * kStep, from + r * zu(cols) * Element, kStep);
    }
    for (std::size_t r = 0; whole < cols && r < zu(n); ++r) std::memcpy(to + r * kStep, from + r * zu(cols) * Element, zu(cols - whole) * Element);
  }
}

}  // namespace

std::size_t tile_row_bytes(Format format, int cols) {
  return row_bytes(*format_info(format), zu(is_float(format) ? round_up(cols, kStripColumns) : cols));
}

void interleave_rows(Format format, int cols, const std::byte* rows, int n_rows, std::byte* tile) {
  if (is_float(format)) {
    const auto interleave = format == Format::F32 ? interleave_floats<4> : interleave_floats<2>;
    return interleave(cols, rows, n_rows, tile_row_bytes(format, cols), tile);
  }
  const TileShape shape = tile_shape(format);
  const std::size_t stride = row_bytes(*format_info(format), zu(cols));
  const std::size_t words = zu(shape.block_bytes - shape.head) / 4;
  if (n_rows == kTileRows && shape.head <= 2 && words >= 4) return interleave_tile(shape, cols, rows, stride, tile);
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
  if (is_float(format)) {
    const std::size_t element = format_info(format)->block_bytes, tile_row = tile_row_bytes(format, cols);
    for (int c = 0; c < cols; c += kStripColumns) {
      const int n = cols - c < kStripColumns ? cols - c : kStripColumns;
      std::memcpy(row + zu(c) * element, tile + in_strip(lane, c, element, tile_row), zu(n) * element);
    }
    return;
  }
  for_units(tile_shape(format), cols, [&](std::size_t from, std::size_t to, std::size_t step, std::size_t bytes) {
    std::memcpy(row + from, tile + to + zu(lane) * step, bytes);
  });
}

}  // namespace tg::cpu
