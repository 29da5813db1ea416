// What a phase of a turn did and what the machine could do at best, as plain figures.
#pragma once
#include <cstdint>

namespace tg {

struct PhaseWork {
  double bytes = 0;        // read from memory: weights and KV
  double ops = 0;          // multiply-adds x 2
  double seconds = 0;
  double cpu_seconds = 0;  // processor time of the program's threads meanwhile: below threads x seconds where some were kept waiting
  int steps = 0;

  PhaseWork& operator+=(const PhaseWork& more);
};

struct MeasuredLimits {
  double read_gb_per_s = 0, int8_gop_per_s = 0, f32_gop_per_s = 0;
  std::int64_t measured_s = 0;  // Unix time; 0: not known
};

}  // namespace tg
