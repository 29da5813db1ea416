#include "views/transcript/footer_layout.h"

#include <QFontMetricsF>

#include "views/theme/icons.h"

namespace tg {
namespace {

QFont boldOf(const QFont& font) {
  QFont bold = font;
  bold.setWeight(QFont::DemiBold);
  return bold;
}

qreal tierRoom(const QFont& font) { return em(font) * 1.05; }

}  // namespace

qreal groupWidth(const FooterGroup& group, const QFont& font) {
  if (group.kind == FooterGroup::Bar) return em(font) * 3.6;
  qreal width = 0;
  for (const FooterRun& run : group.runs) width += QFontMetricsF(run.bold ? boldOf(font) : font).horizontalAdvance(run.text);
  width = qMax(width, QFontMetricsF(boldOf(font)).horizontalAdvance(group.reserve));
  return width + (group.kind == FooterGroup::Held ? tierRoom(font) : 0);
}

FooterLayout::FooterLayout(const QVector<FooterGroup>& groups, qreal width, const QFont& font) {
  const qreal unit = em(font) / 0.92, gap = unit * 0.8;
  line_ = qMax(QFontMetricsF(font).height(), em(font) * 1.45);
  qreal whole = -gap;
  for (const FooterGroup& g : groups) whole += groupWidth(g, font) + gap;
  const bool single = width < 32 * unit, two = !single && (width < 50 * unit || whole > width);
  qreal x = 0, y = 0;
  for (const FooterGroup& g : groups) {
    if (single && g.kind == FooterGroup::Bar) continue;
    const qreal w = groupWidth(g, font);
    if (x > 0 && (single || (two && g.kind == FooterGroup::First) || x + w > width + 1)) {
      x = 0;
      y += line_;
    }
    places_.append({g.kind, QRectF(x, y, w, line_)});
    x += w + gap;
  }
  height_ = y + line_;
}

void paintFooter(QPainter& painter, const QRectF& rect, const FooterLayout& layout, const FooterContent& content, const QFont& font) {
  painter.save();
  painter.translate(rect.topLeft());
  const QFontMetricsF plain(font);
  const qreal baseline = (layout.lineHeight() - plain.height()) / 2 + plain.ascent();
  int next = 0;
  for (const FooterGroup& group : content.groups) {
    // A group that the final form does not have (reading, stopped) starts where the first text group stands.
    QPointF at;
    bool found = false;
    for (int i = next; i < layout.places().size() && !found; ++i) {
      if (layout.places()[i].kind != group.kind) continue;
      at = layout.places()[i].rect.topLeft();
      next = i + 1;
      found = true;
    }
    if (!found && group.kind == FooterGroup::Bar) continue;
    if (!found && !layout.places().isEmpty()) {
      const bool hasBar = layout.places().first().kind == FooterGroup::Bar;
      at = layout.places()[hasBar && layout.places().size() > 1 ? 1 : 0].rect.topLeft();
    }
    if (group.kind == FooterGroup::Bar) {
      const qreal h = qMax(7.0, em(font) * 0.6);
      paintBar(painter, QRectF(at.x(), at.y() + (layout.lineHeight() - h) / 2, em(font) * 3.6, h), content.bar, content.barWhole);
      continue;
    }
    qreal x = at.x();
    if (group.tier) {
      const qreal side = em(font) * 0.72;
      paintTier(painter, QRectF(x, at.y() + (layout.lineHeight() - side) / 2, side, side), *group.tier, color(Role::Muted));
      x += tierRoom(font);
    }
    for (const FooterRun& run : group.runs) {
      const QFont f = run.bold ? boldOf(font) : font;
      painter.setFont(f);
      painter.setPen(color(run.role));
      painter.drawText(QPointF(x, at.y() + baseline), run.text);
      x += QFontMetricsF(f).horizontalAdvance(run.text);
    }
  }
  if (!content.miss.isEmpty()) {
    const qreal top = layout.height();
    const int side = qRound(em(font) * 1.15);
    painter.drawPixmap(QPointF(0, top + (layout.lineHeight() - side) / 2), iconPixmap(QStringLiteral("warning"), side, color(Role::WarnText), painter.device()->devicePixelRatioF()));
    painter.setFont(font);
    painter.setPen(color(Role::WarnText));
    painter.drawText(QRectF(side + 6, top, rect.width() - side - 6, layout.lineHeight()), Qt::AlignVCenter | Qt::AlignLeft,
                     plain.elidedText(content.miss, Qt::ElideRight, rect.width() - side - 6));
  }
  painter.restore();
}

}  // namespace tg
