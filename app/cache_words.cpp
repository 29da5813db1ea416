#include "app/cache_words.h"

#include <QCoreApplication>
#include <QLocale>

#include "app/format.h"

namespace tg::words {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("CacheWords", text); }

QString tier_phrase(ChatTier tier) {
  switch (tier) {
    case ChatTier::Gpu: return tr("on GPU");
    case ChatTier::Ram: return tr("in RAM");
    case ChatTier::Disk: return tr("on disk");
    case ChatTier::Cold: return tr("cold");
    case ChatTier::Unknown: break;
  }
  return tr("not known where");
}

QString tokens(int n) { return format::count(n); }

// "", " TIME": the place of a time that may not be known.
QString at_time(const QDateTime& at, const QDateTime& now) { return at.isValid() ? QLatin1Char(' ') + longWhen(at, now) : QString(); }

QString spoken_wait(double ms) { return ms < 9950 ? tr("%1 seconds").arg(QLocale().toString(std::max(0.1, ms / 1000), 'f', 1)) : format::spokenTime(ms); }

// "1.77 GiB of RAM and 1.77 GiB on disk"
QString freed(const CacheRow& row) {
  QStringList parts;
  if (row.ownGpu > 0) parts << tr("%1 of GPU memory").arg(format::bytes(row.ownGpu));
  if (row.ownRam > 0) parts << tr("%1 of RAM").arg(format::bytes(row.ownRam));
  if (row.ownDisk > 0) parts << tr("%1 on disk").arg(format::bytes(row.ownDisk));
  if (parts.isEmpty()) return tr("nothing");
  return parts.size() == 1 ? parts[0] : parts.mid(0, parts.size() - 1).join(QStringLiteral(", ")) + tr(" and ") + parts.last();
}

QString evict_sentence(const CacheRow& row) {
  const int again = std::max(0, row.chat.tokensHeld - row.sharedTokens);
  if (again == 0) return tr("Evict frees nothing: all of it is shared with “%1”, which keeps it.").arg(row.sharedWith);
  QString s = tr("Evict frees %1. The text of the chat stays. ").arg(freed(row));
  if (row.sharedTokens > 0) s += tr("The first %1 tokens are shared with “%2” and stay. ").arg(tokens(row.sharedTokens), row.sharedWith);
  return s + tr("The next message then reads %1 tokens again, %2.").arg(tokens(again + row.chat.tokensToRead), format::expectedTime(row.evictedMs));
}

QString pin_sentence(const CacheRow& row, const CacheSnapshot& all) {
  if (row.chat.pinned) return tr("Without the pin this chat may leave its place when another chat needs the room.");
  if (row.chat.tokensHeld == 0) return tr("Pin keeps the cache of this chat from its next message on, whatever other chats need.");
  const CacheTier* tier = all.tier(row.chat.tier);
  QString s = tr("Pin keeps this chat %1, whatever other chats need.").arg(tier_phrase(row.chat.tier));
  if (tier && tier->budget > 0 && row.chat.bytesHeld) s += tr(" It takes %1 of the budget of %2.").arg(format::bytes(row.chat.bytesHeld), format::bytes(tier->budget));
  return s;
}

QString disk_sentence(const CacheRow& row) {
  const qint64 memory = row.ownGpu + row.ownRam;
  if (memory == 0 && row.sharedTokens > 0) return tr("It is shared with “%1”, so nothing leaves memory.").arg(row.sharedWith);
  return tr("To disk frees %1 of %2. Nothing is lost: the next message reads it back first.")
      .arg(format::bytes(memory), row.ownGpu > 0 ? tr("GPU memory") : tr("RAM"));
}

QString memory_sentence(const CacheRow& row, const QString& where) {
  return tr("It is read into %1 now: %2. The next message then starts without waiting for the disk.").arg(where, format::bytes(row.chat.bytesHeld));
}

}  // namespace

QString tierName(ChatTier tier) {
  switch (tier) {
    case ChatTier::Gpu: return tr("GPU");
    case ChatTier::Ram: return tr("RAM");
    case ChatTier::Disk: return tr("Disk");
    case ChatTier::Cold: return tr("cold");
    case ChatTier::Unknown: break;
  }
  return format::unknown();
}

QString shortWhen(const QDateTime& at, const QDateTime& now) {
  if (!at.isValid()) return format::unknown();
  const qint64 days = at.date().daysTo(now.date());
  if (days <= 0) return at.toString(QStringLiteral("HH:mm"));
  if (days == 1) return tr("yesterday");
  if (days < 7) return QLocale().dayName(at.date().dayOfWeek(), QLocale::ShortFormat);
  return QLocale().toString(at.date(), at.date().year() == now.date().year() ? QStringLiteral("d MMM") : QStringLiteral("d MMM yyyy"));
}

