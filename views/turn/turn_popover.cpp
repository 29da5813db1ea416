#include "views/turn/turn_popover.h"

#include <QButtonGroup>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include "views/charts/rate_chart.h"
#include "views/charts/token_bar.h"
#include "views/theme/icons.h"
#include "views/turn/facts.h"
#include "views/turn/turn_words.h"

namespace tg {

using namespace Qt::StringLiterals;

TurnPopover::TurnPopover(QWidget* parent) : QFrame(parent) {
  setObjectName(u"turnPopover"_s);
  setAccessibleName(tr("Figures of the turn"));
  setAttribute(Qt::WA_StyledBackground);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(12, 10, 12, 12);
  auto* line = new QHBoxLayout;
  line->setSpacing(0);
  group_ = new QButtonGroup(this);
  const QPair<QString, QString> segments[] = {{u"segReading"_s, tr("Reading")}, {u"segGenerating"_s, tr("Generating")}, {u"segCost"_s, tr("Cost")}, {u"segSummary"_s, tr("Summary")}};
  for (int i = 0; i < 4; ++i) {
    auto* b = new QPushButton(segments[i].second, this);
    b->setObjectName(segments[i].first);
    b->setCheckable(true);
    b->setProperty("kind", u"segment"_s);
    b->setProperty("last", i == 3);
    b->setMinimumWidth(QFontMetrics(scaled(font(), 1, true)).horizontalAdvance(segments[i].second) + qRound(em(font()) * 2));
    group_->addButton(b, i);
    line->addWidget(b);
  }
  line->addStretch(1);
  const auto tool = [&](const QString& name, const QString& iconName, const QString& verb) {
    auto* b = new QToolButton(this);
    b->setObjectName(name);
    b->setIcon(icon(iconName));
    b->setAccessibleName(verb);
    b->setToolTip(verb);
    line->addWidget(b);
    return b;
  };
  pin_ = tool(u"popoverPin"_s, u"pin"_s, tr("Keep open and follow the newest turn"));
  pin_->setCheckable(true);
  connect(tool(u"popoverClose"_s, u"close"_s, tr("Close the figures")), &QToolButton::clicked, this, &QWidget::hide);
  column->addLayout(line);
  pages_ = new QStackedWidget(this);
  for (QWidget* page : {readingPage(), generatingPage(), costPage(), summaryPage()}) pages_->addWidget(page);
  column->addWidget(pages_);
  connect(group_, &QButtonGroup::idClicked, this, [this](int id) { choose(static_cast<Segment>(id)); });
  go(Reading);
  hide();
}

QWidget* TurnPopover::readingPage() {
  auto* page = new QWidget(this);
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 6, 0, 0);
  bar_ = new TokenBar(page);
  bar_->setAccessibleName(tr("Tokens read: cached and fresh"));
  reading_ = new Facts(page);
  missLine_ = new QLabel(page);
  missLine_->setObjectName(u"popoverMiss"_s);
  missLine_->setWordWrap(true);
  column->addWidget(bar_);
  column->addWidget(reading_);
  column->addWidget(missLine_);
  column->addStretch(1);
  return page;
}

QWidget* TurnPopover::generatingPage() {
  auto* page = new QWidget(this);
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 6, 0, 0);
  generating_ = new Facts(page);
  chart_ = new RateChart(page);
  chart_->setObjectName(u"popoverRateChart"_s);
  column->addWidget(generating_);
  column->addWidget(chart_);
  column->addStretch(1);
  return page;
}

QWidget* TurnPopover::costPage() {
  auto* page = new QWidget(this);
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 6, 0, 0);
  cost_ = new Facts(page);
  costNote_ = new QLabel(page);
  costNote_->setWordWrap(true);
  costNote_->setProperty("kind", u"muted"_s);
  column->addWidget(cost_);
  column->addWidget(costNote_);
  column->addStretch(1);
  return page;
}

QWidget* TurnPopover::summaryPage() {
  auto* page = new QWidget(this);
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 6, 0, 0);
  summaryText_ = new QLabel(page);
  summaryText_->setWordWrap(true);
  summary_ = new Facts(page);
  column->addWidget(summaryText_);
  column->addWidget(summary_);
  column->addStretch(1);
  return page;
}

void TurnPopover::go(Segment segment) {
  group_->button(segment)->setChecked(true);
  pages_->setCurrentIndex(segment);
}

TurnPopover::Segment TurnPopover::segment() const { return static_cast<Segment>(pages_->currentIndex()); }

void TurnPopover::choose(Segment segment) {
  chosen_ = true;
  go(segment);
}

bool TurnPopover::isPinned() const { return pin_->isChecked(); }

void TurnPopover::hideEvent(QHideEvent* event) {
  QFrame::hideEvent(event);
  chosen_ = false;
  liveState_ = TurnState::None;
  Q_EMIT closed();
}

void TurnPopover::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Left || event->key() == Qt::Key_Right) {
    const int next = (segment() + (event->key() == Qt::Key_Right ? 1 : 3)) % 4;
    choose(static_cast<Segment>(next));
    group_->button(next)->setFocus();
    return;
  }
  QFrame::keyPressEvent(event);
}

void TurnPopover::showRecord(const TurnRecord& record, const QVector<MessageInfo>& chat) {
  liveState_ = TurnState::None;
  shownMessage_ = record.messageId;
  fillReading(record);
  fillGenerating(record);
  fillCost(record);
  fillSummary(record, chat);
  if (!chosen_ && !isVisible()) go(first_);
}

}  // namespace tg
