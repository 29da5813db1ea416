// A chart with its heading, the figure beside it, and the table twin behind viewAsTableButton. GUI thread; owns the chart.
#pragma once
#include <QWidget>

class QLabel;
class QTableWidget;
class QToolButton;

namespace tg {

class AxisChart;

class ChartBox : public QWidget {
  Q_OBJECT
 public:
  ChartBox(const QString& heading, const QString& axis, AxisChart* chart, QWidget* parent);
  void setFigure(const QString& richText);
  void dataChanged();             // the table, if shown, follows

 private:
  void showTable(bool on);
  AxisChart* chart_;
  QLabel* figure_;
  QTableWidget* table_;
  QToolButton* button_;
};

}  // namespace tg
