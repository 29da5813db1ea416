// What this processor is and can do.
#pragma once
#include <string>
#include <string_view>

#include "engine/device/cpu/kernels.h"

namespace tg::cpu {

std::string processor_name();                          // "AMD EPYC"
int physical_cores();                                  // that this process may use, at least 1
const Kernels* kernels_by_name(std::string_view name); // auto avx512 avx2 neon scalar; null: unknown, or not on this processor
std::vector<std::string> available_kernels();          // best first, scalar last
std::string kernels_refusal(std::string_view name);    // a sentence that lists those that run here; empty: NAME does, or is "auto"

}  // namespace tg::cpu
