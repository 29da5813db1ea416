#include "views/cache/cache_detail.h"

#include <QComboBox>
#include <QLabel>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "app/cache_overview.h"
#include "app/format.h"
#include "views/cache/cache_actions.h"
#include "views/cache/cache_events_view.h"
#include "views/chats/chat_list_model.h"
#include "views/turn/facts.h"

namespace tg {

using namespace Qt::StringLiterals;

QString restartWords(const CacheRow& row) {
  if (!row.keepsPart || row.chat.tokensHeld == 0) return {};
  if (row.restart.isEmpty()) return CacheDetail::tr("nowhere: the next message reads all of it");
  QStringList places;
  for (const auto& [first, last] : row.restart) places << (first == last ? format::count(last) : CacheDetail::tr("%1–%2").arg(format::count(first), format::count(last)));
  if (places.size() > 4) places = QStringList{places.first(), u"…"_s} + places.mid(places.size() - 3);
  return CacheDetail::tr("behind token %1").arg(places.join(u", "_s));
}

void fillCacheFacts(Facts& facts, const CacheRow& row) {
  const auto tr = [](const char* text) { return CacheDetail::tr(text); };
  const bool held = row.chat.tokensHeld > 0;
  QString pages = tr("none");
  if (held && row.tailTokens > 0) pages = tr("%1 full + 1 with %2 tokens (%3 a page)").arg(format::count(row.fullPages), format::count(row.tailTokens), format::count(row.pageTokens));
  else if (held) pages = tr("%1 full (%2 tokens a page)").arg(format::count(row.fullPages), format::count(row.pageTokens));
  facts.set(tr("Pages"), pages);
  QString shared = tr("no page");
  if (row.sharedPages == 1) shared = tr("1 page, %1 tokens, with “%2”").arg(format::count(row.sharedTokens), row.sharedWith);
  if (row.sharedPages > 1) shared = tr("%1 pages, %2 tokens, with “%3”").arg(format::count(row.sharedPages), format::count(row.sharedTokens), row.sharedWith);
  facts.set(tr("Shared with other chats"), shared);
  QString now = words::readyIn(row);
  if (held) now = tr("%1, from %2").arg(now, row.chat.tier == ChatTier::Gpu ? tr("the GPU") : row.chat.tier == ChatTier::Ram ? tr("RAM") : tr("disk"));
  facts.set(tr("If used now"), row.chat.waitMs ? now : format::unknown(), false, tr("not measured yet: send one message with this model"));
  facts.set(tr("If it had to be read again"), format::expectedTime(row.readAgainMs), false, tr("not measured yet: send one message with this model"));
}

CacheDetail::CacheDetail(Application& app, QWidget* parent) : QFrame(parent), app_(app), cache_(app.cache()) {
  setObjectName(u"cacheDetail"_s);
  setAccessibleName(tr("Cache of the chosen chat"));
  setAttribute(Qt::WA_StyledBackground);
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(14, 12, 14, 12);
  empty_ = new QLabel(tr("Choose a chat: what is known of its cache appears here."), this);
  empty_->setProperty("kind", u"muted"_s);
  empty_->setWordWrap(true);
  outer->addWidget(empty_);
  body_ = new QWidget(this);
  auto* column = new QVBoxLayout(body_);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  title_ = new QLabel(body_);
  title_->setObjectName(u"cacheDetailTitle"_s);
  title_->setFont(headingFont(font()));
  title_->setWordWrap(true);
  about_ = new QLabel(body_);
  about_->setObjectName(u"cacheDetailAbout"_s);
  about_->setProperty("kind", u"muted"_s);
  about_->setWordWrap(true);
  facts_ = new Facts(body_);
  facts_->setObjectName(u"cacheFacts"_s);
  facts_->setWrapping(true);
  actions_ = new CacheActions(cache_, true, body_);
  heading_ = new QLabel(tr("What happened to this cache"), body_);
  heading_->setFont(scaled(font(), 1, true));
  events_ = new CacheEventsView(body_);
  column->addWidget(title_);
  column->addWidget(about_);
  column->addWidget(facts_);
  column->addWidget(actions_);
  column->addWidget(buildKeep());
  column->addSpacing(4);
  column->addWidget(heading_);
  column->addWidget(events_);
  outer->addWidget(body_);
  outer->addStretch(1);
  connect(&cache_, &CacheOverview::eventsChanged, this, [this](const QString& id) {
    if (id == chatId_) events_->set(cache_.events(id));
  });
  connect(&Theme::get(), &Theme::changed, this, [this] {
    title_->setFont(headingFont(font()));
    heading_->setFont(scaled(font(), 1, true));
  });
  refresh();
}

QWidget* CacheDetail::buildKeep() {
  auto* row = new QWidget(body_);
  auto* line = new QVBoxLayout(row);
  line->setContentsMargins(0, 4, 0, 0);
  line->setSpacing(3);
  auto* label = new QLabel(tr("When the program closes"), row);
  label->setProperty("kind", u"muted"_s);
  keep_ = new QComboBox(row);
  keep_->setObjectName(u"keepOnCloseCombo"_s);
  label->setBuddy(keep_);
  keep_->setAccessibleName(label->text());
  keep_->addItem(tr("keep by its size"), static_cast<int>(ChatKeep::BySize));
  keep_->addItem(tr("always keep on disk"), static_cast<int>(ChatKeep::Always));
  keep_->addItem(tr("never keep"), static_cast<int>(ChatKeep::Never));
  connect(keep_, &QComboBox::activated, this, [this] { app_.chats().setKeepOnClose(chatId_, static_cast<ChatKeep>(keep_->currentData().toInt())); });
  line->addWidget(label);
  line->addWidget(keep_);
  return row;
}

void CacheDetail::setChat(const QString& chatId) {
  if (chatId_ == chatId) return;
  chatId_ = chatId;
  refresh();
}

void CacheDetail::refresh() {
  const CacheRow* row = cache_.snapshot().row(chatId_);
  empty_->setVisible(!row);
  body_->setVisible(row != nullptr);
  actions_->setRow(row, cache_.snapshot());
  if (!row) return;
  title_->setText(shownTitle(row->chat.title));
  QStringList about;
  if (!row->modelName.isEmpty()) about << row->modelName;
  about << tr("%1 tokens").arg(format::count(row->tokens()));
  about << (row->chat.tokensHeld > 0 ? format::bytes(row->chat.bytesHeld) : tr("nothing held"));
  about_->setText(about.join(u" · "_s));
  fillCacheFacts(*facts_, *row);
  const QString restart = restartWords(*row);
  if (restart.isEmpty()) facts_->keepOnly({tr("Pages"), tr("Shared with other chats"), tr("If used now"), tr("If it had to be read again")});
  else facts_->set(tr("A turn can go on"), restart);
  const QSignalBlocker quiet(keep_);
  keep_->setCurrentIndex(keep_->findData(static_cast<int>(row->chat.keepOnClose)));
  keep_->setItemText(0, row->chat.bytesHeld && row->chat.tokensHeld > 0 ? (row->chat.staysOnClose ? tr("by its size: it stays") : tr("by its size: it goes")) : tr("keep by its size"));
  const QVector<CacheEventInfo> events = cache_.events(chatId_);
  heading_->setVisible(!events.isEmpty());
  events_->set(events);
}

}  // namespace tg
