#include "views/charts/kv_chart.h"

#include <QPainterPath>
#include <cmath>

#include "app/format.h"
#include "views/theme/fill.h"

namespace tg {

KvChart::KvChart(QWidget* parent) : AxisChart(tr("Tokens held while the answer grows"), parent) { setObjectName(QStringLiteral("kvChart")); }

QSize KvChart::sizeHint() const { return {200, qRound(em(font()) * 6.2)}; }

void KvChart::setData(const KvData& figures) {
  data_ = figures;
  xMax_ = qMax(1, figures.output);
  const int held = figures.cached + figures.fresh + figures.output;
  yMax_ = figures.window > 0 && held * 3 > figures.window ? figures.window : std::exp2(std::ceil(std::log2(qMax(16.0, held * 1.2))));
  setAccessibleDescription(tr("From %1 to %2 tokens; the window holds %3.").arg(figures.cached + figures.fresh).arg(held).arg(figures.window));
  update();
}

void KvChart::paintPlot(QPainter& p, const QRectF& plot) {
  const auto band = [&](double leftLow, double leftHigh, double rightLow, double rightHigh, Part part) {
    if (qMax(leftHigh - leftLow, rightHigh - rightLow) <= 0) return;
    QPainterPath path;
    path.addPolygon(QPolygonF({QPointF(plot.left(), toY(leftLow, plot)), QPointF(plot.right(), toY(rightLow, plot)), QPointF(plot.right(), toY(rightHigh, plot)),
                               QPointF(plot.left(), toY(leftHigh, plot))}));
    path.closeSubpath();
    paintFill(p, path, part);
  };
  const double prompt = data_.cached + data_.fresh;
  band(0, data_.cached, 0, data_.cached, Part::Cached);
  band(data_.cached, prompt, data_.cached, prompt, Part::Fresh);
  band(prompt, prompt, prompt, prompt + data_.output, Part::Output);
  if (data_.window > 0 && data_.window <= yMax_) {
    p.setPen(QPen(color(Role::ErrorText), 1.2, Qt::DashLine));
    p.drawLine(QPointF(plot.left(), toY(data_.window, plot)), QPointF(plot.right(), toY(data_.window, plot)));
  }
}

QString KvChart::valueAt(int position) const {
  return tr("Token %1: %2 tokens held").arg(format::count(position), format::count(data_.cached + data_.fresh + position));
}

ChartTable KvChart::table() const {
  ChartTable table{{tr("Token"), tr("Cached"), tr("Fresh"), tr("Output"), tr("Held")}, {}};
  for (int i = 0; i <= 4; ++i) {
    const int at = data_.output * i / 4;
    table.rows.append({format::count(at), format::count(data_.cached), format::count(data_.fresh), format::count(at), format::count(data_.cached + data_.fresh + at)});
  }
  return table;
}

}  // namespace tg
