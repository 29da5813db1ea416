// The worker's loop and what other threads ask of it; steps are in scheduler_step.cpp, what they will take in scheduler_expect.cpp.
#include "engine/schedule/scheduler.h"

#include <algorithm>

#include "engine/cache/platform.h"

namespace tg {
namespace {

constexpr std::size_t kMaxActive = 16;           // turns at once; further ones wait their turn
constexpr std::size_t kRestoreSlice = 64U << 20U;  // bytes read from disk between two steps: about 30 ms
constexpr auto kIdleBeforeMeasuring = std::chrono::seconds(3);

}  // namespace

Scheduler::Scheduler(KvCache& cache, const std::string& curves_file) : cache_(cache), curves_(curves_file), thread_([this] { loop(); }) {}

Scheduler::~Scheduler() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const auto& turn : queued_) turn->stop();
    for (const auto& turn : active_) turn->stop();
    if (step_cancel_) step_cancel_->cancel();
  }
  wake_.notify_all();
  thread_.join();
}

void Scheduler::add_model(std::unique_ptr<ModelRuntime> runtime) {
  cache_.open(runtime->key, runtime->layout(), runtime->memory);
  const std::lock_guard lock(mutex_);
  if (const auto curve = curves_.curve(runtime->curve_key())) runtime->curve = *curve;
  curves_.set_load_ms(runtime->info->fingerprint, runtime->info->load_ms);
  models_.push_back(std::move(runtime));
  wake_.notify_all();
}

void Scheduler::remove_model(const ModelHandle& model) {
  const std::lock_guard lock(mutex_);
  for (const auto& runtime : models_)
    if (runtime->info == model) runtime->closing = true;
  for (const auto& turn : queued_)
    if (turn->request.model == model) turn->stop();
  for (const auto& turn : active_)
    if (turn->request.model == model || turn->request.speculation.draft == model) turn->stop();
  if (step_cancel_) step_cancel_->cancel();
  wake_.notify_all();
}

TurnId Scheduler::submit(TurnRequest request, std::shared_ptr<TurnListener> listener) {
  const std::lock_guard lock(mutex_);
  auto turn = std::make_shared<Turn>(++last_id_, std::move(request), std::move(listener));
  if (const auto found = cancel_after_.find(turn->request.sequence); found != cancel_after_.end()) {
    turn->stop_after_read = found->second.first;
    turn->stop_after_written = found->second.second;
    cancel_after_.erase(found);
  }
  queued_.push_back(turn);
  if (step_cancel_ && step_turns_.empty()) step_cancel_->cancel();  // limits are being measured: the turn goes first
  wake_.notify_all();
  return turn->id;
}

void Scheduler::cancel(TurnId id) {
  const std::lock_guard lock(mutex_);
  for (const auto& turn : queued_)
    if (turn->id == id) turn->stop();
  for (const auto& turn : active_)
    if (turn->id == id) turn->stop();
  const bool running = std::find(step_turns_.begin(), step_turns_.end(), id) != step_turns_.end();
  if (running && step_cancel_) step_cancel_->cancel();  // the step's other turns do it again: stops are rare, waiting is not forgiven
  wake_.notify_all();
}

void Scheduler::cancel_sequence(const std::string& sequence) {
  std::vector<TurnId> ids;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& turn : queued_)
      if (turn->request.sequence == sequence) ids.push_back(turn->id);
    for (const auto& turn : active_)
      if (turn->request.sequence == sequence) ids.push_back(turn->id);
  }
  for (const TurnId id : ids) cancel(id);
}

void Scheduler::cancel_after(const std::string& sequence, int prefill_tokens, int output_tokens) {
  const std::lock_guard lock(mutex_);
  cancel_after_[sequence] = {prefill_tokens, output_tokens};
}

void Scheduler::when_idle(const std::string& sequence, std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  jobs_.emplace_back(sequence, std::move(job));
  wake_.notify_all();
}

bool Scheduler::busy(const std::string& sequence) const {
  const auto is = [&](const std::shared_ptr<Turn>& turn) { return turn->request.sequence == sequence; };
  return std::any_of(active_.begin(), active_.end(), is) || std::any_of(queued_.begin(), queued_.end(), is);
}

// ---- the worker

bool Scheduler::has_work() const {
  if (!queued_.empty() || !active_.empty()) return true;
  if (std::any_of(models_.begin(), models_.end(), [](const auto& m) { return m->closing; })) return true;
  return !jobs_.empty();
}

