// Measures and paints one row of the transcript. All boxes are relative to the row's top left corner. GUI thread.
#pragma once
#include <QHash>
#include <QStyledItemDelegate>

#include "views/transcript/footer_layout.h"
#include "views/transcript/row_documents.h"

namespace tg {

struct RowBoxes {
  QRectF card;      // background, may be empty
  QRectF content;   // text, document or groups
  QRectF copy;      // of code rows: the painted Copy button
  int height = 0;
};

// What is marked in one row: a selection and the hits of the find bar, as character ranges of its document.
struct RowMarks {
  QPair<int, int> selection{0, 0};
  QVector<QPair<int, int>> hits;
  QPair<int, int> currentHit{-1, -1};
};

class TranscriptDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  TranscriptDelegate(TranscriptModel* model, QObject* parent);

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  RowBoxes boxes(int row, int viewWidth) const;              // exact: lays the row out
  int estimate(int row, int viewWidth) const;                // cheap: from the length of its text
  void paintRow(QPainter& painter, int row, const QRect& rect, const RowMarks& marks, bool current, bool focused) const;

  bool hasDocument(int row) const;
  QTextDocument* document(int row, int viewWidth) const;     // null for rows without text
  QPointF documentOrigin(int row, int viewWidth) const;      // in the row
  RowDocuments& documents() const { return documents_; }
  void setFont(const QFont& font);
  const QFont& font() const { return font_; }

  qreal scrollOf(const QString& rowId) const { return codeScroll_.value(rowId, 0); }
  void setScroll(const QString& rowId, qreal x) { codeScroll_[rowId] = x; }

  int columnLeft(int viewWidth) const;
  int columnWidth(int viewWidth) const;
  int padding() const;                                       // card edge to content

 private:
  FooterContent footerContent(const TranscriptRow& row) const;
  void paintHead(QPainter& p, const TranscriptRow& row, const RowBoxes& b) const;
  void paintCode(QPainter& p, const TranscriptRow& row, const RowBoxes& b) const;
  void paintThinking(QPainter& p, const TranscriptRow& row, int index, const RowBoxes& b) const;
  void paintNotice(QPainter& p, const TranscriptRow& row, const RowBoxes& b) const;
  void paintDocument(QPainter& p, int row, int viewWidth, const RowBoxes& b, const RowMarks& marks) const;
  QFont lineFont(RowKind kind) const;

  TranscriptModel* model_;
  QFont font_;
  mutable RowDocuments documents_;
  QHash<QString, qreal> codeScroll_;
};

}  // namespace tg
