// The words of the cache page: where a chat is and why, what an action would do, how it is read aloud (UI.md 8.1, 12.3). Pure functions, any thread.
#pragma once
#include <QDateTime>
#include <QString>

#include "app/cache_overview.h"

namespace tg::words {

QString tierName(ChatTier tier);                                      // "GPU" "RAM" "Disk"
QString shortWhen(const QDateTime& at, const QDateTime& now);         // 14:24 · yesterday · Fri · 12 Nov
QString longWhen(const QDateTime& at, const QDateTime& now);          // 14:24 · yesterday 18:40 · Fri 18:40 · 12 Nov
// UI.md 12.3; FROM: the tier that was left, as far as it is known.
QString cacheReason(const QString& code, const QDateTime& at, const QDateTime& now, ChatTier from = ChatTier::Ram);
QString cacheReason(const CacheRow& row, const QDateTime& now);       // never empty
QString cacheMovement(const QString& code);                           // "RAM → disk"

QString rowSentence(const CacheRow& row, const QDateTime& now);       // read aloud
QString readyIn(const CacheRow& row);                                 // "≈ 0.2 s", with the load where the model is not loaded

enum class CacheAction { ToGpu, ToRam, ToDisk, Pin, Evict };
QString actionName(CacheAction action, const CacheRow& row);          // Pin or Unpin
QString whyNot(CacheAction action, const CacheRow& row, const CacheSnapshot& all);       // one sentence; empty: it can be done
QString consequence(CacheAction action, const CacheRow& row, const CacheSnapshot& all);  // what it does, or why it cannot be done
QString clearQuestion(const CacheSnapshot& all);
QString budgetSentence(const BudgetPreview& preview, ChatTier tier);

}  // namespace tg::words
