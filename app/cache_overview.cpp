// What can be told from a snapshot alone.
#include "app/cache_overview.h"

#include <algorithm>

namespace tg {
namespace {

qint64 own_in(const CacheRow& row, ChatTier tier) { return tier == ChatTier::Gpu ? row.ownGpu : tier == ChatTier::Ram ? row.ownRam : row.ownDisk; }

}  // namespace

const CacheRow* CacheSnapshot::row(const QString& chatId) const {
  const auto it = std::find_if(rows.begin(), rows.end(), [&](const CacheRow& r) { return r.chat.id == chatId; });
  return it == rows.end() ? nullptr : &*it;
}

const CacheTier* CacheSnapshot::tier(ChatTier which) const {
  const auto it = std::find_if(tiers.begin(), tiers.end(), [&](const CacheTier& t) { return t.tier == which; });
  return it == tiers.end() ? nullptr : &*it;
}

qint64 CacheSnapshot::bytesHeld() const {
  qint64 sum = 0;
  for (const CacheTier& t : tiers) sum += t.used;
  return sum;
}

qint64 least_budget(const CacheSnapshot& snapshot, ChatTier tier) {
  const CacheTier* t = snapshot.tier(tier);
  return t ? t->fixed : 0;
}

BudgetPreview preview_budget(const CacheSnapshot& snapshot, ChatTier tier, qint64 budget) {
  BudgetPreview out;
  const CacheTier* t = snapshot.tier(tier);
  if (!t) return out;
  qint64 over = t->used - budget;
  // Rows stand with the newest first: the oldest leaves first, from its end.
  for (auto row = snapshot.rows.rbegin(); row != snapshot.rows.rend() && over > 0; ++row) {
    const qint64 own = own_in(*row, tier);
    if (own <= 0 || row->busy || row->chat.pinned) continue;
    const qint64 leaves = std::min(own, over);
    const int tokens = row->chat.tokensHeld - row->sharedTokens;
    out.leaving.push_back({row->chat.id, row->chat.title, leaves, static_cast<int>(static_cast<double>(tokens) * static_cast<double>(leaves) / static_cast<double>(own) + 0.5)});
    out.bytes += leaves;
    over -= leaves;
  }
  if (over > 0) {  // what is shared goes when nobody needs it any more
    const qint64 rest = std::min(over, t->used - t->fixed - out.bytes);
    if (rest > 0) out.bytes += rest;
  }
  const CacheTier* disk = snapshot.tier(ChatTier::Disk);
  out.toDisk = tier != ChatTier::Disk && disk && disk->budget > 0;
  return out;
}

}  // namespace tg
