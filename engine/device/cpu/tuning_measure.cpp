// The experiments behind a Tuning: short products with weights that no cache holds.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <initializer_list>

#include "engine/device/cpu/cpu_device.h"

namespace tg::cpu {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::size_t kMemory = std::size_t{64} << 20;  // more than the last cache of usual processors
constexpr std::size_t kWindow = std::size_t{4} << 20;   // weights of one product; the next takes the next window
constexpr int kCols = 2048, kMostRows = 24, kTries = 4;
constexpr double kWorthIt = 0.97;  // a value other than the usual one must save so much time: less is noise

class Experiment {
 public:
  explicit Experiment(CpuDevice& device)
      : device_(device), memory_(allocate_uninitialised(kMemory)), x_(device.activations(kMostRows, kCols)), usual_(device.tuning_in_use()) {
    std::memset(memory_.get(), 1, kMemory);  // memory that was never written is one page of zeros, whatever its size
    device_.prepare(device_.matrix(in_, kMostRows, kCols), *x_);
  }
  ~Experiment() { device_.set_tuning(usual_); }
  Experiment(const Experiment&) = delete;
  Experiment& operator=(const Experiment&) = delete;

  // Seconds of a product of N activation rows with a matrix of FORMAT, with that tuning.
  double seconds(Format format, int n, const Tuning& tuning) {
    device_.set_tuning(tuning);
    const std::size_t row = row_bytes(*format_info(format), zu(kCols));
    CpuWeight w;
    w.format = format;
    w.rows = static_cast<int>(kWindow / row) / kPieceRows * kPieceRows;
    w.cols = kCols;
    w.bytes = w.expert_bytes = row * zu(w.rows);
    place_ = place_ + kWindow < kMemory ? place_ + kWindow : 0;
    w.interleaved = device_.interleaves();
    w.tiles = {memory_, memory_.get() + place_};
    w.file = {memory_.get() + place_, w.bytes};
    MatmulTask task;
    task.weight = &w;
    task.out = device_.matrix(out_, n, w.rows);
    x_->rows = n;
    const auto start = Clock::now();
    device_.matmul(*x_, {&task, 1});
    return Seconds(Clock::now() - start).count();
  }

 private:
  CpuDevice& device_;
  std::shared_ptr<std::byte> memory_, in_, out_;
  std::unique_ptr<Activations> x_;
  Tuning usual_;
  std::size_t place_ = 0;
};

// The best of several tries of each tuning, which take turns so that a disturbance meets all of them.
template <std::size_t N>
std::array<double, N> best_times(Experiment& experiment, Format format, int rows, const std::array<Tuning, N>& tunings) {
  std::array<double, N> best;
  best.fill(1e9);
  for (int i = 0; i < kTries; ++i) {
    for (std::size_t t = 0; t < N; ++t) best[t] = std::min(best[t], experiment.seconds(format, rows, tunings[t]));
  }
  return best;
}

// Of tunings for one activation row the fastest with all of FORMATS; the first, where that is hardly slower.
template <std::size_t N>
const Tuning& faster(Experiment& experiment, std::initializer_list<Format> formats, const std::array<Tuning, N>& tunings) {
  std::array<double, N> sum{};
  for (const Format format : formats) {
    const auto times = best_times(experiment, format, 1, tunings);
    for (std::size_t i = 0; i < N; ++i) sum[i] += times[i];
  }
  const auto best = std::min_element(sum.begin(), sum.end());
  return *best < kWorthIt * sum[0] ? tunings[static_cast<std::size_t>(best - sum.begin())] : tunings[0];
}

// Sets where and how early weights are asked for.
void choose_prefetch(Experiment& experiment, Tuning& tuning) {
  struct Prefetch {
    int cache, ahead;
  };
  // Further into the second cache is no faster when measured alone.
  constexpr std::array<Prefetch, 6> kChoices{{{1, 4096}, {1, 6144}, {1, 10240}, {1, 16384}, {2, 6144}, {2, 8192}}};
  std::array<Tuning, kChoices.size() + 1> tunings;
  tunings.fill(tuning);
  for (std::size_t i = 0; i < kChoices.size(); ++i) {
    tunings[i + 1].prefetch_cache = kChoices[i].cache;
    tunings[i + 1].weights_ahead = kChoices[i].ahead;
  }
  tuning = faster(experiment, {Format::Q4_K, Format::Q6_K}, tunings);  // the formats that gain most by it
  std::array<Tuning, 2> blocks{tuning, tuning};
  blocks[1].blocks_ahead = tuning.weights_ahead;
  tuning = faster(experiment, {Format::Q4_0, Format::Q8_0}, blocks);
}

// The most rows for which a format is faster without a panel.
int most_direct(Experiment& experiment, Format format, UnpackKind kind, const Tuning& usual) {
  constexpr std::array kRows{1, 2, 3, 4, 6, 8, 12, 16, 20, kMostRows};
  std::array<Tuning, 2> tunings{usual, usual};
  tunings[0].direct_rows[static_cast<std::size_t>(kind)] = kMostRows;
  tunings[1].direct_rows[static_cast<std::size_t>(kind)] = 1;
  std::size_t direct = 0, panel = kRows.size();  // one row never goes through a panel
  while (panel - direct > 1) {
    const std::size_t middle = (direct + panel) / 2;
    const auto times = best_times(experiment, format, kRows[middle], tunings);
    (times[0] <= times[1] ? direct : panel) = middle;
  }
  return kRows[direct];
}

}  // namespace

std::optional<Tuning> measure_tuning(CpuDevice& device) {
  Experiment experiment(device);
  Tuning tuning;
  choose_prefetch(experiment, tuning);
  constexpr std::array kFormats{Format::Q8_0, Format::Q4_0, Format::Q4_K, Format::Q6_K};  // one of each UnpackKind
  static_assert(kFormats.size() == kUnpackKinds);
  for (std::size_t i = 0; i < kUnpackKinds && !device.cancelled(); ++i) {
    tuning.direct_rows[i] = most_direct(experiment, kFormats[i], static_cast<UnpackKind>(i), tuning);
  }
  return device.cancelled() ? std::nullopt : std::optional(tuning);
}

}  // namespace tg::cpu
