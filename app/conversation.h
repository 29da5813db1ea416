// The messages of one opened chat in memory: a tree of which one path is shown, and the prompt made of that path.
// Thread: that of its owner. Ownership: values. The database is the truth; this is its copy, changed only after a write succeeded.
#pragma once
#include <QHash>
#include <QSet>
#include <QVector>

#include "app/chat_service.h"
#include "app/chat_settings.h"
#include "engine/chat_template/chat_template.h"
#include "storage/records.h"

namespace tg {

class Conversation {
 public:
  Conversation() = default;
  Conversation(QVector<storage::Message> tree, const QVector<storage::Turn>& turns, const QString& title);

  QVector<storage::Message> path() const;                        // shown, in reading order
  QVector<storage::Message> pathBefore(const QString& id) const; // ancestors of ID, without it
  QVector<MessageInfo> shown() const;
  MessageInfo info(const QString& id) const;
  const storage::Message* find(const QString& id) const;
  const TurnRecord* record(const QString& id) const;
  QString lastId() const;                                        // of the shown path; empty: none
  int number(const QString& id) const;                           // 1, 2 … in reading order, notices not counted; 0: not shown
  QString idOfNumber(int number) const;                          // on the shown path; empty: none
  QString versionId(const QString& id, int version) const;       // the VERSION-th sibling of ID, from 1; empty: none
  int turnNumber(const QString& assistantId) const;              // answers up to and with this one
  void setTitle(const QString& title);

  void add(const storage::Message& message);                     // becomes the selected version
  void update(const storage::Message& message);
  void setRecord(const QString& id, const TurnRecord& record);
  void select(const QString& id);
  void remove(const QString& id);                                // with all below it; an earlier sibling becomes selected

 private:
  QVector<int> siblings(int index) const;
  int index(const QString& id) const { return index_.value(id, -1); }
  void reindex();

  QVector<storage::Message> tree_;                               // parents before children
  QHash<QString, int> index_;
  QHash<QString, QVector<int>> children_;                        // by parent id; empty: first messages
  QHash<QString, TurnRecord> records_;
};

// A document and a text as one message content: the text stays the last thing said.
QString content_of(const storage::Message& message, bool with_documents);

// The messages of a prompt: system text, then PATH without what CUT leaves out. Ids of answers are given only where MODELNAME wrote them.
// CUTMESSAGES (may be null): how many messages of PATH were left out.
std::vector<ChatMessage> prompt_messages(const QString& system, const QVector<storage::Message>& path, const PromptCut& cut, const QString& modelName,
                                         int* cut_messages = nullptr);
// Their numbers in reading order, from 1; 0 for the system text.
QVector<int> prompt_numbers(bool has_system, const QVector<storage::Message>& path, const PromptCut& cut);

}  // namespace tg
