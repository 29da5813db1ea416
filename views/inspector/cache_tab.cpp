#include "views/inspector/cache_tab.h"

#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>

#include "app/cache_overview.h"
#include "app/format.h"
#include "views/cache/cache_actions.h"
#include "views/cache/cache_detail.h"
#include "views/cache/cache_events_view.h"
#include "views/theme/fill.h"
#include "views/turn/facts.h"
#include "views/turn/turn_words.h"

namespace tg {

using namespace Qt::StringLiterals;

namespace {

QString outcomeWords(const QString& code) {
  if (code == u"reused"_s) return CacheTab::tr("reused: all that could be");
  if (code == u"partial"_s) return CacheTab::tr("reused in part");
  if (code == u"cold"_s) return CacheTab::tr("cold: nothing was reused");
  if (code == u"disabled"_s) return CacheTab::tr("caching is off");
  return format::unknown();
}

QString sourceWords(const RecordCache& c) {
  QStringList parts;
  if (c.fromGpu > 0) parts << CacheTab::tr("%1 from the GPU").arg(format::count(c.fromGpu));
  if (c.fromRam > 0) parts << CacheTab::tr("%1 from RAM").arg(format::count(c.fromRam));
  if (c.fromDisk > 0) parts << CacheTab::tr("%1 from disk").arg(format::count(c.fromDisk));
  return parts.isEmpty() ? CacheTab::tr("none") : parts.join(u", "_s);
}

QLabel* bold(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setFont(scaled(label->font(), 1, true));
  return label;
}

}  // namespace

CacheTab::CacheTab(Application& app, QWidget* parent) : QWidget(parent), cache_(app.cache()) {
  setObjectName(u"tabCache"_s);
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  empty_ = new QLabel(tr("Send a message: its figures appear here."), this);
  empty_->setObjectName(u"tabCacheEmpty"_s);
  empty_->setAlignment(Qt::AlignHCenter | Qt::AlignTop);
  empty_->setContentsMargins(16, 24, 16, 0);
  empty_->setWordWrap(true);
  empty_->setProperty("kind", u"muted"_s);
  outer->addWidget(empty_, 1);
  auto* scroll = new QScrollArea(this);
  scroll->setObjectName(u"tabCacheScroll"_s);
  scroll->setAccessibleName(tr("Cache of this chat"));
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setStyleSheet(u"QScrollArea { background: transparent; border: none; }"_s);
  auto* page = new QWidget;
  page->setObjectName(u"tabCacheBody"_s);
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(14, 12, 14, 14);
  column->setSpacing(8);
  turnTitle_ = bold({}, page);
  column->addWidget(turnTitle_);
  turn_ = new Facts(page);
  turn_->setObjectName(u"tabCacheTurn"_s);
  turn_->setWrapping(true);
  column->addWidget(turn_);
  column->addSpacing(6);
  tier_ = bold({}, page);
  tier_->setObjectName(u"tabCacheTier"_s);
  tier_->setWordWrap(true);
  column->addWidget(tier_);
  facts_ = new Facts(page);
  facts_->setObjectName(u"tabCacheFacts"_s);
  facts_->setWrapping(true);
  column->addWidget(facts_);
  actions_ = new CacheActions(cache_, false, page);
  column->addWidget(actions_);
  column->addSpacing(4);
  eventsTitle_ = bold(tr("What happened to this cache"), page);
  column->addWidget(eventsTitle_);
  events_ = new CacheEventsView(page);
  events_->setObjectName(u"tabCacheEvents"_s);
  column->addWidget(events_);
  column->addStretch(1);
  scroll->setWidget(page);
  scroll->viewport()->setAutoFillBackground(false);
  page->setAutoFillBackground(false);
  body_ = scroll;
  outer->addWidget(body_, 1);
  connect(&cache_, &CacheOverview::eventsChanged, this, [this](const QString& id) {
    if (id == chatId_ && isVisible()) refresh();
  });
  refresh();
}

void CacheTab::show(const QString& chatId, const std::optional<TurnRecord>& record) {
  chatId_ = chatId;
  record_ = record;
  refresh();
}

void CacheTab::fillTurn() {
  turnTitle_->setVisible(record_.has_value());
  turn_->setVisible(record_.has_value());
  if (!record_) return;
  const RecordCache& c = record_->cache;
  turnTitle_->setText(tr("Turn %1").arg(record_->turn));
  turn_->set(tr("Outcome"), outcomeWords(c.outcome));
  turn_->set(tr("Reused"), tr("%1 of %2 that could be reused").arg(format::count(c.reused), format::count(c.reusable)));
  turn_->set(tr("Source"), sourceWords(c));
  turn_->set(tr("Why"), missSentence(*record_));
}

void CacheTab::refresh() {
  const CacheRow* row = cache_.snapshot().row(chatId_);
  empty_->setVisible(!row);
  body_->setVisible(row != nullptr);
  if (!row) return;
  fillTurn();
  const QString where = row->chat.partly ? tr("partly %1").arg(tierWord(row->chat.tier)) : tierWord(row->chat.tier);
  QString line = tr("This chat now: %1").arg(where);
  if (row->chat.tokensHeld > 0) line += u" · "_s + tr("%1 tokens").arg(format::count(row->chat.tokensHeld)) + u" · "_s + format::bytes(row->chat.bytesHeld);
  tier_->setText(line);
  fillCacheFacts(*facts_, *row);
  facts_->set(tr("Why it is there"), words::cacheReason(*row, QDateTime::currentDateTime()));
  facts_->set(tr("A turn can go on"), row->keepsPart ? restartWords(*row) : tr("anywhere: all layers keep everything"));
  actions_->setRow(row, cache_.snapshot());
  const QVector<CacheEventInfo> events = cache_.events(chatId_);
  eventsTitle_->setVisible(!events.isEmpty());
  events_->set(events);
}

QString CacheTab::text() const { return turnTitle_->text() + u'\n' + turn_->text() + tier_->text() + u'\n' + facts_->text(); }

void CacheTab::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (!live_) live_ = connect(&cache_, &CacheOverview::changed, this, &CacheTab::refresh);
  cache_.refresh();
}

void CacheTab::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  disconnect(live_);
  live_ = {};
}

}  // namespace tg
