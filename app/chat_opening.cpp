// One chat: its messages, the versions shown, forks, and answers that an earlier run left unfinished.
#include <QUuid>

#include "app/chat_service_impl.h"
#include "app/error_words.h"

namespace tg {

using storage::ChatStore;

namespace {

struct Tree {
  QVector<storage::Message> messages;
  QVector<storage::Turn> turns;
};

storage::Outcome<Tree> read_tree(ChatStore& store, const QString& chatId) {
  auto messages = store.messages(chatId);
  if (!messages) return messages.failure();
  auto turns = store.turns(chatId);
  if (!turns) return turns.failure();
  return Tree{std::move(*messages), std::move(*turns)};
}

}  // namespace

void ChatServiceImpl::openChat(const QString& chatId) {
  prefetch(chatId);
  whenOpen(chatId, [this, chatId] { Q_EMIT chatOpened(chatId); });
}

void ChatServiceImpl::whenOpen(const QString& chatId, std::function<void()> then) {
  ChatState* chat = find(chatId);
  if (!chat) return;
  if (chat->opened == ChatState::Opened::Yes) {
    // Always by the event loop, so that callers see one order of things.
    QMetaObject::invokeMethod(this, [this, chatId, then = std::move(then)] { if (find(chatId)) then(); }, Qt::QueuedConnection);
    return;
  }
  chat->when_open.push_back(std::move(then));
  if (chat->opened == ChatState::Opened::Opening) return;
  chat->opened = ChatState::Opened::Opening;
  store_->run([chatId](ChatStore& store) { return read_tree(store, chatId); }).then(this, [this, chatId](const storage::Outcome<Tree>& tree) {
    ChatState* opened = find(chatId);
    if (!opened) return;
    const auto waiting = std::exchange(opened->when_open, {});
    if (!tree) {
      opened->opened = ChatState::Opened::No;
      Q_EMIT failed(chatId, words::sentence(tree.failure(), false), tree.failure().details);
      return;
    }
    opened->conversation = Conversation(tree->messages, tree->turns, opened->row.title);
    opened->opened = ChatState::Opened::Yes;
    // A read that was ready at once would otherwise call before whoever asked has connected to the answer.
    for (const auto& call : waiting) QMetaObject::invokeMethod(this, [this, chatId, call] { if (find(chatId)) call(); }, Qt::QueuedConnection);
  });
}

QVector<MessageInfo> ChatServiceImpl::messages(const QString& chatId) const {
  const ChatState* chat = find(chatId);
  return chat ? chat->conversation.shown() : QVector<MessageInfo>();
}

GenerationSettings ChatServiceImpl::settings(const QString& chatId) const {
  const ChatState* chat = find(chatId);
  return chat ? chat->settings.generation : GenerationSettings();
}

void ChatServiceImpl::setSettings(const QString& chatId, const GenerationSettings& settings) {
  ChatState* chat = find(chatId);
  if (!chat) return;
  chat->settings.generation = settings;
  storeSettings(*chat);
  Q_EMIT chatChanged(chatId);
}

void ChatServiceImpl::setChatWindow(const QString& chatId, int window, const QString& templateFile) {
  ChatState* chat = find(chatId);
  if (!chat || (chat->settings.window == window && chat->settings.templateFile == templateFile)) return;
  chat->settings.window = window;
  chat->settings.templateFile = templateFile;
  storeSettings(*chat);
}

void ChatServiceImpl::saveDraft(const QString& chatId, const QString& text) {
  ChatState* chat = find(chatId);
  if (!chat || chat->row.draft == text) return;
  chat->row.draft = text;
  if (!read_only_) save(store_, chatId, [chatId, text](ChatStore& store) { return store.setDraft(chatId, text); });
}

QString ChatServiceImpl::draft(const QString& chatId) const {
  const ChatState* chat = find(chatId);
  return chat ? chat->row.draft : QString();
}

void ChatServiceImpl::showVersion(const QString& chatId, const QString& messageId, int version) {
  ChatState* chat = find(chatId);
  if (!chat || chat->busy()) return;
  const QString id = chat->conversation.versionId(messageId, version);
  if (id.isEmpty()) return;
  chat->conversation.select(id);
  save(store_, chatId, [id](ChatStore& store) { return store.selectVersion(id); });
  Q_EMIT pathChanged(chatId);
}

QString ChatServiceImpl::fork(const QString& chatId, const QString& afterMessageId) {
  const ChatState* chat = find(chatId);
  return chat ? forkAs(chatId, afterMessageId, tr("%1 (fork)").arg(chat->row.title)) : QString();
}

QString ChatServiceImpl::forkAs(const QString& chatId, const QString& afterMessageId, const QString& title) {
  const ChatState* chat = find(chatId);
  if (!chat || (chat->opened == ChatState::Opened::Yes && !chat->conversation.find(afterMessageId))) return {};
  auto copy = std::make_unique<ChatState>();
  copy->row = chat->row;
  copy->row.id = QUuid::createUuid().toString(QUuid::WithoutBraces);
  copy->row.title = title;
  copy->row.draft.clear();
  copy->row.pinned = false;
  copy->row.createdMs = copy->row.lastUsedMs = QDateTime::currentMSecsSinceEpoch();
  copy->settings = chat->settings;
  copy->settings.cut = {};                  // its message ids are not those of the copy
  copy->row.settingsJson = to_text(copy->settings);
  const QString id = copy->row.id;
  save(store_, id, [chatId, afterMessageId, row = copy->row](ChatStore& store) { return store.fork(chatId, afterMessageId, row); });
  engine_->forked(chatId, id);
  by_id_.insert(id, copy.get());
  chats_.push_back(std::move(copy));
  Q_EMIT chatsChanged();
  return id;
}

void ChatServiceImpl::discardRecovered(const QString& chatId, const QString& messageId) {
  ChatState* chat = find(chatId);
  if (!chat || chat->busy()) return;
  const storage::Message* message = chat->conversation.find(messageId);
  if (!message || message->state != storage::MessageState::Interrupted) return;
  chat->conversation.remove(messageId);
  save(store_, chatId, [messageId](ChatStore& store) { return store.removeMessage(messageId); });
  Q_EMIT pathChanged(chatId);
}

void ChatServiceImpl::keepRecovered(const QString& chatId, const QString& messageId) {
  ChatState* chat = find(chatId);
  if (!chat || chat->busy()) return;
  const storage::Message* found = chat->conversation.find(messageId);
  if (!found || found->state != storage::MessageState::Interrupted) return;
  storage::Message message = *found;
  message.state = storage::MessageState::Stopped;
  chat->conversation.update(message);
  save(store_, chatId, [message](ChatStore& store) { return store.updateMessage(message); });
  Q_EMIT messageChanged(chatId, chat->conversation.info(messageId));
}

void ChatServiceImpl::loadCurve(const QString& chatId, const QString& messageId) {
  const ChatState* chat = find(chatId);
  const TurnRecord* known = chat ? chat->conversation.record(messageId) : nullptr;
  if (!known || !known->rateCurve.isEmpty()) return;
  store_->run([messageId](ChatStore& store) { return store.turn(messageId); }).then(this, [this, chatId, messageId](const storage::Outcome<std::optional<storage::Turn>>& turn) {
    ChatState* still = find(chatId);
    const TurnRecord* record = still ? still->conversation.record(messageId) : nullptr;
    if (!record || !turn || !*turn || (*turn)->samples.isEmpty()) return;
    TurnRecord filled = *record;
    filled.rateCurve = (*turn)->samples;
    still->conversation.setRecord(messageId, filled);
    Q_EMIT messageChanged(chatId, still->conversation.info(messageId));
  });
}

QString ChatServiceImpl::messageIdOfNumber(const QString& chatId, int number) const {
  const ChatState* chat = find(chatId);
  return chat ? chat->conversation.idOfNumber(number) : QString();
}

}  // namespace tg
