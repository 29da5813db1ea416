// What a product works on: some rows of one weight with all rows of the activations.
#pragma once
#include "engine/device/cpu/kernels.h"

namespace tg::cpu {
namespace {

struct Piece {
  const CpuWeight& w;
  int expert, row0, tiles, rows;  // `tiles`: of kTileRows, the last may be partly empty
  const ActView& x;
  float* out;                     // [x.n][stride]
  std::size_t stride;
  std::byte* panel;               // scratch
};

}  // namespace
}  // namespace tg::cpu
