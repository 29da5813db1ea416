// What the two charts of a turn share: a plot area with a value axis and a token axis, a crosshair that walks with Left/Right and is read
// aloud, a zoom both charts follow. Axes run left to right in every language. GUI thread.
#pragma once
#include <QPainter>
#include <QWidget>

#include "views/theme/theme.h"

namespace tg {

struct ChartTable { QStringList columns; QVector<QStringList> rows; };

class AxisChart : public QWidget {
  Q_OBJECT
 public:
  AxisChart(const QString& name, QWidget* parent);
  QSize sizeHint() const override;
  virtual ChartTable table() const = 0;
  void setZoom(double from, double to);      // in token positions; from >= to: all
  virtual QString valueAt(int position) const = 0;  // the sentence for the crosshair

 Q_SIGNALS:
  void zoomed(double from, double to);

 protected:
  // Set by the chart before painting.
  double xMax_ = 1, yMax_ = 1;
  virtual void paintPlot(QPainter& painter, const QRectF& plot) = 0;
  virtual QVector<double> xTicks() const;
  virtual QString yLabel(double value) const;
  virtual QString emptyText() const { return {}; }  // instead of a chart when there is nothing to draw
  QRectF plotRect() const;
  double toX(double position, const QRectF& plot) const;
  double toY(double value, const QRectF& plot) const;
  double left() const { return zoomTo_ > zoomFrom_ ? zoomFrom_ : 0; }
  double right() const { return zoomTo_ > zoomFrom_ ? zoomTo_ : xMax_; }

  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void moveCross(int position);
  double zoomFrom_ = 0, zoomTo_ = 0;
  int cross_ = -1, dragFrom_ = -1;
};

double niceCeiling(double value);   // 1, 2, 4, 5, 8 × a power of ten, at least VALUE

}  // namespace tg
