// What part of the machine's measured limits a phase reached (roofline): the time its bytes and operations need at least, by its real time.
#pragma once
#include <optional>

#include "engine/device/device.h"
#include "engine/measure/phase_work.h"

namespace tg {

double gb_per_s(const PhaseWork& work);    // 0 where no time passed
double gop_per_s(const PhaseWork& work);

// Reading and computing overlap, so the limit is the longer of the two. `int8`: the operations can use the int8 peak (quantised weights),
// else the f32 peak. Unset where a limit is not measured or no time passed.
std::optional<double> percent_of_limit(const PhaseWork& work, const DeviceLimits& limits, bool int8);

}  // namespace tg
