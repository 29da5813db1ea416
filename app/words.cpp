#include "app/words.h"

#include <QCoreApplication>
#include <QDateTime>
#include <algorithm>

#include "app/format.h"

namespace tg::words {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Words", text); }

QString number(int n) { return format::count(n); }

int new_tokens(const TurnRecord& record) {
  const auto it = std::find_if(record.segments.begin(), record.segments.end(), [](const RecordSegment& s) { return s.kind == QLatin1String("new"); });
  return it == record.segments.end() ? 0 : it->tokens;
}

QString expected(const TurnRecord& record, int tokens) {
  if (!record.prefillTps || *record.prefillTps <= 0) return format::unknown();
  return format::expectedTime(tokens * 1000 / *record.prefillTps);
}

QString clock(const QString& when) {
  const QDateTime at = QDateTime::fromString(when, Qt::ISODate);
  return at.isValid() ? at.toLocalTime().toString(QStringLiteral("HH:mm")) : when.isEmpty() ? tr("an unknown time") : when;
}

QString tier_name(const QString& tier) {
  if (tier == QLatin1String("gpu")) return tr("GPU");
  if (tier == QLatin1String("disk")) return tr("disk");
  return tr("RAM");
}

QString setting_name(const QString& code) {
  if (code == QLatin1String("kv_type")) return tr("the number format of the cache");
  if (code == QLatin1String("backend")) return tr("the device");
  if (code == QLatin1String("kernels")) return tr("the kernel variant");
  if (code == QLatin1String("context") || code == QLatin1String("rope")) return tr("the window");
  if (code == QLatin1String("model")) return tr("the model");
  return code;
}

QString capital(QString s) {
  if (!s.isEmpty()) s[0] = s[0].toUpper();
  return s;
}

QString place(const QString& where) {
  if (where == QLatin1String("system")) return tr("in the system text");
  if (where == QLatin1String("tools")) return tr("in the tools");
  if (where == QLatin1String("document")) return tr("in a document");
  return tr("in an earlier message");
}

QString refusal(const QString& code) {
  if (code == QLatin1String("checksum")) return tr("a checksum differs");
  if (code == QLatin1String("engine_version")) return tr("it was made by another engine version");
  if (code == QLatin1String("other_model")) return tr("it belongs to another model file");
  return tr("it is incomplete");
}

// " N tokens were read again, ≈ T."
QString cost_of_reading(const TurnRecord& record, int n) { return tr(" %1 tokens were read again, %2.").arg(number(n), expected(record, n)); }

QString prefix_sentence(const TurnRecord& record, const RecordMiss& miss, int n) {
  if (miss.detail == QLatin1String("thinking_dropped")) return tr("The template leaves the thinking of earlier answers out of the prompt.") + cost_of_reading(record, n);
  if (miss.detail == QLatin1String("edited")) {
    return tr("You edited message %1, so all that follows it was read again: %2 tokens, %3.").arg(number(miss.message.value_or(0)), number(n), expected(record, n));
  }
  if (miss.detail == QLatin1String("turns_dropped")) {
    if (miss.turnFirst < 0) return tr("Earlier turns left the prompt because the window was full.") + cost_of_reading(record, n);
    return tr("Turns %1–%2 left the prompt because the window was full. What follows them was read again: %3 tokens, %4.")
        .arg(number(miss.turnFirst), number(miss.turnLast), number(n), expected(record, n));
  }
  return tr("The prompt differs from what is in the cache from token %1 on, %2.").arg(number(miss.atToken.value_or(0)), place(miss.where)) + cost_of_reading(record, n);
}

QString prefix_short(const RecordMiss& miss) {
  if (miss.detail == QLatin1String("thinking_dropped")) return tr("thinking left out by the template");
  if (miss.detail == QLatin1String("edited")) return tr("you edited message %1").arg(number(miss.message.value_or(0)));
  if (miss.detail == QLatin1String("turns_dropped")) return tr("turns left out");
  return tr("differs at token %1").arg(number(miss.atToken.value_or(0)));
}

QString evicted_sentence(const TurnRecord& record, const RecordMiss& miss, int n) {
  if (miss.evictedBy == QLatin1String("user")) return tr("You evicted the cache of this chat at %1.").arg(clock(miss.when)) + cost_of_reading(record, n);
  if (miss.evictedBy == QLatin1String("idle")) return tr("The cache of this chat was not used for long, so it was dropped at %1.").arg(clock(miss.when)) + cost_of_reading(record, n);
  if (miss.evictedBy == QLatin1String("close")) return tr("The cache of this chat was not kept when the program closed at %1.").arg(clock(miss.when)) + cost_of_reading(record, n);
  const QString who = miss.byChat.isEmpty() ? tr("another chat") : tr("“%1”").arg(miss.byChat);
  return tr("The cache of this chat made room for %1 at %2 (budget of the %3).").arg(who, clock(miss.when), tier_name(miss.tier)) + cost_of_reading(record, n);
}

QString cause_short(const RecordMiss& miss) {
  if (miss.cause == QLatin1String("prefix_changed")) return prefix_short(miss);
  if (miss.cause == QLatin1String("evicted") && miss.evictedBy == QLatin1String("user")) return tr("evicted by you");
  if (miss.cause == QLatin1String("evicted") && miss.evictedBy == QLatin1String("idle")) return tr("unused for long");
  if (miss.cause == QLatin1String("evicted") && miss.evictedBy == QLatin1String("close")) return tr("not kept on closing");
  if (miss.cause == QLatin1String("evicted")) return miss.byChat.isEmpty() ? tr("made room for another chat") : tr("made room for “%1”").arg(miss.byChat);
  if (miss.cause == QLatin1String("model_reloaded")) return tr("model loaded again");
  if (miss.cause == QLatin1String("settings_changed")) return tr("%1 changed").arg(setting_name(miss.setting));
  if (miss.cause == QLatin1String("window_boundary")) return tr("no snapshot that far back");
  if (miss.cause == QLatin1String("snapshot_refused")) return tr("kept cache refused");
  return tr("cause unknown");
}

}  // namespace

