// From the engine to the disk: events of running turns, the record of a finished one, and the message that waited for it.
#include <algorithm>

#include "app/chat_service_impl.h"
#include "app/error_words.h"

namespace tg {

namespace {

// A prompt that grew by half and a thousand tokens more than the new text explains is worth a warning.
constexpr double kJumpFactor = 1.5;
constexpr int kJumpTokens = 1000;
constexpr qint64 kLiveCostMs = 250;

int tokens_of_kind(const QVector<RecordSegment>& segments, const char* kind) {
  int sum = 0;
  for (const RecordSegment& s : segments) sum += s.kind == QLatin1String(kind) ? s.tokens : 0;
  return sum;
}

bool jumped(const TurnRecord& last, const TurnRecord& now) {
  const int expected = last.inputTotal.value_or(0) + last.output.value_or(0) + tokens_of_kind(now.segments, "new");
  const int total = now.inputTotal.value_or(0);
  return total >= kJumpFactor * expected && total - expected >= kJumpTokens;
}

}  // namespace

ChatServiceImpl::ChatServiceImpl(storage::StoreThread* store, EnginePort* engine, ServiceHooks hooks, bool readOnly, QObject* parent)
    : store_(store), engine_(engine), hooks_(std::move(hooks)), read_only_(readOnly) {
  setParent(parent);
  connect(engine_, &EnginePort::events, this, &ChatServiceImpl::receive);
  connect(engine_, &EnginePort::modelsChanged, this, &ChatService::chatsChanged);
  connect(engine_, &EnginePort::cacheChanged, this, &ChatService::chatsChanged);  // tiers and waits
  connect(engine_, &EnginePort::promptBuilt, this, [this](const PromptOutput& output) {
    if (const Build then = builds_.take(output.request)) then(output);
  });
}

ChatServiceImpl::~ChatServiceImpl() = default;

TurnJob ChatServiceImpl::jobOf(const Pending& pending, const ChatState& chat) const {
  const GenerationSettings& s = chat.settings.generation;
  TurnJob job;
  job.chatId = pending.chatId;
  job.chatTitle = chat.row.title;
  job.modelPath = chat.row.modelPath;
  job.load = engine_->loadDefaults();
  // One load serves chats with smaller windows too; the window of this chat is kept by the limit of the answer.
  job.load.context = job.load.context == 0 ? 0 : std::max(job.load.context, pending.prompt.window);
  job.prompt = pending.prompt.prompt;
  job.sampling = sampling_of(s);
  job.maxTokens = std::max(1, std::min(s.maxTokens, pending.prompt.window - static_cast<int>(job.prompt->ids.size())));
  job.stop = s.stop;
  job.ignoreEos = pending.extras.ignoreEos;
  job.jsonSchema = pending.extras.jsonSchema;
  job.useCache = pending.extras.useCache;
  job.keepOnClose = engine_keep(chat.settings.keepOnClose);
  job.logitsSha = pending.extras.logitsSha;
  job.thinking = {pending.prompt.startsThinking, s.thinkingBudget};
  job.speculative = s.speculative;
  const QVector<storage::Message> path = pathOf(pending, chat);
  if (pending.kind == Pending::Kind::Edit) {
    job.changeHint = QStringLiteral("edited");
    job.changeMessage = static_cast<int>(prompt_numbers(!s.system.isEmpty(), path, pending.cut).size()) - 1;  // the last one of the prompt
  } else if (pending.dropped) {
    job.changeHint = QStringLiteral("turns_dropped");
  } else if (std::any_of(path.begin(), path.end(), [](const auto& m) { return !m.thinkingText.isEmpty(); })) {
    job.changeHint = QStringLiteral("thinking_dropped");
  }
  return job;
}

void ChatServiceImpl::submit(const Pending& pending, const storage::Message& answer) {
  ChatState* chat = find(pending.chatId);
  // The path of a send now holds the new message itself: the job is made as if it were about to be answered.
  Pending said = pending;
  if (said.kind == Pending::Kind::Send) said.text.clear(), said.attachments.clear();
  const TurnJob job = jobOf(said, *chat);
  chat->running = std::make_unique<TurnRunner>(store_, answer, pending.prompt.prediction.ttft_ms);
  const QString chatId = pending.chatId;
  connect(chat->running.get(), &TurnRunner::saved, this, [this, chatId] { finished(chatId); });
  connect(chat->running.get(), &TurnRunner::saveRefused, this,
          [this, chatId](const storage::Failure& failure) { Q_EMIT failed(chatId, words::sentence(failure, true), failure.details); });
  const quint64 turn = engine_->submit(job);
  chat->running->setTurn(turn);
  submitted_.insert(turn, {chatId, pending, {}});
  chat->last_activity.clear();
  Q_EMIT turnStarted(chatId);
  Q_EMIT chatChanged(chatId);
  if (chat->stop_wanted) engine_->cancel(turn);
}

void ChatServiceImpl::receive(const QVector<PortEvent>& batch) {
  for (const PortEvent& event : batch) {
    const auto it = submitted_.constFind(event.turn);
    if (it == submitted_.constEnd()) continue;
    ChatState* chat = find(it->chat);
    if (!chat || !chat->running) continue;
    const QString before = chat->running->activity();
    if (event.kind == PortEvent::Kind::Finished) {
      finish(*chat, event);
    } else {
      chat->running->apply(event);
      if (chat->running->activity() != before) Q_EMIT chatChanged(chat->row.id);
    }
  }
}

TurnRecord ChatServiceImpl::recordOf(const ChatState& chat, const PortEvent& event, const Pending& pending) const {
  TurnRecord record;
  record.chat = chat.row.title;
  record.messageId = chat.running->message().id;
  record.turn = chat.conversation.turnNumber(record.messageId);
  // What is said once the model is there knows the cache; before that it is an estimate by counts.
  record.predictedTtftMs = event.model.predictedMs ? event.model.predictedMs : pending.prompt.prediction.ttft_ms;
  fill_from_report(record, *event.report, *pending.prompt.prompt, event.model);
  record.context = pending.prompt.window;
  // The answer ended at the window and not at its own limit.
  if (event.report->finish_reason == FinishReason::length && event.report->output < chat.settings.generation.maxTokens) {
    record.finishReason = QStringLiteral("context_full");
  }
  if (record.cache.miss && record.cache.miss->detail == QLatin1String("turns_dropped") && pending.dropped) {
    record.cache.miss->turnFirst = pending.dropped->firstTurn;
    record.cache.miss->turnLast = pending.dropped->lastTurn;
  }
  const QVector<storage::Message> before = chat.conversation.pathBefore(record.messageId);
  if (record.cache.miss && record.cache.miss->message) {
    // The engine counts the messages of the prompt, a reader those of the chat.
    const int number = prompt_numbers(!chat.settings.generation.system.isEmpty(), before, pending.cut).value(*record.cache.miss->message);
    record.cache.miss->message = number > 0 ? std::optional<int>(number) : std::nullopt;
  }
  for (auto it = before.rbegin(); it != before.rend() && pending.kind == Pending::Kind::Send; ++it) {
    const TurnRecord* last = chat.conversation.record(it->id);
    if (!last) continue;
    if (jumped(*last, record)) record.warnings << QStringLiteral("prompt_jump");
    break;
  }
  record.cost = hooks_.cost(record, chat.settings.generation.pricedAs);
  record.own = hooks_.own(record);
  return record;
}

void ChatServiceImpl::finish(ChatState& chat, const PortEvent& event) {
  Submitted done = submitted_.take(event.turn);
  const TurnReport& report = *event.report;
  done.record = recordOf(chat, event, done.pending);
  storage::MessageState state = state_of(report.finish_reason);
  if (done.record.finishReason == QLatin1String("context_full")) state = storage::MessageState::ContextFull;
  const QString error = report.finish_reason == FinishReason::error ? words::sentence(report.error, chat.row.modelPath) : QString();
  chat.running->conclude(report, state, error);
  chat.settings.lastTokens = report.input_total + report.output;
  if (!event.model.fingerprint.isEmpty()) chat.settings.fingerprint = event.model.fingerprint;
  // What never reached the model has no figures; its message says how it ended.
  done.measured = report.output > 0 || report.passes > 0 || report.finish_reason == FinishReason::stop;
  std::optional<storage::Turn> row;
  if (done.measured) row = to_row(done.record, chat.row.id, to_text(chat.settings));
  chat.last_exit = report.finish_reason == FinishReason::error ? words::exit_code(report.error) : 0;
  saving_.insert(chat.row.id, done);
  chat.running->save(row);
}

void ChatServiceImpl::finished(const QString& chatId) {
  ChatState* chat = find(chatId);
  if (!chat || !chat->running) return;
  const Submitted done = saving_.take(chatId);
  live_costs_.remove(chat->running->message().id);
  const storage::Message message = chat->running->message();
  chat->conversation.update(message);
  if (done.measured) chat->conversation.setRecord(message.id, done.record);
  chat->running.release()->deleteLater();   // it is the sender of this signal
  chat->last_activity = message.state == storage::MessageState::Error ? QStringLiteral("error") : message.state == storage::MessageState::Stopped ? QStringLiteral("stopped") : QString();
  storeSettings(*chat);
  const MessageInfo info = chat->conversation.info(message.id);
  Q_EMIT messageChanged(chatId, info);
  Q_EMIT turnFinished(chatId, info);
  Q_EMIT chatChanged(chatId);
  Q_EMIT chatsChanged();
  if (ChatState* still = find(chatId)) sendQueued(*still);
}

void ChatServiceImpl::sendQueued(ChatState& chat) {
  if (!chat.queued || chat.busy() || chat.row.deletedAtMs) return;
  Pending next = *std::exchange(chat.queued, std::nullopt);
  begin(std::move(next));
}

void ChatServiceImpl::stop(const QString& chatId) {
  ChatState* chat = find(chatId);
  if (!chat) return;
  if (chat->running) {
    engine_->cancel(chat->running->turn());
  } else if (chat->preparing) {
    chat->stop_wanted = true;
  }
}

void ChatServiceImpl::stopAll() {
  for (const auto& chat : chats_) {
    chat->queued.reset();
    stop(chat->row.id);
  }
}

bool ChatServiceImpl::anyTurnRunning() const {
  return std::any_of(chats_.begin(), chats_.end(), [](const auto& chat) { return chat->busy(); });
}

std::optional<LiveTurn> ChatServiceImpl::liveTurn(const QString& chatId) const {
  const ChatState* chat = find(chatId);
  if (!chat || !chat->running) return std::nullopt;
  LiveTurn live = chat->running->live();
  if (live.state == TurnState::Writing) addCost(*chat, live);
  return live;
}

void ChatServiceImpl::addCost(const ChatState& chat, LiveTurn& live) const {
  LiveCost& known = live_costs_[live.messageId];
  const qint64 now = QDateTime::currentMSecsSinceEpoch();
  if (known.output != live.output && now - known.at >= kLiveCostMs) {
    TurnRecord record;
    record.inputTotal = live.readTotal;
    record.output = live.output;
    record.thinking = live.thinking;
    known = {live.output, now, hooks_.cost(record, chat.settings.generation.pricedAs)};
  }
  live.costPico = known.cost.costPico;
  live.currency = known.cost.currency;
}

std::optional<QString> ChatServiceImpl::queuedMessage(const QString& chatId) const {
  const ChatState* chat = find(chatId);
  return chat && chat->queued ? std::optional<QString>(chat->queued->text) : std::nullopt;
}

void ChatServiceImpl::takeBackQueued(const QString& chatId) {
  ChatState* chat = find(chatId);
  if (!chat || !chat->queued) return;
  saveDraft(chatId, chat->queued->text);
  chat->queued.reset();
  Q_EMIT chatChanged(chatId);
}

int ChatServiceImpl::exitCodeOf(const QString& chatId) const {
  const ChatState* chat = find(chatId);
  return chat ? chat->last_exit : 0;
}

bool ChatServiceImpl::busy(const QString& chatId) const {
  const ChatState* chat = find(chatId);
  return chat && chat->busy();
}

void ChatServiceImpl::setNextExtras(const QString& chatId, const TurnExtras& extras) {
  if (ChatState* chat = find(chatId)) chat->next_extras = extras;
}

}  // namespace tg
