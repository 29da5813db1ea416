// Wall-clock time of the cache's records.
#pragma once
#include <chrono>
#include <cstdint>

namespace tg {

inline std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace tg
