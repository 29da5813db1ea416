// What is done while nothing is to be done: the rest of a model's weights comes into memory, and it is measured once what suits this machine (device tuning), how fast a model reads that has not answered
// yet, and once the limits of the machine. A turn that comes meanwhile goes first.
#include <algorithm>
#include <chrono>

#include "engine/schedule/scheduler.h"

namespace tg {
namespace {

constexpr int kFirstRows = 16, kSecondRows = 64;  // of the steps that give a model its first curve

}  // namespace

// The first that wants to be done of a loaded model, in this order for each: weights still read from the file, a device without its tuning, a
// model that has not been seen reading, limits of the machine (those without a date too: what is shown says from when it is).
std::optional<Scheduler::IdleWork> Scheduler::idle_work() const {
  if (!curves_.kept() || measuring_failed_) return std::nullopt;
  for (const auto& m : models_) {
    if (!m->device || m->closing) continue;
    if (!m->forward->settled()) return IdleWork{&Scheduler::settle, m.get()};
    if (!m->device->tuned()) return IdleWork{&Scheduler::tune, m.get()};
    if (m->curve.samples() == 0) return IdleWork{&Scheduler::measure_reading, m.get()};
    const auto limits = curves_.limits(m->device->name());
    if (!limits || limits->measured_s == 0) return IdleWork{&Scheduler::measure_limits, m.get()};
  }
  return std::nullopt;
}

void Scheduler::measure(std::unique_lock<std::mutex>& lock) {
  if (const auto next = idle_work()) (this->*next->what)(*next->model, lock);
}

// Runs JOB(cancel) without the lock, cancelled by a turn that comes meanwhile; false: it was.
template <class Job>
bool Scheduler::while_idle(std::unique_lock<std::mutex>& lock, Job&& job) {
  const CancelToken cancel;
  step_cancel_ = cancel;
  step_turns_.clear();
  lock.unlock();
  job(cancel);
  lock.lock();
  step_cancel_.reset();
  return !cancel.cancelled();
}

void Scheduler::settle(ModelRuntime& runtime, std::unique_lock<std::mutex>& lock) {
  while_idle(lock, [&](const CancelToken& cancel) { runtime.forward->settle(cancel); });
}

// Two steps of a text that nobody wrote, after one that brings the weights into memory.
void Scheduler::measure_reading(ModelRuntime& runtime, std::unique_lock<std::mutex>& lock) {
  PrefillCurve curve;
  Status status = Ok{};
  if (!while_idle(lock, [&](const CancelToken& cancel) { status = read_for_curve(runtime, cancel, curve); })) return;
  measuring_failed_ = !status;
  if (!status) return;
  runtime.curve = curve;
  runtime.largest_step = kSecondRows;
  curves_.set_curve(runtime.curve_key(), curve);
  save_curves(lock);
}

Status Scheduler::read_for_curve(ModelRuntime& runtime, const CancelToken& cancel, PrefillCurve& curve) {
  std::vector<TokenId> ids;
  for (int i = 0; i < 2 * kFirstRows + kSecondRows; ++i) ids.push_back(i % runtime.info->description.vocab);
  CacheRequest request;
  request.key = runtime.key;
  request.ids = ids;
  request.use_cache = false;
  std::unique_ptr<CacheLease> lease = cache_.begin(request);
  cache_.restore(*lease, 0);
  logits_.resize(static_cast<std::size_t>(runtime.info->description.vocab));
  Status status = Ok{};
  for (const int rows : {kFirstRows, kFirstRows, kSecondRows}) {
    const int depth = lease->tokens(), last = rows - 1;
    cache_.reserve(*lease, depth + rows);
    SequenceStep step;
    step.tokens = std::span(ids).subspan(static_cast<std::size_t>(depth), static_cast<std::size_t>(rows));
    step.first_position = depth;
    step.pages = lease->pages();
    step.state = lease->state();
    step.logit_rows = std::span(&last, 1);
    StepCounters counters;
    const auto start = Clock::now();
    status = runtime.forward->run(std::span(&step, 1), logits_.data(), cancel, counters);
    if (!status) break;
    if (depth > 0) curve.add(rows, depth, true, ms_between(start, Clock::now()));
    cache_.commit(*lease, step.tokens);
  }
  cache_.finish(std::move(lease));
  return status;
}

void Scheduler::tune(ModelRuntime& runtime, std::unique_lock<std::mutex>& lock) {
  const std::shared_ptr<Device> device = runtime.device;
  const bool undisturbed = while_idle(lock, [&](const CancelToken& cancel) {
    device->set_cancel(&cancel.flag());
    device->tune();
    device->set_cancel(nullptr);
  });
  if (undisturbed && !device->tuned()) measuring_failed_ = true;
}

void Scheduler::measure_limits(ModelRuntime& runtime, std::unique_lock<std::mutex>& lock) {
  const std::shared_ptr<Device> device = runtime.device;
  DeviceLimits limits;
  const bool undisturbed = while_idle(lock, [&](const CancelToken& cancel) {
    device->set_cancel(&cancel.flag());
    limits = device->measure_limits();
    device->set_cancel(nullptr);
  });
  if (!undisturbed) return;
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  if (limits.read_gb_per_s > 0) curves_.set_limits(device->name(), {limits.read_gb_per_s, limits.int8_gop_per_s, limits.f32_gop_per_s, now.count()});
  else measuring_failed_ = true;
  save_curves(lock);
}

}  // namespace tg
