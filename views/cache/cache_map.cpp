#include "views/cache/cache_map.h"

#include <QAccessible>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>

#include "app/cache_words.h"
#include "app/format.h"
#include "views/chats/chat_list_model.h"
#include "views/theme/fill.h"
#include "views/theme/icons.h"

namespace tg {

using namespace Qt::StringLiterals;

namespace {

// Below this share of its budget a tier's blocks would be slivers: they get this part of the bar, and the free rest is shortened, which is shown.
constexpr double kSliver = 0.1, kBlocksShare = 0.6;

}  // namespace

CacheMap::CacheMap(QWidget* parent) : QWidget(parent) {
  setObjectName(u"cacheMap"_s);
  setAccessibleName(tr("Map of the cache"));
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  policy.setHeightForWidth(false);
  setSizePolicy(policy);
  connect(&Theme::get(), &Theme::changed, this, [this] {
    updateGeometry();
    arrange();
    update();
  });
}

void CacheMap::set(const CacheSnapshot& snapshot) {
  const QString was = current_ >= 0 && current_ < pieces_.size() ? pieces_[current_].block.chatId : QString();
  const ChatTier tier = current_ >= 0 && current_ < pieces_.size() ? pieces_[current_].tier : ChatTier::Ram;
  snapshot_ = snapshot;
  arrange();
  current_ = -1;
  for (int i = 0; i < pieces_.size(); ++i) {
    if (!was.isEmpty() && pieces_[i].block.chatId == was && (current_ < 0 || pieces_[i].tier == tier)) current_ = i;
  }
  QStringList tiers;
  for (const CacheTier& t : snapshot_.tiers) {
    if (t.exists) tiers << tr("%1: %2 of %3 used").arg(words::tierName(t.tier), format::spokenBytes(t.used), format::spokenBytes(t.budget));
  }
  setAccessibleDescription(tiers.join(u". "_s));
  updateGeometry();
  update();
}

void CacheMap::setSelected(const QString& chatId) {
  selected_ = chatId;
  for (int i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i].block.chatId == chatId && !hasFocus()) {
      current_ = i;
      break;
    }
  }
  update();
}

bool CacheMap::stacked() const { return width() < em(font()) * 44; }
qreal CacheMap::lineHeight() const { return em(font()) * (stacked() ? 5.6 : 4.75); }
QSize CacheMap::sizeHint() const { return {qRound(em(font()) * 30), qRound(lineHeight() * qMax<qsizetype>(2, snapshot_.tiers.size()))}; }
QSize CacheMap::minimumSizeHint() const { return {qRound(em(font()) * 16), sizeHint().height()}; }

QString CacheMap::title(const CacheBlock& block) const {
  switch (block.kind) {
    case CacheBlock::Kind::Chat: return shownTitle(block.title);
    case CacheBlock::Kind::Shared: return tr("shared, counted once");
    case CacheBlock::Kind::Other: break;
  }
  return tr("other versions");
}

QString CacheMap::sentence(const Piece& piece) const {
  const CacheRow* row = snapshot_.row(piece.block.chatId);
  if (piece.block.kind == CacheBlock::Kind::Shared) return tr("Shared by several chats in the %1, counted once: %2.").arg(words::tierName(piece.tier), format::spokenBytes(piece.block.bytes));
  if (!row) return tr("Of versions that no chat shows now, in the %1: %2.").arg(words::tierName(piece.tier), format::spokenBytes(piece.block.bytes));
  const QString here = piece.block.copy ? tr(" Its copy on disk takes %1.").arg(format::spokenBytes(piece.block.bytes)) : QString();
  return words::rowSentence(*row, QDateTime::currentDateTime()) + here;
}