int readAgain(const TurnRecord& record) {
  if (!record.cache.enabled) return record.inputTotal.value_or(0);
  const int lost = record.cache.reusable - record.cache.reused;
  if (lost > 0 || !record.cache.miss || record.cache.miss->cause == QLatin1String("first_turn")) return std::max(0, lost);
  return std::max(0, record.inputFresh.value_or(0) - new_tokens(record));
}

QString missShort(const TurnRecord& record) {
  if (!record.cache.enabled) return tr("caching is off");
  const int n = readAgain(record);
  if (!record.cache.miss || record.cache.miss->cause == QLatin1String("first_turn") || n == 0) return {};
  return tr("%1 read again: %2").arg(number(n), cause_short(*record.cache.miss));
}

QString missSentence(const TurnRecord& record) {
  const int n = readAgain(record);
  if (!record.cache.enabled) return tr("Caching is switched off, so all %1 tokens were read.").arg(number(n));
  if (!record.cache.miss) {
    const QString tier = record.cache.fromDisk > 0 ? tr("disk") : record.cache.fromRam > 0 ? tr("RAM") : tr("GPU");
    if (record.cache.reused == 0) return tr("There was nothing to reuse.");
    return tr("Nothing was read twice. All %1 tokens that could be reused were reused, from the %2.").arg(number(record.cache.reused), tier);
  }
  const RecordMiss& miss = *record.cache.miss;
  if (miss.cause == QLatin1String("first_turn")) return tr("This is the first message of the chat, so there was nothing to reuse.");
  if (miss.cause == QLatin1String("prefix_changed")) return prefix_sentence(record, miss, n);
  if (miss.cause == QLatin1String("evicted")) return evicted_sentence(record, miss, n);
  if (miss.cause == QLatin1String("model_reloaded")) return tr("The model was loaded again at %1 and no kept cache was found.").arg(clock(miss.when)) + cost_of_reading(record, n);
  if (miss.cause == QLatin1String("settings_changed")) {
    return tr("%1 changed from %2 to %3, and a cache made with %2 cannot be used with %3.").arg(capital(setting_name(miss.setting)), miss.from, miss.to) +
           cost_of_reading(record, n);
  }
  if (miss.cause == QLatin1String("window_boundary")) {
    return tr("This model keeps only part of the past in some layers. The nearest kept point was token %1, so %2 tokens were read again, %3.")
        .arg(number(record.cache.reused), number(n), expected(record, n));
  }
  if (miss.cause == QLatin1String("snapshot_refused")) return tr("The cache file on disk was not used: %1.").arg(refusal(miss.refusal)) + cost_of_reading(record, n);
  return tr("%1 tokens were read again. The cause could not be determined.").arg(number(n));
}

