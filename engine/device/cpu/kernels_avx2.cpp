// AVX2 with FMA and F16C (Haswell, Zen and later).
#include "engine/device/cpu/simd_avx2.h"

#include "engine/device/cpu/vector_table.h"

namespace tg::cpu {

const Kernels& avx2_kernels() {
  static const Kernels table = vector_table("avx2.4", "AVX2");
  return table;
}

}  // namespace tg::cpu
