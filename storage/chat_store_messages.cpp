// ChatStore: the tree of messages, drafts of answers, forks and whole chats.
#include <QHash>
#include <QSet>
#include <QUuid>
#include <algorithm>
#include <array>
#include <cstring>

#include "storage/chat_store.h"
#include "storage/sql.h"

namespace tg::storage {

namespace {

constexpr std::array<const char16_t*, 7> kStateNames = {u"done", u"streaming", u"interrupted", u"stopped", u"length", u"context_full", u"error"};

QString nameOf(MessageState state) { return QString::fromUtf16(kStateNames[static_cast<size_t>(state)]); }

MessageState stateOf(const QString& name) {
  for (size_t i = 0; i < kStateNames.size(); ++i)
    if (name == QStringView(kStateNames[i])) return static_cast<MessageState>(i);
  return MessageState::Done;
}

// Token ids as little-endian 32-bit integers.
QByteArray packed(const QVector<int>& ids) {
  QByteArray bytes(ids.size() * 4, '\0');
  for (qsizetype i = 0; i < ids.size(); ++i) {
    const auto id = static_cast<quint32>(ids[i]);
    for (int b = 0; b < 4; ++b) bytes[i * 4 + b] = static_cast<char>((id >> (8 * b)) & 0xff);
  }
  return bytes;
}

QVector<int> unpacked(const QByteArray& bytes) {
  QVector<int> ids(bytes.size() / 4);
  for (qsizetype i = 0; i < ids.size(); ++i) {
    quint32 id = 0;
    for (int b = 0; b < 4; ++b) id |= static_cast<quint32>(static_cast<unsigned char>(bytes[i * 4 + b])) << (8 * b);
    ids[i] = static_cast<int>(id);
  }
  return ids;
}

Message messageOf(const Sql& row) {
  Message message;
  message.id = row.asText(0);
  message.chatId = row.asText(1);
  message.parentId = row.asText(2);
  message.role = row.asText(3);
  message.text = row.asText(4);
  message.thinkingText = row.asText(5);
  message.state = stateOf(row.asText(6));
  message.error = row.asText(7);
  message.modelName = row.asText(8);
  message.generatedIds = unpacked(row.asBlob(9));
  message.createdMs = row.asNumber(10);
  message.selected = row.asFlag(11);
  return message;
}

// Frees the place of the selected version among the children of PARENT.
Status unselect(QSqlDatabase& connection, const QString& chatId, const QString& parentId) {
  return Sql(connection, QStringLiteral("UPDATE message SET selected = 0 WHERE chat_id = ? AND ifnull(parent_id, '') = ? AND selected = 1"))
      .text(chatId).text(parentId).status();
}

Status insertAttachments(QSqlDatabase& connection, const Message& message) {
  for (int i = 0; i < message.attachments.size(); ++i) {
    const Attachment& a = message.attachments[i];
    auto done = Sql(connection, QStringLiteral("INSERT INTO message_attachment (message_id, position, name, path, bytes, text) VALUES (?, ?, ?, ?, ?, ?)"))
                    .text(message.id).number(i).text(a.name).text(a.path).number(a.bytes).text(a.text).status();
    if (!done) return done;
  }
  return Done{};
}

}  // namespace

Outcome<QVector<Message>> ChatStore::messages(const QString& chatId) {
  Sql rows(connection(), QStringLiteral("SELECT id, chat_id, parent_id, role, text, thinking_text, state, error, model_name, generated_ids, created_ms, "
                                        "selected FROM message WHERE chat_id = ? ORDER BY seq"));
  if (!rows.text(chatId).run()) return rows.failure();
  QVector<Message> messages;
  QHash<QString, qsizetype> places;
  while (rows.next()) {
    messages.append(messageOf(rows));
    places.insert(messages.last().id, messages.size() - 1);
  }
  if (rows.failed()) return rows.failure();
  Sql files(connection(), QStringLiteral("SELECT a.message_id, a.name, a.path, a.bytes, a.text FROM message m JOIN message_attachment a "
                                         "ON a.message_id = m.id WHERE m.chat_id = ? ORDER BY m.seq, a.position"));
  if (!files.text(chatId).run()) return files.failure();
  while (files.next())
    messages[places.value(files.asText(0))].attachments.append({files.asText(1), files.asText(2), files.asText(4), files.asNumber(3)});
  if (files.failed()) return files.failure();
  return messages;
}

Status ChatStore::insertMessage(const Message& message) {
  if (message.selected)
    if (auto freed = unselect(connection(), message.chatId, message.parentId); !freed) return freed;
  auto inserted = Sql(connection(), QStringLiteral("INSERT INTO message (id, chat_id, parent_id, role, text, thinking_text, state, error, model_name, "
                                                   "generated_ids, created_ms, selected) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"))
                      .text(message.id).text(message.chatId).textOrNull(message.parentId).text(message.role).text(message.text)
                      .text(message.thinkingText).text(nameOf(message.state)).text(message.error).text(message.modelName)
                      .blob(packed(message.generatedIds)).number(message.createdMs).flag(message.selected).status();
  return inserted ? insertAttachments(connection(), message) : inserted;
}

Status ChatStore::addMessage(const Message& message) {
  return atomically([&]() -> Status {
    if (auto inserted = insertMessage(message); !inserted) return inserted;
    return touch(message.chatId, message.createdMs);
  });
}

Status ChatStore::updateMessage(const Message& message) {
  return one(Sql(connection(), QStringLiteral("UPDATE message SET text = ?, thinking_text = ?, state = ?, error = ?, model_name = ?, generated_ids = ? WHERE id = ?"))
                 .text(message.text).text(message.thinkingText).text(nameOf(message.state)).text(message.error).text(message.modelName)
                 .blob(packed(message.generatedIds)).text(message.id));
}

Status ChatStore::saveAnswerDraft(const QString& messageId, const QString& text, const QString& thinkingText) {
  return one(Sql(connection(), QStringLiteral("UPDATE message SET text = ?, thinking_text = ? WHERE id = ? AND state = 'streaming'"))
                 .text(text).text(thinkingText).text(messageId));
}

Status ChatStore::finishTurn(const Message& message, const Turn& turn) {
  return atomically([&]() -> Status {
    auto written = updateMessage(message);
    if (!written && written.failure().kind == FailureKind::NotFound) written = insertMessage(message);
    if (!written) return written;
    if (auto cleared = Sql(connection(), QStringLiteral("DELETE FROM turn WHERE message_id = ?")).text(message.id).status(); !cleared) return cleared;
    if (auto inserted = insertTurn(turn); !inserted) return inserted;
    return touch(message.chatId, turn.finishedMs);
  });
}

Status ChatStore::selectVersion(const QString& messageId) {
  return atomically([&]() -> Status {
    Sql place(connection(), QStringLiteral("SELECT chat_id, ifnull(parent_id, '') FROM message WHERE id = ?"));
    if (!place.text(messageId).run()) return place.failure();
    const bool found = place.next();
    const QString chatId = found ? place.asText(0) : QString();
    if (auto freed = unselect(connection(), chatId, found ? place.asText(1) : QString()); !freed) return freed;
    return one(Sql(connection(), QStringLiteral("UPDATE message SET selected = 1 WHERE id = ?")).text(messageId));
  });
}

Status ChatStore::removeMessage(const QString& messageId) {
  return atomically([&]() -> Status {
    Sql place(connection(), QStringLiteral("SELECT chat_id, ifnull(parent_id, ''), selected FROM message WHERE id = ?"));
    if (!place.text(messageId).run()) return place.failure();
    if (!place.next()) return Failure{FailureKind::NotFound, QStringLiteral("This message is not there any more."), {}};
    const QString chatId = place.asText(0), parentId = place.asText(1);
    const bool wasSelected = place.asFlag(2);
    auto removed = Sql(connection(), QStringLiteral("WITH RECURSIVE below(id) AS (SELECT ? UNION SELECT m.id FROM message m JOIN below ON m.parent_id = below.id) "
                                                    "DELETE FROM message WHERE id IN (SELECT id FROM below)")).text(messageId).status();
    if (!removed || !wasSelected) return removed;
    return Sql(connection(), QStringLiteral("UPDATE message SET selected = 1 WHERE seq = (SELECT max(seq) FROM message WHERE chat_id = ? AND ifnull(parent_id, '') = ?)"))
        .text(chatId).text(parentId).status();
  });
}

Outcome<int> ChatStore::recoverInterrupted() {
  Sql update(connection(), QStringLiteral("UPDATE message SET state = 'interrupted' WHERE state = 'streaming'"));
  if (!update.run()) return update.failure();
  return update.changed();
}

Outcome<ChatBundle> ChatStore::bundle(const QString& chatId) {
  const auto found = chat(chatId);
  if (!found) return found.failure();
  if (!found->has_value()) return Failure{FailureKind::NotFound, QStringLiteral("This chat is not there any more."), {}};
  auto tree = messages(chatId);
  if (!tree) return tree.failure();
  auto rows = turns(chatId);
  if (!rows) return rows.failure();
  return ChatBundle{**found, std::move(*tree), std::move(*rows)};
}

Status ChatStore::insertBundle(const ChatBundle& bundle) {
  return atomically([&]() -> Status {
    if (auto created = createChat(bundle.chat); !created) return created;
    for (const Message& message : bundle.messages)
      if (auto inserted = insertMessage(message); !inserted) return inserted;
    for (const Turn& turn : bundle.turns)
      if (auto inserted = insertTurn(turn); !inserted) return inserted;
    return Done{};
  });
}

namespace {

// The messages from the first one down to LAST, whichever versions are selected. Empty when LAST is not there or its parents make no tree.
QVector<Message> pathTo(const QVector<Message>& tree, const QString& last) {
  QHash<QString, const Message*> byId;
  for (const Message& message : tree) byId.insert(message.id, &message);
  QVector<Message> path;
  for (const Message* at = byId.value(last); at && path.size() <= tree.size(); at = byId.value(at->parentId)) path.prepend(*at);
  return path;
}

}  // namespace

Status ChatStore::fork(const QString& chatId, const QString& afterMessageId, const Chat& newChat) {
  const auto tree = messages(chatId);
  if (!tree) return tree.failure();
  ChatBundle copy{newChat, pathTo(*tree, afterMessageId), {}};
  if (copy.messages.isEmpty()) return Failure{FailureKind::NotFound, QStringLiteral("This message is not there any more."), {}};
  QString parent;
  for (Message& message : copy.messages) {
    message.id = QUuid::createUuid().toString(QUuid::WithoutBraces);
    message.chatId = newChat.id;
    message.parentId = parent;
    message.selected = true;
    if (message.state == MessageState::Streaming) message.state = MessageState::Interrupted;
    parent = message.id;
  }
  return insertBundle(copy);
}

QVector<Message> shownPath(const QVector<Message>& tree) {
  QHash<QString, const Message*> selectedChild;
  for (const Message& message : tree)
    if (message.selected) selectedChild.insert(message.parentId, &message);
  QVector<Message> path;
  for (const Message* at = selectedChild.value(QString()); at && path.size() < tree.size(); at = selectedChild.value(at->id)) path.append(*at);
  return path;
}

}  // namespace tg::storage
