#include "views/transcript/transcript_view.h"

#include <QAbstractTextDocumentLayout>
#include <QElapsedTimer>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>

namespace tg {

TranscriptView::TranscriptView(TranscriptModel* model, QWidget* parent)
    : QListView(parent), model_(model), delegate_(new TranscriptDelegate(model, this)) {
  delegate_->setFont(font());
  setObjectName(QStringLiteral("transcriptView"));
  setAccessibleName(tr("Transcript"));
  setFrameShape(QFrame::NoFrame);
  setStyleSheet(QStringLiteral("QListView { border: none; background: transparent; }"));
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollMode(ScrollPerPixel);
  setSelectionMode(NoSelection);
  setEditTriggers(NoEditTriggers);
  setContextMenuPolicy(Qt::CustomContextMenu);
  viewport()->setMouseTracking(true);
  viewport()->setCursor(Qt::IBeamCursor);
  setItemDelegate(delegate_);
  setModel(model);
  connect(model, &TranscriptModel::tailAppended, this, &TranscriptView::tailAppended);
  connect(&Theme::get(), &Theme::changed, this, &TranscriptView::themeChanged);
  idle_.setInterval(20);
  connect(&idle_, &QTimer::timeout, this, &TranscriptView::measureIdle);
}

// ---- geometry

bool TranscriptView::measure(int row) {
  if (geometry_.measured(row)) return false;
  const int before = geometry_.height(row);
  const int override = rowHeightOverride(row);
  const int height = override > 0 ? override : delegate_->boxes(row, width()).height;
  geometry_.set(row, height, true);
  return height != before;
}

void TranscriptView::estimateAll() {
  for (int i = 0; i < geometry_.count(); ++i) geometry_.set(i, delegate_->estimate(i, width()), false);
  layoutWidth_ = width();
  idleRow_ = geometry_.count() - 1;
  if (idleRow_ >= 0) idle_.start();
}

void TranscriptView::refreshRange() {
  QScrollBar* bar = verticalScrollBar();
  internal_ = true;
  const int page = viewport()->height();
  bar->setPageStep(page * 3 / 4);
  bar->setSingleStep(qRound(em(font()) * 3));
  bar->setRange(0, static_cast<int>(qMax<qint64>(0, geometry_.total() + padding() - page)));
  internal_ = false;
}

void TranscriptView::setScroll(qint64 value) {
  internal_ = true;
  verticalScrollBar()->setValue(static_cast<int>(value));
  internal_ = false;
}

int TranscriptView::verticalOffset() const { return verticalScrollBar()->value(); }

// The row that already has its exact height stays where it is on the screen; everything else gives way.
void TranscriptView::measureVisible() {
  if (geometry_.count() == 0) {
    refreshRange();
    return;
  }
  for (int pass = 0; pass < 6; ++pass) {
    if (follow_) {
      refreshRange();
      setScroll(verticalScrollBar()->maximum());
    }
    const qint64 top = verticalOffset();
    const int first = geometry_.rowAt(top), last = geometry_.rowAt(top + viewport()->height());
    int keep = first;
    while (keep <= last && !geometry_.measured(keep)) ++keep;
    if (keep > last) keep = first;
    const qint64 keepAt = geometry_.top(keep) - top;
    bool changed = false;
    for (int row = first; row <= last; ++row) changed = measure(row) || changed;
    if (!changed) break;
    refreshRange();
    setScroll(follow_ ? verticalScrollBar()->maximum() : geometry_.top(keep) - keepAt);
  }
}

// Keeps the scroll bar honest for rows nobody has looked at yet; stops when all are known.
void TranscriptView::measureIdle() {
  QElapsedTimer clock;
  clock.start();
  const qint64 top = verticalOffset();
  const int keep = geometry_.rowAt(top);
  if (keep < 0 || !isVisible()) {
    idle_.stop();
    return;
  }
  const qint64 offset = top - geometry_.top(keep);
  bool changed = false;
  idleRow_ = qMin(idleRow_, geometry_.count() - 1);
  while (idleRow_ >= 0 && clock.elapsed() < 4) changed = measure(idleRow_--) || changed;
  if (idleRow_ < 0) idle_.stop();
  if (!changed) return;
  refreshRange();
  setScroll(follow_ ? verticalScrollBar()->maximum() : geometry_.top(keep) + offset);
}

void TranscriptView::doItemsLayout() {
  if (geometry_.count() != model_->rowCount()) geometry_.reset(model_->rowCount());
  if (layoutWidth_ != width()) {
    const qint64 top = verticalOffset();
    const int keep = geometry_.rowAt(top);
    const qint64 offset = keep < 0 ? 0 : top - geometry_.top(keep);
    estimateAll();
    refreshRange();
    if (keep >= 0 && !follow_) {
      measure(keep);
      refreshRange();
      setScroll(geometry_.top(keep) + offset);
    }
  }
  measureVisible();
  QAbstractItemView::doItemsLayout();
  Q_EMIT laidOut();
}

void TranscriptView::updateGeometries() {
  QAbstractItemView::updateGeometries();
  refreshRange();
}

void TranscriptView::reset() {
  delegate_->documents().clear();
  overrides_.clear();
  anchor_ = head_ = {};
  hits_.clear();
  hoverRow_ = -1;
  follow_ = true;
  newText_ = false;
  layoutWidth_ = -1;
  geometry_.reset(model_->rowCount());
  QListView::reset();
  doItemsLayout();
}

void TranscriptView::rowsInserted(const QModelIndex& parent, int start, int end) {
  geometry_.insert(start, end - start + 1);
  for (int i = start; i <= end; ++i) geometry_.set(i, delegate_->estimate(i, width()), false);
  if (!follow_) newText_ = true;
  QListView::rowsInserted(parent, start, end);
  measureVisible();
  viewport()->update();
  Q_EMIT awayFromEnd(!follow_, newText_);
  Q_EMIT laidOut();
}

void TranscriptView::rowsAboutToBeRemoved(const QModelIndex& parent, int start, int end) {
  for (int i = start; i <= end; ++i) delegate_->documents().forget(model_->row(i).id);
  geometry_.remove(start, end - start + 1);
  if (qMax(anchor_.row, head_.row) >= start) clearSelection();
  QListView::rowsAboutToBeRemoved(parent, start, end);
  viewport()->update();
}

void TranscriptView::dataChanged(const QModelIndex& topLeft, const QModelIndex& bottomRight, const QList<int>& roles) {
  QAbstractItemView::dataChanged(topLeft, bottomRight, roles);
  const qint64 top = verticalOffset();
  const int keep = geometry_.rowAt(top);
  const qint64 offset = keep < 0 ? 0 : top - geometry_.top(keep);
  bool moved = false;
  for (int row = topLeft.row(); row <= bottomRight.row() && row < geometry_.count(); ++row) {
    delegate_->documents().forget(model_->row(row).id);
    const int before = geometry_.height(row);
    const bool seen = geometry_.top(row) < top + viewport()->height() && geometry_.top(row) + before > top;
    geometry_.set(row, before, false);
    if (seen || bottomRight.row() - topLeft.row() < 8) moved = measure(row) || moved;
  }
  if (moved) {
    refreshRange();
    setScroll(follow_ ? verticalScrollBar()->maximum() : geometry_.top(qMax(0, keep)) + offset);
    if (!follow_) newText_ = true;
    Q_EMIT awayFromEnd(!follow_, newText_);
    Q_EMIT laidOut();
  }
  viewport()->update();
}

void TranscriptView::tailAppended(int row) {
  delegate_->documents().grew(model_->row(row), delegate_->font());
  const int before = geometry_.height(row);
  geometry_.set(row, before, false);
  if (measure(row)) {
    refreshRange();
    if (follow_) setScroll(verticalScrollBar()->maximum());
    Q_EMIT laidOut();
  }
  if (!follow_) newText_ = true;
  Q_EMIT awayFromEnd(!follow_, newText_);
  viewport()->update();
}

void TranscriptView::setRowHeightOverride(const QString& rowId, int height) {
  if (height > 0) {
    overrides_[rowId] = height;
  } else {
    overrides_.remove(rowId);
  }
  for (int i = 0; i < geometry_.count(); ++i) {
    if (model_->row(i).id != rowId) continue;
    geometry_.set(i, geometry_.height(i), false);
    measure(i);
    refreshRange();
    measureVisible();
    viewport()->update();
    Q_EMIT laidOut();
  }
}

void TranscriptView::themeChanged() {
  delegate_->documents().clear();
  delegate_->setFont(font());
  layoutWidth_ = -1;
  doItemsLayout();
  viewport()->update();
}

void TranscriptView::changeEvent(QEvent* event) {
  QListView::changeEvent(event);
  if (event->type() == QEvent::FontChange && delegate_->font() != font()) themeChanged();
}

void TranscriptView::resizeEvent(QResizeEvent* event) {
  const bool follow = follow_;
  QListView::resizeEvent(event);
  follow_ = follow;
  doItemsLayout();
}

void TranscriptView::scrollContentsBy(int, int) {
  if (!internal_) {
    follow_ = verticalScrollBar()->value() >= verticalScrollBar()->maximum() - 2;
    if (follow_) newText_ = false;
    measureVisible();
    Q_EMIT awayFromEnd(!follow_, newText_);
  }
  viewport()->update();
  Q_EMIT laidOut();
}

bool TranscriptView::isAtEnd() const { return follow_; }

void TranscriptView::scrollToEnd() {
  follow_ = true;
  newText_ = false;
  measureVisible();
  viewport()->update();
  Q_EMIT awayFromEnd(false, false);
  Q_EMIT laidOut();
}

QRect TranscriptView::visualRect(const QModelIndex& index) const {
  if (!index.isValid() || index.row() >= geometry_.count()) return {};
  return {0, static_cast<int>(geometry_.top(index.row()) - verticalOffset()), width(), geometry_.height(index.row())};
}

QModelIndex TranscriptView::indexAt(const QPoint& point) const {
  const qint64 y = point.y() + verticalOffset();
  if (y < 0 || y >= geometry_.total()) return {};
  return model_->index(geometry_.rowAt(y));
}

void TranscriptView::scrollTo(const QModelIndex& index, ScrollHint hint) {
  if (!index.isValid() || index.row() >= geometry_.count()) return;
  measure(index.row());
  refreshRange();
  const qint64 top = geometry_.top(index.row()), bottom = top + geometry_.height(index.row()), page = viewport()->height();
  qint64 value = verticalOffset();
  if (hint == PositionAtTop || (hint == EnsureVisible && top < value)) value = top;
  else if (hint == PositionAtBottom || (hint == EnsureVisible && bottom > value + page)) value = qMin(top, bottom - page);
  else if (hint == PositionAtCenter) value = (top + bottom - page) / 2;
  follow_ = value >= verticalScrollBar()->maximum();
  setScroll(value);
  measureVisible();
  viewport()->update();
  Q_EMIT awayFromEnd(!follow_, newText_);
}

QModelIndex TranscriptView::moveCursor(CursorAction action, Qt::KeyboardModifiers) {
  const int rows = model_->rowCount();
  if (rows == 0) return {};
  int row = currentIndex().isValid() ? currentIndex().row() : rows;
  if (action == MoveUp || action == MovePrevious) --row;
  if (action == MoveDown || action == MoveNext) ++row;
  if (action == MoveHome) row = 0;
  if (action == MoveEnd) row = rows - 1;
  return model_->index(qBound(0, row, rows - 1));
}

// ---- painting

void TranscriptView::paintEvent(QPaintEvent* event) {
  QPainter painter(viewport());
  painter.fillRect(event->rect(), color(Role::Base));
  if (geometry_.count() == 0) return;
  const qint64 top = verticalOffset();
  const int last = geometry_.rowAt(top + event->rect().bottom());
  for (int row = geometry_.rowAt(top + event->rect().top()); row <= last; ++row) {
    const QRect rect = visualRect(model_->index(row));
    delegate_->paintRow(painter, row, rect, marksOf(row), currentIndex().row() == row, hasFocus());
  }
}

RowMarks TranscriptView::marksOf(int row) const {
  RowMarks marks;
  if (hasSelection()) {
    const TextPlace from = qMin(anchor_, head_), to = qMax(anchor_, head_);
    if (row >= from.row && row <= to.row) {
      marks.selection = {row == from.row ? from.position : 0, row == to.row ? to.position : INT_MAX};
    }
  }
  for (int i = 0; i < hits_.size(); ++i) {
    if (hits_[i].row != row) continue;
    marks.hits.append({hits_[i].begin, hits_[i].end});
    if (i == currentHit_) marks.currentHit = marks.hits.last();
  }
  return marks;
}

}  // namespace tg
