// Tokens held in the cache while the answer grows: cached, fresh and output on each other, and the window's edge. GUI thread.
#pragma once
#include "views/charts/axis_chart.h"

namespace tg {

struct KvData { int cached = 0, fresh = 0, output = 0, window = 0; };

class KvChart : public AxisChart {
  Q_OBJECT
 public:
  explicit KvChart(QWidget* parent = nullptr);
  void setData(const KvData& figures);
  ChartTable table() const override;
  QString valueAt(int position) const override;
  QSize sizeHint() const override;

 protected:
  void paintPlot(QPainter& painter, const QRectF& plot) override;

 private:
  KvData data_;
};

}  // namespace tg
