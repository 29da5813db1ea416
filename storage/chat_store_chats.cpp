// ChatStore: transactions, folders and the list of chats.
#include "storage/chat_store.h"
#include "storage/sql.h"

namespace tg::storage {

namespace {

const QString kChatColumns = QStringLiteral(
    "id, title, folder_id, model_path, model_name, settings, draft, now_iso, pinned, created_ms, last_used_ms, deleted_at_ms");

Chat chatOf(const Sql& row) {
  Chat chat;
  chat.id = row.asText(0);
  chat.title = row.asText(1);
  chat.folderId = row.asText(2);
  chat.modelPath = row.asText(3);
  chat.modelName = row.asText(4);
  chat.settingsJson = row.asText(5);
  chat.draft = row.asText(6);
  chat.nowIso = row.asText(7);
  chat.pinned = row.asFlag(8);
  chat.createdMs = row.asNumber(9);
  chat.lastUsedMs = row.asNumber(10);
  chat.deletedAtMs = row.maybeNumber(11);
  return chat;
}

Outcome<std::optional<Chat>> firstOf(const Outcome<QVector<Chat>>& chats) {
  if (!chats) return chats.failure();
  return chats->isEmpty() ? std::optional<Chat>() : std::optional<Chat>(chats->first());
}

}  // namespace

QSqlDatabase& ChatStore::connection() {
  static QSqlDatabase closed;
  return database_ ? database_->connection() : closed;
}

Status ChatStore::atomically(const std::function<Status()>& calls) {
  if (depth_ > 0) return calls();
  Transaction transaction(connection());
  if (auto begun = transaction.begin(); !begun) return begun;
  ++depth_;
  auto done = calls();
  --depth_;
  return done ? transaction.commit() : done;
}

Status ChatStore::one(Sql& sql) {
  if (!sql.run()) return sql.failure();
  if (sql.changed() < 1) return Failure{FailureKind::NotFound, QStringLiteral("This chat or message is not there any more."), {}};
  return Done{};
}

Outcome<QVector<Folder>> ChatStore::folders() {
  Sql rows(connection(), QStringLiteral("SELECT id, name, created_ms FROM folder ORDER BY name COLLATE NOCASE, id"));
  if (!rows.run()) return rows.failure();
  QVector<Folder> folders;
  while (rows.next()) folders.append({rows.asText(0), rows.asText(1), rows.asNumber(2)});
  if (rows.failed()) return rows.failure();
  return folders;
}

Status ChatStore::putFolder(const Folder& folder) {
  return Sql(connection(), QStringLiteral("INSERT INTO folder VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET name = excluded.name"))
      .text(folder.id).text(folder.name).number(folder.createdMs).status();
}

Status ChatStore::removeFolder(const QString& folderId) {
  return Sql(connection(), QStringLiteral("DELETE FROM folder WHERE id = ?")).text(folderId).status();
}

Outcome<QVector<Chat>> ChatStore::chatsWhere(const QString& condition, const QStringList& values) {
  Sql rows(connection(), QStringLiteral("SELECT ") + kChatColumns + QStringLiteral(" FROM chat WHERE ") + condition);
  for (const QString& value : values) rows.text(value);
  if (!rows.run()) return rows.failure();
  QVector<Chat> chats;
  while (rows.next()) chats.append(chatOf(rows));
  if (rows.failed()) return rows.failure();
  return chats;
}

Outcome<QVector<Chat>> ChatStore::chats() {
  return chatsWhere(QStringLiteral("deleted_at_ms IS NULL ORDER BY last_used_ms DESC, rowid DESC"), {});
}

Outcome<QVector<Chat>> ChatStore::deletedChats() {
  return chatsWhere(QStringLiteral("deleted_at_ms IS NOT NULL ORDER BY deleted_at_ms DESC, rowid DESC"), {});
}

Outcome<std::optional<Chat>> ChatStore::chat(const QString& chatId) {
  return firstOf(chatsWhere(QStringLiteral("id = ?"), {chatId}));
}

Outcome<std::optional<Chat>> ChatStore::chatNamed(const QString& titleOrId) {
  return firstOf(chatsWhere(QStringLiteral("deleted_at_ms IS NULL AND (id = ? OR title = ?) ORDER BY id = ? DESC, last_used_ms DESC, rowid DESC LIMIT 1"),
                            {titleOrId, titleOrId, titleOrId}));
}

Status ChatStore::createChat(const Chat& chat) {
  return Sql(connection(), QStringLiteral("INSERT INTO chat (") + kChatColumns + QStringLiteral(") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"))
      .text(chat.id).text(chat.title).textOrNull(chat.folderId).text(chat.modelPath).text(chat.modelName).text(chat.settingsJson)
      .text(chat.draft).text(chat.nowIso).flag(chat.pinned).number(chat.createdMs).number(chat.lastUsedMs).maybe(chat.deletedAtMs)
      .status();
}

Status ChatStore::renameChat(const QString& chatId, const QString& title) {
  return one(Sql(connection(), QStringLiteral("UPDATE chat SET title = ? WHERE id = ?")).text(title).text(chatId));
}

Status ChatStore::moveToFolder(const QString& chatId, const QString& folderId) {
  return one(Sql(connection(), QStringLiteral("UPDATE chat SET folder_id = ? WHERE id = ?")).textOrNull(folderId).text(chatId));
}

Status ChatStore::setModel(const QString& chatId, const QString& modelPath, const QString& modelName) {
  return one(Sql(connection(), QStringLiteral("UPDATE chat SET model_path = ?, model_name = ? WHERE id = ?"))
                 .text(modelPath).text(modelName).text(chatId));
}

Status ChatStore::setSettings(const QString& chatId, const QString& settingsJson) {
  return one(Sql(connection(), QStringLiteral("UPDATE chat SET settings = ? WHERE id = ?")).text(settingsJson).text(chatId));
}

Status ChatStore::setDraft(const QString& chatId, const QString& text) {
  return one(Sql(connection(), QStringLiteral("UPDATE chat SET draft = ? WHERE id = ?")).text(text).text(chatId));
}

Status ChatStore::setPinned(const QString& chatId, bool pinned) {
  return one(Sql(connection(), QStringLiteral("UPDATE chat SET pinned = ? WHERE id = ?")).flag(pinned).text(chatId));
}

Status ChatStore::setNow(const QString& chatId, const QString& nowIso) {
  return one(Sql(connection(), QStringLiteral("UPDATE chat SET now_iso = ? WHERE id = ?")).text(nowIso).text(chatId));
}

// A clock that was set back must not push a chat down the list.
Status ChatStore::touch(const QString& chatId, qint64 lastUsedMs) {
  return one(Sql(connection(), QStringLiteral("UPDATE chat SET last_used_ms = max(last_used_ms, ?) WHERE id = ?")).number(lastUsedMs).text(chatId));
}

Status ChatStore::deleteChat(const QString& chatId, qint64 nowMs) {
  return one(Sql(connection(), QStringLiteral("UPDATE chat SET deleted_at_ms = ? WHERE id = ?")).number(nowMs).text(chatId));
}

Status ChatStore::restoreChat(const QString& chatId) {
  return one(Sql(connection(), QStringLiteral("UPDATE chat SET deleted_at_ms = NULL WHERE id = ?")).text(chatId));
}

Status ChatStore::eraseChat(const QString& chatId) {
  if (auto messages = Sql(connection(), QStringLiteral("DELETE FROM message WHERE chat_id = ?")).text(chatId).status(); !messages) return messages;
  return one(Sql(connection(), QStringLiteral("DELETE FROM chat WHERE id = ?")).text(chatId));
}

// FTS5 keeps deleted words in old segments until they are merged: a deleted chat must really be gone.
Status ChatStore::forgetErased() {
  return execute(connection(), QStringLiteral("INSERT INTO message_fts(message_fts) VALUES ('optimize')"));
}

Status ChatStore::removeChat(const QString& chatId) {
  auto removed = atomically([&]() -> Status {
    if (auto erased = eraseChat(chatId); !erased) return erased;
    return forgetErased();
  });
  if (removed && depth_ == 0) database_->checkpoint();       // and out of the log
  return removed;
}

Outcome<int> ChatStore::emptyBin(qint64 deletedBeforeMs) {
  const auto old = chatsWhere(QStringLiteral("deleted_at_ms < CAST(? AS INTEGER)"), {QString::number(deletedBeforeMs)});
  if (!old) return old.failure();
  if (old->isEmpty()) return 0;
  const auto removed = atomically([&]() -> Status {
    for (const Chat& chat : *old)
      if (auto erased = eraseChat(chat.id); !erased) return erased;
    return forgetErased();
  });
  if (!removed) return removed.failure();
  if (depth_ == 0) database_->checkpoint();
  return static_cast<int>(old->size());
}

}  // namespace tg::storage
