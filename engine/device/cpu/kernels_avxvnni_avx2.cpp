// AVX2 with the 256-bit dot product of AVX-VNNI (Alder Lake and later, which have no AVX-512).
#pragma GCC target("avxvnni")
#define TG_AVX_VNNI
#include "engine/device/cpu/simd_avx2.h"

#include "engine/device/cpu/vector_table.h"

namespace tg::cpu {

const Kernels& avxvnni_kernels() {
  static const Kernels table = vector_table("avxvnni.4", "AVX2 VNNI");
  return table;
}

}  // namespace tg::cpu
