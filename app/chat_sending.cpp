// From the composer to the engine: files read, prompt counted, overflow told before anything is sent, message on disk, then submitted.
#include <QFileInfo>
#include <QThreadPool>
#include <QUuid>
#include <algorithm>

#include "app/attachments.h"
#include "app/chat_service_impl.h"
#include "app/error_words.h"
#include "app/format.h"

namespace tg {

using storage::ChatStore;
using storage::Message;

namespace {

const QString kNewMessage = QStringLiteral("new");  // id of the message that is not written yet, inside a PromptCut
constexpr int kTitleLength = 48;

Message made(const QString& chatId, const QString& parentId, const QString& role, const QString& text) {
  Message m;
  m.id = QUuid::createUuid().toString(QUuid::WithoutBraces);
  m.chatId = chatId;
  m.parentId = parentId;
  m.role = role;
  m.text = text;
  m.createdMs = QDateTime::currentMSecsSinceEpoch();
  return m;
}

QString title_from(const QString& text) {
  const QString line = text.simplified();
  if (line.size() <= kTitleLength) return line;
  const auto space = line.lastIndexOf(QLatin1Char(' '), kTitleLength);
  return line.left(space > kTitleLength / 2 ? space : kTitleLength) + QChar(0x2026);
}

}  // namespace

void ChatServiceImpl::send(const QString& chatId, const QString& text, const QStringList& attachments) {
  ChatState* chat = find(chatId);
  if (!chat || (text.trimmed().isEmpty() && attachments.isEmpty() && !chat->next_extras.ids)) return;
  Pending pending;
  pending.chatId = chatId;
  pending.text = text;
  pending.files = attachments;
  if (!chat->busy()) {
    begin(std::move(pending));
  } else if (chat->queued) {
    // One message waits; what is sent meanwhile joins it.
    chat->queued->text += QStringLiteral("\n\n") + text;
    chat->queued->files += attachments;
    Q_EMIT chatChanged(chatId);
  } else {
    chat->queued = std::move(pending);
    Q_EMIT chatChanged(chatId);
  }
}

void ChatServiceImpl::edit(const QString& chatId, const QString& messageId, const QString& text) {
  ChatState* chat = find(chatId);
  const Message* message = chat ? chat->conversation.find(messageId) : nullptr;
  if (!message || chat->busy() || message->role != QLatin1String("user")) return;
  Pending pending;
  pending.kind = Pending::Kind::Edit;
  pending.chatId = chatId;
  pending.text = text;
  pending.targetId = messageId;
  pending.attachments = message->attachments;
  begin(std::move(pending));
}

void ChatServiceImpl::regenerate(const QString& chatId, const QString& messageId) {
  ChatState* chat = find(chatId);
  const Message* message = chat ? chat->conversation.find(messageId) : nullptr;
  if (!message || chat->busy() || message->role != QLatin1String("assistant")) return;
  Pending pending;
  pending.kind = Pending::Kind::Regenerate;
  pending.chatId = chatId;
  pending.targetId = messageId;
  begin(std::move(pending));
}

void ChatServiceImpl::continueAnswer(const QString& chatId, const QString& messageId) {
  ChatState* chat = find(chatId);
  const Message* message = chat ? chat->conversation.find(messageId) : nullptr;
  if (!message || chat->busy() || message->role != QLatin1String("assistant")) return;
  Pending pending;
  pending.kind = Pending::Kind::Continue;
  pending.chatId = chatId;
  pending.targetId = messageId;
  begin(std::move(pending));
}

void ChatServiceImpl::begin(Pending pending) {
  ChatState* chat = find(pending.chatId);
  if (!chat) return;
  if (read_only_) return notSent(pending, tr("This profile is opened read-only, so nothing can be sent."), {});
  if (chat->row.modelPath.isEmpty()) setModel(pending.chatId, hooks_.defaultModel());
  if (chat->row.modelPath.isEmpty()) return notSent(pending, tr("No model is chosen. Add a model file first."), {});
  chat->preparing = true;
  chat->stop_wanted = false;
  if (!pending.settled) {                   // an overflow choice brings its own
    pending.cut = chat->settings.cut;
    pending.window = chat->settings.window;
  }
  pending.extras = std::exchange(chat->next_extras, {});
  Q_EMIT chatChanged(pending.chatId);
  const QString chatId = pending.chatId;
  whenOpen(chatId, [this, pending = std::move(pending)]() mutable {
    readFiles(pending.files, [this, pending](const QVector<storage::Attachment>& read, const QString& refusal) mutable {
      if (!refusal.isEmpty()) return notSent(pending, refusal, {});
      pending.attachments += read;
      count(std::move(pending));
    });
  });
}

void ChatServiceImpl::readFiles(const QStringList& files, std::function<void(QVector<storage::Attachment>, QString)> then) {
  if (files.isEmpty()) return then({}, {});
  QThreadPool::globalInstance()->start([this, files, then = std::move(then)] {
    QVector<storage::Attachment> read;
    QString refusal;
    for (const QString& file : files) {
      if (refusal.isEmpty()) read.push_back(read_attachment(file, &refusal));
    }
    QMetaObject::invokeMethod(this, [then, read, refusal] { then(read, refusal); }, Qt::QueuedConnection);
  });
}

QVector<Message> ChatServiceImpl::pathOf(const Pending& pending, const ChatState& chat) const {
  QVector<Message> path = pending.kind == Pending::Kind::Send ? chat.conversation.path() : chat.conversation.pathBefore(pending.targetId);
  const bool says = pending.kind == Pending::Kind::Send || pending.kind == Pending::Kind::Edit;
  if (says && (!pending.text.isEmpty() || !pending.attachments.isEmpty())) {
    Message m = made(pending.chatId, {}, QStringLiteral("user"), pending.text);
    m.id = kNewMessage;
    m.attachments = pending.attachments;
    path.push_back(m);
  }
  return path;
}

PromptInput ChatServiceImpl::inputOf(const Pending& pending, const ChatState& chat) const {
  PromptInput input;
  input.modelPath = chat.row.modelPath;
  input.templateFile = chat.settings.templateFile;
  input.window = pending.window;
  input.chatId = pending.chatId;
  input.ids = pending.extras.ids;
  input.options = prompt_options_of(chat.settings.generation);
  input.options.tools = pending.extras.tools;
  for (const auto& [key, value] : pending.extras.templateArguments.items()) input.options.template_arguments[key] = value;
  input.options.now = chat.row.nowIso.toStdString();
  const QVector<Message> path = pathOf(pending, chat);
  input.messages = prompt_messages(chat.settings.generation.system, path, pending.cut, chat.row.modelName);
  input.options.add_generation_prompt = !path.isEmpty() && path.back().role == QLatin1String("user");
  if (pending.kind == Pending::Kind::Continue) {
    const Message* target = chat.conversation.find(pending.targetId);
    const bool same_model = target->modelName == chat.row.modelName;
    if (same_model) input.continuation.assign(target->generatedIds.begin(), target->generatedIds.end());
    input.continuationText = target->text;
  }
  return input;
}

void ChatServiceImpl::build(const PromptInput& input, Build then) { builds_.insert(engine_->buildPrompt(input), std::move(then)); }

void ChatServiceImpl::count(Pending pending) {
  ChatState* chat = find(pending.chatId);
  if (!chat) return;
  if (chat->row.nowIso.isEmpty()) {
    // The date a template sees is frozen with the first message: a prefix that changes with the clock would never be cached.
    const QByteArray given = qgetenv("TURNGLASS_NOW");
    chat->row.nowIso = given.isEmpty() ? QDateTime::currentDateTime().toString(Qt::ISODate) : QString::fromUtf8(given);
    save(store_, pending.chatId, [id = pending.chatId, now = chat->row.nowIso](ChatStore& store) { return store.setNow(id, now); });
  }
  build(inputOf(pending, *chat), [this, pending](const PromptOutput& output) mutable {
    pending.prompt = output;
    counted(std::move(pending));
  });
}

void ChatServiceImpl::counted(Pending pending) {
  ChatState* chat = find(pending.chatId);
  if (!chat) return;
  if (!pending.prompt.prompt && pending.prompt.error.code == ErrorCode::no_template) {
    // No guess: a wrong template makes nonsense. The user chooses, then it is sent.
    chat->preparing = false;
    chat->last_exit = words::exit_code(pending.prompt.error);
    const bool sends = pending.kind == Pending::Kind::Send;
    if (sends) saveDraft(pending.chatId, pending.text);
    Q_EMIT chatChanged(pending.chatId);
    Q_EMIT templateNeeded(pending.chatId, sends ? pending.text : QString(), sends ? pending.files : QStringList());
    return;
  }
  if (!pending.prompt.prompt) return commit(std::move(pending));
  const DraftCount size = countOf(pending, *chat, 0);
  if (size.fits()) return commit(std::move(pending));
  if (!pending.settled && applyPolicy(pending, *chat)) return count(std::move(pending));
  chat->preparing = false;
  chat->row.draft = pending.text;
  Q_EMIT chatChanged(pending.chatId);
  Q_EMIT overflow(pending.chatId, pending.text, pending.files, size);
}

// A chat may have said once what shall happen when its window is full (on_full); the notice in the transcript says it each time.
bool ChatServiceImpl::applyPolicy(Pending& pending, const ChatState& chat) {
  const QString& policy = chat.settings.generation.onFull;
  if (policy == QLatin1String("stop")) return false;
  QVector<Message> path = pathOf(pending, chat);
  if (!path.isEmpty() && path.back().role == QLatin1String("user")) path.pop_back();
  const QVector<PromptTurn> turns = prompt_turns(path, *pending.prompt.prompt, pending.cut, !chat.settings.generation.system.isEmpty());
  const DraftCount size = countOf(pending, chat, 0);
  const DropPlan plan = plan_drop(turns, pending.cut, size.promptTokens, size.answerKept, size.window, policy == QLatin1String("head-tail"), 0);
  if (!plan.possible) return false;
  pending.cut = plan.cut;
  pending.dropped = plan;
  pending.settled = true;
  return true;
}

void ChatServiceImpl::notSent(const Pending& pending, const QString& sentence, const QString& details) {
  ChatState* chat = find(pending.chatId);
  if (!chat) return;
  chat->preparing = false;
  if (pending.kind == Pending::Kind::Send) saveDraft(pending.chatId, pending.text);
  Q_EMIT chatChanged(pending.chatId);
  Q_EMIT failed(pending.chatId, sentence, details);
}

// The rows that this send writes, in order; the last one is the answer. A prompt that could not be built gives an answer that says why.
QVector<Message> ChatServiceImpl::messagesOf(Pending& pending, const ChatState& chat) const {
  QVector<Message> out;
  QString parent = pending.kind == Pending::Kind::Send ? chat.conversation.lastId() : chat.conversation.find(pending.targetId)->parentId;
  if (pending.kind == Pending::Kind::Send && pending.dropped) {
    const DropPlan& plan = *pending.dropped;
    out.push_back(made(pending.chatId, parent, QStringLiteral("notice"),
                       tr("Turns %1–%2 (%3 tokens) are no longer in the prompt.").arg(plan.firstTurn).arg(plan.lastTurn).arg(format::count(plan.tokens))));
    parent = out.back().id;
  }
  if (pending.kind == Pending::Kind::Send || pending.kind == Pending::Kind::Edit) {
    Message user = made(pending.chatId, parent, QStringLiteral("user"), pending.text);
    user.attachments = pending.attachments;
    if (pending.cut.firstKept == kNewMessage) pending.cut.firstKept = user.id;
    parent = user.id;
    out.push_back(std::move(user));
  }
  Message answer = made(pending.chatId, parent, QStringLiteral("assistant"), {});
  if (pending.kind == Pending::Kind::Continue) answer = *chat.conversation.find(pending.targetId);
  answer.modelName = chat.row.modelName;
  answer.state = pending.prompt.prompt ? storage::MessageState::Streaming : storage::MessageState::Error;
  answer.error = pending.prompt.prompt ? QString() : words::sentence(pending.prompt.error, chat.row.modelPath);
  out.push_back(std::move(answer));
  return out;
}

void ChatServiceImpl::commit(Pending pending) {
  ChatState* chat = find(pending.chatId);
  if (!chat) return;
  if (chat->stop_wanted) return notSent(pending, tr("Stopped. Nothing was sent."), {});
  const QVector<Message> rows = messagesOf(pending, *chat);
  const bool continues = pending.kind == Pending::Kind::Continue;
  const bool settings_change = pending.dropped || pending.window != chat->settings.window || !pending.removedDocumentOf.isEmpty() || pending.storePolicy;
  if (settings_change) {
    chat->settings.cut = pending.cut;
    chat->settings.window = pending.window;
    if (pending.storePolicy) chat->settings.generation.onFull = pending.policy;
    chat->row.settingsJson = to_text(chat->settings);
  }
  QString title;
  if (chat->row.title.isEmpty() && !pending.text.isEmpty()) title = chat->row.title = title_from(pending.text);
  const auto write = [=, id = pending.chatId, settings = chat->row.settingsJson](ChatStore& store) {
    return store.atomically([&]() -> storage::Status {
      if (settings_change) {
        if (auto done = store.setSettings(id, settings); !done) return done;
      }
      if (!title.isEmpty()) {
        if (auto done = store.renameChat(id, title); !done) return done;
      }
      for (const Message& row : rows) {
        if (auto done = continues ? store.updateMessage(row) : store.addMessage(row); !done) return done;
      }
      return storage::Done{};
    });
  };
  store_->run(write).then(this, [this, pending, rows](const storage::Status& status) {
    if (!status) return notSent(pending, words::sentence(status.failure(), false), status.failure().details);
    committed(pending, rows);
  });
}

void ChatServiceImpl::committed(const Pending& pending, const QVector<Message>& added) {
  ChatState* chat = find(pending.chatId);
  if (!chat) return;
  chat->preparing = false;
  chat->row.lastUsedMs = QDateTime::currentMSecsSinceEpoch();
  if (pending.kind == Pending::Kind::Continue) {
    chat->conversation.update(added.back());
    Q_EMIT messageChanged(pending.chatId, chat->conversation.info(added.back().id));
  } else {
    for (const Message& message : added) chat->conversation.add(message);
  }
  if (pending.kind == Pending::Kind::Send) {
    if (!chat->row.draft.isEmpty()) saveDraft(pending.chatId, {});
    for (const Message& message : added) Q_EMIT messageAdded(pending.chatId, chat->conversation.info(message.id));
  } else if (pending.kind != Pending::Kind::Continue) {
    Q_EMIT pathChanged(pending.chatId);
  }
  if (added.back().state == storage::MessageState::Error) {
    chat->last_activity = QStringLiteral("error");
    chat->last_exit = words::exit_code(pending.prompt.error);
    Q_EMIT turnFinished(pending.chatId, chat->conversation.info(added.back().id));
    Q_EMIT chatsChanged();
    return sendQueued(*chat);
  }
  submit(pending, added.back());
}

}  // namespace tg
