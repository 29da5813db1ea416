#include "views/dialogs/overflow_bar.h"

#include <QPainter>

#include "app/format.h"
#include "views/theme/fill.h"

namespace tg {

OverflowBar::OverflowBar(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("overflowBar"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void OverflowBar::setCount(const DraftCount& count) {
  count_ = count;
  QStringList parts;
  for (const RecordSegment& part : count.parts) parts.append(part.kind + QLatin1Char(' ') + format::count(part.tokens));
  setAccessibleName(tr("Prompt against the window of %1 tokens").arg(format::count(count.window)));
  setAccessibleDescription(parts.join(QStringLiteral(", ")) + tr(", answer kept free %1").arg(format::count(count.answerKept)));
  update();
}

QSize OverflowBar::sizeHint() const { return {400, int(4.8 * em(font()))}; }

void OverflowBar::paintEvent(QPaintEvent*) {
  if (count_.window <= 0) return;
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const qreal size = em(font()), top = 1.5 * size, height = 1.5 * size;
  const qreal whole = qMax(count_.promptTokens + count_.answerKept, count_.window) * 1.08;
  const qreal perToken = width() / whole;
  painter.fillRect(QRectF(0, top, width(), height), color(Role::Sunken));
  qreal x = 0;
  for (const RecordSegment& part : count_.parts) {
    const qreal w = part.tokens * perToken;
    const QRectF box(x, top, qMax<qreal>(0, w - 1), height);
    if (part.kind == QLatin1String("new")) paintFill(painter, box, Part::Fresh);
    else painter.fillRect(box, color(part.kind == QLatin1String("history") ? Role::ControlBorder : Role::Muted));
    x += w;
  }
  paintFill(painter, QRectF(x, top, count_.answerKept * perToken, height), Part::Output);
  const qreal line = count_.window * perToken;
  painter.setPen(QPen(color(Role::ErrorText), 2));
  painter.drawLine(QPointF(line, top - 0.3 * size), QPointF(line, top + height + 0.3 * size));
  painter.setFont(smallFont(font()));
  const QString text = tr("window %1").arg(format::count(count_.window));
  const qreal textWidth = QFontMetricsF(painter.font()).horizontalAdvance(text);
  painter.drawText(QRectF(qBound<qreal>(0, line - textWidth / 2, width() - textWidth), 0, textWidth + 2, top - 2), Qt::AlignCenter, text);
  painter.setPen(color(Role::Muted));
  painter.drawText(QRectF(0, top + height + 0.3 * size, width(), 1.4 * size), Qt::AlignLeft | Qt::AlignVCenter,
                   tr("system, documents, earlier turns, new message, answer kept free"));
}

}  // namespace tg
