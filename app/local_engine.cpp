#include "app/local_engine.h"
#include "engine/chat_template/chat_template.h"

#include <QTimer>
#include <algorithm>

namespace tg {
namespace {

constexpr int kCacheNewsMs = 100;

bool ends_inside_thinking(const std::string& text) {
  const auto last = text.find_last_not_of(" \n\t\r");
  static constexpr std::string_view opening = "<think>";
  if (last == std::string::npos || last + 1 < opening.size()) return false;
  return std::string_view(text).substr(last + 1 - opening.size(), opening.size()) == opening;
}

Prompt prompt_of_ids(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  Prompt prompt;
  prompt.ids = ids;
  std::erase_if(prompt.ids, [&](TokenId id) { return id < 0 || id >= tokenizer.vocab_size(); });
  prompt.text = tokenizer.decode(prompt.ids, true);
  if (!prompt.ids.empty()) prompt.segments.push_back({SegmentKind::new_text, -1, "user", 0, static_cast<int>(prompt.ids.size())});
  return prompt;
}

void append(Prompt& prompt, const Tokenizer& tokenizer, const PromptInput& input) {
  std::vector<TokenId> more = input.continuation;
  while (!more.empty() && (more.back() < 0 || more.back() >= tokenizer.vocab_size() || tokenizer.is_eog(more.back()))) more.pop_back();
  if (more.empty() && !input.continuationText.isEmpty()) more = tokenizer.encode(input.continuationText.toStdString(), {});
  if (more.empty()) return;
  const int begin = static_cast<int>(prompt.ids.size());
  prompt.ids.insert(prompt.ids.end(), more.begin(), more.end());
  prompt.text += tokenizer.decode(more, true);
  prompt.segments.push_back({SegmentKind::history, static_cast<int>(input.messages.size()), "assistant", begin, static_cast<int>(prompt.ids.size())});
}

}  // namespace

// Called on the engine's worker: everything goes into the buffer and returns at once.
class LocalEngine::Listener : public TurnListener {
 public:
  Listener(LocalEngine* port, quint64 turn, QString chat, PortModel model, std::vector<TokenId> prompt)
      : port_(port), turn_(turn), chat_(std::move(chat)), model_(std::move(model)), prompt_(std::move(prompt)) {}

  void queued(int position) override {
    PortEvent event = made(PortEvent::Kind::Queued);
    event.position = position;
    port_->buffer_.add(std::move(event));
  }
  void reading(const TurnProgress& progress) override {
    PortEvent event = made(PortEvent::Kind::Reading);
    event.progress = progress;
    port_->buffer_.add(std::move(event));
  }
  void token(const TurnToken& token) override {
    PortEvent event = made(PortEvent::Kind::Text);
    (token.thinking ? event.thinkingText : event.text) = QString::fromStdString(token.text);
    event.output = token.n_output;
    event.thinking = token.n_thinking;
    event.tokensPerSecond = token.tokens_per_second;
    port_->buffer_.add(std::move(event));
  }
  void finished(const TurnReport& report) override {
    {
      const std::scoped_lock lock(port_->mutex_);
      prompt_.insert(prompt_.end(), report.output_ids.begin(), report.output_ids.end());
      port_->last_ids_[chat_] = std::move(prompt_);
      port_->turns_.remove(turn_);
    }
    PortEvent event = made(PortEvent::Kind::Finished);
    event.report = std::make_shared<TurnReport>(report);
    event.model = model_;
    port_->buffer_.add(std::move(event));
  }

