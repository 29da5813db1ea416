#include "views/transcript/transcript_delegate.h"

#include <QAbstractTextDocumentLayout>
#include <QPainterPath>
#include <QTextBlock>

#include "views/theme/icons.h"

namespace tg {

using namespace Qt::StringLiterals;

namespace {

QPainterPath cardPath(const QRectF& r, bool top, bool bottom) {
  QPainterPath path;
  path.addRoundedRect(r, 8, 8);
  QPainterPath corners;
  if (!top) corners.addRect(QRectF(r.left(), r.top(), r.width(), qMin(8.0, r.height())));
  if (!bottom) corners.addRect(QRectF(r.left(), qMax(r.top(), r.bottom() - 8), r.width(), qMin(8.0, r.height())));
  path.setFillRule(Qt::WindingFill);
  path.addPath(corners);
  return path;
}

}  // namespace

TranscriptDelegate::TranscriptDelegate(TranscriptModel* model, QObject* parent) : QStyledItemDelegate(parent), model_(model) {}

void TranscriptDelegate::setFont(const QFont& font) {
  font_ = font;
  documents_.clear();
}

int TranscriptDelegate::padding() const { return qRound(em(font_)); }

// Ninety characters are what the eye follows; on a wide window the column stands in the middle.
int TranscriptDelegate::columnWidth(int viewWidth) const {
  const int measure = qRound(QFontMetricsF(font_).averageCharWidth() * 90) + 2 * padding();
  return qMax(120, qMin(viewWidth - 2 * padding(), measure));
}

int TranscriptDelegate::columnLeft(int viewWidth) const { return qMax(padding(), (viewWidth - columnWidth(viewWidth)) / 2); }

QFont TranscriptDelegate::lineFont(RowKind kind) const {
  if (kind == RowKind::Footer || kind == RowKind::Thinking || kind == RowKind::Attachment || kind == RowKind::Notice) return smallFont(font_);
  return font_;
}

bool TranscriptDelegate::hasDocument(int row) const {
  const TranscriptRow& r = model_->row(row);
  return r.kind == RowKind::Text || r.kind == RowKind::Code || r.kind == RowKind::Table || r.kind == RowKind::Notice ||
         (r.kind == RowKind::Thinking && r.isOpen && !r.text.isEmpty());
}

QTextDocument* TranscriptDelegate::document(int row, int viewWidth) const {
  if (!hasDocument(row)) return nullptr;
  const TranscriptRow& r = model_->row(row);
  qreal width = columnWidth(viewWidth) - 2 * padding();
  if (r.kind == RowKind::Code) width -= 2 * padding();
  if (r.kind == RowKind::Thinking) width -= padding();
  if (r.kind == RowKind::Notice) width -= 3.6 * padding();
  return documents_.document(r, width, r.kind == RowKind::Notice ? smallFont(font_) : font_);
}

RowBoxes TranscriptDelegate::boxes(int row, int viewWidth) const {
  const TranscriptRow& r = model_->row(row);
  const qreal left = columnLeft(viewWidth), width = columnWidth(viewWidth), pad = padding(), unit = em(font_);
  const qreal inner = width - 2 * pad, line = qMax(QFontMetricsF(lineFont(r.kind)).height(), em(lineFont(r.kind)) * 1.45);
  QTextDocument* doc = document(row, viewWidth);
  const qreal docHeight = doc ? doc->size().height() : 0;
  RowBoxes b;
  qreal y = 0, h = line;
  switch (r.kind) {
    case RowKind::Head:
      y = unit * (row == 0 ? 0.9 : r.user ? 1.1 : 0.9) + (r.user ? unit * 0.55 : 0);
      if (r.user) b.card = QRectF(left, y - unit * 0.55, width, line + unit * 0.55);
      b.content = QRectF(left + pad, y, inner, line);
      b.height = qCeil(y + line);
      if (r.user) b.card.setBottom(b.height);  // no seam to the text below
      return b;
    case RowKind::Text:
    case RowKind::Table:
      y = r.user ? unit * 0.1 : unit * 0.25;
      h = docHeight;
      b.content = QRectF(left + pad, y, inner, h);
      b.height = qCeil(y + h + (r.user ? (r.last ? unit * 0.7 : unit * 0.2) : unit * 0.15));
      if (r.user) b.card = QRectF(left, 0, width, b.height);
      return b;
    case RowKind::Code: {
      const qreal bar = line + unit * 0.5;
      y = unit * 0.5;
      b.card = QRectF(left + pad, y, inner, bar + docHeight + unit * 1.2);
      b.content = QRectF(left + 2 * pad, y + bar + unit * 0.6, inner - 2 * pad, docHeight);
      const qreal copyWidth = QFontMetricsF(smallFont(font_)).horizontalAdvance(tr("Copied")) + unit * 2.2;
      b.copy = QRectF(b.card.right() - copyWidth - 4, y, copyWidth, bar);
      b.height = qCeil(b.card.bottom() + unit * 0.4);
      return b;
    }
    case RowKind::Thinking:
      b.content = QRectF(left + pad, unit * 0.25, inner, line);
      b.height = qCeil(unit * 0.4 + line + (doc ? docHeight + unit * 0.5 : 0));
      return b;
    case RowKind::Attachment:
      b.card = QRectF(left, 0, width, line + unit * 0.7);
      b.content = QRectF(left + pad, unit * 0.1, inner, line);
      b.height = qCeil(line + unit * (r.last ? 0.7 : 0.3));
      b.card.setHeight(b.height);
      return b;
    case RowKind::Notice:
      y = unit * 0.5;
      b.card = QRectF(left + pad, y, inner, docHeight + unit);
      b.content = QRectF(left + 3.6 * pad, y + unit * 0.5, inner - 3.6 * pad, docHeight);
      b.height = qCeil(b.card.bottom() + unit * 0.4);
      return b;
    case RowKind::Footer: break;
  }
  const FooterLayout layout(model_->groupsForLayout(r), inner + pad, lineFont(r.kind));
  const bool miss = !r.live && r.message->record && !missShort(*r.message->record).isEmpty();
  b.content = QRectF(left + pad, unit * 0.45, inner + pad, layout.height() + (miss ? layout.lineHeight() : 0));
  b.height = qCeil(b.content.bottom() + unit * 0.55);
  return b;
}

int TranscriptDelegate::estimate(int row, int viewWidth) const {
  const TranscriptRow& r = model_->row(row);
  if (!hasDocument(row)) return qRound(em(font_) * 2.2);
  const qreal chars = qMax(20.0, (columnWidth(viewWidth) - 2 * padding()) / QFontMetricsF(font_).averageCharWidth());
  const qsizetype breaks = r.text.count(u'\n');
  const qreal lines = r.kind == RowKind::Code ? breaks + 4 : breaks + 1 + qreal(r.text.size()) / chars * 0.9;
  return qRound(lines * em(font_) * 1.45 + em(font_) * 0.5);
}

QSize TranscriptDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const int width = option.rect.width() > 0 ? option.rect.width() : 600;
  return {width, boxes(index.row(), width).height};
}

