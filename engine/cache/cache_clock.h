// Wall-clock time of the cache's records, in Unix milliseconds. No two calls return the same: "used longest ago" has one answer, also
// for turns that took less than a millisecond.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace tg {

inline std::int64_t now_ms() {
  static std::atomic<std::int64_t> last{0};
  const std::int64_t now = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::int64_t before = last.load();
  while (!last.compare_exchange_weak(before, std::max(now, before + 1))) {
  }
  return std::max(now, before + 1);
}

}  // namespace tg
