#include "views/inspector/turn_tab.h"

#include <QHBoxLayout>
#include <QStyle>
#include <QLabel>
#include <QToolButton>

#include "app/format.h"
#include "views/charts/chart_box.h"
#include "views/charts/kv_chart.h"
#include "views/charts/rate_chart.h"
#include "views/charts/token_bar.h"
#include "views/theme/icons.h"
#include "views/turn/facts.h"
#include "views/turn/turn_words.h"

namespace tg {

using namespace Qt::StringLiterals;

namespace {

QString time(const std::optional<double>& ms) { return ms ? format::measuredTime(*ms) : format::unknown(); }

QWidget* rule(QWidget* parent) {
  auto* line = new QFrame(parent);
  line->setObjectName(u"rule"_s);
  line->setFixedHeight(1);
  return line;
}

QLabel* bold(const QString& text, QWidget* parent) { return new QLabel(u"<b>"_s + text.toHtmlEscaped() + u"</b>"_s, parent); }

// The difference between WAS and IS, underlined from the first character that is not the same.
QString differing(const QString& text, const QString& other) {
  qsizetype same = 0;
  while (same < text.size() && same < other.size() && text[same] == other[same]) ++same;
  return text.left(same).toHtmlEscaped() + u"<u>"_s + text.mid(same).toHtmlEscaped() + u"</u>"_s;
}

}  // namespace

TurnTab::TurnTab(QWidget* parent) : QWidget(parent) {
  setObjectName(u"tabTurn"_s);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 8, 0, 0);
  column->addWidget(head());
  empty_ = new QLabel(tr("Send a message: its figures appear here."), this);
  empty_->setObjectName(u"inspectorEmpty"_s);
  empty_->setAlignment(Qt::AlignHCenter | Qt::AlignTop);
  empty_->setWordWrap(true);
  empty_->setContentsMargins(16, 24, 16, 0);
  empty_->setProperty("kind", u"muted"_s);
  column->addWidget(empty_, 1);
  scroll_ = new QScrollArea(this);
  scroll_->setObjectName(u"tabTurnScroll"_s);
  scroll_->setAccessibleName(tr("Figures of the turn"));
  scroll_->setWidgetResizable(true);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setStyleSheet(u"QScrollArea { background: transparent; border: none; }"_s);
  scroll_->setWidget(body());
  scroll_->viewport()->setAutoFillBackground(false);
  scroll_->widget()->setAutoFillBackground(false);
  column->addWidget(scroll_, 1);
  show(std::nullopt, 0, 0, false);
}

QWidget* TurnTab::head() {
  auto* bar = new QWidget(this);
  auto* line = new QHBoxLayout(bar);
  line->setContentsMargins(12, 0, 12, 0);
  const auto arrow = [&](const QString& name, const QString& iconName, const QString& verb, int by) {
    auto* b = new QToolButton(bar);
    b->setObjectName(name);
    b->setIcon(icon(iconName));
    b->setAccessibleName(verb);
    b->setToolTip(verb);
    connect(b, &QToolButton::clicked, this, [this, by] { Q_EMIT turnWanted(turn_ + by); });
    return b;
  };
  previous_ = arrow(u"turnPrev"_s, u"version-prev"_s, tr("Turn before (Alt+Up)"), -1);
  next_ = arrow(u"turnNext"_s, u"version-next"_s, tr("Turn after (Alt+Down)"), 1);
  title_ = new QLabel(bar);
  title_->setObjectName(u"turnTitle"_s);
  title_->setAlignment(Qt::AlignCenter);
  QFont f = font();
  f.setWeight(QFont::DemiBold);
  title_->setFont(f);
  line->addWidget(previous_);
  line->addWidget(title_, 1);
  line->addWidget(next_);
  return bar;
}