 private:
  PortEvent made(PortEvent::Kind kind) const {
    PortEvent event;
    event.turn = turn_;
    event.kind = kind;
    return event;
  }
  LocalEngine* port_;
  quint64 turn_;
  QString chat_;
  PortModel model_;
  std::vector<TokenId> prompt_;
};

LocalEngine::LocalEngine(const EngineOptions& options, QObject* parent) : EnginePort(parent), buffer_(this), engine_(Engine::create(heard(options))) {
  texts_pool_.setMaxThreadCount(2);
  load_pool_.setMaxThreadCount(1);
  cache_pool_.setMaxThreadCount(1);
}

// The cache speaks under its lock, from any thread and page by page: only the word is passed on, and not for every page.
EngineOptions LocalEngine::heard(EngineOptions options) {
  options.cache_changed = [this] {
    if (cache_news_.exchange(true)) return;
    QMetaObject::invokeMethod(
        this,
        [this] {
          QTimer::singleShot(kCacheNewsMs, this, [this] {
            cache_news_ = false;
            Q_EMIT cacheChanged();
          });
        },
        Qt::QueuedConnection);
  };
  return options;
}

LocalEngine::~LocalEngine() {
  {
    const std::scoped_lock lock(mutex_);
    for (const Turn& turn : std::as_const(turns_)) turn.cancel.cancel();
  }
  for (QThreadPool* pool : {&texts_pool_, &load_pool_}) {
    pool->clear();
    pool->waitForDone();
  }
  cache_pool_.waitForDone();                 // what was asked is done: a chat deleted just before leaves no file
  loaded_.clear();
  engine_.reset();
}

// By counts alone: TOKENS of a prompt of CHATID, for a model that is not loaded or a chat whose ids are not at hand.
Prediction LocalEngine::estimate(const std::string& fingerprint, const QString& chatId, int tokens) const {
  Prediction out;
  const std::optional<CacheState> held = engine_->cache_state(chatId.toStdString());
  if (held && held->fingerprint == fingerprint) out.cached = std::clamp(held->tokens, 0, std::max(0, tokens - 1));
  out.fresh = tokens - out.cached;
  out.tier = out.cached > 0 ? held->tier : Tier::none;
  // The bytes of what is on disk, as a share of all that the chat holds.
  const double on_disk = out.cached > 0 ? static_cast<double>(held->bytes) * held->tokens_disk / held->tokens : 0;
  out.ttft_ms = engine_->expect(fingerprint, {}, out.cached, out.fresh, static_cast<std::uint64_t>(on_disk)).ttft_ms;
  return out;
}

PromptOutput LocalEngine::build(const PromptInput& input, const LoadOptions& load) {
  PromptOutput out;
  const auto model = texts_.get(input.modelPath.toStdString(), input.templateFile.toStdString());
  if (!model) return out.error = model.error(), out;
  const TextModel& text = **model;
  out.modelWindow = text.context_length;
  const int wished = input.window > 0 ? input.window : load.context;
  out.window = wished == 0 ? text.context_length : text.context_length == 0 ? wished : std::min(wished, text.context_length);
  out.hasThinking = text.thinks;
  auto prompt = std::make_shared<Prompt>();
  if (input.ids) {
    *prompt = prompt_of_ids(*text.tokenizer, *input.ids);
  } else if (!text.chat_template) {
    return out.error = text.template_error, out;
  } else {
    auto built = build_prompt(*text.chat_template, *text.tokenizer, input.messages, input.options);
    if (!built) return out.error = built.error(), out;
    *prompt = std::move(*built);
  }
  append(*prompt, *text.tokenizer, input);
  out.startsThinking = ends_inside_thinking(prompt->text);
  if (const ModelHandle handle = find_any(input.modelPath.toStdString())) {
    out.prediction = engine_->predict(handle, input.chatId.toStdString(), prompt->ids);
  } else {
    out.prediction = estimate(text.file->fingerprint(), input.chatId, static_cast<int>(prompt->ids.size()));
  }
  out.prompt = std::move(prompt);
  return out;
}

quint64 LocalEngine::buildPrompt(const PromptInput& input) {
  const quint64 request = next_++;
  texts_pool_.start([this, input, request, load = load_defaults_] {
    PromptOutput out = build(input, load);
    out.request = request;
    QMetaObject::invokeMethod(this, [this, out] { Q_EMIT promptBuilt(out); }, Qt::QueuedConnection);
  });
  return request;
}

quint64 LocalEngine::submit(const TurnJob& job) {
  const quint64 turn = next_++;
  CancelToken cancel;
  {
    const std::scoped_lock lock(mutex_);
    turns_[turn] = {0, cancel, job.chatId, job.modelPath};
  }
  const bool needs_draft = job.speculative.startsWith(QLatin1String("draft:"));
  if (const ModelHandle model = needs_draft ? nullptr : find(job.modelPath.toStdString(), job.load)) {
    start(turn, job, model, nullptr, 0);
  } else {
    load_pool_.start([this, turn, job, cancel] { load_and_start(turn, job, cancel); });
  }
  return turn;
}

void LocalEngine::load_and_start(quint64 turn, const TurnJob& job, const CancelToken& cancel) {
  double load_ms = 0;
  if (cancel.cancelled()) return fail(turn, job, make_error(ErrorCode::cancelled, "Cancelled."), 0);
  const auto model = load(turn, job.modelPath.toStdString(), job.load, cancel, &load_ms);
  if (!model) return fail(turn, job, model.error(), load_ms);
  ModelHandle draft;
  if (job.speculative.startsWith(QLatin1String("draft:"))) {
    const auto loaded = load(turn, job.speculative.mid(6).toStdString(), job.load, cancel, &load_ms);
    if (!loaded) return fail(turn, job, loaded.error(), load_ms);
    draft = *loaded;
  }
  if (cancel.cancelled()) return fail(turn, job, make_error(ErrorCode::cancelled, "Cancelled."), load_ms);
  start(turn, job, *model, draft, load_ms);
}

void LocalEngine::start(quint64 turn, const TurnJob& job, const ModelHandle& model, const ModelHandle& draft, double load_ms) {
  TurnRequest request;
  request.model = model;
  request.sequence = job.chatId.toStdString();
  request.sequence_title = job.chatTitle.toStdString();
  request.prompt = *job.prompt;
  request.sampling = job.sampling;
  request.max_tokens = job.maxTokens;
  for (const QString& stop : job.stop) request.stop.push_back(stop.toStdString());
  request.ignore_eos = job.ignoreEos;
  request.json_schema = job.jsonSchema.toStdString();
  request.thinking = job.thinking;
  request.use_cache = job.useCache;
  request.keep_on_close = job.keepOnClose;
  request.logits_sha = job.logitsSha;
  request.change_hint = job.changeHint.toStdString();
  request.change_message = job.changeMessage;
  request.speculation.draft = draft;
  using Kind = SpeculationOptions::Kind;
  request.speculation.kind = draft ? Kind::draft : job.speculative == QLatin1String("ngram") ? Kind::ngram : Kind::off;
  PortModel facts{QString::fromStdString(model->name),   QString::fromStdString(model->fingerprint), QString::fromStdString(model->backend),
                  QString::fromStdString(model->device), load_ms, model->context, model->kv_bytes_per_token, {}};
  // Now, not when the prompt was counted: others may have been sent since, and the model may have been loaded.
  facts.predictedMs = engine_->predict(model, request.sequence, request.prompt.ids).ttft_ms;
  if (facts.predictedMs) {
    PortEvent event;
    event.turn = turn;
    event.predictedMs = facts.predictedMs;
    buffer_.add(std::move(event));
  }
  auto listener = std::make_shared<Listener>(this, turn, job.chatId, facts, job.prompt->ids);
  const TurnId id = engine_->submit(std::move(request), std::move(listener));
  bool cancelled = false;
  {
    const std::scoped_lock lock(mutex_);
    if (!turns_.contains(turn)) return;     // finished already
    turns_[turn].engine = id;
    cancelled = turns_[turn].cancel.cancelled();
  }
  if (cancelled) engine_->cancel(id);
}

void LocalEngine::fail(quint64 turn, const TurnJob& job, const Error& error, double load_ms) {
  {
    const std::scoped_lock lock(mutex_);
    turns_.remove(turn);
  }
  auto report = std::make_shared<TurnReport>();
  report->input_total = report->input_fresh = static_cast<int>(job.prompt->ids.size());
  report->finish_reason = error.code == ErrorCode::cancelled ? FinishReason::cancelled : FinishReason::error;
  report->error = error;
  report->cache.outcome = "cold";
  report->cache.enabled = job.useCache;
  PortEvent event;
  event.turn = turn;
  event.kind = PortEvent::Kind::Finished;
  event.report = std::move(report);
  event.model.loadMs = load_ms;
  buffer_.add(std::move(event));
}

void LocalEngine::cancel(quint64 turn) {
  TurnId id = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (!turns_.contains(turn)) return;
    turns_[turn].cancel.cancel();
    id = turns_[turn].engine;
  }
  if (id != 0) engine_->cancel(id);
}

