// Any AArch64 processor.
#include "engine/device/cpu/simd_neon.h"

#include "engine/device/cpu/vector_table.h"

namespace tg::cpu {

const Kernels& neon_kernels() {
  static const Kernels table = vector_table("neon.4", "NEON");
  return table;
}

}  // namespace tg::cpu