QPointF TranscriptDelegate::documentOrigin(int row, int viewWidth) const {
  const TranscriptRow& r = model_->row(row);
  const RowBoxes b = boxes(row, viewWidth);
  if (r.kind == RowKind::Thinking) return {b.content.left() + padding(), b.content.bottom() + em(font_) * 0.25};
  if (r.kind == RowKind::Code) return {b.content.left() - scrollOf(r.id), b.content.top()};
  return b.content.topLeft();
}

void TranscriptDelegate::paintRow(QPainter& p, int row, const QRect& rect, const RowMarks& marks, bool current, bool focused) const {
  const TranscriptRow& r = model_->row(row);
  const RowBoxes b = boxes(row, rect.width());
  p.save();
  p.translate(rect.topLeft());
  p.setRenderHint(QPainter::Antialiasing);
  if (r.user && !b.card.isEmpty()) p.fillPath(cardPath(b.card, r.kind == RowKind::Head, r.last), color(Role::UserBg));
  switch (r.kind) {
    case RowKind::Head: paintHead(p, r, b); break;
    case RowKind::Code: paintCode(p, r, b); break;
    case RowKind::Thinking: paintThinking(p, r, row, b); break;
    case RowKind::Notice: paintNotice(p, r, b); break;
    case RowKind::Attachment: {
      const int side = qRound(em(font_));
      p.drawPixmap(b.content.topLeft() + QPointF(0, (b.content.height() - side) / 2), iconPixmap(u"attach"_s, side, color(Role::Muted), p.device()->devicePixelRatioF()));
      p.setFont(lineFont(r.kind));
      p.setPen(color(Role::Text));
      p.drawText(b.content.adjusted(side + 6, 0, 0, 0), Qt::AlignVCenter, r.text);
      break;
    }
    case RowKind::Footer: {
      const FooterLayout layout(model_->groupsForLayout(r), b.content.width(), lineFont(r.kind));
      paintFooter(p, b.content, layout, footerContent(r), lineFont(r.kind));
      break;
    }
    default: break;
  }
  paintDocument(p, row, rect.width(), b, marks);
  if (current && focused) {
    p.setPen(QPen(color(Role::Focus), 2));
    p.setBrush(Qt::NoBrush);
    p.drawRoundedRect(QRectF(columnLeft(rect.width()) + 1, 1, columnWidth(rect.width()) - 2, b.height - 2), 5, 5);
  }
  p.restore();
}