void LocalEngine::cancelAfter(const QString& chatId, int prefillTokens, int outputTokens) {
  engine_->cancel_after(chatId.toStdString(), prefillTokens, outputTokens);
}

std::vector<CacheState> LocalEngine::cacheStates() const { return engine_->cache_states(); }
std::optional<CacheState> LocalEngine::cacheState(const QString& chatId) const { return engine_->cache_state(chatId.toStdString()); }
std::vector<CacheEvent> LocalEngine::cacheEvents(const QString& chatId) const { return engine_->events(chatId.toStdString()); }
Status LocalEngine::keep(const QString& chatId, Tier tier) { return engine_->keep(chatId.toStdString(), tier); }
Status LocalEngine::evict(const QString& chatId) { return engine_->evict(chatId.toStdString()); }
Status LocalEngine::pin(const QString& chatId, bool pinned) { return engine_->pin(chatId.toStdString(), pinned); }
Status LocalEngine::clearCache() { return engine_->clear(); }
void LocalEngine::setBudget(const CacheBudget& budget) { engine_->set_budget(budget); }
CacheBudget LocalEngine::budget() const { return engine_->budget(); }
Result<std::string> LocalEngine::checkIntegrity() { return engine_->check_integrity(); }
void LocalEngine::forked(const QString& from, const QString& to) { engine_->fork(from.toStdString(), to.toStdString()); }

