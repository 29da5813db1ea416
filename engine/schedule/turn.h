// One turn on its way: what it still has to read, what it wrote, and everything measured on the way.
// Thread: the worker's, except stop() and what it sets.
#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/cache/kv_cache.h"
#include "engine/measure/limits.h"
#include "engine/schedule/answer_stream.h"
#include "engine/schedule/draft_model.h"
#include "engine/schedule/model_runtime.h"
#include "engine/schedule/turn_listener.h"
#include "engine/schedule/turn_types.h"

namespace tg {

using Clock = std::chrono::steady_clock;
double ms_between(Clock::time_point from, Clock::time_point to);

class Turn {
 public:
  enum class Phase { queued, restoring, reading, writing, done };

  Turn(TurnId id, TurnRequest request, std::shared_ptr<TurnListener> listener);

  // ---- any thread
  void stop();  // cancels at the next opportunity
  int unread() const { return unread_.load(std::memory_order_relaxed); }  // tokens of the prompt that are not computed; 0: writes, or has ended
  bool stop_wanted() const { return stop_wanted_.load(std::memory_order_relaxed); }

  // ---- admission
  void admit(ModelRuntime& runtime, KvCache& cache);
  void restored(double ms);            // one slice of reading pages from disk
  void start_reading();                // the lease is complete

  // ---- a step
  int chunk_end(int longest) const;    // prompt position at which the next chunk ends, at most LONGEST tokens on
  std::vector<TokenId> chunk(int end) const;
  bool ends_prompt(int end) const { return end == prompt_size(); }
  // The tokens of the next decode rows: the last token, and drafts behind it.
  std::vector<TokenId> decode_rows(int max_rows) const;
  void ask_drafter(int max_rows);      // its draft is part of the next decode_rows()
  void count_read(const PhaseWork& work);
  void count_write(const PhaseWork& work, int sequences);
  void was_read(KvCache& cache, int end);  // the chunk up to END was computed
  // What the next step must tell of each row instead of its logits, for as long as the turn lasts; empty: logits.
  CandidateWish wish() const;
  std::span<RowCandidates> candidates(std::size_t rows);
  // LOGITS [rows, vocab], or candidates, belong to the tokens of ROWS in order (reading: to the prompt's last token). Returns how many tokens of ROWS are
  // part of the text: 1 and the drafts that were met.
  int was_written(std::span<const TokenId> rows, std::span<float> logits, int vocab);
  void commit(KvCache& cache, std::span<const TokenId> ids);

  // ---- the end
  bool finished() const { return finish_.has_value(); }
  void end(FinishReason reason, Error error = {});  // keeps an earlier reason
  TurnReport report(KvCache& cache);                // gives the lease back; once
  void tell_progress(Clock::time_point now);

  TurnId id = 0;
  TurnRequest request;
  std::shared_ptr<TurnListener> listener;
  ModelRuntime* runtime = nullptr;     // from admit() on
  std::unique_ptr<CacheLease> lease;
  std::unique_ptr<DraftModel> drafter; // speculation by a second model
  Phase phase = Phase::queued;
  int queue_position = -1;             // as last told
  int stop_after_read = 0, stop_after_written = 0;  // 0: not asked for
  bool state_valid = true;             // false: a step was cut short, the recurrent state is undefined
  TokenId next = -1;                   // written, not computed yet
  PhaseWork read_work, write_work;     // of steps; writing: those without a prompt beside it

 private:
  int prompt_size() const { return static_cast<int>(request.prompt.ids.size()); }
  void begin_answer(ModelRuntime& model);
  bool ends_answer(TokenId id, bool forced) const;
  void take(TokenId id, bool forced);
  int most_drafts(int max_rows) const;
  std::vector<TokenId> text() const;   // prompt and answer so far
  void show(const std::vector<AnswerStream::Piece>& pieces, TokenId id);
  void force_closing();
  void find_texts(CacheReport& report) const;
  void fill_rates(TurnReport& report) const;
  double rate_at(std::size_t i) const;

  std::unique_ptr<Sampler> sampler_;
  std::unique_ptr<AnswerStream> stream_;
  std::vector<TokenId> output_;
  std::vector<TokenId> forced_;        // closing tokens of a spent thinking budget, next one last
  bool budget_spent_ = false;
  std::vector<TokenId> proposed_;      // by the drafter
  std::vector<float> last_logits_;
  std::vector<RowCandidates> candidates_;  // of the running step
  std::optional<FinishReason> finish_;
  Error error_;
  std::atomic<bool> stop_wanted_{false};
  std::atomic<int> unread_;
  std::atomic<std::int64_t> stop_at_{0};  // Clock ticks

  std::vector<int> restart_points_;
  int drafted_ = 0, accepted_ = 0, passes_ = 0, decode_steps_ = 0, sequences_sum_ = 0;
  double restore_ms_ = 0;
  Clock::time_point accepted_at_, started_at_, reading_at_, last_told_;
  std::vector<Clock::time_point> written_at_;
  Clock::time_point thinking_until_;
  int thinking_seen_ = 0;
};

}  // namespace tg
