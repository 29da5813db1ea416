#include "views/theme/fill.h"

#include <QCoreApplication>
#include <QPainterPath>

namespace tg {

using namespace Qt::StringLiterals;
namespace {

struct Words { Q_DECLARE_TR_FUNCTIONS(tg::Fill) };

QColor patternInk(Part part) {
  QColor ink = color(fillRole(part));
  const bool dark = Theme::get().isDark();
  return dark ? ink.darker(165) : ink.lighter(ink.lightness() < 60 ? 220 : 150);
}

void paintPattern(QPainter& painter, const QRectF& box, Part part) {
  const QColor ink = patternInk(part);
  if (part == Part::Cached) {
    painter.setPen(QPen(ink, 2));
    for (qreal x = box.left() - box.height() - 7; x < box.right() + 7; x += 7) {
      painter.drawLine(QPointF(x, box.bottom() + 1), QPointF(x + box.height() + 2, box.top() - 1));
    }
  } else if (part == Part::Output) {
    painter.setPen(QPen(ink, 1));
    for (qreal y = box.top() + 2.5; y < box.bottom(); y += 3) painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y));
  } else if (part == Part::Thinking) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink);
    int row = 0;
    for (qreal y = box.top() + 2; y < box.bottom(); y += 3.5, ++row) {
      for (qreal x = box.left() + (row % 2 ? 4 : 2); x < box.right(); x += 4) painter.drawEllipse(QPointF(x, y), 0.9, 0.9);
    }
  }
}

}  // namespace

Role fillRole(Part part) {
  constexpr Role roles[] = {Role::Cached, Role::Fresh, Role::Thinking, Role::Output};
  return roles[static_cast<int>(part)];
}

Role textRole(Part part) {
  constexpr Role roles[] = {Role::CachedText, Role::FreshText, Role::ThinkingText, Role::OutputText};
  return roles[static_cast<int>(part)];
}

QString partName(Part part) {
  switch (part) {
    case Part::Cached: return Words::tr("cached");
    case Part::Fresh: return Words::tr("fresh");
    case Part::Thinking: return Words::tr("thinking");
    case Part::Output: break;
  }
  return Words::tr("answer");
}

void paintFill(QPainter& painter, const QPainterPath& path, Part part) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setClipPath(path, Qt::IntersectClip);
  const QRectF box = path.boundingRect();
  painter.fillRect(box, color(fillRole(part)));
  if (box.height() >= 7) paintPattern(painter, box, part);
  painter.restore();
}

void paintFill(QPainter& painter, const QRectF& rect, Part part) {
  QPainterPath path;
  path.addRoundedRect(rect, 1, 1);
  paintFill(painter, path, part);
}

QVector<qreal> barWidths(const QVector<PartShare>& shares, qint64 whole, qreal width) {
  QVector<qreal> widths(shares.size(), 0);
  if (whole <= 0) return widths;
  qreal taken = 0;  // what small shares take beyond their due is given by the widest
  int widest = 0;
  for (int i = 0; i < shares.size(); ++i) {
    if (shares[i].tokens <= 0) continue;
    widths[i] = qMax(3.0, width * double(shares[i].tokens) / double(whole));
    taken += widths[i] + 1;
    if (widths[i] > widths[widest]) widest = i;
  }
  if (taken - 1 > width && widths.size() > 0) widths[widest] = qMax(3.0, widths[widest] - (taken - 1 - width));
  return widths;
}

void paintBar(QPainter& painter, const QRectF& rect, const QVector<PartShare>& shares, qint64 whole) {
  const QVector<qreal> widths = barWidths(shares, whole, rect.width());
  painter.save();
  QPainterPath outline;
  outline.addRoundedRect(rect, qMin(3.0, rect.height() / 2), qMin(3.0, rect.height() / 2));
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillPath(outline, color(Role::Sunken));
  painter.setClipPath(outline, Qt::IntersectClip);
  qreal x = rect.left();
  for (int i = 0; i < shares.size(); ++i) {
    if (widths[i] <= 0) continue;
    paintFill(painter, QRectF(x, rect.top(), qMin(widths[i], rect.right() - x), rect.height()), shares[i].part);
    x += widths[i] + 1;
  }
  painter.restore();
}

void paintTier(QPainter& painter, const QRectF& box, ChatTier tier, const QColor& ink) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  const qreal line = qMax(1.2, box.width() / 9);
  const QRectF ring = box.adjusted(line / 2, line / 2, -line / 2, -line / 2);
  QPen pen(ink, line);
  if (tier == ChatTier::Cold || tier == ChatTier::Unknown) pen.setDashPattern({1.6, 1.5});
  painter.setPen(pen);
  painter.setBrush(tier == ChatTier::Gpu ? QBrush(ink) : QBrush(Qt::NoBrush));
  painter.drawEllipse(ring);
  painter.setPen(Qt::NoPen);
  painter.setBrush(ink);
  if (tier == ChatTier::Ram) painter.drawPie(ring, 90 * 16, -180 * 16);
  if (tier == ChatTier::Disk) painter.drawPie(ring, 90 * 16, -90 * 16);
  painter.restore();
}

QString tierIcon(ChatTier tier) {
  switch (tier) {
    case ChatTier::Gpu: return u"tier-gpu"_s;
    case ChatTier::Ram: return u"tier-ram"_s;
    case ChatTier::Disk: return u"tier-disk"_s;
    default: return u"tier-none"_s;
  }
}

QString tierWord(ChatTier tier) {
  switch (tier) {
    case ChatTier::Gpu: return Words::tr("on GPU");
    case ChatTier::Ram: return Words::tr("in RAM");
    case ChatTier::Disk: return Words::tr("on disk");
    case ChatTier::Cold: return Words::tr("cold");
    case ChatTier::Unknown: break;
  }
  return Words::tr("not known");
}

QString tierSpoken(ChatTier tier) {
  switch (tier) {
    case ChatTier::Gpu: return Words::tr("On the GPU");
    case ChatTier::Ram: return Words::tr("In RAM");
    case ChatTier::Disk: return Words::tr("On disk");
    case ChatTier::Cold: return Words::tr("Cold");
    case ChatTier::Unknown: break;
  }
  return Words::tr("Not known where");
}

}  // namespace tg
