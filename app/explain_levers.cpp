#include "app/explain_levers.h"

#include <algorithm>
#include <cmath>

#include "app/explain_figures.h"
#include "app/format.h"
#include "app/words.h"

namespace tg::explaining {
namespace {

constexpr double kCacheBytesQ8 = 17.0 / 32;    // of a q8_0 cache by those of f16: 34 bytes for 32 numbers of 2
constexpr double kCacheShare = 0.05;           // of a step's bytes, from which on a smaller cache is worth a line

QString unmeasured(const TurnRecord& r) {
  return r.work ? tr("What bounded it is unknown: the limits of this machine had not been measured when it ran. A later turn can tell.")
                : tr("What bounded it is unknown: this turn has no counters of bytes and operations.");
}

QString fasterReading(const TurnRecord& r, const Phase& read) {
  if (keptWaiting(read, r)) return tr("Most of the time was reading, and the engine's threads were kept waiting meanwhile, by other programs or by the disk: freeing the machine would help most.");
  if (read.bound == Bound::Unknown) return tr("Most of the time was reading.") + u' ' + unmeasured(r);
  if (!read.nearLimit())
    return tr("Most of the time was reading, at %1 of its limit: fewer fresh tokens shorten it; the rest is work that the limits do not count, as attention in f32 over a long prompt and passes of few tokens.").arg(format::percent(read.share()));
  if (read.bound == Bound::Arithmetic) return tr("Most of the time was reading, which arithmetic bounds: only fewer fresh tokens (a prompt whose beginning stays the same) or more cores make it faster.");
  return tr("Most of the time was reading few tokens, which takes about one pass over the weights: only a smaller file or faster memory makes it faster.");
}

QString fasterWriting(const TurnRecord& r, const Phase& write) {
  if (keptWaiting(write, r)) return tr("Most of the time was writing, and the engine's threads were kept waiting meanwhile, by other programs or by the disk: freeing the machine would help most.");
  if (write.bound == Bound::Unknown) return tr("Most of the time was writing.") + u' ' + unmeasured(r);
  if (!write.nearLimit())
    return tr("Most of the time was writing, at %1 of its limit: the bytes of a step do not fill the memory's speed, so much of it is the many small operations of a step; more chats at once would use it better, one chat hardly gets faster.").arg(format::percent(write.share()));
  if (write.bound == Bound::Memory) return tr("Most of the time was writing, which memory speed bounds: only fewer bytes a step (a smaller file, a shorter chat, a q8_0 cache) or faster memory make it faster; more cores do not.");
  return tr("Most of the time was writing, which arithmetic bounds: more cores or fewer chats at once make each faster.");
}

}  // namespace

QString fasterSentence(const TurnRecord& r) {
  const double load = r.loadMs.value_or(0), queue = r.queueMs.value_or(0), restore = r.restoreMs.value_or(0), read = r.prefillMs.value_or(0), write = r.decodeMs.value_or(0);
  const double most = std::max({load, queue, restore, read, write});
  if (most <= 0) return tr("Nothing of this turn was measured.");
  if (write == most) return fasterWriting(r, writing(r));
  if (read == most) return fasterReading(r, reading(r));
  if (load == most) return tr("Most of the time was loading the model: while it stays loaded, the next turn begins without that.");
  if (queue == most) return tr("Most of the time was waiting while other chats were answered: it alone would have begun at once.");
  return tr("Most of the time was bringing the cache back from disk: a chat that stays in memory begins without that.");
}

void addLevers(Explanation& out, const TurnRecord& r) {
  QStringList unknown;
  const auto add = [&](const QString& lever, const std::optional<QString>& effect) {
    if (effect) out.levers.push_back({lever, *effect});
    else unknown << lever;
  };
  const auto rate = [](double tps) -> QString { return QStringLiteral("≈\u00A0") + format::rate(tps); };
  if (const int again = words::readAgain(r); r.cache.miss && again > 0)
    add(tr("A prompt whose beginning stays the same"), r.prefillTps.value_or(0) > 0 ? std::optional(tr("%1 tokens less to read, %2").arg(format::count(again), format::expectedTime(again * 1000.0 / *r.prefillTps))) : std::nullopt);
  if (r.inputCached.value_or(0) > 0) {
    const std::optional<double> saved = savedMs(r);
    add(tr("No cache"), saved && r.ttftMs ? std::optional(tr("first token after %1 instead of %2").arg(format::expectedTime(*saved + *r.ttftMs - r.restoreMs.value_or(0)), format::measuredTime(*r.ttftMs))) : std::nullopt);
  }
  const Phase read = reading(r), write = writing(r);
  if (r.inputFresh.value_or(0) >= kTokensForARate)
    add(tr("Half as many fresh tokens"), read.bound == Bound::Arithmetic && r.prefillMs ? std::optional(tr("%1 less to the first token").arg(format::expectedTime(*r.prefillMs / 2))) : std::nullopt);
  if (r.output.value_or(2) > 1) {
    // A step that memory bounds takes as long as its bytes; nearer to other limits that would promise too much.
    const double step = bytesPerStep(write), cache = cacheBytesPerStep(r, write);
    const bool bytesDecide = write.bound == Bound::Memory && write.nearLimit() && r.decodeTps.value_or(0) > 0 && step >= r.work->stepWeights;
    add(tr("A file of half the size"), bytesDecide ? std::optional(tr("%1 instead of %2").arg(rate(*r.decodeTps * step / (step - r.work->stepWeights / 2)), format::rate(r.decodeTps))) : std::nullopt);
    if (!write.known() || cache > kCacheShare * step)
      add(tr("A q8_0 cache, if it is f16 now"), bytesDecide ? std::optional(tr("%1 instead of %2").arg(rate(*r.decodeTps * step / (step - cache * (1 - kCacheBytesQ8))), format::rate(r.decodeTps))) : std::nullopt);
  }
  if (!unknown.isEmpty()) out.leftOut = tr("Left out, as the figures of this turn do not tell their effect: %1.").arg(unknown.join(QStringLiteral("; ")));
}

}  // namespace tg::explaining
