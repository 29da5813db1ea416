// What is done while nothing is to be done: the rest of a model's weights comes into memory, and it is measured once what suits this machine (device tuning), how fast a model reads that has not answered
// yet, and once the limits of the machine. A turn that comes meanwhile goes first.
#include <algorithm>
#include <chrono>

#include "engine/schedule/scheduler.h"

namespace tg {
namespace {

constexpr int kFirstRows = 16, kSecondRows = 64;  // of the steps that give a model its first curve

}  // namespace

// A model with weights that are still read from the file, or null.
ModelRuntime* Scheduler::unsettled_model() const {
  const auto found = std::find_if(models_.begin(), models_.end(), [](const auto& m) { return m->device && !m->closing && !m->forward->settled(); });
  return found == models_.end() ? nullptr : found->get();
}

// The model of which most can be learned now, or null.
ModelRuntime* Scheduler::unread_model() const {
  const auto found = std::find_if(models_.begin(), models_.end(), [](const auto& m) { return m->device && !m->closing && m->curve.samples() == 0; });
  return found == models_.end() ? nullptr : found->get();
}

std::shared_ptr<Device> Scheduler::untuned_device() const {
  const auto found = std::find_if(models_.begin(), models_.end(), [](const auto& m) { return m->device && !m->closing && !m->device->tuned(); });
  return found == models_.end() ? nullptr : (*found)->device;
}

// Limits without a date are measured again: what is shown says from when it is.
std::shared_ptr<Device> Scheduler::unmeasured_device() const {
  for (const auto& m : models_) {
    if (!m->device || m->closing) continue;
    const auto known = curves_.limits(m->device->name());
    if (!known || known->measured_s == 0) return m->device;
  }
  return nullptr;
}

bool Scheduler::may_measure() const { return curves_.kept() && !measuring_failed_ && (unsettled_model() != nullptr || untuned_device() != nullptr || unread_model() != nullptr || unmeasured_device() != nullptr); }

void Scheduler::measure(std::unique_lock<std::mutex>& lock) {
  if (ModelRuntime* unsettled = unsettled_model()) settle(*unsettled, lock);
  else if (const std::shared_ptr<Device> untuned = untuned_device()) tune(untuned, lock);
  else if (ModelRuntime* runtime = unread_model()) measure_reading(*runtime, lock);
  else if (const std::shared_ptr<Device> device = unmeasured_device()) measure_limits(device, lock);
}

void Scheduler::settle(ModelRuntime& runtime, std::unique_lock<std::mutex>& lock) {
  const CancelToken cancel;
  step_cancel_ = cancel;
  step_turns_.clear();
  lock.unlock();
  runtime.forward->settle(cancel);
  lock.lock();
  step_cancel_.reset();
}

// Two steps of a text that nobody wrote, after one that brings the weights into memory.
void Scheduler::measure_reading(ModelRuntime& runtime, std::unique_lock<std::mutex>& lock) {
  const CancelToken cancel;
  step_cancel_ = cancel;
  step_turns_.clear();
  lock.unlock();
  std::vector<TokenId> ids;
  for (int i = 0; i < 2 * kFirstRows + kSecondRows; ++i) ids.push_back(i % runtime.info->description.vocab);
  CacheRequest request;
  request.key = runtime.key;
  request.ids = ids;
  request.use_cache = false;
  std::unique_ptr<CacheLease> lease = cache_.begin(request);
  cache_.restore(*lease, 0);
  logits_.resize(static_cast<std::size_t>(runtime.info->description.vocab));
  PrefillCurve curve;
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
  lock.lock();
  step_cancel_.reset();
  if (cancel.cancelled()) return;
  measuring_failed_ = !status;
  if (!status) return;
  runtime.curve = curve;
  runtime.largest_step = kSecondRows;
  curves_.set_curve(runtime.curve_key(), curve);
  save_curves(lock);
}

void Scheduler::tune(const std::shared_ptr<Device>& device, std::unique_lock<std::mutex>& lock) {
  const CancelToken cancel;
  step_cancel_ = cancel;
  step_turns_.clear();
  lock.unlock();
  device->set_cancel(&cancel.flag());
  device->tune();
  device->set_cancel(nullptr);
  lock.lock();
  step_cancel_.reset();
  if (!cancel.cancelled() && !device->tuned()) measuring_failed_ = true;
}

void Scheduler::measure_limits(const std::shared_ptr<Device>& device, std::unique_lock<std::mutex>& lock) {
  const CancelToken cancel;
  step_cancel_ = cancel;
  step_turns_.clear();
  lock.unlock();
  device->set_cancel(&cancel.flag());
  const DeviceLimits limits = device->measure_limits();
  device->set_cancel(nullptr);
  lock.lock();
  step_cancel_.reset();
  if (cancel.cancelled()) return;
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  if (limits.read_gb_per_s > 0) curves_.set_limits(device->name(), {limits.read_gb_per_s, limits.int8_gop_per_s, limits.f32_gop_per_s, now.count()});
  else measuring_failed_ = true;
  save_curves(lock);
}

}  // namespace tg
