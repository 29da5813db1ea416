#include "engine/schedule/engine_impl.h"

#include <utility>

#include "engine/cache/kv_cache.h"
#include "engine/schedule/scheduler.h"

namespace tg {
namespace {

class EngineImpl : public Engine {
 public:
  EngineImpl(const EngineOptions& options, ModelLoader loader)
      : loader_(std::move(loader)), tuning_file_(options.tuning_file), cache_(options.cache_dir, options.budget, options.keep), scheduler_(cache_, options.curves_file) {
    cache_.set_listener(options.cache_changed);
  }

  ~EngineImpl() override { cache_.closing(); }

  Result<ModelHandle> load(const std::string& path, const LoadOptions& options, const std::function<void(std::uint64_t, std::uint64_t)>& progress,
                           const CancelToken& cancel) override {
    LoadOptions with_tuning = options;
    if (!tuning_file_.empty()) with_tuning.tuning_file = tuning_file_;
    auto runtime = loader_(path, with_tuning, progress, cancel);
    if (!runtime) return runtime.error();
    ModelHandle handle = (*runtime)->info;
    scheduler_.add_model(std::move(*runtime));
    return handle;
  }
  void unload(const ModelHandle& model) override { scheduler_.remove_model(model); }

  TurnId submit(TurnRequest request, std::shared_ptr<TurnListener> listener) override { return scheduler_.submit(std::move(request), std::move(listener)); }
  void cancel(TurnId turn) override { scheduler_.cancel(turn); }
  void cancel_after(const std::string& sequence, int prefill_tokens, int output_tokens) override {
    scheduler_.cancel_after(sequence, prefill_tokens, output_tokens);
  }

  std::vector<CacheState> cache_states() const override { return cache_.states(); }
  std::optional<CacheState> cache_state(const std::string& sequence) const override { return cache_.state(sequence); }
  Status keep(const std::string& sequence, Tier tier) override { return cache_.keep(sequence, tier); }
  void prefetch(const std::string& sequence) override { cache_.prefetch(sequence); }
  Status evict(const std::string& sequence) override { return cache_.evict(sequence); }
  Status keep_on_close(const std::string& sequence, KeepOnClose keep) override { return cache_.keep_on_close(sequence, keep); }
  void set_keep_rules(const KeepRules& rules) override { cache_.set_rules(rules); }
  KeepRules keep_rules() const override { return cache_.rules(); }
  void leave_idle(std::int64_t now_ms) override { cache_.leave_idle(now_ms); }
  Status pin(const std::string& sequence, bool pinned) override { return cache_.pin(sequence, pinned); }
  Status forget(const std::string& sequence) override {
    scheduler_.cancel_sequence(sequence);
    scheduler_.when_idle(sequence, [this, sequence] { static_cast<void>(cache_.forget(sequence)); });
    return Ok{};
  }
  Status clear() override { return cache_.clear(); }
  void set_budget(const CacheBudget& budget) override { cache_.set_budget(budget); }
  CacheBudget budget() const override { return cache_.budget(); }
  bool flush_cache(std::chrono::milliseconds limit) override { return cache_.flush(limit); }
  Result<std::string> check_integrity() override { return cache_.check_integrity(); }
  std::vector<CacheEvent> events(const std::string& sequence) const override { return cache_.events(sequence); }
  CacheUse cache_use() const override { return cache_.use(); }
  void fork(const std::string& from, const std::string& to) override { cache_.fork(from, to); }

  Prediction predict(const ModelHandle& model, const std::string& sequence, const std::vector<TokenId>& prompt) const override {
    static_cast<void>(sequence);  // whatever chat computed the prefix serves it
    return scheduler_.predict(model, prompt);
  }

  Expectation expect(const std::string& fingerprint, const std::string& backend, int cached, int fresh, std::uint64_t disk_bytes) const override {
    return scheduler_.expect(fingerprint, backend, cached, fresh, disk_bytes);
  }

 private:
  ModelLoader loader_;
  std::string tuning_file_;
  KvCache cache_;
  Scheduler scheduler_;  // dies first: its turns give their leases back
};

}  // namespace

std::unique_ptr<Engine> make_engine(const EngineOptions& options, ModelLoader loader) { return std::make_unique<EngineImpl>(options, std::move(loader)); }

}  // namespace tg