QString longWhen(const QDateTime& at, const QDateTime& now) {
  const qint64 days = at.date().daysTo(now.date());
  const QString day = shortWhen(at, now);
  return days >= 1 && days < 7 ? day + QLatin1Char(' ') + at.toString(QStringLiteral("HH:mm")) : day;
}

QString cacheReason(const QString& code, const QDateTime& at, const QDateTime& now, ChatTier from) {
  const QString head = code.section(QLatin1Char(':'), 0, 0), who = code.section(QLatin1Char(':'), 1);
  const QString when = at_time(at, now);
  if (head == QLatin1String("used")) return tr("used recently");
  if (head == QLatin1String("pinned")) return tr("pinned by you");
  if (head == QLatin1String("kept")) return tr("kept by you");
  if (head == QLatin1String("restored")) return tr("read back from disk%1").arg(when);
  if (head == QLatin1String("shares") || head == QLatin1String("shared")) {
    return tr("shares %1 tokens with %2").arg(tokens(who.section(QLatin1Char(':'), 0, 0).toInt()), who.section(QLatin1Char(':'), 1));
  }
  if (head == QLatin1String("moved_budget")) return who.isEmpty() ? tr("moved from %1%2: budget").arg(tierName(from), when) : tr("moved from %1%2: budget, for %3").arg(tierName(from), when, who);
  if (head == QLatin1String("moved_idle")) return tr("moved to disk%1: not used for a while").arg(when);
  if (head == QLatin1String("moved_close") || head == QLatin1String("closed")) return tr("moved to disk when the program closed");
  if (head == QLatin1String("dropped_budget")) return who.isEmpty() ? tr("dropped%1: budget, oldest first").arg(when) : tr("dropped%1: budget, for %2").arg(when, who);
  if (head == QLatin1String("dropped_user") || head == QLatin1String("evicted")) return tr("dropped by you%1").arg(when);
  if (head == QLatin1String("dropped_idle")) return tr("dropped%1: not used for a while").arg(when);
  if (head == QLatin1String("dropped_close")) return tr("dropped when the program closed");
  if (head == QLatin1String("dropped_check")) return tr("dropped%1: failed its check").arg(when);
  if (head == QLatin1String("dropped_unload")) return tr("dropped%1: its model was unloaded").arg(when);
  if (head == QLatin1String("superseded")) return tr("dropped%1: another version continues from here").arg(when);
  return code;
}

QString cacheReason(const CacheRow& row, const QDateTime& now) {
  if (row.busy) return tr("in use: an answer is being written");
  const bool held = row.chat.tokensHeld > 0;
  if (held && row.chat.pinned) return tr("pinned by you");
  if (held && row.reasonCode.startsWith(QLatin1String("dropped"))) return tr("kept in part; the rest was %1").arg(cacheReason(row.reasonCode, row.reasonAt, now));
  // It was moved down, and has come back since.
  if (held && row.movedFrom == ChatTier::Unknown && row.reasonCode.startsWith(QLatin1String("moved"))) return tr("read back from disk");
  if (!row.reasonCode.isEmpty() && (held || row.reasonCode.startsWith(QLatin1String("dropped")))) return cacheReason(row.reasonCode, row.reasonAt, now, row.movedFrom);
  return row.tokens() > 0 ? tr("nothing was kept") : tr("no finished answer yet");
}

QString cacheMovement(const QString& code) {
  if (code == QLatin1String("to_disk")) return tr("RAM → disk");
  if (code == QLatin1String("to_ram") || code == QLatin1String("restored")) return tr("disk → RAM");
  if (code == QLatin1String("dropped")) return tr("dropped");
  if (code == QLatin1String("kept")) return tr("kept");
  if (code == QLatin1String("pinned")) return tr("pinned");
  if (code == QLatin1String("unpinned")) return tr("pin taken off");
  if (code == QLatin1String("shared")) return tr("shared");
  return code;
}

QString readyIn(const CacheRow& row) {
  QString s = format::expectedTime(row.chat.waitMs);
  if (!row.chat.modelLoaded && row.chat.loadMs) s += tr(" + load");
  return s;
}

QString rowSentence(const CacheRow& row, const QDateTime& now) {
  const ChatInfo& c = row.chat;
  QStringList parts{c.title.isEmpty() ? tr("New chat") : c.title, c.partly ? tr("partly %1").arg(tier_phrase(c.tier)) : tier_phrase(c.tier)};
  parts << tr("%1 tokens").arg(row.tokens());
  if (c.tokensHeld > 0 && c.bytesHeld) parts << format::spokenBytes(*c.bytesHeld);
  parts << (c.waitMs ? tr("ready in about %1").arg(spoken_wait(*c.waitMs)) : tr("wait unknown: not measured yet"));
  parts << cacheReason(row, now);
  return parts.join(QStringLiteral(", ")) + QLatin1Char('.');
}

