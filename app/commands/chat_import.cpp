#include <QCoreApplication>
#include <QDateTime>
#include <QHash>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSet>
#include <QUuid>

#include "app/commands/chat_transfer.h"
#include "app/records_convert.h"

namespace tg {
namespace {

using storage::ChatBundle;
using storage::Message;

QString new_id() { return QUuid::createUuid().toString(QUuid::WithoutBraces); }
QString str(const QJsonObject& o, const char* key) { return o.value(QLatin1String(key)).toString(); }
QJsonArray list(const QJsonObject& o, const char* key) { return o.value(QLatin1String(key)).toArray(); }

ChatBundle empty_chat(const QString& title) {
  ChatBundle out;
  out.chat.id = new_id();
  out.chat.title = title.isEmpty() ? QCoreApplication::translate("Import", "Imported chat") : title;
  out.chat.createdMs = out.chat.lastUsedMs = QDateTime::currentMSecsSinceEpoch();
  return out;
}

bool known_role(const QString& role) { return role == QLatin1String("user") || role == QLatin1String("assistant") || role == QLatin1String("notice"); }

Message message_of(const ChatBundle& bundle, const QString& parent, const QString& role, const QString& text) {
  Message m;
  m.id = new_id();
  m.chatId = bundle.chat.id;
  m.parentId = parent;
  m.role = role;
  m.text = text;
  m.createdMs = bundle.chat.createdMs + bundle.messages.size();
  return m;
}

void set_system(ChatBundle& bundle, const QString& text) {
  if (text.isEmpty()) return;
  bundle.chat.settingsJson = QString::fromUtf8(QJsonDocument(QJsonObject{{QStringLiteral("system"), text}}).toJson(QJsonDocument::Compact));
}

// Content as the several programs write it: a text, a list of texts, or a list of {type, text}.
QString content_text(const QJsonValue& content) {
  if (content.isString()) return content.toString();
  if (content.isObject()) return content_text(content.toObject().value(QLatin1String("parts")));
  QStringList parts;
  const QJsonArray array = content.toArray();
  for (const QJsonValue& v : array) {
    const QString part = v.isString() ? v.toString() : str(v.toObject(), "text");
    if (!part.isEmpty()) parts << part;
  }
  return parts.join(QStringLiteral("\n"));
}

void append_said(ChatBundle& bundle, const QString& role, const QString& text) {
  if (role == QLatin1String("system")) return set_system(bundle, text);
  if (!known_role(role) || text.isEmpty()) return;
  bundle.messages.push_back(message_of(bundle, bundle.messages.isEmpty() ? QString() : bundle.messages.back().id, role, text));
}

// [{role, content}], as most programs and APIs write it; LM Studio wraps each in versions.
ChatBundle from_list(const QString& title, const QJsonArray& messages) {
  ChatBundle bundle = empty_chat(title);
  for (const QJsonValue& v : messages) {
    QJsonObject m = v.toObject();
    const QJsonArray versions = list(m, "versions");
    if (!versions.isEmpty()) m = versions.at(std::clamp<qsizetype>(m.value(QLatin1String("currentlySelected")).toInt(), 0, versions.size() - 1)).toObject();
    QString text = content_text(m.value(QLatin1String("content")));
    const QJsonArray steps = list(m, "steps");
    for (const QJsonValue& step : steps) text += content_text(step.toObject().value(QLatin1String("content")));
    append_said(bundle, str(m, "role"), text);
  }
  return bundle;
}

// ChatGPT: nodes by id; the path from the current node to the root is what the user saw.
ChatBundle from_mapping(const QJsonObject& conversation) {
  ChatBundle bundle = empty_chat(str(conversation, "title"));
  const QJsonObject nodes = conversation.value(QLatin1String("mapping")).toObject();
  QVector<QJsonObject> path;
  QSet<QString> seen;                        // a file may close a circle
  for (QString id = str(conversation, "current_node"); nodes.contains(id) && !seen.contains(id);) {
    seen.insert(id);
    const QJsonObject node = nodes.value(id).toObject();
    path.push_front(node.value(QLatin1String("message")).toObject());
    id = str(node, "parent");
  }
  for (const QJsonObject& m : path) append_said(bundle, str(m.value(QLatin1String("author")).toObject(), "role"), content_text(m.value(QLatin1String("content"))));
  return bundle;
}

storage::MessageState state_named(const QString& name) {
  static const QHash<QString, storage::MessageState> states{{QStringLiteral("stopped"), storage::MessageState::Stopped},
                                                            {QStringLiteral("length"), storage::MessageState::Length},
                                                            {QStringLiteral("context_full"), storage::MessageState::ContextFull},
                                                            {QStringLiteral("interrupted"), storage::MessageState::Interrupted},
                                                            {QStringLiteral("streaming"), storage::MessageState::Interrupted},
                                                            {QStringLiteral("error"), storage::MessageState::Error}};
  return states.value(name, storage::MessageState::Done);
}

Message own_message(const ChatBundle& bundle, const QJsonObject& o, const QHash<QString, QString>& ids) {
  Message m = message_of(bundle, ids.value(str(o, "parent")), str(o, "role"), str(o, "text"));
  m.thinkingText = str(o, "thinking");
  m.state = state_named(str(o, "state"));
  m.error = str(o, "error");
  m.modelName = str(o, "model");
  m.createdMs = o.value(QLatin1String("created_ms")).toInteger(m.createdMs);
  m.selected = o.value(QLatin1String("selected")).toBool(true);
  const QJsonArray tokens = list(o, "ids"), files = list(o, "attachments");
  for (const QJsonValue& v : tokens) m.generatedIds.push_back(v.toInt(-1));
  for (const QJsonValue& v : files) {
    const QString text = str(v.toObject(), "text");
    m.attachments.push_back({str(v.toObject(), "name"), {}, text, text.toUtf8().size()});
  }
  return m;
}

// Exactly one version of each place may be shown, whatever the file says.
void settle_selection(QVector<Message>& messages) {
  QHash<QString, int> chosen;
  for (int i = 0; i < messages.size(); ++i) {
    if (messages[i].selected || !chosen.contains(messages[i].parentId)) chosen[messages[i].parentId] = i;
  }
  for (int i = 0; i < messages.size(); ++i) messages[i].selected = chosen.value(messages[i].parentId) == i;
}

ChatBundle from_own(const QJsonObject& chat) {
  ChatBundle bundle = empty_chat(str(chat, "title"));
  bundle.chat.modelPath = str(chat, "model_path");
  bundle.chat.modelName = str(chat, "model");
  bundle.chat.nowIso = str(chat, "now");
  bundle.chat.createdMs = chat.value(QLatin1String("created_ms")).toInteger(bundle.chat.createdMs);
  bundle.chat.settingsJson = QString::fromUtf8(QJsonDocument(chat.value(QLatin1String("settings")).toObject()).toJson(QJsonDocument::Compact));
  QHash<QString, QString> ids;
  const QJsonArray messages = list(chat, "messages"), turns = list(chat, "turns");
  for (const QJsonValue& v : messages) {
    const QJsonObject o = v.toObject();
    const QString parent = str(o, "parent");
    if (!known_role(str(o, "role")) || ids.contains(str(o, "id")) || (!parent.isEmpty() && !ids.contains(parent))) continue;
    bundle.messages.push_back(own_message(bundle, o, ids));
    ids.insert(str(o, "id"), bundle.messages.back().id);
  }
  settle_selection(bundle.messages);
  QSet<QString> answered;
  for (const QJsonValue& v : turns) {
    TurnRecord record = TurnRecord::fromJson(v.toObject());
    record.messageId = ids.value(record.messageId);
    if (record.messageId.isEmpty() || answered.contains(record.messageId)) continue;
    answered.insert(record.messageId);
    bundle.turns.push_back(to_row(record, bundle.chat.id, {}));
  }
  return bundle;
}

ChatBundle from_object(const QJsonObject& o) {
  if (o.contains(QLatin1String("mapping"))) return from_mapping(o);
  return from_list(o.contains(QLatin1String("name")) ? str(o, "name") : str(o, "title"), list(o, "messages"));
}

}  // namespace

QString import_kind(const QByteArray& bytes) {
  const auto tr = [](const char* t) { return QCoreApplication::translate("Import", t); };
  const QJsonDocument document = QJsonDocument::fromJson(bytes);
  const QJsonObject first = document.isObject() ? document.object() : document.array().first().toObject();
  if (first.contains(QLatin1String("turnglass"))) return tr("Chats of Turnglass");
  if (first.contains(QLatin1String("mapping"))) return tr("Export of a hosted chat program, with branches");
  if (first.contains(QLatin1String("role"))) return tr("A list of messages");
  if (first.contains(QLatin1String("messages"))) return tr("Chats of another local program");
  return {};
}

QVector<ChatBundle> import_chats(const QByteArray& bytes, QString* sentence) {
  const QJsonDocument document = QJsonDocument::fromJson(bytes);
  QVector<ChatBundle> out;
  const QJsonObject root = document.object();
  const QJsonArray array = document.array();
  if (root.contains(QLatin1String("turnglass"))) {
    const QJsonArray chats = list(root, "chats");
    for (const QJsonValue& v : chats) out.push_back(from_own(v.toObject()));
  } else if (document.isObject()) {
    out.push_back(from_object(root));
  } else if (!array.isEmpty() && array.first().toObject().contains(QLatin1String("role"))) {
    out.push_back(from_list({}, array));
  } else {
    for (const QJsonValue& v : array) out.push_back(from_object(v.toObject()));
  }
  out.removeIf([](const ChatBundle& b) { return b.messages.isEmpty(); });
  if (out.isEmpty()) *sentence = QCoreApplication::translate("Import", "This import has no chats in it.");
  return out;
}

}  // namespace tg
