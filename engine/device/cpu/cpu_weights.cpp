// Weights on the CPU: from the rows of a file to tiles. A weight that can be read from its file at any time is left there at first, so that
// a model answers at once: each piece is made into tiles when it is used, and brought into memory of its own bit by bit between steps.
// A piece is the same bytes either way, so results do not depend on how far that has come.
#include <algorithm>
#include <cstring>
#include <new>

#include "engine/device/cpu/cpu_device.h"
#include "engine/device/cpu/weight_tiles.h"

namespace tg::cpu {
namespace {

// Bytes of one expert's tiles.
std::size_t tile_bytes(const CpuWeight& w) { return tile_row_bytes(w.format, w.cols) * zu(round_up(w.rows, kTileRows)); }

}  // namespace

Result<std::unique_ptr<Weight>> CpuDevice::upload(const WeightSource& source) {
  const FormatInfo* info = format_info(source.format);
  if (info == nullptr || !info->weights || source.rows <= 0 || source.cols <= 0 || source.experts <= 0 ||
      zu(source.cols) % info->block_elements != 0) {
    return make_error(ErrorCode::unsupported, "The matrix " + source.name + " has a format or shape that is not supported.");
  }
  auto w = std::make_unique<StoredWeight>();
  w->format = source.format;
  w->rows = source.rows;
  w->cols = source.cols;
  w->experts = source.experts;
  w->scale = source.scale;
  w->bytes = row_bytes(*info, zu(source.cols)) * zu(source.rows);
  w->expert_bytes = w->bytes;
  if (source.data.size() < w->bytes * zu(source.experts)) {
    return make_error(ErrorCode::bad_file, "The matrix " + source.name + " is shorter than its shape says.");
  }
  w->file = source.data;
  if (!k_.interleaves) return std::unique_ptr<Weight>(std::move(w));
  w->read = source.read;
  if (w->read) return std::unique_ptr<Weight>(std::move(w));
  if (!allocate_tiles(*w)) return make_error(ErrorCode::does_not_fit, "There is not enough memory for the matrix " + source.name + ".");
  w->read = [data = source.data](std::size_t offset, std::span<std::byte> to) { return std::memcpy(to.data(), data.data() + offset, to.size()), true; };
  while (settle(*w, w->bytes * zu(w->experts)) > 0) {
  }
  if (source.release) source.release();
  return std::unique_ptr<Weight>(std::move(w));
}

std::size_t CpuDevice::settle(Weight& weight, std::size_t bytes) {
  auto& w = static_cast<StoredWeight&>(weight);
  if (w.interleaved || !w.read) return 0;
  const int pieces = (w.rows + kPieceRows - 1) / kPieceRows, left = pieces * w.experts - w.settled;
  const std::size_t row = tile_row_bytes(w.format, w.cols), expert_bytes = tile_bytes(w), piece_bytes = row * kPieceRows;
  if (w.tiles == nullptr && !(has_room(w) && allocate_tiles(w))) return 0;  // it stays in the file, which works
  const int count = std::min(left, static_cast<int>(std::min<std::size_t>(zu(left), bytes / piece_bytes + 1)));
  pool_.run(count, [&](int i, int thread) {
    const int expert = (w.settled + i) / pieces, row0 = (w.settled + i) % pieces * kPieceRows;
    const int rows = std::min(kPieceRows, w.rows - row0);
    std::byte* tiles = w.tiles.get() + zu(expert) * expert_bytes + zu(row0) * row;
    touch(tiles, row * zu(round_up(rows, kTileRows)));
    make_tiles(w, expert, row0, rows, thread, tiles);
  });
  if (pool_.cancelled()) return 0;  // some pieces may be missing: they are made again
  w.settled += count;
  if (count == left) {
    w.interleaved = true;
    w.expert_bytes = expert_bytes;
    w.file = {};
    w.read = nullptr;
  }
  return zu(count) * piece_bytes;
}

// False where the tiles of W would leave no memory for all else. A model larger than the memory is read from its file each time, which the
// system can drop from memory, where tiles would have it end the program.
bool CpuDevice::has_room(const StoredWeight& w) const {
  constexpr std::uint64_t kForAllElse = std::uint64_t{512} << 20;
  const std::optional<MainMemory> memory = memory_();
  return !memory || memory->free >= tile_bytes(w) * zu(w.experts) + kForAllElse;
}

// Has the system hand out memory that is about to be written, to one thread at a time. On a virtual machine whose host does so page by page,
// pages that two threads asked for at once are read by two threads no faster than by one, as long as the process lives: the 1B Q4_K_M model
// wrote 36 tokens/s, and 45 like this.
void CpuDevice::touch(std::byte* memory, std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  const std::lock_guard alone(touching_);
  for (std::size_t at = 0; at < bytes; at += kPage) const_cast<volatile std::byte&>(memory[at]) = std::byte{0};
}

CpuDevice::PieceRoom CpuDevice::room(int thread, Format format, int cols) {
  const std::size_t tiles = tile_row_bytes(format, cols) * kPieceRows;  // no smaller than the rows
  std::byte* memory = rooms_[zu(thread)].at_least(tiles * 2);
  return {memory, memory + tiles};
}

// Tiles of ROWS rows from ROW0 on, which is a multiple of 16, read from the file. What cannot be read is zero; `read` tells its owner.
void CpuDevice::make_tiles(const StoredWeight& w, int expert, int row0, int rows, int thread, std::byte* to) {
  const std::size_t row = w.bytes / zu(w.rows), tile_row = tile_row_bytes(w.format, w.cols);
  const std::span<std::byte> from(room(thread, w.format, w.cols).rows, row * zu(rows));
  if (!w.read(zu(expert) * w.bytes + zu(row0) * row, from)) std::memset(from.data(), 0, from.size());
  for (int r = 0; r < rows; r += kTileRows) {
    interleave_rows(w.format, w.cols, from.data() + zu(r) * row, std::min(kTileRows, rows - r), to + zu(r) * tile_row);
  }
}

void CpuDevice::product(const CpuWeight& weight, int expert, int row0, int rows, const ActView& x, float* out, float* spare, int thread) {
  if (weight.interleaved || !k_.interleaves) return k_.matmul(weight, expert, row0, rows, x, out, kPieceRows, spare);
  const auto& w = static_cast<const StoredWeight&>(weight);
  const std::size_t row = tile_row_bytes(w.format, w.cols);
  const int piece = expert * ((w.rows + kPieceRows - 1) / kPieceRows) + row0 / kPieceRows;
  std::byte* tiles = nullptr;
  if (piece < w.settled) {
    tiles = w.tiles.get() + (zu(expert) * zu(round_up(w.rows, kTileRows)) + zu(row0)) * row;
  } else {
    tiles = room(thread, w.format, w.cols).tiles;
    make_tiles(w, expert, row0, rows, thread, tiles);
  }
  CpuWeight part;  // the piece as a weight of its own
  part.format = w.format;
  part.rows = rows;
  part.cols = w.cols;
  part.bytes = w.bytes / zu(w.rows) * zu(rows);
  part.expert_bytes = row * zu(rows);
  part.interleaved = true;
  part.tiles = std::shared_ptr<std::byte>(std::shared_ptr<void>(), tiles);
  k_.matmul(part, 0, 0, rows, x, out, kPieceRows, spare);
}

// From blocks of large pages that many weights share: nothing is lost to rounding up. What a block has left at its end is never touched, so it
// takes no memory but the rest of a large page; few blocks, few rests.
bool CpuDevice::allocate_tiles(StoredWeight& w) try {
  constexpr std::size_t kBlock = std::size_t{128} << 20;
  const std::size_t bytes = tile_bytes(w) * zu(w.experts);
  if (bytes >= kBlock) {
    w.tiles = allocate_uninitialised(bytes);
    return true;
  }
  if (tiles_block_ == nullptr || tiles_used_ + bytes > kBlock) {
    tiles_block_ = allocate_uninitialised(kBlock);
    tiles_used_ = 0;
  }
  w.tiles = {tiles_block_, tiles_block_.get() + tiles_used_};
  tiles_used_ = round_up_bytes(tiles_used_ + bytes, 64);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace tg::cpu
