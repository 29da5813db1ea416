// One worker thread runs all turns of all models. Each step is one batch of one model: at most one chunk of a prompt, bounded by time, and
// one row (with speculation: a few) per turn that writes. So a long prompt never starves a writing chat, nor the reverse.
// Thread: public methods from any thread; none waits for a running step.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "engine/cache/kv_cache.h"
#include "engine/schedule/curve_store.h"
#include "engine/schedule/model_runtime.h"
#include "engine/schedule/turn.h"

namespace tg {

class Scheduler {
 public:
  Scheduler(KvCache& cache, const std::string& curves_file);
  ~Scheduler();  // cancels all turns

  void add_model(std::unique_ptr<ModelRuntime> runtime);
  void remove_model(const ModelHandle& model);  // when its turns are cancelled
  TurnId submit(TurnRequest request, std::shared_ptr<TurnListener> listener);
  void cancel(TurnId turn);
  void cancel_sequence(const std::string& sequence);
  void cancel_after(const std::string& sequence, int prefill_tokens, int output_tokens);
  // Runs JOB on the worker once no turn of SEQUENCE is left.
  void when_idle(const std::string& sequence, std::function<void()> job);
  Prediction predict(const ModelHandle& model, const std::vector<TokenId>& prompt) const;
  Expectation expect(const std::string& fingerprint, const std::string& backend, int cached, int fresh, std::uint64_t disk_bytes) const;

 private:
  // A chunk alone may take as long as progress reports and a stop allow; beside writing chats it bounds the gap between their tokens.
  static constexpr double kChunkAlone = 250, kChunkBesideOthers = 60;  // ms
  struct Step;
  void loop();
  bool tidy(std::unique_lock<std::mutex>& lock);  // ends, unloads, admits; false: asked to stop
  void end_stopped(std::unique_lock<std::mutex>& lock);
  void admit(std::unique_lock<std::mutex>& lock);
  ModelRuntime* find_model(const ModelHandle& model) const;   // null: not loaded, or on its way out
  Error refusal(const TurnRequest& request) const;            // empty message: the turn can run
  void finish(std::shared_ptr<Turn> turn, std::unique_lock<std::mutex>& lock);
  void unload_closed(std::unique_lock<std::mutex>& lock);
  void run_jobs(std::unique_lock<std::mutex>& lock);
  void tell_queue(std::unique_lock<std::mutex>& lock);
  void fill_work(const Turn& turn, TurnReport& report) const;
  bool restore_slice(std::unique_lock<std::mutex>& lock);
  ModelRuntime* next_model();
  void make_drafts(ModelRuntime& runtime, std::unique_lock<std::mutex>& lock);
  void collect(ModelRuntime& runtime, Step& step);
  int alone_rows(const ModelRuntime& runtime, int depth) const;
  int chunk_rows(const ModelRuntime& runtime, const Turn& turn, bool others_write) const;
  void run_step(ModelRuntime& runtime, std::unique_lock<std::mutex>& lock);
  void take_results(ModelRuntime& runtime, Step& step, const Status& status, const PhaseWork& work);
  void replay_accepted(ModelRuntime& runtime, Turn& turn, const std::vector<TokenId>& rows, int kept, const std::byte* before);
  void learn(ModelRuntime& runtime, const Step& step, double ms);
  double reading_estimate(const ModelRuntime& runtime, int cached, int fresh) const;
  double restore_estimate(double bytes) const;
  bool busy(const std::string& sequence) const;
  bool has_work() const;
  void save_curves(std::unique_lock<std::mutex>& lock);
  struct IdleWork {
    void (Scheduler::*what)(ModelRuntime&, std::unique_lock<std::mutex>&);
    ModelRuntime* model;
  };
  std::optional<IdleWork> idle_work() const;
  bool may_measure() const { return idle_work().has_value(); }
  void measure(std::unique_lock<std::mutex>& lock);
  template <class Job>
  bool while_idle(std::unique_lock<std::mutex>& lock, Job&& job);
  void settle(ModelRuntime& runtime, std::unique_lock<std::mutex>& lock);
  void tune(ModelRuntime& runtime, std::unique_lock<std::mutex>& lock);
  void measure_reading(ModelRuntime& runtime, std::unique_lock<std::mutex>& lock);
  Status read_for_curve(ModelRuntime& runtime, const CancelToken& cancel, PrefillCurve& curve);
  void measure_limits(ModelRuntime& runtime, std::unique_lock<std::mutex>& lock);

  KvCache& cache_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  CurveStore curves_;
  std::vector<std::unique_ptr<ModelRuntime>> models_;
  std::deque<std::shared_ptr<Turn>> queued_;
  std::vector<std::shared_ptr<Turn>> active_;
  std::map<std::string, std::pair<int, int>> cancel_after_;      // by sequence: prefill tokens, output tokens
  std::vector<std::pair<std::string, std::function<void()>>> jobs_;
  TurnId last_id_ = 0;
  std::size_t model_turn_ = 0;        // round robin over models
  std::map<const ModelRuntime*, std::size_t> prompt_turn_;  // round robin over prompts of a model
  std::optional<CancelToken> step_cancel_;  // of the running step
  std::vector<TurnId> step_turns_;
  bool measuring_failed_ = false;
  std::vector<float> logits_;
  std::thread thread_;
};

}  // namespace tg
