#include "app/conversation.h"

#include <algorithm>

#include "app/records_convert.h"

namespace tg {

using storage::Message;

Conversation::Conversation(QVector<Message> tree, const QVector<storage::Turn>& turns, const QString& title) : tree_(std::move(tree)) {
  reindex();
  for (const storage::Turn& turn : turns) {
    const Message* message = find(turn.messageId);
    if (message) records_.insert(turn.messageId, from_row(turn, title, message->generatedIds));
  }
}

void Conversation::reindex() {
  index_.clear();
  children_.clear();
  for (int i = 0; i < tree_.size(); ++i) {
    index_.insert(tree_[i].id, i);
    children_[tree_[i].parentId].push_back(i);
  }
}

QVector<Message> Conversation::path() const {
  QVector<Message> out;
  QString parent;
  while (true) {
    const QVector<int> versions = children_.value(parent);
    if (versions.isEmpty()) return out;
    const auto chosen = std::find_if(versions.begin(), versions.end(), [&](int i) { return tree_[i].selected; });
    out.push_back(tree_[chosen == versions.end() ? versions.back() : *chosen]);
    parent = out.back().id;
  }
}

QVector<Message> Conversation::pathBefore(const QString& id) const {
  QVector<Message> out;
  for (int i = index(id); i >= 0;) {
    i = index(tree_[i].parentId);
    if (i >= 0) out.push_front(tree_[i]);
  }
  return out;
}

const Message* Conversation::find(const QString& id) const {
  const int i = index(id);
  return i < 0 ? nullptr : &tree_[i];
}

const TurnRecord* Conversation::record(const QString& id) const {
  const auto it = records_.constFind(id);
  return it == records_.constEnd() ? nullptr : &*it;
}

QString Conversation::lastId() const {
  const QVector<Message> shown = path();
  return shown.isEmpty() ? QString() : shown.back().id;
}

int Conversation::number(const QString& id) const {
  int n = 0;
  const QVector<Message> shown = path();
  for (const Message& m : shown) {
    if (m.role == QLatin1String("notice")) continue;
    ++n;
    if (m.id == id) return n;
  }
  return 0;
}

QString Conversation::idOfNumber(int wanted) const {
  int n = 0;
  const QVector<Message> shown = path();
  for (const Message& m : shown) {
    if (m.role != QLatin1String("notice") && ++n == wanted) return m.id;
  }
  return {};
}

QVector<int> Conversation::siblings(int i) const { return children_.value(tree_[i].parentId); }

QString Conversation::versionId(const QString& id, int version) const {
  const int i = index(id);
  if (i < 0) return {};
  const QVector<int> all = siblings(i);
  return version >= 1 && version <= all.size() ? tree_[all[version - 1]].id : QString();
}

int Conversation::turnNumber(const QString& assistantId) const {
  const QVector<Message> before = pathBefore(assistantId);
  return 1 + static_cast<int>(std::count_if(before.begin(), before.end(), [](const Message& m) { return m.role == QLatin1String("assistant"); }));
}

MessageInfo Conversation::info(const QString& id) const {
  MessageInfo out;
  const int i = index(id);
  if (i < 0) return out;
  const Message& m = tree_[i];
  out.id = m.id;
  out.parentId = m.parentId;
  out.role = m.role;
  out.text = m.text;
  out.thinkingText = m.thinkingText;
  for (const storage::Attachment& a : m.attachments) out.attachments << a.name;
  out.modelName = m.modelName;
  out.created = QDateTime::fromMSecsSinceEpoch(m.createdMs);
  const QVector<int> all = siblings(i);
  out.versions = static_cast<int>(all.size());
  out.version = static_cast<int>(all.indexOf(i)) + 1;
  const TurnRecord* r = record(id);
  const storage::Turn has_turn;
  out.state = state_of(m, r ? &has_turn : nullptr);
  out.error = m.error;
  if (r) out.record = *r;
  return out;
}

QVector<MessageInfo> Conversation::shown() const {
  QVector<MessageInfo> out;
  const QVector<Message> messages = path();
  for (const Message& m : messages) out.push_back(info(m.id));
  return out;
}

void Conversation::setTitle(const QString& title) {
  for (TurnRecord& r : records_) r.chat = title;
}

void Conversation::add(const Message& message) {
  for (const int i : children_.value(message.parentId)) tree_[i].selected = false;
  tree_.push_back(message);
  tree_.back().selected = true;
  index_.insert(message.id, static_cast<int>(tree_.size()) - 1);
  children_[message.parentId].push_back(static_cast<int>(tree_.size()) - 1);
}

void Conversation::update(const Message& message) {
  const int i = index(message.id);
  if (i >= 0) tree_[i] = message;
}

void Conversation::setRecord(const QString& id, const TurnRecord& record) { records_.insert(id, record); }

void Conversation::select(const QString& id) {
  const int chosen = index(id);
  if (chosen < 0) return;
  for (const int i : siblings(chosen)) tree_[i].selected = i == chosen;
}

void Conversation::remove(const QString& id) {
  const int start = index(id);
  if (start < 0) return;
  QSet<QString> gone{id};
  const QString parent = tree_[start].parentId;
  for (const Message& m : std::as_const(tree_)) {
    if (gone.contains(m.parentId)) gone.insert(m.id);
  }
  tree_.removeIf([&](const Message& m) { return gone.contains(m.id); });
  for (const QString& g : std::as_const(gone)) records_.remove(g);
  reindex();
  const QVector<int> left = children_.value(parent);
  const bool chosen = std::any_of(left.begin(), left.end(), [&](int i) { return tree_[i].selected; });
  if (!chosen && !left.isEmpty()) tree_[left.back()].selected = true;
}

QString content_of(const Message& message, bool with_documents) {
  QString out;
  if (with_documents) {
    for (const storage::Attachment& a : message.attachments) out += QStringLiteral("[%1]\n%2\n\n").arg(a.name, a.text);
  }
  return out + message.text;
}

namespace {

ChatMessage to_prompt(const Message& m, const PromptCut& cut, const QString& modelName) {
  ChatMessage out;
  const bool documents = !m.attachments.isEmpty() && !cut.withoutDocuments.contains(m.id);
  out.role = m.role.toStdString();
  out.content = content_of(m, documents).toStdString();
  out.reasoning = m.thinkingText.toStdString();
  out.document = documents;
  if (m.modelName == modelName) out.generated_ids.assign(m.generatedIds.begin(), m.generatedIds.end());
  return out;
}

// What of a path is sent, with its number in reading order.
struct Sent { const Message* message; int number; };

QVector<Sent> sent_of(const QVector<Message>& path, const PromptCut& cut, int* left_out) {
  QVector<Sent> out;
  const auto first = std::find_if(path.begin(), path.end(), [&](const Message& m) { return m.id == cut.firstKept; });
  const auto first_kept = cut.firstKept.isEmpty() || first == path.end() ? 0 : first - path.begin();
  int said = 0;
  for (qsizetype i = 0; i < path.size(); ++i) {
    if (path[i].role == QLatin1String("notice")) continue;
    const bool first_turn = said++ < 2;
    if (i >= first_kept || (cut.keepFirstTurn && first_turn)) out.push_back({&path[i], said});
    else if (left_out) ++*left_out;
  }
  return out;
}

}  // namespace

std::vector<ChatMessage> prompt_messages(const QString& system, const QVector<Message>& path, const PromptCut& cut, const QString& modelName, int* cut_messages) {
  std::vector<ChatMessage> out;
  if (!system.isEmpty()) {
    ChatMessage m;
    m.role = "system";
    m.content = system.toStdString();
    out.push_back(std::move(m));
  }
  int left_out = 0;
  const QVector<Sent> sent = sent_of(path, cut, &left_out);
  for (const Sent& s : sent) out.push_back(to_prompt(*s.message, cut, modelName));
  if (cut_messages) *cut_messages = left_out;
  return out;
}

QVector<int> prompt_numbers(bool has_system, const QVector<Message>& path, const PromptCut& cut) {
  QVector<int> out;
  if (has_system) out.push_back(0);
  const QVector<Sent> sent = sent_of(path, cut, nullptr);
  for (const Sent& s : sent) out.push_back(s.number);
  return out;
}

}  // namespace tg
