#include "app/explain_figures.h"

#include <algorithm>

namespace tg::explaining {
namespace {

constexpr double kKeptWaiting = 0.8;   // of the threads; above that it is the other threads of this program and the clock
constexpr double kNoLimit = 0.001;     // GB/s or GOP/s: below that nothing was measured
constexpr double kLongestMs = 1e12;    // 30 years: what odd records may come to

Phase phase(const RecordPhase& work, const RecordWork& of, bool processor) {
  Phase out;
  out.work = work;
  if (!out.known()) return out;
  if (processor && of.threads > 1 && work.cpuMs > 0) out.busyThreads = std::min<double>(of.threads, work.cpuMs / work.ms);
  if (!of.limits) return out;
  const double peak = of.int8 ? of.limits->int8GopPerS : of.limits->f32GopPerS, seconds = work.ms / 1000;
  if (of.limits->readGbPerS >= kNoLimit) out.memoryShare = 100 * work.bytes / (of.limits->readGbPerS * 1e9) / seconds;
  if (peak >= kNoLimit) out.arithmeticShare = 100 * work.ops / (peak * 1e9) / seconds;
  if (out.memoryShare && out.arithmeticShare) out.bound = *out.memoryShare > *out.arithmeticShare ? Bound::Memory : Bound::Arithmetic;
  return out;
}

}  // namespace

Phase reading(const TurnRecord& record) { return record.work ? phase(record.work->prefill, *record.work, record.backend == QLatin1String("cpu")) : Phase(); }
Phase writing(const TurnRecord& record) { return record.work ? phase(record.work->decode, *record.work, record.backend == QLatin1String("cpu")) : Phase(); }

bool keptWaiting(const Phase& phase, const TurnRecord& record) { return phase.busyThreads && *phase.busyThreads < kKeptWaiting * record.work->threads; }

double bytesPerStep(const Phase& phase) { return phase.work.steps > 0 ? phase.work.bytes / phase.work.steps : 0; }

double cacheBytesPerStep(const TurnRecord& record, const Phase& writing) { return record.work ? std::max(0.0, bytesPerStep(writing) - record.work->stepWeights) : 0; }

std::optional<double> savedMs(const TurnRecord& record) {
  if (!record.inputCached || record.inputFresh.value_or(0) < kTokensForARate || record.prefillTps.value_or(0) <= 0) return std::nullopt;
  return std::min(kLongestMs, *record.inputCached * 1000.0 / *record.prefillTps);
}

std::optional<double> savedAtLeastMs(const TurnRecord& record) {
  const Phase read = reading(record);
  if (!read.known() || !record.work->limits || record.inputFresh.value_or(0) <= 0 || !record.inputCached) return std::nullopt;
  const double peak = record.work->int8 ? record.work->limits->int8GopPerS : record.work->limits->f32GopPerS;
  if (peak < kNoLimit) return std::nullopt;
  return std::min(kLongestMs, *record.inputCached * (read.work.ops / *record.inputFresh) / (peak * 1e6));
}

}  // namespace tg::explaining