void CacheMap::arrange() {
  lines_.clear();
  pieces_.clear();
  const qreal unit = em(font()), height = lineHeight();
  const qreal left = unit * 7.4, side = stacked() ? 0 : unit * 15;
  qreal y = 0;
  for (const CacheTier& t : snapshot_.tiers) {
    Line line;
    line.tier = t;
    line.label = QRectF(0, y, left, unit * 3);
    const qreal top = stacked() ? y + unit * 1.6 : y;
    const qreal from = stacked() ? 0 : left;
    line.bar = QRectF(from + 0.5, top + 1, qMax(20.0, width() - from - side - 1), unit * 1.5);
    line.figures = stacked() ? QRectF(left, y - unit * 0.1, width() - left, unit * 1.6) : QRectF(width() - side, y, side, unit * 3.2);
    const int first = static_cast<int>(pieces_.size());
    double whole = double(qMax<qint64>(1, qMax(t.budget, t.used)));
    if (t.used > 0 && double(t.used) < whole * kSliver) {
      whole = double(t.used) / kBlocksShare;
      line.cut = line.bar.left() + line.bar.width() * kBlocksShare + unit * 1.6;
    }
    qreal x = line.bar.left() + 1;
    for (const CacheBlock& b : t.blocks) {
      const qreal due = line.bar.width() * double(b.bytes) / whole;
      const qreal w = qMin(qMax(3.0, due - 1), line.bar.right() - 1 - x);
      pieces_.append({t.tier, b, QRectF(x, line.bar.top() + 1, qMax(1.0, w), line.bar.height() - 2), {}});
      x += qMax(due, w + 1);
    }
    placeNames(first, static_cast<int>(pieces_.size()), line.bar.right());
    lines_.append(line);
    y += height;
  }
}

// A name may run on to where the next one begins.
void CacheMap::placeNames(int from, int to, qreal right) {
  const QFont small = captionFont(font());
  const QFontMetricsF metrics(small);
  const qreal unit = em(font());
  qreal end = right;
  for (int i = to - 1; i >= from; --i) {
    Piece& p = pieces_[i];
    const qreal pin = p.block.pinned ? unit * 1.0 : 0, wants = metrics.horizontalAdvance(title(p.block)) + pin + 4;
    const qreal has = end - p.rect.left();
    if (has < qMin(wants, unit * 4.5)) continue;
    p.name = QRectF(p.rect.left(), p.rect.bottom() + 3, qMin(wants, has - 4), metrics.height() + 1);
    end = p.rect.left();
  }
}

void CacheMap::paintBlock(QPainter& p, const Piece& piece) const {
  QPainterPath path;
  path.addRoundedRect(piece.rect, 1.5, 1.5);
  if (piece.block.kind == CacheBlock::Kind::Other) {
    p.fillPath(path, color(Role::Border));
  } else if (piece.block.copy) {
    p.fillPath(path, color(Role::CachedTint));
    p.setPen(QPen(color(Role::Cached), 1));
    p.drawRoundedRect(piece.rect.adjusted(0.5, 0.5, -0.5, -0.5), 1.5, 1.5);
  } else {
    paintFill(p, path, Part::Cached);
  }
  if (piece.block.kind == CacheBlock::Kind::Shared) {  // crossed: the stripes run both ways
    p.save();
    p.setClipPath(path, Qt::IntersectClip);
    QColor ink = color(Role::Base);
    ink.setAlphaF(0.55F);
    p.setPen(QPen(ink, 1.4));
    for (qreal x = piece.rect.left() - piece.rect.height(); x < piece.rect.right(); x += 7) p.drawLine(QPointF(x, piece.rect.top()), QPointF(x + piece.rect.height(), piece.rect.bottom()));
    p.restore();
  }
}

// Two slanted strokes, as on a broken axis, and the word for it.
void CacheMap::paintCut(QPainter& p, const Line& line) const {
  const qreal slant = em(font()) * 0.35;
  QPainterPath gap;
  gap.moveTo(line.cut + slant, line.bar.top() - 2);
  gap.lineTo(line.cut + 2 * slant, line.bar.top() - 2);
  gap.lineTo(line.cut, line.bar.bottom() + 2);
  gap.lineTo(line.cut - slant, line.bar.bottom() + 2);
  gap.closeSubpath();
  p.fillPath(gap, color(Role::Base));
  p.setPen(QPen(color(Role::ControlBorder), 1.2));
  p.drawLine(QPointF(line.cut + slant, line.bar.top() - 2), QPointF(line.cut - slant, line.bar.bottom() + 2));
  p.drawLine(QPointF(line.cut + 2 * slant, line.bar.top() - 2), QPointF(line.cut, line.bar.bottom() + 2));
  p.setFont(captionFont(font()));
  p.setPen(color(Role::Muted));
  const QRectF rest(line.cut + 3 * slant, line.bar.top(), line.bar.right() - line.cut - 3 * slant, line.bar.height());
  const QString word = tr("free, shortened");
  if (QFontMetricsF(p.font()).horizontalAdvance(word) < rest.width()) p.drawText(rest, Qt::AlignCenter, word);
}