QWidget* TurnTab::body() {
  auto* page = new QWidget;
  page->setObjectName(u"tabTurnBody"_s);
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(14, 8, 14, 14);
  column->setSpacing(6);
  const auto pair = [&](QWidget* left, QLabel** right) {
    auto* line = new QHBoxLayout;
    *right = new QLabel(page);
    (*right)->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    (*right)->setMinimumWidth(1);
    line->addWidget(left);
    line->addWidget(*right, 1);
    column->addLayout(line);
  };
  pair(bold(tr("Time"), page), &timeFigures_);
  timeBar_ = new TokenBar(page);
  timeBar_->setObjectName(u"timeBar"_s);
  column->addWidget(timeBar_);
  column->addSpacing(6);
  pair(bold(tr("Reading the prompt"), page), &readFigure_);
  readBar_ = new TokenBar(page);
  readBar_->setObjectName(u"readBar"_s);
  column->addWidget(readBar_);
  auto* legend = new QHBoxLayout;
  legendCached_ = new QLabel(page);
  legendFresh_ = new QLabel(page);
  legendFresh_->setAlignment(Qt::AlignRight);
  legend->addWidget(legendCached_);
  legend->addWidget(legendFresh_, 1);
  column->addLayout(legend);
  readFacts_ = new Facts(page);
  column->addWidget(readFacts_);
  column->addWidget(rule(page));
  rate_ = new RateChart;
  rateBox_ = new ChartBox(tr("Writing the answer"), tr("tok/s over answer position"), rate_, page);
  column->addWidget(rateBox_);
  writeFacts_ = new Facts(page);
  column->addWidget(writeFacts_);
  column->addWidget(rule(page));
  kv_ = new KvChart;
  kvBox_ = new ChartBox(tr("Cache held"), tr("tokens held while the answer grows"), kv_, page);
  column->addWidget(kvBox_);
  for (AxisChart* chart : {static_cast<AxisChart*>(rate_), static_cast<AxisChart*>(kv_)}) {
    connect(chart, &AxisChart::zoomed, rate_, &AxisChart::setZoom);
    connect(chart, &AxisChart::zoomed, kv_, &AxisChart::setZoom);
  }
  column->addWidget(rule(page));
  column->addWidget(bold(tr("Cost"), page));
  costFacts_ = new Facts(page);
  costFacts_->setObjectName(u"costRows"_s);
  column->addWidget(costFacts_);
  column->addSpacing(6);
  box_ = new QFrame(page);
  box_->setObjectName(u"missBox"_s);
  box_->setAttribute(Qt::WA_StyledBackground);
  auto* inBox = new QVBoxLayout(box_);
  inBox->setContentsMargins(14, 8, 12, 8);
  boxText_ = new QLabel(box_);
  boxText_->setObjectName(u"missText"_s);
  boxText_->setWordWrap(true);
  boxText_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  boxText_->setFocusPolicy(Qt::NoFocus);
  inBox->addWidget(boxText_);
  column->addWidget(box_);
  was_ = new QLabel(box_);
  inBox->addWidget(was_);
  was_->setObjectName(u"missDifference"_s);
  was_->setWordWrap(true);
  was_->setTextFormat(Qt::RichText);
  column->addStretch(1);
  return page;
}

void TurnTab::show(const std::optional<TurnRecord>& record, int turn, int turns, bool running) {
  turn_ = turn;
  previous_->setEnabled(turn > 1);
  next_->setEnabled(turn < turns);
  QString title = turn > 0 ? tr("Turn %1 of %2").arg(turn).arg(turns) : QString();
  if (record && record->totalMs) title += u" · "_s + format::measuredTime(*record->totalMs);
  title_->setText(title);
  empty_->setVisible(!record);
  empty_->setText(running ? tr("This turn is being answered. Its figures appear here when it is finished.") : turn > 0 ? tr("This turn has no figures.") : tr("Send a message: its figures appear here."));
  scroll_->setVisible(record.has_value());
  if (record) fill(*record);
}

