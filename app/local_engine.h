// The engine of this machine behind the port: texts on a pool, loads on a thread of their own, turns on the engine's worker.
// Thread: as EnginePort. Ownership: owns the engine; its destructor cancels all turns.
#pragma once
#include <QHash>
#include <QThreadPool>
#include <mutex>

#include "app/engine_port.h"
#include "app/text_models.h"

namespace tg {

class LocalEngine : public EnginePort {
  Q_OBJECT
 public:
  explicit LocalEngine(const EngineOptions& options, QObject* parent = nullptr);
  ~LocalEngine() override;

  quint64 buildPrompt(const PromptInput& input) override;
  quint64 submit(const TurnJob& job) override;
  void cancel(quint64 turn) override;
  void cancelAfter(const QString& chatId, int prefillTokens, int outputTokens) override;
  bool isLoaded(const QString& modelPath) const override;
  void unloadAll() override;
  QString deviceInUse() const override;
  QString loadedModel() const override;
  void setLoadDefaults(const LoadOptions& options) override { load_defaults_ = options; }
  LoadOptions loadDefaults() const override { return load_defaults_; }
  std::vector<CacheState> cacheStates() const override;
  std::optional<CacheState> cacheState(const QString& chatId) const override;
  std::vector<CacheEvent> cacheEvents(const QString& chatId) const override;
  CacheUse cacheUse() const override { return engine_->cache_use(); }
  Status keep(const QString& chatId, Tier tier) override;
  void prefetch(const QString& chatId) override { engine_->prefetch(chatId.toStdString()); }
  Status evict(const QString& chatId) override;
  Status pin(const QString& chatId, bool pinned) override;
  Status keepOnClose(const QString& chatId, KeepOnClose keep) override { return engine_->keep_on_close(chatId.toStdString(), keep); }
  void setKeepRules(const KeepRules& rules) override { engine_->set_keep_rules(rules); }
  void leaveIdle(qint64 nowMs) override { engine_->leave_idle(nowMs); }
  Status forget(const QString& chatId) override;
  Status clearCache() override;
  void setBudget(const CacheBudget& budget) override;
  CacheBudget budget() const override;
  bool flushCache(int ms) override { return engine_->flush_cache(std::chrono::milliseconds(ms)); }
  Result<std::string> checkIntegrity() override;
  void forked(const QString& from, const QString& to) override;
  void background(std::function<Status()> work, std::function<void(const Status&)> done) override;
  WaitAnswer expectedWait(const WaitQuestion& question) const override;

 private:
  class Listener;
  struct Loaded { ModelHandle handle; LoadOptions options; quint64 last_use = 0; };
  struct Turn { TurnId engine = 0; CancelToken cancel; QString chat, model; };

  EngineOptions heard(EngineOptions options);
  Prediction estimate(const std::string& fingerprint, const QString& chatId, int tokens) const;
  PromptOutput build(const PromptInput& input, const LoadOptions& load);
  ModelHandle find(const std::string& path, const LoadOptions& options);
  ModelHandle find_any(const std::string& path) const;
  Result<ModelHandle> load(quint64 turn, const std::string& path, const LoadOptions& options, const CancelToken& cancel, double* load_ms);
  void load_and_start(quint64 turn, const TurnJob& job, const CancelToken& cancel);
  void start(quint64 turn, const TurnJob& job, const ModelHandle& model, const ModelHandle& draft, double load_ms);
  void fail(quint64 turn, const TurnJob& job, const Error& error, double load_ms);
  void make_room(const std::string& keep);

  PortEventBuffer buffer_;
  std::atomic<bool> cache_news_{false};     // of which cacheChanged() was not sent yet
  std::unique_ptr<Engine> engine_;
  TextModels texts_;
  LoadOptions load_defaults_;
  mutable std::mutex mutex_;                // guards loaded_, turns_ and last_ids_
  std::vector<Loaded> loaded_;
  QHash<quint64, Turn> turns_;
  QHash<QString, std::vector<TokenId>> last_ids_;
  std::atomic<quint64> next_{1};
  QThreadPool texts_pool_, load_pool_, cache_pool_;
};

}  // namespace tg
