// The open chat as rows: head, text, code, table, thinking, attachment, notice, footer. Finished rows never change; while an answer is
// written only its last block, its thinking row and its footer do.
// Thread: GUI thread. Ownership: holds copies of the messages.
#pragma once
#include <QAbstractListModel>
#include <QHash>
#include <QSet>
#include <memory>

#include "app/chat_service.h"
#include "views/transcript/markdown_splitter.h"
#include "views/turn/turn_words.h"

namespace tg {

enum class RowKind { Head, Text, Code, Table, Thinking, Attachment, Notice, Footer };

struct TranscriptRow {
  RowKind kind = RowKind::Text;
  QString id, messageId;
  QString gap, source, text, language;   // source: exactly as written (fences included); text: what is shown
  bool plain = false;                    // not Markdown
  bool user = false, last = false;       // last row of its message
  bool live = false;                     // of the turn being answered
  bool isOpen = false;                   // thinking rows
  int turn = 0;                          // from 1
  std::shared_ptr<const MessageInfo> message;
};

class TranscriptModel : public QAbstractListModel {
  Q_OBJECT
 public:
  enum DataRole { IdRole = Qt::UserRole + 1, KindRole, SourceRole, MessageIdRole };
  explicit TranscriptModel(QObject* parent = nullptr);

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  const TranscriptRow& row(int i) const { return rows_[i]; }

  void setMessages(const QVector<MessageInfo>& messages);
  void addMessage(const MessageInfo& message);
  void changeMessage(const MessageInfo& message);          // unknown ids are added
  void updateLive(const LiveTurn& live, bool figures);     // figures: footer and thinking line may change too
  void endLive();
  const std::optional<LiveTurn>& live() const { return live_; }

  void setFooterOptions(const FooterOptions& options, bool shown);
  const FooterOptions& footerOptions() const { return footer_; }
  QVector<FooterGroup> groupsOf(const TranscriptRow& row) const;
  QVector<FooterGroup> groupsForLayout(const TranscriptRow& row) const;  // the final form, also while reading
  void setThinkingOpen(int row, bool open);

  int firstRowOf(const QString& messageId) const;          // -1: not there
  int lastRowOf(const QString& messageId) const;
  const MessageInfo* message(const QString& messageId) const;
  const QVector<std::shared_ptr<const MessageInfo>>& messages() const { return messages_; }
  // Source text of rows FIRST to LAST with what stood between them.
  QString source(int first, int last) const;

 Q_SIGNALS:
  void tailAppended(int row);                              // text of ROW only grew at its end (open code): no new layout of the whole

 private:
  QVector<TranscriptRow> rowsOf(const std::shared_ptr<const MessageInfo>& message, int turn) const;
  void appendBlocks(QVector<TranscriptRow>& rows, const QVector<MarkdownBlock>& blocks, const TranscriptRow& base) const;
  void replaceRows(int first, int count, const QVector<TranscriptRow>& rows);
  void startLive(const QString& messageId);
  void updateThinking(const LiveTurn& live, bool figures);
  void updateBlocks(const LiveTurn& live, bool figures);
  void putBlock(const MarkdownBlock& block, bool tail);
  void changed(int row) { Q_EMIT dataChanged(index(row), index(row)); }
  QString accessibleText(const TranscriptRow& row) const;
  QString displayText(const TranscriptRow& row) const;

  QVector<TranscriptRow> rows_;
  QVector<std::shared_ptr<const MessageInfo>> messages_;
  QSet<QString> openThinking_;
  FooterOptions footer_;
  bool footerShown_ = true;

  std::optional<LiveTurn> live_;
  MarkdownSplitter splitter_;
  qsizetype consumed_ = 0;
  int liveBlocks_ = 0;      // rows of finished blocks
  bool tailWaits_ = false;  // the open tail is longer than what is shown of it
  bool liveTail_ = false;   // the row before the footer is the open tail
};

}  // namespace tg
