// The transcript: a list view with its own geometry. Heights are estimated until a row is seen, the reader's place is never moved, new text
// is followed only if the reader was at the end. Selection runs over rows; Ctrl+C copies the source text.
// Thread: GUI thread. Ownership: Qt parents.
#pragma once
#include <QHash>
#include <QListView>
#include <QTimer>

#include "views/transcript/row_geometry.h"
#include "views/transcript/transcript_delegate.h"

class QToolButton;

namespace tg {

struct TextPlace {
  int row = -1, position = 0;
  bool operator<(const TextPlace& o) const { return row != o.row ? row < o.row : position < o.position; }
  bool operator==(const TextPlace&) const = default;
};

class TranscriptView : public QListView {
  Q_OBJECT
 public:
  explicit TranscriptView(TranscriptModel* model, QWidget* parent = nullptr);

  TranscriptModel* transcript() const { return model_; }
  TranscriptDelegate* rows() const { return delegate_; }
  bool isAtEnd() const;
  void scrollToEnd();
  QString selectedSource() const;
  bool hasSelection() const { return !(anchor_ == head_) && anchor_.row >= 0; }
  void clearSelection();
  void copySelection();
  void selectEverything();

  // Find: counts hits, shows number CURRENT (from 0), returns how many there are.
  int find(const QString& words);
  void showHit(int number);
  int rowHeightOverride(int row) const { return overrides_.value(model_->row(row).id, 0); }
  void setRowHeightOverride(const QString& rowId, int height);  // 0: none; for editing in place

  QRect visualRect(const QModelIndex& index) const override;
  QModelIndex indexAt(const QPoint& point) const override;
  void scrollTo(const QModelIndex& index, ScrollHint hint = EnsureVisible) override;
  void doItemsLayout() override;

 Q_SIGNALS:
  void footerActivated(int row);
  void codeCopied(int row);
  void linkActivated(const QUrl& url);
  void linkHovered(const QString& url);
  void awayFromEnd(bool away, bool newText);
  void laidOut();                      // rows moved: overlays follow
  void hoveredRowChanged(int row);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void changeEvent(QEvent* event) override;
  void dataChanged(const QModelIndex& topLeft, const QModelIndex& bottomRight, const QList<int>& roles) override;
  void rowsInserted(const QModelIndex& parent, int start, int end) override;
  void rowsAboutToBeRemoved(const QModelIndex& parent, int start, int end) override;
  void reset() override;
  void updateGeometries() override;
  QModelIndex moveCursor(CursorAction action, Qt::KeyboardModifiers modifiers) override;
  int horizontalOffset() const override { return 0; }
  int verticalOffset() const override;
  void setSelection(const QRect&, QItemSelectionModel::SelectionFlags) override {}
  QRegion visualRegionForSelection(const QItemSelection&) const override { return {}; }

 private:
  int width() const { return viewport()->width(); }
  int padding() const { return delegate_->padding(); }
  void measureVisible();               // exact heights for what is on screen, reader's place kept
  bool measure(int row);               // true: its height changed
  void measureIdle();                  // a few rows at a time, from the end upwards
  void estimateAll();
  void refreshRange();
  void setScroll(qint64 value);
  void tailAppended(int row);
  TextPlace placeAt(const QPoint& point) const;
  RowMarks marksOf(int row) const;
  QString linkAt(const QPoint& point) const;
  bool clickRow(int row, const QPoint& point);
  void themeChanged();

  TranscriptModel* model_;
  TranscriptDelegate* delegate_;
  RowGeometry geometry_;
  QHash<QString, int> overrides_;
  QTimer idle_;
  int idleRow_ = -1, layoutWidth_ = -1, hoverRow_ = -1;
  bool follow_ = true, internal_ = false, selecting_ = false, newText_ = false;
  TextPlace anchor_, head_;
  QPoint press_;
  QString findWords_;
  struct Hit { int row, begin, end; };
  QVector<Hit> hits_;
  int currentHit_ = -1;
};

}  // namespace tg
