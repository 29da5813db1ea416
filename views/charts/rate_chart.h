// Tokens a second over the position in the answer; the thinking part is shaded and named. GUI thread.
#pragma once
#include <QVector>

#include "views/charts/axis_chart.h"

namespace tg {

struct RateData {
  QVector<float> curve;     // evenly spaced over the answer
  int output = 0, thinking = 0;
  int limit = 0;            // > 0: the axis runs to here and "now" is marked
};

class RateChart : public AxisChart {
  Q_OBJECT
 public:
  explicit RateChart(QWidget* parent = nullptr);
  void setData(const RateData& figures);
  ChartTable table() const override;
  QString valueAt(int position) const override;

 protected:
  void paintPlot(QPainter& painter, const QRectF& plot) override;
  QVector<double> xTicks() const override;
  QString emptyText() const override { return data_.curve.isEmpty() ? tr("The speed over this answer was not recorded.") : QString(); }

 private:
  double positionOf(qsizetype sample) const;
  RateData data_;
};

}  // namespace tg
