// What the services use of an engine: count, submit, cancel, steer the cache. Two implementations: LocalEngine (the real one) and ScriptedEngine
// (deterministic, for tests, --self-test and pictures).
// Thread: methods are called on the port's own thread (the service's) and return at once, except those that say "may wait"; results and events arrive
// there by signal. Events are gathered in a buffer, so that a fast engine costs one queued call per batch and never one per token.
// Ownership: prompts and reports are shared and immutable.
#pragma once
#include <QObject>
#include <QString>
#include <QStringList>
#include <QVector>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/chat_template/chat_template.h"
#include "engine/engine.h"

namespace tg {

// What a turn says before it is one: messages to render, or ids to take as they are.
struct PromptInput {
  QString modelPath, templateFile;          // templateFile empty: the model's own
  int window = 0;                           // wished window of the chat; 0: the default of LoadOptions
  std::vector<ChatMessage> messages;
  PromptOptions options;
  std::optional<std::vector<TokenId>> ids;  // instead of messages
  std::vector<TokenId> continuation;        // of an answer to go on with: its ids, or its text where they are not known
  QString continuationText;
  QString chatId;                           // whose cache is asked for the prediction; empty: none
};

struct PromptOutput {
  quint64 request = 0;
  std::shared_ptr<const Prompt> prompt;     // null: `error` says why
  int window = 0, modelWindow = 0;          // tokens: in force for this chat; the most the model was made for
  bool hasThinking = false, startsThinking = false;
  Prediction prediction;
  Error error;
};

struct TurnJob {
  QString chatId, chatTitle, modelPath;
  LoadOptions load;
  std::shared_ptr<const Prompt> prompt;
  SamplingOptions sampling;
  int maxTokens = 1024;
  QStringList stop;
  QString jsonSchema;                       // see TurnRequest::json_schema
  bool ignoreEos = false, useCache = true, logitsSha = false;
  ThinkingOptions thinking;
  QString speculative = QStringLiteral("off");  // off ngram draft:MODEL
  QString changeHint;                       // see TurnRequest::change_hint
  int changeMessage = -1;
  std::optional<KeepOnClose> keepOnClose;   // unset: as the chat's cache has it
};

// What is known of the model a turn ran on.
struct PortModel {
  QString name, fingerprint, backend, device;
  double loadMs = 0;                        // of this turn: 0 when it was loaded already
  int context = 0;
  double kvBytesPerToken = 0;
  std::optional<double> predictedMs;        // taken when the engine got the turn; unset: not measured
};

// What reading a chat and a new message would take now.
struct WaitQuestion {
  QString chatId, modelPath;
  QString fingerprint;                      // of the model file as last seen, for a model that is not loaded; empty: not known
  int known = 0, fresh = 0;                 // tokens of the chat so far, and those that come
};
struct WaitAnswer {
  bool loaded = false;
  std::optional<double> ttftMs, loadMs;     // unset: never measured; the load comes on top while the model is not loaded
};

struct PortEvent {
  enum class Kind { Queued, Loading, Reading, Text, Finished };
  quint64 turn = 0;
  Kind kind = Kind::Queued;
  int position = 0;                         // Queued
  std::optional<double> predictedMs;        // Queued, once: what reading will take, by what runs beside it now
  qint64 done = 0, total = 0;               // Loading, bytes
  TurnProgress progress;                    // Reading: the newest
  QString text, thinkingText;               // Text: what was added since the last event
  int output = 0, thinking = 0;             // Text: tokens so far
  double tokensPerSecond = 0;
  std::shared_ptr<const TurnReport> report; // Finished
  PortModel model;                          // Finished
};

class EnginePort : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  // ---- before a turn, off this thread -> promptBuilt
  virtual quint64 buildPrompt(const PromptInput& input) = 0;

  // ---- turns. The model is loaded when it is not. -> events
  virtual quint64 submit(const TurnJob& job) = 0;
  virtual void cancel(quint64 turn) = 0;
  virtual void cancelAfter(const QString& chatId, int prefillTokens, int outputTokens) = 0;

  // ---- models
  virtual bool isLoaded(const QString& modelPath) const = 0;
  virtual void unloadAll() = 0;             // may wait for the step in progress
  virtual QString deviceInUse() const = 0;  // empty: nothing is loaded
  virtual QString loadedModel() const = 0;
  virtual void setLoadDefaults(const LoadOptions& options) = 0;
  virtual LoadOptions loadDefaults() const = 0;

  // ---- cache
  virtual std::vector<CacheState> cacheStates() const = 0;
  virtual std::optional<CacheState> cacheState(const QString& chatId) const = 0;
  virtual std::vector<CacheEvent> cacheEvents(const QString& chatId) const = 0;
  virtual CacheUse cacheUse() const = 0;
  virtual Status keep(const QString& chatId, Tier tier) = 0;   // may wait: writes a snapshot for Tier::disk
  virtual void prefetch(const QString& chatId) { Q_UNUSED(chatId) }  // see Engine::prefetch
  virtual Status evict(const QString& chatId) = 0;
  virtual Status pin(const QString& chatId, bool pinned) = 0;
  virtual Status keepOnClose(const QString& chatId, KeepOnClose keep) = 0;
  virtual void setKeepRules(const KeepRules& rules) = 0;
  virtual void leaveIdle(qint64 nowMs) = 0;                    // see Engine::leave_idle
  virtual Status forget(const QString& chatId) = 0;
  virtual Status clearCache() = 0;
  virtual void setBudget(const CacheBudget& budget) = 0;
  virtual CacheBudget budget() const = 0;
  virtual bool flushCache(int ms) = 0;                         // waits: what was asked of the cache has moved
  virtual Result<std::string> checkIntegrity() = 0;            // may wait
  virtual void forked(const QString& from, const QString& to) = 0;
  // Runs WORK (cache calls that may wait) off this thread, then DONE here. WORK is done even where the engine closes first; it may touch
  // nothing that closes before the engine. DONE is then left out.
  virtual void background(std::function<Status()> work, std::function<void(const Status&)> done) = 0;
  virtual WaitAnswer expectedWait(const WaitQuestion& question) const = 0;

 Q_SIGNALS:
  void promptBuilt(const tg::PromptOutput& output);
  void events(const QVector<tg::PortEvent>& batch);
  void modelsChanged();                     // loaded or unloaded
  void cacheChanged();                      // something moved; at most ten times a second
};

// Buffer between an engine's threads and the port's: add() from any thread, one queued flush() per batch. Text of one turn is joined, progress replaced.
class PortEventBuffer {
 public:
  explicit PortEventBuffer(EnginePort* port);
  ~PortEventBuffer();
  void add(PortEvent event);
  void flush();                             // port's thread

 private:
  struct Private;
  std::shared_ptr<Private> d_;
};

}  // namespace tg
