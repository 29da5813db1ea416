// A deterministic engine: answers, sizes and timings come from a script, cache figures from a real prefix comparison of made-up tokens, so they add up.
// One word is one token. Time passes only by advance() (tests) or by a timer (self-test, demos).
// Thread: one thread, that of its owner.
#pragma once
#include <QHash>
#include <QQueue>
#include <QTimer>

#include "app/engine_port.h"

namespace tg {

struct Script {
  QString name = QStringLiteral("plain");
  QStringList answers;                      // used in turn, then again from the first
  QStringList thoughts;                     // thinking text before answer i; empty: none
  double prefillTps = 2000, decodeTps = 50; // tokens per second of the script's clock
  double loadMs = 0;
  int window = 8192, modelWindow = 32768;
  QString error;                            // every turn ends by this one after `errorAfter` output tokens
  int errorAfter = 0;
  bool timer = true;                        // false: manual clock
  // A named script: plain, instant, slow, long, thinking, error, small-window, manual. Unknown names give plain.
  static Script named(const QString& name);
};

class ScriptedEngine : public EnginePort {
  Q_OBJECT
 public:
  explicit ScriptedEngine(Script script, QObject* parent = nullptr);
  ~ScriptedEngine() override;

  void advance(double ms);                  // the clock moves; events come before it returns
  void finishAll();                         // advances until nothing runs
  Script& script() { return script_; }
  const TurnJob& lastJob() const { return last_job_; }
  int submitted() const { return submitted_; }

  quint64 buildPrompt(const PromptInput& input) override;
  quint64 submit(const TurnJob& job) override;
  void cancel(quint64 turn) override;
  void cancelAfter(const QString& chatId, int prefillTokens, int outputTokens) override;
  bool isLoaded(const QString& modelPath) const override;
  void unloadAll() override;
  QString deviceInUse() const override;
  QString loadedModel() const override { return loaded_; }
  void setLoadDefaults(const LoadOptions& options) override { load_ = options; }
  LoadOptions loadDefaults() const override { return load_; }
  std::vector<CacheState> cacheStates() const override;
  std::optional<CacheState> cacheState(const QString& chatId) const override;
  std::vector<CacheEvent> cacheEvents(const QString& chatId) const override { return cache_.value(chatId).events; }
  CacheUse cacheUse() const override;
  Status keep(const QString& chatId, Tier tier) override;
  Status evict(const QString& chatId) override;
  Status pin(const QString& chatId, bool pinned) override;
  Status keepOnClose(const QString& chatId, KeepOnClose keep) override;
  void setKeepRules(const KeepRules& rules) override { rules_ = rules; }
  void leaveIdle(qint64 nowMs) override;
  Status forget(const QString& chatId) override;
  Status clearCache() override;
  void setBudget(const CacheBudget& budget) override;
  CacheBudget budget() const override { return budget_; }
  bool flushCache(int) override { return true; }
  Result<std::string> checkIntegrity() override;
  void forked(const QString& from, const QString& to) override;
  void background(std::function<Status()> work, std::function<void(const Status&)> done) override;
  WaitAnswer expectedWait(const WaitQuestion& question) const override;

 private:
  struct Running;
  struct Held { std::vector<CacheEvent> events; std::string reason = "used"; std::vector<TokenId> ids, last_prompt; Tier tier = Tier::none; bool pinned = false, evicted = false; qint64 last_use = 0; KeepOnClose keep = KeepOnClose::by_size; };

  std::vector<TokenId> tokens_of(const QString& text, std::string* normal = nullptr);
  int common_prefix(const QString& chatId, const std::vector<TokenId>& ids, QString* from) const;
  void start(Running& turn);
  bool step(Running& turn, double ms);      // true: the turn has ended
  void write(Running& turn, double ms);
  void end(Running& turn, FinishReason reason, const QString& error);
  void note(const QString& chatId, const char* movement, const char* reason);
  CacheReport cache_report(const Running& turn) const;
  void tick();

  Script script_;
  LoadOptions load_;
  KeepRules rules_;
  CacheBudget budget_{0, std::uint64_t{2} << 30, std::uint64_t{8} << 30};
  PortEventBuffer buffer_;
  QTimer timer_;
  QHash<QString, TokenId> vocabulary_;
  QHash<QString, Held> cache_;
  QHash<QString, QPair<int, int>> cancel_after_;
  std::vector<std::unique_ptr<Running>> running_;
  QString loaded_;
  TurnJob last_job_;
  quint64 next_ = 1;
  int submitted_ = 0;
  double now_ms_ = 0;
};

}  // namespace tg