void TranscriptDelegate::paintHead(QPainter& p, const TranscriptRow& row, const RowBoxes& b) const {
  p.setFont(scaled(font_, 0.95, true));
  p.setPen(color(Role::Text));
  p.drawText(b.content, Qt::AlignVCenter | Qt::AlignLeading, row.text);
}

void TranscriptDelegate::paintCode(QPainter& p, const TranscriptRow& row, const RowBoxes& b) const {
  QPainterPath card;
  card.addRoundedRect(b.card.adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);
  p.fillPath(card, color(Role::CodeBg));
  p.setPen(color(Role::Border));
  p.drawPath(card);
  p.drawLine(QPointF(b.card.left() + 1, b.copy.bottom()), QPointF(b.card.right() - 1, b.copy.bottom()));
  p.setFont(smallFont(font_));
  p.setPen(color(Role::Muted));
  p.drawText(QRectF(b.card.left() + padding(), b.copy.top(), b.card.width() / 2, b.copy.height()), Qt::AlignVCenter | Qt::AlignLeft,
             row.language.isEmpty() ? tr("code") : row.language);
  const int side = qRound(em(font_) * 1.1);
  p.drawPixmap(QPointF(b.copy.left() + 4, b.copy.center().y() - side / 2.0), iconPixmap(u"copy"_s, side, color(Role::Muted), p.device()->devicePixelRatioF()));
  p.drawText(b.copy.adjusted(side + 10, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, tr("Copy"));
}

void TranscriptDelegate::paintThinking(QPainter& p, const TranscriptRow& row, int index, const RowBoxes& b) const {
  const int side = qRound(em(font_) * 1.15);
  const qreal ratio = p.device()->devicePixelRatioF(), y = b.content.center().y() - side / 2.0;
  const QColor ink = color(Role::ThinkingText);
  p.drawPixmap(QPointF(b.content.left(), y), iconPixmap(row.isOpen ? u"chevron-down"_s : u"chevron-right"_s, side, ink, ratio));
  p.drawPixmap(QPointF(b.content.left() + side + 4, y), iconPixmap(u"thinking"_s, side, ink, ratio));
  p.setFont(lineFont(row.kind));
  p.setPen(ink);
  p.drawText(b.content.adjusted(2 * side + 10, 0, 0, 0), Qt::AlignVCenter, model_->data(model_->index(index), Qt::DisplayRole).toString());
  if (b.height > b.content.bottom() + em(font_)) {
    p.fillRect(QRectF(b.content.left() + 2, b.content.bottom() + 3, 2, b.height - b.content.bottom() - 6), color(Role::Thinking));
  }
}

void TranscriptDelegate::paintNotice(QPainter& p, const TranscriptRow& row, const RowBoxes& b) const {
  const bool error = row.message->state == TurnState::Error;
  const bool warn = row.message->state == TurnState::Length || row.message->state == TurnState::ContextFull || row.message->state == TurnState::Recovered;
  const QColor ink = color(error ? Role::ErrorText : warn ? Role::WarnText : Role::Muted);
  QPainterPath card;
  card.addRoundedRect(b.card, 5, 5);
  p.fillPath(card, color(error ? Role::ErrorBg : warn ? Role::WarnBg : Role::Raised));
  p.fillRect(QRectF(b.card.left(), b.card.top() + 3, 3, b.card.height() - 6), ink);
  const int side = qRound(em(font_) * 1.15);
  p.drawPixmap(QPointF(b.card.left() + padding() * 0.8, b.content.top() + 2), iconPixmap(error ? u"error"_s : warn ? u"warning"_s : u"info"_s, side, ink, p.device()->devicePixelRatioF()));
}

void TranscriptDelegate::paintDocument(QPainter& p, int row, int viewWidth, const RowBoxes& b, const RowMarks& marks) const {
  QTextDocument* doc = document(row, viewWidth);
  if (!doc) return;
  const TranscriptRow& r = model_->row(row);
  p.save();
  if (r.kind == RowKind::Code) p.setClipRect(b.content.adjusted(-4, 0, 4, 2), Qt::IntersectClip);
  const QPointF origin = documentOrigin(row, viewWidth);
  QAbstractTextDocumentLayout::PaintContext context;
  // Only the lines on screen are drawn: a long block costs what is seen of it.
  // worldTransform, not deviceTransform: the latter also holds where the view lies in its window.
  const QRectF visible = p.worldTransform().inverted().mapRect(QRectF(0, 0, p.device()->width(), p.device()->height()));
  context.clip = visible.translated(-origin);
  p.translate(origin);
  const bool quiet = r.kind == RowKind::Thinking;
  context.palette.setColor(QPalette::Text, color(quiet ? Role::Muted : Role::Text));
  const auto mark = [&](QPair<int, int> range, const QColor& back) {
    QAbstractTextDocumentLayout::Selection s;
    s.cursor = QTextCursor(doc);
    const int last = doc->characterCount() - 1;
    s.cursor.setPosition(qBound(0, range.first, last));
    s.cursor.setPosition(qBound(0, range.second, last), QTextCursor::KeepAnchor);
    s.format.setBackground(back);
    s.format.setForeground(color(Role::Text));
    context.selections.append(s);
  };
  for (const auto& hit : marks.hits) mark(hit, color(hit == marks.currentHit ? Role::FreshTint : Role::WarnBg));
  if (marks.selection.first != marks.selection.second) mark(marks.selection, color(Role::Selection));
  doc->documentLayout()->draw(&p, context);
  p.restore();
}

FooterContent TranscriptDelegate::footerContent(const TranscriptRow& row) const {
  FooterContent c;
  c.groups = model_->groupsOf(row);
  if (row.live && model_->live()) {
    const LiveTurn& live = *model_->live();
    c.barWhole = qMax(1, live.readTotal + live.output);
    c.bar = {{Part::Cached, live.readCached}, {Part::Fresh, qMax(0, live.readDone - live.readCached)}, {Part::Thinking, live.thinking}, {Part::Output, live.output - live.thinking}};
    return c;
  }
  if (!row.message->record) return c;
  const TurnRecord& r = *row.message->record;
  const int thinking = r.thinking.value_or(0);
  c.bar = {{Part::Cached, r.inputCached.value_or(0)}, {Part::Fresh, r.inputFresh.value_or(0)}, {Part::Thinking, thinking}, {Part::Output, r.output.value_or(0) - thinking}};
  for (const PartShare& s : c.bar) c.barWhole += s.tokens;
  c.miss = missShort(r);
  return c;
}

}  // namespace tg
