// A cache overview whose figures the tests set by hand; its actions move them as the real one would. Header only.
#pragma once
#include <algorithm>

#include "app/cache_overview.h"

namespace tg::fake {

class FakeCacheOverview : public CacheOverview {
 public:
  CacheSnapshot now;
  QHash<QString, QVector<CacheEventInfo>> eventsOf;
  QStringList calls;
  QString integrity = QStringLiteral("All 284 pages agree with their checksums.");
  bool sound = true;

  const CacheSnapshot& snapshot() const override { return now; }
  void refresh() override { Q_EMIT changed(); }
  QVector<CacheEventInfo> events(const QString& chatId) override { return eventsOf.value(chatId); }
  CacheRow* row(const QString& id) {
    const auto it = std::find_if(now.rows.begin(), now.rows.end(), [&](const CacheRow& r) { return r.chat.id == id; });
    return it == now.rows.end() ? nullptr : &*it;
  }
  CacheTier* tier(ChatTier which) {
    const auto it = std::find_if(now.tiers.begin(), now.tiers.end(), [&](const CacheTier& t) { return t.tier == which; });
    return it == now.tiers.end() ? nullptr : &*it;
  }
  // The bars from the rows: what chats hold alone, then what they share.
  void rebuild() {
    now.tokensHeld = now.chatsHeld = now.chatsCold = 0;
    for (CacheTier& t : now.tiers) {
      const auto shared = std::find_if(t.blocks.begin(), t.blocks.end(), [](const CacheBlock& b) { return b.kind == CacheBlock::Kind::Shared; });
      const qint64 common = shared == t.blocks.end() ? 0 : shared->bytes;
      t.blocks.clear();
      t.used = t.fixed = 0;
      t.chats = 0;
      for (const CacheRow& r : now.rows) {
        const qint64 own = t.tier == ChatTier::Gpu ? r.ownGpu : t.tier == ChatTier::Ram ? r.ownRam : r.ownDisk;
        t.chats += r.chat.tier == t.tier ? 1 : 0;
        if (own <= 0) continue;
        CacheBlock b;
        b.chatId = r.chat.id;
        b.title = r.chat.title;
        b.bytes = own;
        b.pinned = r.chat.pinned;
        b.copy = t.tier == ChatTier::Disk && r.chat.tier != ChatTier::Disk;
        t.blocks.push_back(b);
        t.used += own;
        t.fixed += r.chat.pinned || r.busy ? own : 0;
      }
      if (common > 0) {
        CacheBlock b;
        b.kind = CacheBlock::Kind::Shared;
        b.bytes = common;
        t.blocks.push_back(b);
        t.used += common;
      }
    }
    for (const CacheRow& r : now.rows) {
      now.tokensHeld += r.chat.tokensHeld;
      (r.chat.tokensHeld > 0 ? now.chatsHeld : now.chatsCold) += 1;
    }
  }
  void toTier(const QString& id, ChatTier to) override {
    calls << QStringLiteral("tier %1 %2").arg(id).arg(static_cast<int>(to));
    CacheRow* r = row(id);
    if (!r) return;
    const qint64 all = std::max({r->ownGpu, r->ownRam, r->ownDisk});
    r->ownGpu = to == ChatTier::Gpu ? all : 0;
    r->ownRam = to == ChatTier::Ram ? all : 0;
    r->ownDisk = to == ChatTier::Disk ? all : 0;
    r->chat.tier = to;
    r->reasonCode = QStringLiteral("kept");
    rebuild();
    Q_EMIT changed();
  }
  void pin(const QString& id, bool on) override {
    calls << QStringLiteral("pin %1 %2").arg(id).arg(on);
    if (CacheRow* r = row(id)) r->chat.pinned = on;
    rebuild();
    Q_EMIT changed();
  }
  void evict(const QString& id) override {
    calls << QStringLiteral("evict ") + id;
    CacheRow* r = row(id);
    if (!r) return;
    r->ownGpu = r->ownRam = r->ownDisk = 0;
    r->chat.tokensToRead += r->chat.tokensHeld;
    r->chat.tokensHeld = 0;
    r->chat.bytesHeld.reset();
    r->chat.tier = ChatTier::Cold;
    r->reasonCode = QStringLiteral("dropped_user");
    r->reasonAt = QDateTime::currentDateTime();
    rebuild();
    Q_EMIT changed();
  }
  void clear() override {
    calls << QStringLiteral("clear");
    for (const CacheRow& r : QVector<CacheRow>(now.rows)) evict(r.chat.id);
  }
  void setBudget(ChatTier tier, qint64 bytes) override {
    calls << QStringLiteral("budget %1 %2").arg(static_cast<int>(tier)).arg(bytes);
    for (CacheTier& t : now.tiers) {
      if (t.tier == tier) t.budget = bytes;
    }
    Q_EMIT changed();
  }
  void checkIntegrity() override {
    calls << QStringLiteral("check");
    Q_EMIT integrityChecked(sound, integrity);
  }
};

}  // namespace tg::fake
