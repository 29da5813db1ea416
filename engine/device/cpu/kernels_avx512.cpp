// AVX-512 with VNNI (Zen 4 and later, Ice Lake and later).
#include "engine/device/cpu/simd_avx512.h"

#include "engine/device/cpu/vector_table.h"

namespace tg::cpu {

const Kernels& avx512_kernels() {
  static const Kernels table = vector_table("avx512vnni.4", "AVX-512 VNNI");
  return table;
}

}  // namespace tg::cpu