void Scheduler::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    const auto awake = [this] { return stopping_ || has_work(); };
    if (!may_measure()) {
      wake_.wait(lock, [&] { return awake() || may_measure(); });
    } else if (!wake_.wait_for(lock, kIdleBeforeMeasuring, awake)) {
      measure(lock);
      continue;
    }
    if (!tidy(lock)) break;
    if (restore_slice(lock)) continue;
    if (ModelRuntime* runtime = next_model()) run_step(*runtime, lock);
  }
  save_curves(lock);
}

bool Scheduler::tidy(std::unique_lock<std::mutex>& lock) {
  end_stopped(lock);
  run_jobs(lock);
  unload_closed(lock);
  if (stopping_ && active_.empty() && queued_.empty()) {
    for (auto& runtime : models_) runtime->closing = true;
    unload_closed(lock);
    return false;
  }
  admit(lock);
  tell_queue(lock);
  return true;
}

void Scheduler::end_stopped(std::unique_lock<std::mutex>& lock) {
  for (std::size_t i = 0; i < active_.size();) {
    const std::shared_ptr<Turn> turn = active_[i];
    if (turn->stop_wanted()) turn->end(FinishReason::cancelled);
    if (!turn->finished()) {
      ++i;
      continue;
    }
    active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
    finish(turn, lock);
    i = 0;
  }
  for (std::size_t i = 0; i < queued_.size();) {
    const std::shared_ptr<Turn> turn = queued_[i];
    if (!turn->stop_wanted()) {
      ++i;
      continue;
    }
    queued_.erase(queued_.begin() + static_cast<std::ptrdiff_t>(i));
    turn->end(FinishReason::cancelled);
    finish(turn, lock);
    i = 0;
  }
}

void Scheduler::finish(std::shared_ptr<Turn> turn, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  TurnReport report = turn->report(cache_);
  turn->phase = Turn::Phase::done;
  lock.lock();
  if (turn->runtime != nullptr) {
    fill_work(*turn, report);
    curves_.set_curve(turn->runtime->curve_key(), turn->runtime->curve);
  }
  lock.unlock();
  turn->listener->finished(report);
  lock.lock();
}

void Scheduler::fill_work(const Turn& turn, TurnReport& report) const {
  const ModelRuntime& runtime = *turn.runtime;
  report.read_work = turn.read_work;
  report.write_work = turn.write_work;
  report.step_weights = runtime.forward->bytes_per_token();
  report.threads = runtime.info->threads;
  report.int8 = runtime.int8();
  if (!runtime.device) return;
  report.limits = curves_.limits(runtime.device->name());
  if (!report.limits) return;
  const DeviceLimits best{report.limits->read_gb_per_s, report.limits->int8_gop_per_s, report.limits->f32_gop_per_s};
  report.percent_prefill = percent_of_limit(turn.read_work, best, report.int8);
  report.percent_decode = percent_of_limit(turn.write_work, best, report.int8);
}

void Scheduler::admit(std::unique_lock<std::mutex>& lock) {
  for (std::size_t i = 0; i < queued_.size() && active_.size() < kMaxActive;) {
    const std::shared_ptr<Turn> turn = queued_[i];
    const TurnRequest& request = turn->request;
    const auto same = [&](const std::shared_ptr<Turn>& other) { return other->request.sequence == request.sequence; };
    if (std::any_of(active_.begin(), active_.end(), same) || std::any_of(queued_.begin(), queued_.begin() + static_cast<std::ptrdiff_t>(i), same)) {
      ++i;  // a chat's turns follow one another
      continue;
    }
    queued_.erase(queued_.begin() + static_cast<std::ptrdiff_t>(i));
    if (turn->stop_wanted()) {  // stopped while another was admitted; its model may be gone by now
      turn->end(FinishReason::cancelled);
      finish(turn, lock);
      continue;
    }
    if (Error error = refusal(request); !error.message.empty()) {
      turn->end(FinishReason::error, std::move(error));
      finish(turn, lock);
      continue;
    }
    active_.push_back(turn);
    ModelRuntime& runtime = *find_model(request.model);
    ModelRuntime* draft = request.speculation.kind == SpeculationOptions::Kind::draft ? find_model(request.speculation.draft) : nullptr;
    lock.unlock();
    turn->admit(runtime, cache_);
    if (draft != nullptr) turn->drafter = std::make_unique<DraftModel>(*draft, cache_, request.prompt.ids, request.sequence_title);
    lock.lock();
  }
}

ModelRuntime* Scheduler::find_model(const ModelHandle& model) const {
  const auto found = std::find_if(models_.begin(), models_.end(), [&](const auto& m) { return m->info == model && !m->closing; });
  return found == models_.end() ? nullptr : found->get();
}

