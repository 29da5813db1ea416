// Tiles of 16 weight rows and how each format's bits become 8 vectors of small integers with scales.
//
// A tile of one block column holds exactly the 16 file blocks, transposed by 4-byte words: word w of row r stands at 4 * (16 w + r).
// A lane of a vector is thus a row, and a byte of a lane one of four neighbouring elements, which is what a dot-product instruction eats.
// Formats whose block is no multiple of 4 bytes have a head of 1 or 2 bytes (scale or exponent) that stands in front: head[16 rows].
// A tile of F32, F16 or BF16 is four strips of 4 rows, where 16 columns of each row follow one another; a lane is a column. Columns missing
// in the last sixteen are zero, so only such a tile can be larger than its rows in the file.
#pragma once
#include "engine/device/cpu/kernels.h"

namespace tg::cpu {

inline constexpr int kStripRows = 4, kStripColumns = 16;

// Bytes of a row in a tile.
std::size_t tile_row_bytes(Format format, int cols);

struct TileShape {
  int block_elements = 0, block_bytes = 0;
  int head = 0;           // bytes in front of (or behind) the words of a file block
  bool head_last = false;
};
// Shape of a format's tiles, which is none of F32, F16, BF16.
TileShape tile_shape(Format format);

// Rows of one matrix, file layout to tiles (rows missing in the last tile become zero), and one row back.
void interleave_rows(Format format, int cols, const std::byte* rows, int n_rows, std::byte* tile);
void extract_row(Format format, int cols, const std::byte* tile, int lane, std::byte* row);

}  // namespace tg::cpu