QString actionName(CacheAction action, const CacheRow& row) {
  switch (action) {
    case CacheAction::ToGpu: return tr("Bring to GPU");
    case CacheAction::ToRam: return tr("Bring to RAM");
    case CacheAction::ToDisk: return tr("To disk");
    case CacheAction::Pin: return row.chat.pinned ? tr("Unpin") : tr("Pin");
    case CacheAction::Evict: return tr("Evict");
  }
  return {};
}

QString whyNot(CacheAction action, const CacheRow& row, const CacheSnapshot& all) {
  if (action == CacheAction::Pin) return {};
  const CacheTier* gpu = all.tier(ChatTier::Gpu);
  if (action == CacheAction::ToGpu && !(gpu && gpu->exists)) return tr("No GPU is in use: this computer keeps its caches in RAM.");
  if (row.busy) return tr("This chat is being written: its cache stays where it is until the answer ends.");
  if (row.chat.tokensHeld == 0) return tr("Nothing of this chat is held.");
  if (action == CacheAction::ToGpu && row.chat.tier == ChatTier::Gpu) return tr("It is in GPU memory already.");
  if (action == CacheAction::ToRam && row.chat.tier == ChatTier::Ram) return tr("It is in RAM already.");
  if (action == CacheAction::ToRam && !row.chat.modelLoaded) return tr("It is read back when its model is loaded.");
  if (action != CacheAction::ToDisk) return {};
  const CacheTier* disk = all.tier(ChatTier::Disk);
  if (disk && disk->budget == 0) return tr("The budget of the disk is 0, so nothing is kept there.");
  return row.chat.tier == ChatTier::Disk && row.ownRam + row.ownGpu == 0 ? tr("It is on disk already.") : QString();
}

QString consequence(CacheAction action, const CacheRow& row, const CacheSnapshot& all) {
  if (const QString reason = whyNot(action, row, all); !reason.isEmpty()) return reason;
  switch (action) {
    case CacheAction::ToGpu: return memory_sentence(row, tr("GPU memory"));
    case CacheAction::ToRam: return memory_sentence(row, tr("RAM"));
    case CacheAction::ToDisk: return disk_sentence(row);
    case CacheAction::Pin: return pin_sentence(row, all);
    case CacheAction::Evict: return evict_sentence(row);
  }
  return {};
}

QString clearQuestion(const CacheSnapshot& all) {
  double ms = 0;
  bool known = true;
  for (const CacheRow& row : all.rows) {
    if (row.chat.tokensHeld == 0 || row.busy) continue;
    known = known && row.readAgainMs.has_value();
    ms += row.readAgainMs.value_or(0);
  }
  QString s = all.chatsHeld == 1 ? tr("The cache of one chat is dropped: %1. ").arg(format::bytes(all.bytesHeld()))
                                 : tr("The caches of %1 chats are dropped: %2. ").arg(format::count(all.chatsHeld), format::bytes(all.bytesHeld()));
  s += tr("All texts stay. When the chats are used again, %1 tokens are read again").arg(format::count(all.tokensHeld));
  s += known ? tr(", %1 in all. ").arg(format::expectedTime(ms)) : tr(". ");
  return s + tr("This cannot be undone.");
}

QString budgetSentence(const BudgetPreview& preview, ChatTier tier) {
  if (preview.bytes <= 0) return tr("Nothing leaves.");
  const QString where = preview.toDisk ? tr("moves to disk") : tr("is dropped");
  QStringList who;
  for (const BudgetPreview::Leaving& l : preview.leaving) who << tr("%1 (%2)").arg(l.title, format::bytes(l.bytes));
  if (who.size() > 3) who = who.mid(0, 3) << tr("%1 more").arg(format::count(preview.leaving.size() - 3));
  QString s = tr("At once %1 %2").arg(format::bytes(preview.bytes), where);
  if (!who.isEmpty()) s += QStringLiteral(": ") + who.join(QStringLiteral(", "));
  s += QLatin1Char('.');
  if (tier == ChatTier::Disk || !preview.toDisk) {
    int tokens_lost = 0;
    for (const BudgetPreview::Leaving& l : preview.leaving) tokens_lost += l.tokens;
    s += tr(" %1 tokens would be read again.").arg(tokens(tokens_lost));
  }
  return s;
}

}  // namespace tg::words
