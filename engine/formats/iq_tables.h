// Code books of the IQ formats: a code picks a row of magnitudes (kGrid1: of signs).
#pragma once
#include <cstdint>

namespace tg::iq {

alignas(64) extern const std::int8_t kGrid2Xxs[256][8];
alignas(64) extern const std::int8_t kGrid2Xs[512][8];
alignas(64) extern const std::int8_t kGrid2S[1024][8];
alignas(64) extern const std::int8_t kGrid3Xxs[256][4];
alignas(64) extern const std::int8_t kGrid3S[512][4];
alignas(64) extern const std::int8_t kGrid1[2048][8];

}  // namespace tg::iq