Status LocalEngine::forget(const QString& chatId) {
  {
    const std::scoped_lock lock(mutex_);
    last_ids_.remove(chatId);
  }
  return engine_->forget(chatId.toStdString());
}

void LocalEngine::background(std::function<Status()> work, std::function<void(const Status&)> done) {
  cache_pool_.start([this, work = std::move(work), done = std::move(done)] {
    const Status status = work();
    QMetaObject::invokeMethod(this, [done, status] { done(status); }, Qt::QueuedConnection);
  });
}

WaitAnswer LocalEngine::expectedWait(const WaitQuestion& question) const {
  WaitAnswer out;
  const ModelHandle model = find_any(question.modelPath.toStdString());
  out.loaded = model != nullptr;
  std::vector<TokenId> ids;
  {
    const std::scoped_lock lock(mutex_);
    ids = last_ids_.value(question.chatId);
  }
  if (model && (!ids.empty() || question.known == 0)) {
    ids.insert(ids.end(), static_cast<std::size_t>(question.fresh), 0);
    out.ttftMs = engine_->predict(model, question.chatId.toStdString(), ids).ttft_ms;
    return out;
  }
  const std::string fingerprint = model ? model->fingerprint : question.fingerprint.toStdString();
  if (fingerprint.empty()) return out;
  out.ttftMs = estimate(fingerprint, question.chatId, question.known + question.fresh).ttft_ms;
  if (!model) out.loadMs = engine_->expect(fingerprint, {}, 0, 1, 0).load_ms;
  return out;
}

}  // namespace tg
