// What a turn will take: asked before it is sent, from the curves of the turns before.
#include <algorithm>

#include "engine/schedule/scheduler.h"

namespace tg {
namespace {

constexpr int kUsualChunk = 512;           // rows of a step, where no loaded model says better
constexpr double kUnmeasuredDisk = 500e3;  // bytes a ms, as a plain SSD reads: until the first snapshot was read here

}  // namespace

double Scheduler::restore_estimate(double bytes) const { return curves_.restore_ms(bytes).value_or(bytes / kUnmeasuredDisk); }

Prediction Scheduler::predict(const ModelHandle& model, const std::vector<TokenId>& prompt) const {
  const std::lock_guard lock(mutex_);
  Prediction p;
  p.fresh = static_cast<int>(prompt.size());
  const auto found = std::find_if(models_.begin(), models_.end(), [&](const auto& runtime) { return runtime->info == model; });
  if (found == models_.end() || prompt.empty()) return p;
  const ModelRuntime& runtime = **found;
  const KvCache::Outlook outlook = cache_.outlook(runtime.key, prompt);
  p.cached = outlook.cached;
  p.fresh = static_cast<int>(prompt.size()) - p.cached;
  p.tier = outlook.tier;
  const double restore = restore_estimate(static_cast<double>(outlook.disk_bytes));
  if (runtime.curve.samples() == 0) return p;
  p.ttft_ms = restore + reading_estimate(runtime, p.cached, p.fresh);
  const double off = 1.5 * runtime.curve.relative_error();
  p.low_ms = *p.ttft_ms * (1 - std::min(off, 0.9));
  p.high_ms = *p.ttft_ms * (1 + off);
  return p;
}

// Steps as they will come: chunks of this prompt in turn with those of the others that are being read, and in each a row of every chat that
// writes by then. Turns that other models run are not in it, nor those that come later.
double Scheduler::reading_estimate(const ModelRuntime& runtime, int cached, int fresh) const {
  const PrefillCurve& curve = runtime.curve;
  int writers = 0;
  std::vector<int> others;
  for (const auto& turn : active_) {
    if (turn->request.model != runtime.info || turn->stop_wanted()) continue;
    if (const int left = turn->unread(); left > 0) others.push_back(left);
    else ++writers;
  }
  for (const auto& turn : queued_)
    if (turn->request.model == runtime.info)
      others.push_back(static_cast<int>(turn->request.prompt.ids.size()) - cache_.outlook(runtime.key, turn->request.prompt.ids).cached);
  const auto rows_of = [&](int left, int depth) {
    int rows = runtime.chunk > 0 ? runtime.chunk : writers > 0 ? curve.rows_within(kChunkBesideOthers, depth).value_or(1) : alone_rows(runtime, depth);
    rows = std::min(rows, runtime.forward->max_rows() - writers);
    return left <= rows + rows / 4 ? left : std::max(rows, 1);
  };
  double ms = 0;
  if (step_cancel_ && !step_turns_.empty())  // half of the step that runs now
    ms += curve.step_ms((others.empty() ? 0 : rows_of(others.front(), cached)) + writers, cached, false) / 2;
  for (int done = 0; done < fresh;) {
    for (int& left : others) {
      if (left <= 0) continue;
      const int rows = rows_of(left, cached);
      ms += curve.step_ms(rows + writers, cached, rows == left);
      if ((left -= rows) == 0) ++writers;
    }
    const int rows = rows_of(fresh - done, cached + done);
    ms += curve.step_ms(rows + writers, cached + done, done + rows == fresh);
    done += rows;
  }
  return ms;
}

Expectation Scheduler::expect(const std::string& fingerprint, const std::string& backend, int cached, int fresh, std::uint64_t disk_bytes) const {
  const std::lock_guard lock(mutex_);
  Expectation out;
  out.load_ms = curves_.load_ms(fingerprint);
  const auto curve = curves_.curve_of(fingerprint, backend);
  const auto read = curve ? curve->predict(fresh, cached, kUsualChunk) : std::nullopt;
  if (read) out.ttft_ms = restore_estimate(static_cast<double>(disk_bytes)) + *read;
  return out;
}

}  // namespace tg
