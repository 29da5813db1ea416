#include "app/cache_overview_impl.h"

#include <QFileInfo>
#include <QMetaMethod>
#include <QPointer>
#include <QStorageInfo>
#include <algorithm>

#include "app/cache_words.h"
#include "app/error_words.h"
#include "app/format.h"
#include "app/settings.h"
#include "engine/base/platform.h"

namespace tg {
namespace {

constexpr int kSoonMs = 40;
constexpr int kProbeTokens = 32;            // waits are those of a message of this size

bool is_busy(const ChatInfo& chat) {
  return chat.activity == QLatin1String("reading") || chat.activity == QLatin1String("writing") || chat.activity == QLatin1String("queued") || chat.activity == QLatin1String("loading");
}

qint64 signed_of(std::uint64_t n) { return static_cast<qint64>(n); }

CacheBlock block_of(const CacheRow& row, qint64 bytes, bool copy) {
  CacheBlock b;
  b.chatId = row.chat.id;
  b.title = row.chat.title;
  b.bytes = bytes;
  b.pinned = row.chat.pinned;
  b.copy = copy;
  return b;
}

CacheTier tier_of(ChatTier which, const TierUse& use, std::uint64_t budget, const QVector<CacheRow>& rows, qint64 CacheRow::*own) {
  CacheTier t;
  t.tier = which;
  t.budget = signed_of(budget);
  t.used = signed_of(use.used);
  t.fixed = signed_of(use.fixed);
  t.exists = which != ChatTier::Gpu || t.budget > 0 || t.used > 0;
  qint64 rest = t.used;
  for (const CacheRow& row : rows) {
    t.chats += row.chat.tokensHeld > 0 && row.chat.tier == which ? 1 : 0;
    if (row.*own <= 0) continue;
    t.blocks.push_back(block_of(row, row.*own, row.chat.tier != which && which == ChatTier::Disk));
    rest -= row.*own;
  }
  const auto put = [&](CacheBlock::Kind kind, qint64 bytes) {
    if (bytes <= 0) return;
    CacheBlock b;
    b.kind = kind;
    b.bytes = bytes;
    t.blocks.push_back(b);
  };
  put(CacheBlock::Kind::Shared, std::min(rest, signed_of(use.shared)));
  put(CacheBlock::Kind::Other, rest - std::min(rest, signed_of(use.shared)));
  return t;
}

}  // namespace

CacheOverviewImpl::CacheOverviewImpl(ChatService* chats, EnginePort* engine, ModelCatalogue* models, Settings* settings, QString folder, QObject* parent)
    : CacheOverview(parent), chats_(chats), engine_(engine), models_(models), settings_(settings), folder_(std::move(folder)) {
  soon_.setSingleShot(true);
  soon_.setInterval(kSoonMs);
  connect(&soon_, &QTimer::timeout, this, [this] {
    // Nobody looks: the next refresh() gathers anew.
    if (isSignalConnected(QMetaMethod::fromSignal(&CacheOverview::changed))) refresh();
  });
  const auto soon = [this] { soon_.start(); };
  connect(engine_, &EnginePort::cacheChanged, this, soon);
  connect(chats_, &ChatService::chatsChanged, this, soon);
  connect(chats_, &ChatService::chatChanged, this, soon);
  connect(models_, &ModelCatalogue::changed, this, soon);
  connect(settings_, &Settings::changed, this, soon);
}

CacheOverviewImpl::~CacheOverviewImpl() = default;

void CacheOverviewImpl::refresh() {
  again_ = gathering_;
  if (std::exchange(gathering_, true)) return;
  const auto facts = std::make_shared<Facts>();
  const auto work = [engine = engine_, facts, folder = folder_]() -> Status {
    if (const auto memory = main_memory()) facts->memory = static_cast<qint64>(memory->total);
    const QStorageInfo disk(QFileInfo::exists(folder) ? folder : QFileInfo(folder).absolutePath());
    facts->disk_free = disk.isValid() ? disk.bytesAvailable() : 0;
    facts->budget = engine->budget();
    facts->states = engine->cacheStates();
    facts->use = engine->cacheUse();
    for (const CacheState& state : facts->states) {
      const QString chat = QString::fromStdString(state.sequence);
      const std::vector<CacheEvent> events = engine->cacheEvents(chat);
      const auto why = std::find_if(events.rbegin(), events.rend(), [&](const CacheEvent& e) { return e.reason == state.reason; });
      if (why != events.rend()) facts->reason_at.insert(chat, why->at_ms);
    }
    return Ok{};
  };
  engine_->background(work, [self = QPointer(this), facts](const Status&) {
    if (!self) return;
    self->facts_ = facts;
    self->gathering_ = false;
    self->build();
    if (std::exchange(self->again_, false)) self->soon_.start();
  });
}

CacheRow CacheOverviewImpl::rowOf(const ChatInfo& chat, const QHash<QString, const CacheState*>& states, const QHash<QString, const ChatUse*>& uses,
                                  const QHash<QString, QString>& titles) const {
  CacheRow row;
  row.chat = chat;
  row.busy = is_busy(chat);
  row.modelName = chat.modelName;
  const QString path = chat.modelPath.isEmpty() ? models_->defaultModel() : chat.modelPath;
  QString fingerprint;
  for (const ModelInfo& m : models_->models()) {
    if (m.path != path) continue;
    if (row.modelName.isEmpty()) row.modelName = m.name;
    fingerprint = m.fingerprint;
  }
  if (const CacheState* s = states.value(chat.id)) {
    row.busy = row.busy || s->busy;
    row.reasonCode = QString::fromStdString(s->reason);
    row.sharedBytes = signed_of(s->shared_bytes);
    if (s->tokens > 0) fingerprint = QString::fromStdString(s->fingerprint);
    if (facts_->reason_at.contains(chat.id)) row.reasonAt = QDateTime::fromMSecsSinceEpoch(facts_->reason_at.value(chat.id));
  }
  const bool gpu = facts_->budget.gpu > 0 || facts_->use.gpu.used > 0;
  if (chat.tier == ChatTier::Disk || (chat.tier == ChatTier::Ram && gpu)) row.movedFrom = chat.tier == ChatTier::Disk ? ChatTier::Ram : ChatTier::Gpu;
  row.pageTokens = facts_->use.page_tokens;
  if (const ChatUse* u = uses.value(chat.id)) {
    row.fullPages = u->full_pages;
    row.tailTokens = u->tail_tokens;
    row.sharedPages = u->shared_pages;
    row.sharedTokens = u->shared_tokens;
    row.sharedWith = titles.value(QString::fromStdString(u->shared_with), CacheOverview::tr("another chat"));
    row.ownGpu = signed_of(u->gpu);
    row.ownRam = signed_of(u->ram);
    row.ownDisk = signed_of(u->disk);
    row.keepsPart = u->keeps_part;
    for (const TokenSpan& span : u->restart) row.restart.push_back({span.first, span.last});
  }
  const auto wait = [&](int n) { return engine_->expectedWait({{}, path, fingerprint, n, kProbeTokens}).ttftMs; };
  if (row.tokens() > 0) {
    row.readAgainMs = wait(chat.tokensHeld + chat.tokensToRead);
    row.evictedMs = row.sharedTokens == 0 ? row.readAgainMs : wait(std::max(1, chat.tokensHeld - row.sharedTokens + chat.tokensToRead));
  }
  return row;
}

void CacheOverviewImpl::build() {
  QHash<QString, const CacheState*> states;
  for (const CacheState& s : facts_->states) states.insert(QString::fromStdString(s.sequence), &s);
  QHash<QString, const ChatUse*> uses;
  for (const ChatUse& u : facts_->use.chats) uses.insert(QString::fromStdString(u.sequence), &u);
  const QVector<ChatInfo> chats = chats_->chats();
  QHash<QString, QString> titles;
  for (const ChatInfo& c : chats) titles.insert(c.id, c.title);
  CacheSnapshot now;
  for (const ChatInfo& c : chats) {
    now.rows.push_back(rowOf(c, states, uses, titles));
    const bool held = c.tokensHeld > 0;
    now.tokensHeld += c.tokensHeld;
    now.chatsHeld += held ? 1 : 0;
    now.chatsCold += held ? 0 : 1;
  }
  const CacheUse& use = facts_->use;
  now.tiers = {tier_of(ChatTier::Gpu, use.gpu, facts_->budget.gpu, now.rows, &CacheRow::ownGpu), tier_of(ChatTier::Ram, use.ram, facts_->budget.ram, now.rows, &CacheRow::ownRam),
               tier_of(ChatTier::Disk, use.disk, facts_->budget.disk, now.rows, &CacheRow::ownDisk)};
  now.tiers[1].most = facts_->memory;
  now.tiers[2].most = facts_->disk_free > 0 ? facts_->disk_free + now.tiers[2].used : 0;
  const QString newest = chats.isEmpty() ? QString() : chats.first().modelPath, model = engine_->loadedModel().isEmpty() ? newest : engine_->loadedModel();
  for (const ModelInfo& m : models_->models()) {
    if (m.path == (model.isEmpty() ? models_->defaultModel() : model)) now.tokenBytes = m.kvBytesPerToken;
  }
  // A model that is not in the list: by the pages of the longest chat.
  const auto longest = std::max_element(now.rows.begin(), now.rows.end(), [](const CacheRow& a, const CacheRow& b) { return a.chat.tokensHeld < b.chat.tokensHeld; });
  if (now.tokenBytes <= 0 && longest != now.rows.end() && longest->chat.tokensHeld > 0 && longest->pageTokens > 0) {
    const int pages = longest->fullPages + (longest->tailTokens > 0 ? 1 : 0);
    now.tokenBytes = static_cast<double>(longest->chat.bytesHeld.value_or(0)) / std::max(1, pages * longest->pageTokens);
  }
  snapshot_ = std::move(now);
  Q_EMIT changed();
}

QVector<CacheEventInfo> CacheOverviewImpl::events(const QString& chatId) {
  const auto found = std::make_shared<std::vector<CacheEvent>>();
  engine_->background(
      [engine = engine_, chatId, found]() -> Status {
        *found = engine->cacheEvents(chatId);
        return Ok{};
      },
      [self = QPointer(this), chatId, found](const Status&) {
        if (!self) return;
        std::vector<CacheEvent>& known = self->events_[chatId];
        const auto same = [](const CacheEvent& a, const CacheEvent& b) { return a.at_ms == b.at_ms && a.reason == b.reason; };
        if (std::equal(known.begin(), known.end(), found->begin(), found->end(), same)) return;
        known = std::move(*found);
        Q_EMIT self->eventsChanged(chatId);
      });
  QVector<CacheEventInfo> out = turnEvents(chatId);
  const QDateTime now = QDateTime::currentDateTime();
  for (const CacheEvent& e : events_.value(chatId)) {
    const QDateTime at = QDateTime::fromMSecsSinceEpoch(e.at_ms);
    out.push_back({at, words::cacheMovement(QString::fromStdString(e.movement)), words::cacheReason(QString::fromStdString(e.reason), {}, now)});
  }
  std::stable_sort(out.begin(), out.end(), [](const CacheEventInfo& a, const CacheEventInfo& b) { return a.at > b.at; });
  return out;
}

// What the turns of a chat that is open did to its cache, from their records.
QVector<CacheEventInfo> CacheOverviewImpl::turnEvents(const QString& chatId) const {
  QVector<CacheEventInfo> out;
  for (const MessageInfo& m : chats_->messages(chatId)) {
    if (!m.record || m.role != QLatin1String("assistant")) continue;
    const TurnRecord& r = *m.record;
    const QDateTime end = std::min(QDateTime::currentDateTime(), m.created.toLocalTime().addMSecs(qRound64(r.totalMs.value_or(0))));
    if (r.output.value_or(0) > 0) out.push_back({end, CacheOverview::tr("+ %1 tok").arg(format::count(*r.output)), CacheOverview::tr("answer of turn %1").arg(r.turn)});
    const QDateTime start = m.created.toLocalTime().addMSecs(qRound64(r.ttftMs.value_or(0)));
    QString read = CacheOverview::tr("read for turn %1").arg(r.turn);
    if (r.cache.miss && r.cache.miss->atToken) read += CacheOverview::tr("; differs from token %1 on").arg(format::count(*r.cache.miss->atToken));
    if (r.inputFresh.value_or(0) > 0) out.push_back({start, CacheOverview::tr("+ %1 tok").arg(format::count(*r.inputFresh)), read});
    const int lost = r.cache.reusable - r.cache.reused;
    if (r.cache.enabled && r.cache.miss && r.cache.miss->cause == QLatin1String("prefix_changed") && lost > 0) {
      out.push_back({m.created.toLocalTime(), QChar(0x2212) + CacheOverview::tr(" %1 tok").arg(format::count(lost)), CacheOverview::tr("the old end was given up")});
    }
    if (r.cache.fromDisk > 0) {
      const QString time = r.restoreMs ? CacheOverview::tr(" in %1").arg(format::measuredTime(*r.restoreMs)) : QString();
      out.push_back({m.created.toLocalTime(), CacheOverview::tr("disk → RAM"), CacheOverview::tr("%1 tokens read back%2").arg(format::count(r.cache.fromDisk), time)});
    }
  }
  std::reverse(out.begin(), out.end());
  return out;
}

// Off this thread; what was done shows in the figures.
void CacheOverviewImpl::steer(std::function<Status()> work) {
  engine_->background(std::move(work), [self = QPointer(this)](const Status& status) {
    if (!self) return;
    if (!status) Q_EMIT self->failed(words::sentence(status.error()));
    self->refresh();
  });
}

void CacheOverviewImpl::toTier(const QString& chatId, ChatTier tier) {
  const Tier to = tier == ChatTier::Gpu ? Tier::gpu : tier == ChatTier::Disk ? Tier::disk : Tier::ram;
  steer([engine = engine_, chatId, to] { return engine->keep(chatId, to); });
}

void CacheOverviewImpl::evict(const QString& chatId) {
  steer([engine = engine_, chatId] { return engine->evict(chatId); });
}

void CacheOverviewImpl::clear() {
  steer([engine = engine_] { return engine->clearCache(); });
}

void CacheOverviewImpl::setBudget(ChatTier tier, qint64 bytes) {
  settings_->set(tier == ChatTier::Gpu ? Setting::BudgetGpuBytes : tier == ChatTier::Ram ? Setting::BudgetRamBytes : Setting::BudgetDiskBytes, bytes);
}

void CacheOverviewImpl::checkIntegrity() {
  const auto said = std::make_shared<QString>();
  engine_->background(
      [engine = engine_, said]() -> Status {
        const Result<std::string> result = engine->checkIntegrity();
        if (!result) return result.error();
        *said = QString::fromStdString(*result);
        return Ok{};
      },
      [self = QPointer(this), said](const Status& status) {
        if (!self) return;
        Q_EMIT self->integrityChecked(bool(status), status ? *said : QString::fromStdString(status.error().message));
        self->refresh();
      });
}

}  // namespace tg