QString tierBadge(const ChatInfo& chat) {
  QString name;
  switch (chat.tier) {
    case ChatTier::Gpu: name = tr("on GPU"); break;
    case ChatTier::Ram: name = tr("in RAM"); break;
    case ChatTier::Disk: name = tr("on disk"); break;
    case ChatTier::Cold: return tr("cold");
    case ChatTier::Unknown: return format::unknown();
  }
  if (!chat.partly) return name;
  return tr("partly %1, %2 of %3").arg(name, number(chat.tokensHeld), number(chat.tokensHeld + chat.tokensToRead));
}

QString tierSentence(const ChatInfo& chat) {
  const QString wait = format::expectedTime(chat.waitMs);
  if (chat.partly) return tr("The first %1 tokens are kept, %2 are read first, %3.").arg(number(chat.tokensHeld), number(chat.tokensToRead), wait);
  switch (chat.tier) {
    case ChatTier::Gpu: return tr("Ready at once: the cache is in GPU memory.");
    case ChatTier::Ram: return tr("Ready at once: the cache is in memory.");
    case ChatTier::Disk: return tr("Kept on disk: read back first, %1.").arg(wait);
    case ChatTier::Cold: return tr("Nothing kept: %1 tokens are read first, %2.").arg(number(chat.tokensToRead), wait);
    case ChatTier::Unknown: break;
  }
  return tr("Not known: the remote engine does not say.");
}

QString movementReason(const QString& code) {
  const QString head = code.section(QLatin1Char(':'), 0, 0), who = code.section(QLatin1Char(':'), 1);
  if (head == QLatin1String("used")) return tr("used recently");
  if (head == QLatin1String("pinned")) return tr("pinned by you");
  if (head == QLatin1String("kept")) return tr("kept by you");
  if (head == QLatin1String("moved_budget")) return who.isEmpty() ? tr("moved to disk: budget") : tr("moved to disk: budget, for “%1”").arg(who);
  if (head == QLatin1String("moved_idle")) return tr("moved to disk: unused for long");
  if (head == QLatin1String("moved_close")) return tr("moved to disk when the program closed");
  if (head == QLatin1String("dropped_budget")) return who.isEmpty() ? tr("dropped: budget, oldest first") : tr("dropped: budget, for “%1”").arg(who);
  if (head == QLatin1String("dropped_user")) return tr("dropped by you");
  if (head == QLatin1String("dropped_idle")) return tr("dropped: unused for long");
  if (head == QLatin1String("dropped_close")) return tr("dropped: not kept when the program closed");
  if (head == QLatin1String("dropped_unload")) return tr("dropped: the model was unloaded");
  if (head == QLatin1String("dropped_check")) return tr("dropped: failed its check");
  if (head == QLatin1String("superseded")) return tr("dropped: another version continues from here");
  if (head == QLatin1String("shares")) {
    return tr("shares %1 tokens with “%2”").arg(number(who.section(QLatin1Char(':'), 0, 0).toInt()), who.section(QLatin1Char(':'), 1));
  }
  return code;
}

QString turnState(TurnState state) {
  switch (state) {
    case TurnState::None: return {};
    case TurnState::Queued: return tr("waits for its turn");
    case TurnState::Loading: return tr("loading");
    case TurnState::Reading: return tr("reading");
    case TurnState::Writing: return tr("writing");
    case TurnState::Finished: return tr("finished");
    case TurnState::Stopped: return tr("stopped");
    case TurnState::Length: return tr("limit reached");
    case TurnState::ContextFull: return tr("window full");
    case TurnState::Error: return tr("error");
    case TurnState::Recovered: return tr("recovered");
  }
  return {};
}

QString finishReason(const QString& code) {
  if (code == QLatin1String("stop")) return tr("The answer came to its end.");
  if (code == QLatin1String("length")) return tr("The answer reached its limit.");
  if (code == QLatin1String("cancelled")) return tr("You stopped the answer.");
  if (code == QLatin1String("context_full")) return tr("The window is full.");
  if (code == QLatin1String("interrupted")) return tr("The program ended while this answer was being written.");
  if (code == QLatin1String("error")) return tr("An error ended the answer.");
  return code;
}

}  // namespace tg::words
