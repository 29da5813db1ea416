// AArch64 with the 8-bit dot product (Armv8.2 option; Cortex-A76, Apple M1, Neoverse N1 and later).
#pragma GCC target("arch=armv8.2-a+dotprod")
#include "engine/device/cpu/simd_neon.h"

#include "engine/device/cpu/vector_table.h"

namespace tg::cpu {

const Kernels& dotprod_kernels() {
  static const Kernels table = vector_table("neondot.4", "NEON dot product");
  return table;
}

}  // namespace tg::cpu