void CacheMap::paintFigures(QPainter& p, const Line& line) const {
  const CacheTier& t = line.tier;
  const QFont body = font(), small = smallFont(font()), strong = scaled(font(), 1, true);
  const qreal unit = em(font());
  paintTier(p, QRectF(line.label.left() + 1, line.label.top() + unit * 0.32, unit * 0.8, unit * 0.8), t.tier, color(t.exists ? Role::Text : Role::Muted));
  p.setFont(strong);
  p.setPen(color(t.exists ? Role::Text : Role::Muted));
  p.drawText(QRectF(unit * 1.35, line.label.top(), line.label.width() - unit, unit * 1.5), Qt::AlignLeft | Qt::AlignVCenter, words::tierName(t.tier));
  if (!t.exists) return;
  p.setFont(small);
  p.setPen(color(Role::Muted));
  if (!stacked()) p.drawText(QRectF(0, line.label.top() + unit * 1.45, line.label.width(), unit * 1.5), Qt::AlignLeft | Qt::AlignVCenter, t.chats == 1 ? tr("1 chat") : tr("%1 chats").arg(format::count(t.chats)));
  const QString used = format::bytes(t.used), of = tr(" of %1").arg(format::bytes(t.budget));
  const QFontMetricsF strongMetrics(strong), bodyMetrics(body);
  const qreal width = strongMetrics.horizontalAdvance(used) + bodyMetrics.horizontalAdvance(of);
  qreal x = line.figures.right() - width;
  p.setFont(strong);
  p.setPen(color(t.used > t.budget ? Role::ErrorText : Role::Text));
  p.drawText(QRectF(x, line.figures.top(), width, unit * 1.5), Qt::AlignLeft | Qt::AlignVCenter, used);
  x += strongMetrics.horizontalAdvance(used);
  p.setFont(body);
  p.drawText(QRectF(x, line.figures.top(), width, unit * 1.5), Qt::AlignLeft | Qt::AlignVCenter, of);
  if (stacked()) return;
  p.setFont(small);
  p.setPen(color(Role::Muted));
  const qint64 left = qMax<qint64>(0, t.budget - t.used);
  QString free = tr("%1 free").arg(format::bytes(left));
  if (snapshot_.tokenBytes > 0) free = tr("%1 = %2 tokens free").arg(format::bytes(left), format::count(qint64(double(left) / snapshot_.tokenBytes)));
  if (t.used > t.budget) free = tr("over its budget: pinned or in use");
  p.drawText(QRectF(line.figures.left(), line.figures.top() + unit * 1.45, line.figures.width(), unit * 1.5), Qt::AlignRight | Qt::AlignVCenter, free);
}

