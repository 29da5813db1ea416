// The cache of the design picture, for tests of the cache page and for looking at it. Header only.
#pragma once
#include "tests/support/picture_chats.h"

namespace tg::fake {

inline void fillCachePicture(FakeApplication& app) {
  FakeCacheOverview& o = app.overview;
  const qint64 gib = qint64(1) << 30;
  CacheTier gpu, ram, disk;
  gpu.tier = ChatTier::Gpu;
  gpu.budget = 3 * gib;
  gpu.most = 12 * gib;
  ram.tier = ChatTier::Ram;
  ram.budget = 6 * gib;
  ram.most = 32 * gib;
  disk.tier = ChatTier::Disk;
  disk.budget = 20 * gib;
  disk.most = 400 * gib;
  o.now.tiers = {gpu, ram, disk};
  o.now.tokenBytes = 147456;
  const QDateTime today(QDate::currentDate(), QTime(14, 30));
  struct Seed { const char* id; const char* reason; int minutesAgo; };
  const Seed seeds[] = {{"parser", "used", 6}, {"boiler", "used", 9}, {"lisbon", "pinned", 32}, {"garden", "moved_budget:Trip to Lisbon", 200}, {"contract", "moved_budget:Parser refactor", 238},
                        {"annual", "moved_budget:Contract summary", 1180}, {"spanish", "moved_close", 4000}, {"meeting", "dropped_budget", 24000}, {"recipes", "dropped_user", 39000}};
  for (const Seed& seed : seeds) {
    CacheRow r;
    r.chat = *app.service.chat(QString::fromLatin1(seed.id));
    r.chat.lastUsed = today.addSecs(-60 * seed.minutesAgo);
    r.modelName = r.chat.modelName;
    r.reasonCode = QString::fromLatin1(seed.reason);
    r.reasonAt = today.addSecs(-60 * (seed.minutesAgo - 3));
    r.movedFrom = r.chat.tier == ChatTier::Ram ? ChatTier::Gpu : ChatTier::Ram;
    r.pageTokens = 256;
    r.fullPages = r.chat.tokensHeld / 256;
    r.tailTokens = r.chat.tokensHeld % 256;
    const qint64 bytes = qint64(r.chat.tokensHeld) * 147456;
    (r.chat.tier == ChatTier::Gpu ? r.ownGpu : r.chat.tier == ChatTier::Ram ? r.ownRam : r.ownDisk) = r.chat.tier == ChatTier::Cold ? 0 : bytes;
    r.readAgainMs = r.evictedMs = r.tokens() * 1000.0 / 1630;
    o.now.rows.append(r);
  }
  o.eventsOf[QStringLiteral("contract")] = {{today.addSecs(-60 * 204), QStringLiteral("GPU → RAM"), QStringLiteral("budget: Parser refactor needed 1.30 GiB; longest unused goes first")},
                                            {today.addSecs(-60 * 238), QStringLiteral("+ 1 486 tok"), QStringLiteral("answer of turn 5")},
                                            {today.addSecs(-60 * 239), QStringLiteral("+ 1 194 tok"), QStringLiteral("read for turn 5; differs from token 10 213 on")},
                                            {today.addSecs(-60 * 258), QStringLiteral("disk → GPU"), QStringLiteral("chat opened; 1.62 GiB restored in 0.79 s")}};
  o.rebuild();
}

}  // namespace tg::fake
