// The list of chats: rows, folders, bin, search. Memory first, the database by a job that follows in order.
#include <QUuid>
#include <algorithm>

#include "app/chat_service_impl.h"
#include "app/error_words.h"

namespace tg {

using storage::ChatStore;

namespace {

constexpr int kWaitProbeTokens = 32;        // the wait shown is that of a message of this size

ChatTier tier_of(const CacheState& cache) {
  switch (cache.tier) {
    case Tier::gpu: return ChatTier::Gpu;
    case Tier::ram: return ChatTier::Ram;
    case Tier::disk: return ChatTier::Disk;
    case Tier::none: break;
  }
  return ChatTier::Cold;
}

qint64 now_ms() { return QDateTime::currentMSecsSinceEpoch(); }

}  // namespace

ChatState* ChatServiceImpl::find(const QString& chatId) const { return by_id_.value(chatId); }

void ChatServiceImpl::load(const QVector<storage::Chat>& chats, const QVector<storage::Chat>& deleted, const QVector<storage::Folder>& folders) {
  for (const auto& rows : {chats, deleted}) {
    for (const storage::Chat& row : rows) {
      auto state = std::make_unique<ChatState>();
      state->row = row;
      state->settings = chat_settings_from_text(row.settingsJson);
      by_id_.insert(row.id, state.get());
      chats_.push_back(std::move(state));
    }
  }
  folders_ = folders;
  Q_EMIT chatsChanged();
}

ChatInfo ChatServiceImpl::info(const ChatState& chat, const std::optional<CacheState>& cache) const {
  ChatInfo out;
  out.id = chat.row.id;
  out.title = chat.row.title;
  out.folderId = chat.row.folderId;
  out.modelPath = chat.row.modelPath;
  out.modelName = chat.row.modelName;
  out.lastUsed = QDateTime::fromMSecsSinceEpoch(chat.row.lastUsedMs);
  out.pinned = chat.row.pinned;
  if (cache && cache->tokens > 0) {
    out.tier = tier_of(*cache);
    out.tokensHeld = cache->tokens;
    out.bytesHeld = static_cast<qint64>(cache->bytes);
  }
  out.keepOnClose = chat.settings.keepOnClose;
  out.staysOnClose = cache && cache->stays_on_close;
  // The last sampled token of an answer need not be held: a gap of one is no part to read again.
  const int missing = chat.settings.lastTokens - out.tokensHeld;
  out.tokensToRead = missing > 1 ? missing : 0;
  out.partly = out.tokensHeld > 0 && out.tokensToRead > 0;
  const QString model = chat.row.modelPath.isEmpty() ? hooks_.defaultModel() : chat.row.modelPath;
  const QString seen = hooks_.fingerprint ? hooks_.fingerprint(model) : QString();
  const WaitAnswer wait = engine_->expectedWait({chat.row.id, model, seen.isEmpty() ? chat.settings.fingerprint : seen, chat.settings.lastTokens, kWaitProbeTokens});
  out.modelLoaded = wait.loaded;
  out.waitMs = wait.ttftMs;
  out.loadMs = wait.loadMs;
  out.activity = chat.running ? chat.running->activity() : chat.preparing ? QStringLiteral("queued") : chat.last_activity;
  return out;
}

QVector<ChatInfo> ChatServiceImpl::chats() const {
  QHash<QString, CacheState> held;
  for (CacheState& state : engine_->cacheStates()) held.insert(QString::fromStdString(state.sequence), state);
  QVector<ChatInfo> out;
  for (const auto& chat : chats_) {
    if (chat->row.deletedAtMs) continue;
    const auto it = held.constFind(chat->row.id);
    out.push_back(info(*chat, it == held.constEnd() ? std::nullopt : std::optional<CacheState>(*it)));
  }
  std::stable_sort(out.begin(), out.end(), [](const ChatInfo& a, const ChatInfo& b) { return a.lastUsed > b.lastUsed; });
  return out;
}

QVector<FolderInfo> ChatServiceImpl::folders() const {
  QVector<FolderInfo> out;
  for (const storage::Folder& folder : folders_) out.push_back({folder.id, folder.name});
  return out;
}

std::optional<ChatInfo> ChatServiceImpl::chat(const QString& chatId) const {
  const ChatState* state = find(chatId);
  if (!state) return std::nullopt;
  return info(*state, engine_->cacheState(chatId));
}

QVector<ChatInfo> ChatServiceImpl::deletedChats() const {
  QVector<const ChatState*> gone;
  for (const auto& chat : chats_) {
    if (chat->row.deletedAtMs) gone.push_back(chat.get());
  }
  std::stable_sort(gone.begin(), gone.end(), [](const ChatState* a, const ChatState* b) { return *a->row.deletedAtMs > *b->row.deletedAtMs; });
  QVector<ChatInfo> out;
  for (const ChatState* chat : gone) out.push_back(info(*chat, std::nullopt));
  return out;
}

// A change of the list that the disk refuses is said; what the user sees stays as wished until the program ends.
void ChatServiceImpl::save(storage::StoreThread* store, const QString& chatId, std::function<storage::Status(ChatStore&)> job) {
  store->run(std::move(job)).then(this, [this, chatId](const storage::Status& status) {
    if (!status) Q_EMIT failed(chatId, words::sentence(status.failure(), false), status.failure().details);
  });
}

void ChatServiceImpl::storeSettings(ChatState& chat) {
  chat.row.settingsJson = to_text(chat.settings);
  save(store_, chat.row.id, [id = chat.row.id, text = chat.row.settingsJson](ChatStore& store) { return store.setSettings(id, text); });
}

QString ChatServiceImpl::createChat(const QString& title, const QString& modelPath, const GenerationSettings& settings) {
  auto state = std::make_unique<ChatState>();
  state->row.id = QUuid::createUuid().toString(QUuid::WithoutBraces);
  state->row.title = title;
  state->row.modelPath = modelPath;
  state->row.modelName = modelPath.isEmpty() ? QString() : hooks_.modelName(modelPath);
  state->row.createdMs = state->row.lastUsedMs = now_ms();
  state->settings.generation = settings;
  state->row.settingsJson = to_text(state->settings);
  state->opened = ChatState::Opened::Yes;   // nothing to read yet
  const QString id = state->row.id;
  save(store_, id, [row = state->row](ChatStore& store) { return store.createChat(row); });
  by_id_.insert(id, state.get());
  chats_.push_back(std::move(state));
  Q_EMIT chatsChanged();
  return id;
}

void ChatServiceImpl::renameChat(const QString& chatId, const QString& title) {
  ChatState* chat = find(chatId);
  if (!chat || title.trimmed().isEmpty() || chat->row.title == title) return;
  chat->row.title = title;
  chat->conversation.setTitle(title);
  save(store_, chatId, [chatId, title](ChatStore& store) { return store.renameChat(chatId, title); });
  Q_EMIT chatChanged(chatId);
}

void ChatServiceImpl::deleteChat(const QString& chatId) {
  ChatState* chat = find(chatId);
  if (!chat || chat->row.deletedAtMs) return;
  stop(chatId);
  chat->queued.reset();
  chat->row.deletedAtMs = now_ms();
  save(store_, chatId, [chatId, at = *chat->row.deletedAtMs](ChatStore& store) { return store.deleteChat(chatId, at); });
  Q_EMIT chatsChanged();
}

void ChatServiceImpl::restoreChat(const QString& chatId) {
  ChatState* chat = find(chatId);
  if (!chat || !chat->row.deletedAtMs) return;
  chat->row.deletedAtMs.reset();
  save(store_, chatId, [chatId](ChatStore& store) { return store.restoreChat(chatId); });
  Q_EMIT chatsChanged();
}

void ChatServiceImpl::deleteForever(const QString& chatId) {
  ChatState* chat = find(chatId);
  if (!chat || chat->busy()) {
    if (chat) stop(chatId);
    if (chat) Q_EMIT failed(chatId, tr("This chat is being written. Delete it again when it has stopped."), {});
    return;
  }
  save(store_, chatId, [chatId](ChatStore& store) { return store.removeChat(chatId); });
  // Nothing held is no failure here.
  engine_->background([engine = engine_, chatId] { return engine->forget(chatId); }, [](const Status&) {});
  by_id_.remove(chatId);
  std::erase_if(chats_, [&](const auto& c) { return c->row.id == chatId; });
  Q_EMIT chatsChanged();
}

QString ChatServiceImpl::createFolder(const QString& name) {
  const storage::Folder folder{QUuid::createUuid().toString(QUuid::WithoutBraces), name, now_ms()};
  folders_.push_back(folder);
  save(store_, {}, [folder](ChatStore& store) { return store.putFolder(folder); });
  Q_EMIT chatsChanged();
  return folder.id;
}

void ChatServiceImpl::moveToFolder(const QString& chatId, const QString& folderId) {
  ChatState* chat = find(chatId);
  if (!chat) return;
  chat->row.folderId = folderId;
  save(store_, chatId, [chatId, folderId](ChatStore& store) { return store.moveToFolder(chatId, folderId); });
  Q_EMIT chatsChanged();
}

void ChatServiceImpl::setModel(const QString& chatId, const QString& modelPath) {
  ChatState* chat = find(chatId);
  if (!chat || chat->row.modelPath == modelPath) return;
  chat->row.modelPath = modelPath;
  chat->row.modelName = hooks_.modelName(modelPath);
  chat->settings.fingerprint.clear();
  if (!std::exchange(chat->settings.templateFile, {}).isEmpty()) storeSettings(*chat);  // it was chosen for the other model
  save(store_, chatId, [chatId, modelPath, name = chat->row.modelName](ChatStore& store) { return store.setModel(chatId, modelPath, name); });
  Q_EMIT chatChanged(chatId);
}

void ChatServiceImpl::search(const QString& words, quint64 request) {
  store_->run([words](ChatStore& store) { return store.search(words); }).then(this, [this, request](const storage::Outcome<QVector<storage::SearchRow>>& rows) {
    QVector<SearchHit> hits;
    if (rows) {
      for (const storage::SearchRow& row : *rows) hits.push_back({row.chatId, row.chatTitle, row.messageId, row.snippet, QDateTime::fromMSecsSinceEpoch(row.createdMs)});
    }
    QMetaObject::invokeMethod(this, [this, hits, request] { Q_EMIT searchFinished(hits, request); }, Qt::QueuedConnection);
  });
}

QString ChatServiceImpl::idOf(const QString& titleOrId) const {
  if (const ChatState* chat = find(titleOrId); chat && !chat->row.deletedAtMs) return titleOrId;
  const ChatState* newest = nullptr;
  for (const auto& chat : chats_) {
    if (chat->row.deletedAtMs || chat->row.title != titleOrId) continue;
    if (!newest || chat->row.lastUsedMs >= newest->row.lastUsedMs) newest = chat.get();
  }
  return newest ? newest->row.id : QString();
}

void ChatServiceImpl::addImported(const storage::ChatBundle& bundle) {
  auto state = std::make_unique<ChatState>();
  state->row = bundle.chat;
  state->settings = chat_settings_from_text(bundle.chat.settingsJson);
  by_id_.insert(bundle.chat.id, state.get());
  chats_.push_back(std::move(state));
  Q_EMIT chatsChanged();
}

}  // namespace tg