void TurnTab::fill(const TurnRecord& r) {
  const double reading = r.prefillMs.value_or(0), writing = r.decodeMs.value_or(0), thinking = r.thinkingMs.value_or(0);
  timeBar_->setShares({{Part::Fresh, qRound64(reading * 1000)}, {Part::Thinking, qRound64(thinking * 1000)}, {Part::Output, qRound64(qMax(0.0, writing - thinking) * 1000)}},
                      qMax<qint64>(1, qRound64((reading + writing) * 1000)));
  QStringList times;
  if (r.queueMs.value_or(0) >= 1) times << tr("waited %1").arg(time(r.queueMs));
  times << tr("reading %1").arg(time(r.prefillMs)) << tr("writing %1").arg(time(r.decodeMs));
  timeFigures_->setText(times.join(u" · "_s));
  timeBar_->setAccessibleName(tr("Time: %1").arg(timeFigures_->text()));
  const int total = r.inputTotal.value_or(0), cached = r.inputCached.value_or(0), fresh = r.inputFresh.value_or(0);
  readBar_->setShares({{Part::Cached, cached}, {Part::Fresh, fresh}}, total);
  QVector<qint64> passes;
  for (int i = 1; i < r.passes && r.passes < 60; ++i) passes << cached + qint64(fresh) * i / r.passes;
  readBar_->setMarks(passes);
  readFigure_->setText(tr("%1 tokens").arg(r.inputTotal ? format::count(total) : format::unknown()));
  readBar_->setAccessibleName(tr("Read %1 tokens: %2 cached, %3 fresh").arg(total).arg(cached).arg(fresh));
  const auto legend = [&](Part part, const QString& words) {
    return u"<span style='color:%1'>%2 %3</span>"_s.arg(color(textRole(part)).name(), part == Part::Cached ? u"▨"_s : u"■"_s, words);
  };
  legendCached_->setText(legend(Part::Cached, tr("%1 cached (%2)").arg(format::count(cached), format::share(cached, qMax(1, total)))));
  legendFresh_->setText(legend(Part::Fresh, tr("%1 fresh (%2)").arg(format::count(fresh), format::share(fresh, qMax(1, total)))));
  readFacts_->set(tr("Read speed, fresh tokens"), format::rate(r.prefillTps), false, tr("too few tokens to measure"));
  readFacts_->set(tr("First token"), tr("%1 (expected %2)").arg(time(r.ttftMs), format::expectedTime(r.predictedTtftMs)));
  const bool known = r.prefillTps.value_or(0) > 0 && r.inputTotal;
  readFacts_->set(tr("Same prompt without cache"), format::expectedTime(known ? std::optional(total * 1000.0 / *r.prefillTps) : std::nullopt), false, tr("the reading speed is not known"));

  const int think = r.thinking.value_or(0), out = r.output.value_or(0);
  rateBox_->setFigure(think > 0 ? legend(Part::Thinking, format::count(think)) + u" + "_s + legend(Part::Output, format::count(out - think)) + tr(" = %1 tokens").arg(format::count(out)) : tr("%1 tokens").arg(format::count(out)));
  rate_->setData({r.rateCurve, out, think, 0});
  rateBox_->dataChanged();
  QString speed = format::rate(r.decodeTps);
  if (r.tpsStart && r.tpsEnd) speed += tr(" · %1 at start, %2 at end").arg(format::rate(r.tpsStart).section(QChar(0xA0), 0, 0), format::rate(r.tpsEnd).section(QChar(0xA0), 0, 0));
  writeFacts_->set(tr("Average speed"), speed, false, tr("too few tokens to measure"));
  kvBox_->setFigure(tr("%1 tokens · %2 · %3").arg(format::count(r.kvTokens), format::bytes(r.kvBytes), tierWord(heldTier(r))));
  kv_->setData({cached, fresh, out, r.context});
  kvBox_->dataChanged();
  fillCost(r);
  fillBox(r);
}

void TurnTab::fillCost(const TurnRecord& r) {
  const QString hosted = r.cost.pricedAs.isEmpty() ? tr("Same tokens hosted") : tr("Same tokens on %1, list of %2").arg(r.cost.pricedAs.section(u'/', -1), r.cost.book);
  const QString own = tr("This machine");
  costFacts_->keepOnly({hosted, own});
  costFacts_->set(hosted, r.cost.costPico.isEmpty() ? format::unknown() : u"≈ "_s + format::moneyDetail(r.cost.costPico, r.cost.currency), false, r.cost.error.isEmpty() ? tr("no price for this model") : r.cost.error);
  QString value = format::unknown();
  if (r.own.joules) {
    value = tr("%1 Wh, %2").arg(*r.own.joules / 3600.0, 0, 'f', 2).arg(r.own.source == u"measured"_s ? tr("measured") : tr("declared"));
    if (!r.own.costPico.isEmpty()) value += u" · "_s + format::moneyDetail(r.own.costPico, r.own.currency);
  }
  costFacts_->set(own, value, false, tr("power is neither measured nor declared"));
}

void TurnTab::fillBox(const TurnRecord& r) {
  const bool warn = isMiss(r), ok = r.cache.enabled && !warn && r.cache.reused > 0;
  boxText_->setText(missSentence(r));
  box_->setAccessibleName(missSentence(r));
  box_->setProperty("kind", warn ? u"warning"_s : ok ? u"ok"_s : u"muted"_s);
  box_->style()->unpolish(box_);
  box_->style()->polish(box_);
  const bool texts = warn && !(r.cache.miss->was.isEmpty() && r.cache.miss->is.isEmpty());
  was_->setVisible(texts);
  if (texts) was_->setText(tr("<b>was</b> %1<br><b>is</b> %2").arg(differing(r.cache.miss->was, r.cache.miss->is), differing(r.cache.miss->is, r.cache.miss->was)));
}

QString TurnTab::text() const {
  return title_->text() + u'\n' + timeFigures_->text() + u'\n' + readBar_->accessibleName() + u'\n' + readFacts_->text() + writeFacts_->text() + costFacts_->text() + boxText_->text() + u'\n';
}

}  // namespace tg
