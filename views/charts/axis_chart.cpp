#include "views/charts/axis_chart.h"

#include <QAccessible>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <cmath>

#include "app/format.h"

namespace tg {

double niceCeiling(double value) {
  if (!(value > 0)) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (double step : {1.0, 2.0, 4.0, 5.0, 8.0, 10.0}) {
    if (value <= step * power * 1.0001) return step * power;
  }
  return 10 * power;
}

AxisChart::AxisChart(const QString& name, QWidget* parent) : QWidget(parent) {
  setAccessibleName(name);
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setLayoutDirection(Qt::LeftToRight);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  connect(&Theme::get(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

QSize AxisChart::sizeHint() const { return {200, qRound(em(font()) * 8.2)}; }

QVector<double> AxisChart::xTicks() const { return {left(), std::floor((left() + right()) / 2), right()}; }

QString AxisChart::yLabel(double value) const { return format::count(qRound64(value)); }

QRectF AxisChart::plotRect() const {
  const QFontMetricsF metrics(captionFont(font()));
  const qreal side = metrics.horizontalAdvance(yLabel(yMax_)) + 8;
  return QRectF(rect()).adjusted(side, metrics.height() / 2 + 1, -8, -metrics.height() - 6);
}

double AxisChart::toX(double position, const QRectF& plot) const {
  const double span = right() - left();
  return plot.left() + (span > 0 ? (position - left()) / span * plot.width() : 0);
}

double AxisChart::toY(double value, const QRectF& plot) const { return plot.bottom() - value / yMax_ * plot.height(); }

void AxisChart::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF plot = plotRect();
  const QFont small = captionFont(font());
  const QFontMetricsF metrics(small);
  painter.setFont(small);
  const QString nothing = emptyText();
  if (!nothing.isEmpty()) {
    painter.setPen(color(Role::Muted));
    painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap, nothing);
  }
  for (int i = 0; i <= 2 && nothing.isEmpty(); ++i) {
    const double value = yMax_ * i / 2, y = std::round(toY(value, plot)) + 0.5;
    painter.setPen(color(i == 0 ? Role::ControlBorder : Role::Border));
    painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
    painter.setPen(color(Role::Muted));
    painter.drawText(QRectF(0, y - metrics.height() / 2, plot.left() - 5, metrics.height()), Qt::AlignRight | Qt::AlignVCenter, yLabel(value));
  }
  qreal used = -1e9;
  painter.setPen(color(Role::Muted));
  for (double tick : nothing.isEmpty() ? xTicks() : QVector<double>()) {
    const QString label = format::count(qRound64(tick));
    const qreal w = metrics.horizontalAdvance(label), x = qBound(plot.left(), toX(tick, plot) - w / 2, qreal(width()) - w);
    if (x < used + 6) continue;
    used = x + w;
    painter.drawText(QPointF(x, plot.bottom() + metrics.ascent() + 4), label);
  }
  painter.save();
  painter.setClipRect(plot.adjusted(0, -2, 1, 1));
  if (nothing.isEmpty()) paintPlot(painter, plot);
  painter.restore();
  if (cross_ >= 0) {
    painter.setPen(QPen(color(Role::Accent), 1));
    const double x = toX(cross_, plot);
    painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
  }
  if (hasFocus()) {
    painter.setPen(QPen(color(Role::Focus), 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRectF(rect()).adjusted(1, 1, -1, -1));
  }
}

void AxisChart::setZoom(double from, double to) {
  zoomFrom_ = from;
  zoomTo_ = to;
  update();
}

void AxisChart::moveCross(int position) {
  cross_ = qBound(static_cast<int>(left()), position, static_cast<int>(right()));
  setAccessibleDescription(valueAt(cross_));
  QAccessibleEvent event(this, QAccessible::DescriptionChanged);
  QAccessible::updateAccessibility(&event);
  update();
}

void AxisChart::mouseMoveEvent(QMouseEvent* event) {
  const QRectF plot = plotRect();
  moveCross(qRound(left() + (event->position().x() - plot.left()) / qMax(1.0, plot.width()) * (right() - left())));
  QToolTip::showText(event->globalPosition().toPoint(), valueAt(cross_), this);
}

void AxisChart::mousePressEvent(QMouseEvent*) { dragFrom_ = cross_; }

void AxisChart::mouseReleaseEvent(QMouseEvent*) {
  if (dragFrom_ >= 0 && std::abs(cross_ - dragFrom_) > (right() - left()) / 20) Q_EMIT zoomed(qMin(dragFrom_, cross_), qMax(dragFrom_, cross_));
  dragFrom_ = -1;
}

void AxisChart::leaveEvent(QEvent*) {
  cross_ = -1;
  update();
}

void AxisChart::keyPressEvent(QKeyEvent* event) {
  const int step = qMax(1, qRound((right() - left()) / 50));
  const bool forward = event->key() == Qt::Key_Right;
  if (forward || event->key() == Qt::Key_Left) {
    const int before = cross_ < 0 ? static_cast<int>(left()) : cross_;
    moveCross(before + (forward ? step : -step));
    if (event->modifiers() & Qt::ShiftModifier) {
      if (dragFrom_ < 0) dragFrom_ = before;
      Q_EMIT zoomed(qMin(dragFrom_, cross_), qMax(dragFrom_, cross_));
    }
    return;
  }
  if (event->key() == Qt::Key_Escape && zoomTo_ > zoomFrom_) {
    dragFrom_ = -1;
    Q_EMIT zoomed(0, 0);
    return;
  }
  QWidget::keyPressEvent(event);
}

}  // namespace tg
