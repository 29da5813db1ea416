#include "views/charts/token_bar.h"

namespace tg {

TokenBar::TokenBar(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  connect(&Theme::get(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void TokenBar::setShares(const QVector<PartShare>& shares, qint64 whole) {
  shares_ = shares;
  whole_ = whole;
  update();
}

void TokenBar::setMarks(const QVector<qint64>& marks) {
  marks_ = marks;
  update();
}

QSize TokenBar::sizeHint() const { return {120, qMax(10, qRound(em(font()) * 1.1))}; }

void TokenBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintBar(painter, QRectF(rect()), shares_, whole_);
  if (whole_ <= 0) return;
  painter.setPen(QPen(color(Role::Base), 1));
  for (qint64 mark : marks_) {
    const qreal x = qreal(width()) * qreal(mark) / qreal(whole_);
    painter.drawLine(QPointF(x, 0), QPointF(x, height()));
  }
}

}  // namespace tg
