// Mouse, keys, selection and find of the transcript.
#include <QAbstractTextDocumentLayout>
#include <QClipboard>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextCursor>
#include <QUrl>
#include <QWheelEvent>

#include "views/transcript/transcript_view.h"

namespace tg {

TextPlace TranscriptView::placeAt(const QPoint& point) const {
  if (geometry_.count() == 0) return {};
  const int row = geometry_.rowAt(qMax<qint64>(0, point.y() + verticalOffset()));
  QTextDocument* doc = delegate_->document(row, width());
  if (!doc) return {row, 0};
  const QPointF origin = delegate_->documentOrigin(row, width()) + visualRect(model_->index(row)).topLeft();
  const int position = doc->documentLayout()->hitTest(QPointF(point) - origin, Qt::FuzzyHit);
  return {row, qMax(0, position)};
}

QString TranscriptView::linkAt(const QPoint& point) const {
  const QModelIndex index = indexAt(point);
  if (!index.isValid()) return {};
  QTextDocument* doc = delegate_->document(index.row(), width());
  if (!doc) return {};
  const QPointF origin = delegate_->documentOrigin(index.row(), width()) + visualRect(index).topLeft();
  return doc->documentLayout()->anchorAt(QPointF(point) - origin);
}

void TranscriptView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  press_ = event->pos();
  const TextPlace place = placeAt(event->pos());
  if (!(event->modifiers() & Qt::ShiftModifier) || anchor_.row < 0) anchor_ = place;
  head_ = place;
  selecting_ = true;
  if (place.row >= 0) selectionModel()->setCurrentIndex(model_->index(place.row), QItemSelectionModel::NoUpdate);
  viewport()->update();
}

void TranscriptView::mouseMoveEvent(QMouseEvent* event) {
  if (selecting_ && (event->buttons() & Qt::LeftButton)) {
    head_ = placeAt(event->pos());
    if (event->pos().y() < 0) verticalScrollBar()->setValue(verticalScrollBar()->value() - 24);
    if (event->pos().y() > viewport()->height()) verticalScrollBar()->setValue(verticalScrollBar()->value() + 24);
    viewport()->update();
    return;
  }
  const QModelIndex index = indexAt(event->pos());
  if (index.row() != hoverRow_) {
    hoverRow_ = index.row();
    Q_EMIT hoveredRowChanged(hoverRow_);
  }
  const QString link = linkAt(event->pos());
  Q_EMIT linkHovered(link);
  bool hand = !link.isEmpty();
  if (index.isValid() && !hand) {
    const TranscriptRow& r = model_->row(index.row());
    const QPoint local = event->pos() - visualRect(index).topLeft();
    hand = r.kind == RowKind::Footer || r.kind == RowKind::Thinking || (r.kind == RowKind::Code && delegate_->boxes(index.row(), width()).copy.contains(local));
  }
  viewport()->setCursor(hand ? Qt::PointingHandCursor : Qt::IBeamCursor);
}

void TranscriptView::mouseReleaseEvent(QMouseEvent* event) {
  selecting_ = false;
  if (event->button() != Qt::LeftButton || (event->pos() - press_).manhattanLength() > 4) return;
  const QModelIndex index = indexAt(event->pos());
  if (index.isValid()) clickRow(index.row(), event->pos());
}

bool TranscriptView::clickRow(int row, const QPoint& point) {
  const TranscriptRow& r = model_->row(row);
  const QPoint local = point - visualRect(model_->index(row)).topLeft();
  if (const QString link = linkAt(point); !link.isEmpty()) {
    Q_EMIT linkActivated(QUrl(link));
    return true;
  }
  if (r.kind == RowKind::Footer) {
    Q_EMIT footerActivated(row);
    return true;
  }
  const RowBoxes boxes = delegate_->boxes(row, width());
  if (r.kind == RowKind::Thinking && local.y() <= boxes.content.bottom()) {
    model_->setThinkingOpen(row, !r.isOpen);
    return true;
  }
  if (r.kind == RowKind::Code && boxes.copy.contains(local)) {
    QGuiApplication::clipboard()->setText(r.text);
    Q_EMIT codeCopied(row);
    return true;
  }
  return false;
}

// A double click takes the word, as everywhere.
void TranscriptView::mouseDoubleClickEvent(QMouseEvent* event) {
  const TextPlace place = placeAt(event->pos());
  QTextDocument* doc = place.row < 0 ? nullptr : delegate_->document(place.row, width());
  if (!doc) return;
  QTextCursor cursor(doc);
  cursor.setPosition(place.position);
  cursor.select(QTextCursor::WordUnderCursor);
  anchor_ = {place.row, cursor.selectionStart()};
  head_ = {place.row, cursor.selectionEnd()};
  viewport()->update();
}

