// What this machine can do at best, measured: memory read, int8 and f32 arithmetic. Under a second.
#include <chrono>
#include <cstring>

#include "engine/device/cpu/cpu_device.h"

namespace tg::cpu {
namespace {
using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }
}  // namespace

DeviceLimits CpuDevice::measure_limits() {
  DeviceLimits limits;
  const int n = threads();
  constexpr std::size_t kBytes = std::size_t{64} << 20;  // per thread: more than its share of the last cache
  std::vector<std::shared_ptr<std::byte>> memory;
  for (int t = 0; t < n; ++t) {
    memory.push_back(allocate_uninitialised(kBytes));
    std::memset(memory.back().get(), 1, kBytes);  // memory that was never written is one page of zeros, whatever its size
  }
  std::vector<std::uint64_t> sums(zu(n));
  for (int round = 0; round < 4; ++round) {
    const auto start = Clock::now();
    pool_.run(n, [&](int piece, int) { sums[zu(piece)] += k_.read_bytes(memory[zu(piece)].get(), kBytes); });
    limits.read_gb_per_s = std::max(limits.read_gb_per_s, static_cast<double>(kBytes) * n / seconds_since(start) / 1e9);
  }
  const auto peak = [&](double (*work)(int), int amount) {
    double best = 0;
    for (int round = 0; round < 3; ++round) {
      std::vector<double> ops(zu(n));
      const auto start = Clock::now();
      pool_.run(n, [&](int piece, int) { ops[zu(piece)] = work(amount); });
      double all = 0;
      for (double o : ops) all += o;
      best = std::max(best, all / seconds_since(start) / 1e9);
    }
    return best;
  };
  limits.int8_gop_per_s = peak(k_.int8_work, 200000);
  limits.f32_gop_per_s = peak(k_.f32_work, 200000);
  return limits;
}

}  // namespace tg::cpu
