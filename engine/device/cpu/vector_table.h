// The table of a vector instruction set. Included last by kernels_*.cpp.
#pragma once
#include "engine/device/cpu/vector_attention.h"
#include "engine/device/cpu/vector_matmul.h"
#include "engine/device/cpu/vector_rows.h"
#include "engine/device/cpu/vector_store.h"

namespace tg::cpu {
namespace {

Kernels vector_table(const char* variant, const char* label) {
  Kernels k = scalar_kernels();
  k.variant = variant;
  k.label = label;
  k.interleaves = true;
  k.norm = norm_row;
  k.quantise = quantise_row;
  k.matmul = matmul_piece;
  k.matmul_scratch = matmul_scratch_floats;
  k.finish = finish_piece;
  k.activate = activate_row;
  k.row_op = row_op_lanes;
  k.glu = glu_piece;
  k.rotate = rotate_head;
  k.store_k = store_key_row;
  k.store_v = store_value_row;
  k.attention = attention_tile;
  k.merge = merge_split;
  k.read_bytes = read_words;
  k.int8_work = int8_peak;
  k.f32_work = f32_peak;
  return k;
}

}  // namespace
}  // namespace tg::cpu