void CacheMap::paintEvent(QPaintEvent*) {
  QPainter p(this);
  p.setRenderHint(QPainter::Antialiasing);
  const qreal unit = em(font());
  for (const Line& line : std::as_const(lines_)) {
    p.setPen(QPen(color(Role::Border), 1, line.tier.exists ? Qt::SolidLine : Qt::DashLine));
    p.setBrush(line.tier.exists ? QBrush(color(Role::Sunken)) : QBrush(Qt::NoBrush));
    p.drawRoundedRect(line.bar, 3, 3);
    paintFigures(p, line);
    if (line.cut > 0) paintCut(p, line);
    if (line.tier.exists) continue;
    p.setFont(smallFont(font()));
    p.setPen(color(Role::Muted));
    p.drawText(line.bar.adjusted(unit * 0.7, 0, -4, 0), Qt::AlignLeft | Qt::AlignVCenter, tr("no GPU is in use: caches are in RAM"));
  }
  for (int i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    paintBlock(p, piece);
    const bool chosen = !selected_.isEmpty() && piece.block.chatId == selected_, here = hasFocus() && i == current_;
    if (chosen || here) {
      p.setBrush(Qt::NoBrush);
      p.setPen(QPen(color(here ? Role::Focus : Role::Accent), here ? 3 : 2));
      p.drawRoundedRect(piece.rect.adjusted(0, 0, 0, 0), 2, 2);
    }
    if (piece.name.isEmpty()) continue;
    QRectF name = piece.name;
    p.setFont(captionFont(font()));
    p.setPen(color(piece.block.kind == CacheBlock::Kind::Chat && !piece.block.copy ? Role::Text : Role::Muted));
    if (piece.block.pinned) {
      const int side = qRound(unit * 0.95);
      p.drawPixmap(QPointF(name.left(), name.center().y() - side / 2.0), iconPixmap(u"pin"_s, side, color(Role::Text), devicePixelRatioF()));
      name.setLeft(name.left() + unit);
    }
    p.drawText(name, Qt::AlignLeft | Qt::AlignVCenter, QFontMetricsF(p.font()).elidedText(title(piece.block), Qt::ElideRight, name.width()));
  }
}

void CacheMap::resizeEvent(QResizeEvent*) {
  arrange();
  updateGeometry();
}

int CacheMap::nearest(ChatTier tier, qreal x) const {
  int best = -1;
  for (int i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i].tier != tier) continue;
    if (best < 0 || qAbs(pieces_[i].rect.center().x() - x) < qAbs(pieces_[best].rect.center().x() - x)) best = i;
  }
  return best;
}

int CacheMap::at(const QPointF& point) const {
  for (int i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i].rect.adjusted(-1, -2, 1, 2).contains(point) || pieces_[i].name.contains(point)) return i;
  }
  return -1;
}

void CacheMap::go(int to) {
  if (to < 0 || to >= pieces_.size()) return;
  current_ = to;
  const QString text = sentence(pieces_[to]);
  setAccessibleDescription(text);
  QAccessibleEvent changed(this, QAccessible::DescriptionChanged);
  QAccessible::updateAccessibility(&changed);
  Q_EMIT walked(text);
  update();
}

void CacheMap::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  if (current_ < 0 && !pieces_.isEmpty()) go(0);
  update();
}

void CacheMap::keyPressEvent(QKeyEvent* event) {
  const int last = static_cast<int>(pieces_.size()) - 1;
  switch (event->key()) {
    case Qt::Key_Left: return go(current_ < 0 ? 0 : qMax(0, current_ - 1));
    case Qt::Key_Right: return go(qMin(last, current_ + 1));
    case Qt::Key_Home: return go(0);
    case Qt::Key_End: return go(last);
    case Qt::Key_Up:
    case Qt::Key_Down: {
      if (current_ < 0) return go(0);
      const int by = event->key() == Qt::Key_Down ? 1 : -1;
      int tier = 0;
      while (tier < lines_.size() && lines_[tier].tier.tier != pieces_[current_].tier) ++tier;
      for (int next = tier + by; next >= 0 && next < lines_.size(); next += by) {
        if (const int found = nearest(lines_[next].tier.tier, pieces_[current_].rect.center().x()); found >= 0) return go(found);
      }
      return;
    }
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
      if (current_ >= 0 && !pieces_[current_].block.chatId.isEmpty()) Q_EMIT chosen(pieces_[current_].block.chatId);
      return;
    default: QWidget::keyPressEvent(event);
  }
}

void CacheMap::mousePressEvent(QMouseEvent* event) {
  const int hit = at(event->position());
  if (hit < 0) return;
  go(hit);
  if (!pieces_[hit].block.chatId.isEmpty()) Q_EMIT chosen(pieces_[hit].block.chatId);
}

bool CacheMap::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  auto* help = static_cast<QHelpEvent*>(event);
  const int hit = at(help->pos());
  if (hit < 0) QToolTip::hideText();
  else QToolTip::showText(help->globalPos(), title(pieces_[hit].block) + u'\n' + sentence(pieces_[hit]), this);
  return true;
}

}  // namespace tg