void TranscriptView::wheelEvent(QWheelEvent* event) {
  const int across = event->angleDelta().x() != 0 ? event->angleDelta().x() : (event->modifiers() & Qt::ShiftModifier) ? event->angleDelta().y() : 0;
  const QModelIndex index = indexAt(event->position().toPoint());
  if (across != 0 && index.isValid() && model_->row(index.row()).kind == RowKind::Code) {
    const RowBoxes boxes = delegate_->boxes(index.row(), width());
    const qreal most = qMax(0.0, delegate_->document(index.row(), width())->idealWidth() - boxes.content.width());
    const QString id = model_->row(index.row()).id;
    delegate_->setScroll(id, qBound(0.0, delegate_->scrollOf(id) - across / 2.0, most));
    viewport()->update();
    event->accept();
    return;
  }
  QListView::wheelEvent(event);
}

void TranscriptView::leaveEvent(QEvent* event) {
  QListView::leaveEvent(event);
  Q_EMIT linkHovered({});
}

void TranscriptView::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    copySelection();
    return;
  }
  if (event->matches(QKeySequence::SelectAll)) {
    selectEverything();
    return;
  }
  const int row = currentIndex().row();
  if (row >= 0 && row < model_->rowCount()) {
    const TranscriptRow& r = model_->row(row);
    if (r.kind == RowKind::Thinking && (event->key() == Qt::Key_Right || event->key() == Qt::Key_Left)) {
      model_->setThinkingOpen(row, event->key() == Qt::Key_Right);
      return;
    }
    if (r.kind == RowKind::Footer && (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)) {
      Q_EMIT footerActivated(row);
      return;
    }
    if (r.kind == RowKind::Code && (event->key() == Qt::Key_Right || event->key() == Qt::Key_Left)) {
      delegate_->setScroll(r.id, qMax(0.0, delegate_->scrollOf(r.id) + (event->key() == Qt::Key_Right ? 40 : -40)));
      viewport()->update();
      return;
    }
  }
  QListView::keyPressEvent(event);
}

void TranscriptView::clearSelection() {
  anchor_ = head_ = {};
  viewport()->update();
}

void TranscriptView::selectEverything() {
  if (model_->rowCount() == 0) return;
  anchor_ = {0, 0};
  head_ = {model_->rowCount() - 1, INT_MAX};
  viewport()->update();
}

// Rows that are taken whole give their source; the first and the last, if cut, give what is seen of them.
QString TranscriptView::selectedSource() const {
  if (!hasSelection()) return {};
  const TextPlace from = qMin(anchor_, head_), to = qMax(anchor_, head_);
  const auto piece = [&](int row, int begin, int end, bool* whole) {
    QTextDocument* doc = delegate_->document(row, width());
    *whole = !doc || (begin <= 0 && end >= doc->characterCount() - 1);
    if (!doc || *whole) return QString();
    QTextCursor cursor(doc);
    cursor.setPosition(qBound(0, begin, doc->characterCount() - 1));
    cursor.setPosition(qBound(0, end, doc->characterCount() - 1), QTextCursor::KeepAnchor);
    return cursor.selectedText().replace(QChar::ParagraphSeparator, u'\n').replace(QChar::LineSeparator, u'\n');
  };
  bool firstWhole = false, lastWhole = false;
  if (from.row == to.row) {
    const QString text = piece(from.row, from.position, to.position, &firstWhole);
    if (!firstWhole) return text;
    return model_->row(from.row).kind == RowKind::Code ? model_->row(from.row).text : model_->row(from.row).source;
  }
  const QString head = piece(from.row, from.position, INT_MAX, &firstWhole);
  const QString tail = piece(to.row, 0, to.position, &lastWhole);
  if (!lastWhole && to.position == 0) lastWhole = false;
  const int first = firstWhole ? from.row : from.row + 1, last = lastWhole ? to.row : to.row - 1;
  QStringList parts;
  if (!firstWhole) parts << head;
  if (first <= last) {
    if (const QString middle = model_->source(first, last); !middle.isEmpty()) parts << middle;
  }
  if (!lastWhole && !tail.isEmpty()) parts << tail;
  return parts.join(QStringLiteral("\n\n"));
}

void TranscriptView::copySelection() {
  const int row = currentIndex().row();
  QString text = selectedSource();
  if (text.isEmpty() && row >= 0 && row < model_->rowCount()) {
    text = model_->row(row).kind == RowKind::Code ? model_->row(row).text : model_->row(row).source;
  }
  if (!text.isEmpty()) QGuiApplication::clipboard()->setText(text);
}

int TranscriptView::find(const QString& words) {
  findWords_ = words;
  hits_.clear();
  currentHit_ = -1;
  if (!words.isEmpty()) {
    for (int row = 0; row < model_->rowCount(); ++row) {
      if (!delegate_->hasDocument(row) || !model_->row(row).text.contains(words, Qt::CaseInsensitive)) continue;
      const QString text = delegate_->document(row, width())->toRawText();
      for (qsizetype at = text.indexOf(words, 0, Qt::CaseInsensitive); at >= 0; at = text.indexOf(words, at + words.size(), Qt::CaseInsensitive)) {
        hits_.append({row, static_cast<int>(at), static_cast<int>(at + words.size())});
      }
    }
  }
  viewport()->update();
  return static_cast<int>(hits_.size());
}

void TranscriptView::showHit(int number) {
  if (number < 0 || number >= hits_.size()) return;
  currentHit_ = number;
  scrollTo(model_->index(hits_[number].row), PositionAtCenter);
  viewport()->update();
}

}  // namespace tg
