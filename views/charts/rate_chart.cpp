#include "views/charts/rate_chart.h"

#include <algorithm>

#include "app/format.h"

namespace tg {

RateChart::RateChart(QWidget* parent) : AxisChart(tr("Writing speed over the answer"), parent) { setObjectName(QStringLiteral("rateChart")); }

void RateChart::setData(const RateData& figures) {
  data_ = figures;
  xMax_ = qMax(1, figures.limit > 0 ? figures.limit : figures.output);
  const float most = figures.curve.isEmpty() ? 0 : *std::max_element(figures.curve.cbegin(), figures.curve.cend());
  yMax_ = niceCeiling(most * 1.15);
  setAccessibleDescription(figures.curve.isEmpty() ? tr("No samples yet.")
                                                : tr("From %1 at the start to %2 at token %3.").arg(format::rate(figures.curve.first()), format::rate(figures.curve.last())).arg(figures.output));
  update();
}

double RateChart::positionOf(qsizetype sample) const {
  return data_.curve.size() < 2 ? 0 : double(data_.output) * double(sample) / double(data_.curve.size() - 1);
}

QVector<double> RateChart::xTicks() const {
  QVector<double> ticks = AxisChart::xTicks();
  const double mark = data_.limit > 0 ? data_.output : data_.thinking;
  if (mark > left() && mark < right()) ticks = {left(), mark, right()};
  return ticks;
}

void RateChart::paintPlot(QPainter& p, const QRectF& plot) {
  const QFontMetricsF metrics(p.font());
  if (data_.thinking > 0) {
    const double end = toX(data_.thinking, plot);
    p.fillRect(QRectF(plot.left(), plot.top(), end - plot.left(), plot.height()), color(Role::ThinkingTint));
    p.setPen(QPen(color(Role::Thinking), 1.4, Qt::DotLine));
    p.drawLine(QPointF(end, plot.top()), QPointF(end, plot.bottom()));
    p.setPen(color(Role::ThinkingText));
    const QString name = tr("thinking %1").arg(format::count(data_.thinking));
    if (metrics.horizontalAdvance(name) + 8 < end - plot.left()) p.drawText(QPointF(plot.left() + 6, plot.top() + metrics.ascent() + 1), name);
    p.setPen(color(Role::OutputText));
    const QString answer = tr("answer %1").arg(format::count(data_.output - data_.thinking));
    if (metrics.horizontalAdvance(answer) + 8 < plot.right() - end) p.drawText(QPointF(end + 5, plot.top() + metrics.ascent() + 1), answer);
  }
  if (data_.limit > 0) {
    const double now = toX(data_.output, plot);
    p.setPen(QPen(color(Role::Accent), 1.2, Qt::DotLine));
    p.drawLine(QPointF(now, plot.top()), QPointF(now, plot.bottom()));
    p.setPen(color(Role::Muted));
    p.drawText(QPointF(now + 3, plot.bottom() - 5), tr("now"));
    const QString limit = tr("limit %1").arg(format::count(data_.limit));
    p.drawText(QPointF(plot.right() - metrics.horizontalAdvance(limit), plot.bottom() - 5), limit);
  }
  if (data_.curve.size() < 2) return;
  QPolygonF line;
  for (qsizetype i = 0; i < data_.curve.size(); ++i) line << QPointF(toX(positionOf(i), plot), toY(double(data_.curve[i]), plot));
  p.setPen(QPen(color(Role::Output), 1.8));
  p.drawPolyline(line);
}

QString RateChart::valueAt(int position) const {
  if (data_.curve.isEmpty() || data_.output == 0) return tr("No samples yet.");
  const qsizetype sample = qBound<qsizetype>(0, qRound64(double(position) / data_.output * double(data_.curve.size() - 1)), data_.curve.size() - 1);
  return tr("Token %1: %2").arg(format::count(position), format::rate(data_.curve[sample]));
}

ChartTable RateChart::table() const {
  ChartTable table{{tr("Token"), tr("Tokens a second")}, {}};
  for (qsizetype i = 0; i < data_.curve.size(); ++i) table.rows.append({format::count(qRound64(positionOf(i))), format::rate(data_.curve[i])});
  return table;
}

}  // namespace tg
