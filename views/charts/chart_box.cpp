#include "views/charts/chart_box.h"

#include <QHeaderView>
#include <QLabel>
#include <QTableWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include "views/charts/axis_chart.h"
#include "views/theme/icons.h"

namespace tg {

ChartBox::ChartBox(const QString& heading, const QString& axis, AxisChart* chart, QWidget* parent) : QWidget(parent), chart_(chart) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2);
  auto* line = new QHBoxLayout;
  auto* title = new QLabel(QStringLiteral("<b>") + heading.toHtmlEscaped() + QStringLiteral("</b>"), this);
  figure_ = new QLabel(this);
  figure_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  figure_->setMinimumWidth(1);
  button_ = new QToolButton(this);
  button_->setObjectName(chart->objectName() + QStringLiteral("ViewAsTableButton"));
  button_->setCheckable(true);
  button_->setIcon(icon(QStringLiteral("view-table"), Role::Muted));
  button_->setToolTip(tr("View as table"));
  button_->setAccessibleName(tr("View “%1” as table").arg(heading));
  line->addWidget(title);
  line->addWidget(figure_, 1);
  line->addWidget(button_);
  column->addLayout(line);
  auto* unit = new QLabel(axis, this);
  unit->setProperty("kind", QStringLiteral("muted"));
  unit->setFont(captionFont(font()));
  column->addWidget(unit);
  chart->setParent(this);
  column->addWidget(chart);
  table_ = new QTableWidget(this);
  table_->setObjectName(chart->objectName() + QStringLiteral("Table"));
  table_->setAccessibleName(heading);
  table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table_->verticalHeader()->hide();
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
  table_->hide();
  column->addWidget(table_);
  connect(button_, &QToolButton::toggled, this, &ChartBox::showTable);
}

void ChartBox::setFigure(const QString& richText) { figure_->setText(richText); }

void ChartBox::dataChanged() {
  if (!table_->isHidden()) showTable(true);
}

void ChartBox::showTable(bool on) {
  chart_->setVisible(!on);
  table_->setVisible(on);
  if (!on) return;
  const ChartTable t = chart_->table();
  table_->setColumnCount(static_cast<int>(t.columns.size()));
  table_->setHorizontalHeaderLabels(t.columns);
  table_->setRowCount(static_cast<int>(t.rows.size()));
  for (int r = 0; r < t.rows.size(); ++r) {
    for (int c = 0; c < t.rows[r].size(); ++c) {
      auto* item = new QTableWidgetItem(t.rows[r][c]);
      item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
      table_->setItem(r, c, item);
    }
  }
  table_->setFixedHeight(qRound(em(font()) * 14));
}

}  // namespace tg