Error Scheduler::refusal(const TurnRequest& request) const {
  const ModelRuntime* runtime = find_model(request.model);
  const auto refuse = [](std::string why) { return make_error(ErrorCode::bad_argument, std::move(why)); };
  if (runtime == nullptr) return refuse("The model is not loaded.");
  const auto n = static_cast<int>(request.prompt.ids.size());
  const int vocab = runtime->info->description.vocab;
  if (n == 0) return refuse("The prompt is empty.");
  if (n >= runtime->info->context)
    return make_error(ErrorCode::does_not_fit, "The prompt has " + std::to_string(n) + " tokens, and the context holds " + std::to_string(runtime->info->context) + ".");
  if (std::any_of(request.prompt.ids.begin(), request.prompt.ids.end(), [&](TokenId id) { return id < 0 || id >= vocab; }))
    return refuse("The prompt has a token that the model does not know.");
  if (!request.json_schema.empty()) {
    if (const auto schema = read_json_schema(request.json_schema); !schema) return schema.error();
  }
  if (request.speculation.kind != SpeculationOptions::Kind::draft) return {};
  const ModelRuntime* draft = find_model(request.speculation.draft);
  if (draft == nullptr) return refuse("The draft model is not loaded.");
  if (draft->info->description.vocab != vocab) return refuse("The draft model has another vocabulary than the model.");
  return {};
}

void Scheduler::tell_queue(std::unique_lock<std::mutex>& lock) {
  std::vector<std::pair<std::shared_ptr<Turn>, int>> news;
  for (std::size_t i = 0; i < queued_.size(); ++i) {
    const int position = static_cast<int>(i) + 1;
    if (queued_[i]->queue_position == position) continue;
    queued_[i]->queue_position = position;
    news.emplace_back(queued_[i], position);
  }
  if (news.empty()) return;
  lock.unlock();
  for (const auto& [turn, position] : news) turn->listener->queued(position);
  lock.lock();
}

void Scheduler::run_jobs(std::unique_lock<std::mutex>& lock) {
  for (std::size_t i = 0; i < jobs_.size();) {
    if (busy(jobs_[i].first)) {
      ++i;
      continue;
    }
    const std::function<void()> job = std::move(jobs_[i].second);
    jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(i));
    lock.unlock();
    job();
    lock.lock();
    i = 0;
  }
}

void Scheduler::unload_closed(std::unique_lock<std::mutex>& lock) {
  for (std::size_t i = 0; i < models_.size();) {
    const ModelRuntime* runtime = models_[i].get();
    const bool used = std::any_of(active_.begin(), active_.end(), [&](const auto& turn) {
      return turn->runtime == runtime || (turn->drafter && turn->drafter->runtime() == runtime);
    });
    if (!runtime->closing || used) {
      ++i;
      continue;
    }
    std::unique_ptr<ModelRuntime> leaving = std::move(models_[i]);
    models_.erase(models_.begin() + static_cast<std::ptrdiff_t>(i));
    curves_.set_curve(leaving->curve_key(), leaving->curve);
    prompt_turn_.erase(leaving.get());
    lock.unlock();
    cache_.close(leaving->key);
    leaving.reset();
    lock.lock();
    save_curves(lock);
    i = 0;
  }
}

bool Scheduler::restore_slice(std::unique_lock<std::mutex>& lock) {
  bool any = false;
  const std::vector<std::shared_ptr<Turn>> turns = active_;
  lock.unlock();
  for (const auto& turn : turns) {
    if (turn->phase != Turn::Phase::restoring || turn->stop_wanted()) continue;
    const auto before = Clock::now();
    const std::uint64_t from_disk = cache_.bytes_restored();
    const bool complete = cache_.restore(*turn->lease, kRestoreSlice);
    const double bytes = static_cast<double>(cache_.bytes_restored() - from_disk);
    const double ms = ms_between(before, Clock::now());
    if (bytes > 0) {
      turn->restored(ms);
      const std::lock_guard again(mutex_);
      curves_.add_restore(bytes, ms);
    }
    if (complete) turn->start_reading();
    else any = true;
    break;  // a step of the others in between
  }
  lock.lock();
  const bool others = std::any_of(active_.begin(), active_.end(), [](const auto& t) { return t->phase == Turn::Phase::reading || t->phase == Turn::Phase::writing; });
  return any && !others;
}

void Scheduler::save_curves(std::unique_lock<std::mutex>& lock) {
  const std::optional<std::string> text = curves_.changed_text();
  if (!text) return;
  lock.unlock();
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text->data(), text->size()));
  cache_platform::write_file(curves_.file(), std::span(&bytes, 1));
  lock.lock();
}

}  // namespace tg
