// One step: which rows go into the batch, running it, and what becomes of its results.
#include <algorithm>
#include <ctime>
#include <utility>

#include "engine/schedule/scheduler.h"

namespace tg {
namespace {

constexpr int kFirstChunk = 32;       // rows, before anything is measured
constexpr int kGrowth = 4;            // a chunk is at most so many times the longest measured one
constexpr int kRowTile = 16;          // rows that kernels take together
constexpr std::size_t kMaxDraftingTurns = 2;  // verifying drafts costs rows: with many chats the batch is full anyway

}  // namespace

// Writers first, then the reader; rows[i] and states[i] belong to turns[i].
struct Scheduler::Step {
  std::vector<std::shared_ptr<Turn>> turns;
  std::vector<std::vector<TokenId>> rows;
  std::vector<std::vector<int>> logit_rows;
  std::vector<std::shared_ptr<std::byte>> states_before;  // recurrent models, where a step may have to be taken back
  std::size_t n_writers = 0;
  int reader_end = 0;

  Turn* reader() const { return n_writers < turns.size() ? turns.back().get() : nullptr; }
  int n_rows() const {
    std::size_t n = 0;
    for (const auto& r : rows) n += r.size();
    return static_cast<int>(n);
  }
};

ModelRuntime* Scheduler::next_model() {
  for (std::size_t i = 0; i < models_.size(); ++i) {
    ModelRuntime* runtime = models_[(model_turn_ + i) % models_.size()].get();
    const bool has_turns = std::any_of(active_.begin(), active_.end(), [&](const auto& t) {
      return t->runtime == runtime && (t->phase == Turn::Phase::reading || t->phase == Turn::Phase::writing) && !t->finished() && !t->stop_wanted();
    });
    if (!has_turns) continue;
    model_turn_ = (model_turn_ + i + 1) % models_.size();
    return runtime;
  }
  return nullptr;
}

// Rows of a chunk at DEPTH when nobody writes.
int Scheduler::alone_rows(const ModelRuntime& runtime, int depth) const {
  const int rows = runtime.curve.rows_within(kChunkAlone, depth).value_or(kFirstChunk);
  return std::max(rows, kRowTile) / kRowTile * kRowTile;
}

int Scheduler::chunk_rows(const ModelRuntime& runtime, const Turn& turn, bool others_write) const {
  if (runtime.chunk > 0) return runtime.chunk;
  const int depth = turn.lease->tokens();
  int rows = others_write ? runtime.curve.rows_within(kChunkBesideOthers, depth).value_or(kFirstChunk) : alone_rows(runtime, depth);
  rows = std::min(rows, runtime.largest_step > 0 ? runtime.largest_step * kGrowth : kFirstChunk);
  rows = std::max(rows, kRowTile) / kRowTile * kRowTile;
  const int left = static_cast<int>(turn.request.prompt.ids.size()) - depth;
  return left <= rows + rows / 4 ? left : rows;  // no tiny last chunk
}

// Second models propose before the step; with many writing turns the batch is full without drafts.
void Scheduler::make_drafts(ModelRuntime& runtime, std::unique_lock<std::mutex>& lock) {
  std::vector<std::shared_ptr<Turn>> writers;
  for (const auto& turn : active_)
    if (turn->runtime == &runtime && turn->phase == Turn::Phase::writing && !turn->finished() && !turn->stop_wanted()) writers.push_back(turn);
  if (writers.size() > kMaxDraftingTurns) return;
  lock.unlock();
  for (const auto& turn : writers)
    if (turn->drafter) turn->ask_drafter(runtime.forward->max_rows() / 2);
  lock.lock();
}

void Scheduler::collect(ModelRuntime& runtime, Step& step) {
  std::vector<std::shared_ptr<Turn>> readers;
  for (const auto& turn : active_) {
    if (turn->runtime != &runtime || turn->finished() || turn->stop_wanted()) continue;
    if (turn->phase == Turn::Phase::writing) step.turns.push_back(turn);
    if (turn->phase == Turn::Phase::reading) readers.push_back(turn);
  }
  step.n_writers = step.turns.size();
  int room = runtime.forward->max_rows();
  for (const auto& turn : step.turns) {
    step.rows.push_back(turn->decode_rows(step.n_writers <= kMaxDraftingTurns ? room / 2 : 1));
    room -= static_cast<int>(step.rows.back().size());
    std::vector<int>& wanted = step.logit_rows.emplace_back();
    for (std::size_t i = 0; i < step.rows.back().size(); ++i) wanted.push_back(static_cast<int>(i));
  }
  if (readers.empty() || room < 1) return;
  const std::shared_ptr<Turn> reader = readers[prompt_turn_[&runtime]++ % readers.size()];
  step.reader_end = reader->chunk_end(std::min(room, chunk_rows(runtime, *reader, step.n_writers > 0)));
  step.turns.push_back(reader);
  step.rows.push_back(reader->chunk(step.reader_end));
  step.logit_rows.emplace_back();
  if (reader->ends_prompt(step.reader_end)) step.logit_rows.back().push_back(static_cast<int>(step.rows.back().size()) - 1);
}

void Scheduler::run_step(ModelRuntime& runtime, std::unique_lock<std::mutex>& lock) {
  make_drafts(runtime, lock);
  Step step;
  collect(runtime, step);
  if (step.turns.empty()) return;
  const CancelToken cancel;
  step_cancel_ = cancel;
  for (const auto& turn : step.turns) step_turns_.push_back(turn->id);
  lock.unlock();

  const std::size_t state_bytes = runtime.forward->kv_layout().state_bytes;
  std::vector<SequenceStep> sequences;
  std::size_t n_logits = 0;
  for (std::size_t i = 0; i < step.turns.size(); ++i) {
    CacheLease& lease = *step.turns[i]->lease;
    cache_.reserve(lease, lease.tokens() + static_cast<int>(step.rows[i].size()));
    SequenceStep& s = sequences.emplace_back();
    s.tokens = step.rows[i];
    s.first_position = lease.tokens();
    s.pages = lease.pages();
    s.state = lease.state();
    s.logit_rows = step.logit_rows[i];
    s.wish = step.turns[i]->wish();
    if (s.wish.any()) s.candidates = step.turns[i]->candidates(s.logit_rows.size());
    else n_logits += s.logit_rows.size();
    std::shared_ptr<std::byte>& before = step.states_before.emplace_back();
    if (state_bytes == 0 || (step.turns.size() == 1 && (i >= step.n_writers || step.rows[i].size() == 1))) continue;
    before = runtime.memory->allocate(state_bytes, false);
    runtime.memory->copy(before.get(), lease.state(), state_bytes);
  }
  logits_.resize(n_logits * static_cast<std::size_t>(runtime.info->description.vocab));
  StepCounters counters;
  const auto start = Clock::now();
  const std::clock_t cpu_start = std::clock();
  const bool settled = runtime.forward->settled();
  const Status status = runtime.forward->run(sequences, logits_.data(), cancel, counters);
  const double ms = ms_between(start, Clock::now()), cpu_s = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
  const PhaseWork work{counters.bytes, counters.ops, ms / 1000 - counters.settle_seconds, std::max(0.0, cpu_s - counters.settle_cpu_seconds), 1};

  lock.lock();
  step_cancel_.reset();
  step_turns_.clear();
  // A step that read weights from the file tells little of later ones; still more than nothing.
  if (status && (settled || runtime.curve.samples() == 0)) learn(runtime, step, ms - counters.settle_seconds * 1000);
  lock.unlock();
  take_results(runtime, step, status, work);
  lock.lock();
}

void Scheduler::learn(ModelRuntime& runtime, const Step& step, double ms) {
  if (step.n_writers > 0 || step.reader() == nullptr) return;
  const int rows = static_cast<int>(step.rows.back().size());
  runtime.curve.add(rows, step.reader()->lease->tokens(), step.reader()->ends_prompt(step.reader_end), ms);
  runtime.largest_step = std::max(runtime.largest_step, rows);
}

void Scheduler::take_results(ModelRuntime& runtime, Step& step, const Status& status, const PhaseWork& work) {
  const std::size_t state_bytes = runtime.forward->kv_layout().state_bytes;
  if (!status) {
    for (std::size_t i = 0; i < step.turns.size(); ++i) {
      Turn& turn = *step.turns[i];
      if (status.error().code != ErrorCode::cancelled) turn.end(FinishReason::error, status.error());
      if (step.states_before[i]) runtime.memory->copy(turn.lease->state(), step.states_before[i].get(), state_bytes);
      else turn.state_valid = state_bytes == 0;
      if (!turn.state_valid && !turn.finished()) turn.stop_wanted() ? turn.end(FinishReason::cancelled) : turn.end(FinishReason::error, status.error());
    }
    return;
  }
  const int vocab = runtime.info->description.vocab;
  std::span<float> logits = logits_;
  const bool mixed = step.reader() != nullptr;
  for (std::size_t i = 0; i < step.turns.size(); ++i) {
    Turn& turn = *step.turns[i];
    const std::size_t n = turn.wish().any() ? 0 : step.logit_rows[i].size() * static_cast<std::size_t>(vocab);
    if (i < step.n_writers) {
      turn.count_write(mixed ? PhaseWork{} : work, static_cast<int>(step.n_writers));
      const int kept = turn.was_written(step.rows[i], logits.first(n), vocab);
      if (state_bytes > 0 && kept < static_cast<int>(step.rows[i].size())) replay_accepted(runtime, turn, step.rows[i], kept, step.states_before[i].get());
      turn.commit(cache_, std::span(step.rows[i]).first(static_cast<std::size_t>(kept)));
    } else {
      turn.count_read(work);
      turn.was_read(cache_, step.reader_end);
      turn.tell_progress(Clock::now());
      if (!step.logit_rows[i].empty()) turn.was_written({}, logits.first(n), vocab);
    }
    logits = logits.subspan(n);
  }
}

// Drafts were refused: recurrent state cannot be shortened, so it is led again over the tokens that stay.
void Scheduler::replay_accepted(ModelRuntime& runtime, Turn& turn, const std::vector<TokenId>& rows, int kept, const std::byte* before) {
  runtime.memory->copy(turn.lease->state(), before, runtime.forward->kv_layout().state_bytes);
  SequenceStep s;
  s.tokens = std::span(rows).first(static_cast<std::size_t>(kept));
  s.first_position = turn.lease->tokens();
  s.pages = turn.lease->pages();
  s.state = turn.lease->state();
  StepCounters counters;
  if (const Status status = runtime.forward->run(std::span(&s, 1), nullptr, CancelToken(), counters); !status) {
    turn.state_valid = false;
    turn.end(FinishReason::error, status.error());
  }
}

}  // namespace tg
