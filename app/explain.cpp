#include "app/explain.h"

#include <QDateTime>
#include <QLocale>
#include <algorithm>
#include <cmath>

#include "app/explain_figures.h"
#include "app/explain_levers.h"
#include "app/format.h"
#include "app/words.h"

namespace tg {

using namespace explaining;

namespace {

QString time(const std::optional<double>& ms) { return ms ? format::measuredTime(*ms) : format::unknown(); }
QString bytes(double n) { return format::bytes(std::llround(std::min(n, 1e18))); }
QString number(const std::optional<int>& n) { return n ? format::count(*n) : format::unknown(); }

QString passes(int n) { return n == 1 ? tr("1 pass") : tr("%1 passes").arg(format::count(n)); }
QString steps(int n) { return n == 1 ? tr("1 step") : tr("%1 steps").arg(format::count(n)); }
QString tokens(int n) { return n == 1 ? tr("1 token") : tr("%1 tokens").arg(format::count(n)); }

QString boundWord(Bound bound) {
  if (bound == Bound::Memory) return tr("memory speed");
  return bound == Bound::Arithmetic ? tr("arithmetic") : format::unknown();
}

QString ofLimit(const QString& rate, const std::optional<double>& share) {
  return share ? tr("%1 · %2 of the measured limit").arg(rate, format::percent(share)) : tr("%1 · share of the limit –").arg(rate);
}

// Amounts and rates of a phase, each beside its limit.
void addWork(ExplainPart& part, const Phase& phase) {
  const RecordPhase& w = phase.work;
  const bool known = phase.known();
  const double seconds = known ? w.ms / 1000 : 1;
  part.figures.push_back({tr("Read from memory"), known ? bytes(w.bytes) : format::unknown()});
  part.figures.push_back({tr("Memory speed"), known ? ofLimit(format::byteRate(w.bytes / seconds / 1e9), phase.memoryShare) : format::unknown()});
  part.figures.push_back({tr("Operations"), known ? format::operations(w.ops) : format::unknown()});
  part.figures.push_back({tr("Arithmetic"), known ? ofLimit(format::operationRate(w.ops / seconds / 1e9), phase.arithmeticShare) : format::unknown()});
  part.figures.push_back({tr("Bound by"), boundWord(phase.bound)});
}

void addWaiting(ExplainPart& part, const Phase& phase, const TurnRecord& r) {
  if (!keptWaiting(phase, r)) return;
  part.sentences << tr("On average %1 of %2 threads had a core: the rest was taken by another program (the engine then pauses a thread rather than wait for it) or went by waiting for the disk.")
                        .arg(QLocale().toString(*phase.busyThreads, 'f', 1), format::count(r.work->threads));
}

QString noCounters(const TurnRecord& r) {
  return r.inputTotal ? tr("Bytes and operations are unknown: the record is older than the counters, or the turn ended before a step.")
                      : tr("Bytes and operations are unknown: this engine does not report them.");
}

ExplainPart readingPart(const TurnRecord& r) {
  ExplainPart part{QStringLiteral("reading"), tr("Reading"), {}, {}};
  const Phase phase = reading(r);
  if (!r.inputTotal) part.sentences << tr("How many tokens were read is unknown: this engine does not report it.");
  else if (r.passes > 0) part.sentences << tr("The prompt has %1. %2 were in the cache, %3 were read in %4.").arg(tokens(*r.inputTotal), number(r.inputCached), number(r.inputFresh), passes(r.passes));
  else part.sentences << tr("The prompt has %1. %2 were in the cache, %3 were to be read.").arg(tokens(*r.inputTotal), number(r.inputCached), number(r.inputFresh));
  if (!phase.known()) {
    part.sentences << noCounters(r);
  } else {
    QString sentence = tr("%1 and %2 from memory in %3").arg(format::operations(phase.work.ops), bytes(phase.work.bytes), time(phase.work.ms));
    if (phase.bound != Bound::Unknown) {
      sentence += phase.bound == Bound::Arithmetic ? tr(": %1 of the arithmetic this machine was measured to do.").arg(format::percent(phase.arithmeticShare))
                                                   : tr(": %1 of the memory speed this machine was measured to have.").arg(format::percent(phase.memoryShare));
      sentence += u' ' + (phase.bound == Bound::Arithmetic ? tr("So the number of fresh tokens sets the first token.") : tr("So the weights, read once in each pass, set the first token; a few tokens more would cost little."));
    } else {
      sentence += u'.';
    }
    part.sentences << sentence;
    addWaiting(part, phase, r);
  }
  part.figures.push_back({tr("Reading speed"), format::rate(r.prefillTps)});
  addWork(part, phase);
  return part;
}

QString stepsSentence(const TurnRecord& r, const Phase& phase) {
  const int later = std::max(0, *r.output - 1);
  if (r.drafted > 0) return tr("%1: the first comes out of reading. Of %2 drafted tokens %3 were right, each of which saved a step.").arg(tokens(*r.output), format::count(r.drafted), format::count(r.accepted));
  QString sentence = later == 0 ? tr("%1, which comes out of reading.").arg(tokens(*r.output)) : tr("%1: the first comes out of reading, the others are %2.").arg(tokens(*r.output), steps(later));
  if (phase.known() && phase.work.steps < later) sentence += u' ' + tr("%1 of them ran beside another chat's prompt and are not in these figures.").arg(format::count(later - phase.work.steps));
  return sentence;
}

ExplainPart writingPart(const TurnRecord& r) {
  ExplainPart part{QStringLiteral("writing"), tr("Writing"), {}, {}};
  const Phase phase = writing(r);
  part.sentences << (r.output ? stepsSentence(r, phase) : tr("How many tokens were written is unknown: this engine does not report it."));
  if (phase.known()) {
    const double cache = cacheBytesPerStep(r, phase);
    QString sentence = tr("Each step reads the weights (%1) and the cache (%2 on average): %3 steps a second")
                           .arg(bytes(r.work->stepWeights), bytes(cache), QLocale().toString(phase.work.steps * 1000 / phase.work.ms, 'f', 1));
    if (phase.bound == Bound::Unknown) sentence += u'.';
    else if (phase.bound == Bound::Memory) sentence += tr(", %1 of the measured memory speed. So bytes per step set the tokens per second.").arg(format::percent(phase.memoryShare));
    else sentence += tr(", %1 of the measured arithmetic. So operations per step set the tokens per second.").arg(format::percent(phase.arithmeticShare));
    part.sentences << sentence;
    if (r.batchMean.value_or(1) >= 1.05) part.sentences << tr("A step served %1 chats on average, which read the weights together.").arg(QLocale().toString(*r.batchMean, 'f', 1));
    addWaiting(part, phase, r);
  } else if (r.work || r.output.value_or(2) < 2) {
    part.sentences << tr("There is no step to measure.");
  } else {
    part.sentences << noCounters(r);
  }
  part.figures.push_back({tr("Writing speed"), format::rate(r.decodeTps)});
  part.figures.push_back({tr("Bytes a step"), phase.known() ? tr("%1 = %2 weights + %3 cache").arg(bytes(bytesPerStep(phase)), bytes(r.work->stepWeights), bytes(cacheBytesPerStep(r, phase))) : format::unknown()});
  addWork(part, phase);
  return part;
}

ExplainPart cachePart(const TurnRecord& r) {
  ExplainPart part{QStringLiteral("cache"), tr("What the cache saved"), {}, {}};
  const std::optional<double> saved = savedMs(r);
  QString figure = format::unknown();
  if (!r.inputCached) {
    part.sentences << tr("Unknown: this engine does not report what was cached.");
  } else if (*r.inputCached == 0) {
    part.sentences << tr("Nothing: no token came from the cache.");
    figure = format::measuredTime(0);
  } else if (saved) {
    figure = format::expectedTime(saved);
    part.sentences << tr("%1 of the prompt came from the cache. At this turn's reading speed they would have taken %2 more.").arg(tokens(*r.inputCached), figure);
  } else if (const std::optional<double> least = savedAtLeastMs(r)) {
    figure = tr("at least %1").arg(format::measuredTime(*least));
    part.sentences << tr("%1 of the prompt came from the cache. This turn read too few tokens for a reading speed; at the measured limit of arithmetic they would have taken %2.").arg(tokens(*r.inputCached), figure);
  } else {
    part.sentences << tr("%1 of the prompt came from the cache. What reading them takes is unknown: this turn read too few tokens for a reading speed.").arg(tokens(*r.inputCached));
  }
  if (r.cache.miss && r.inputCached) part.sentences << words::missSentence(r);
  part.figures.push_back({tr("From the cache"), r.inputTotal && r.inputCached ? tr("%1 of %2 tokens · %3").arg(number(r.inputCached), number(r.inputTotal), format::share(*r.inputCached, *r.inputTotal)) : format::unknown()});
  part.figures.push_back({tr("Reading not needed"), figure});
  return part;
}

ExplainPart firstTokenPart(const TurnRecord& r) {
  ExplainPart part{QStringLiteral("first_token"), tr("Why the first token came when it did"), {}, {}};
  const Phase phase = reading(r);
  const bool parts = r.queueMs && r.restoreMs && r.prefillMs && phase.known();
  const std::optional<double> rest = parts && r.ttftMs ? std::optional(std::max(0.0, *r.ttftMs - *r.queueMs - *r.restoreMs - std::min(phase.work.ms, *r.prefillMs))) : std::nullopt;
  const struct { QString name; std::optional<double> ms; } pieces[] = {
      {tr("Waited for its turn"), r.queueMs}, {tr("Read from the disk cache"), r.restoreMs}, {tr("Reading the prompt"), phase.known() ? std::optional(phase.work.ms) : r.prefillMs}, {tr("Choosing the token, and between steps"), rest}};
  if (!r.ttftMs) {
    part.sentences << tr("There was no first token, or when it came is unknown.");
  } else if (parts) {
    const auto* longest = std::max_element(std::begin(pieces), std::end(pieces), [](const auto& a, const auto& b) { return a.ms.value_or(0) < b.ms.value_or(0); });
    part.sentences << tr("The longest part was “%1”: %2 of %3.").arg(longest->name, time(longest->ms), time(r.ttftMs));
  } else {
    part.sentences << tr("It came after %1; the parts of that are not all known.").arg(time(r.ttftMs));
  }
  if (r.ttftMs && r.predictedTtftMs) part.sentences << tr("Expected were %1.").arg(format::expectedTime(r.predictedTtftMs));
  QString load = time(r.loadMs);
  if (r.loadMs) load = *r.loadMs > 0 ? tr("%1, before the wait that counts").arg(time(r.loadMs)) : tr("was loaded");
  part.figures.push_back({tr("Loading the model"), load});
  for (const auto& piece : pieces) part.figures.push_back({piece.name, time(piece.ms)});
  part.figures.push_back({tr("First token"), time(r.ttftMs)});
  return part;
}

std::optional<ExplainPart> memoryPart(const TurnRecord& r) {
  if (!r.kvBytes || r.kvTokens <= 0) return std::nullopt;
  ExplainPart part{QStringLiteral("memory"), tr("Memory"), {}, {}};
  part.sentences << tr("%1 × %2 = %3, held until it is evicted.").arg(tokens(r.kvTokens), bytes(static_cast<double>(*r.kvBytes) / r.kvTokens), format::bytes(r.kvBytes));
  return part;
}

QString limitsSentence(const TurnRecord& r) {
  if (!r.work) return {};
  const auto& l = r.work->limits;
  if (!l) return tr("The limits of this machine had not been measured when this turn ran, so shares of them are unknown. They are measured once, when a model is loaded and nothing is to be done.");
  const QDateTime at = QDateTime::fromSecsSinceEpoch(l->measuredS);
  const QString when = l->measuredS > 0 ? QLocale().toString(at, QStringLiteral("d MMM yyyy HH:mm")) : tr("an unknown date");
  QString sentence = tr("Limits of %1, measured on %2: %3 read from memory, %4 in int8, %5 in f32 (GOP: thousand million multiplications and additions).")
                         .arg(r.work->device.isEmpty() ? tr("this machine") : r.work->device, when, format::byteRate(l->readGbPerS), format::operationRate(l->int8GopPerS), format::operationRate(l->f32GopPerS));
  if (std::max(reading(r).share().value_or(0), writing(r).share().value_or(0)) > 100.5) sentence += u' ' + tr("More than 100 %: the machine was faster in this turn than when it was measured.");
  return sentence;
}

}  // namespace

Explanation explain(const TurnRecord& record) {
  Explanation out;
  out.parts = {readingPart(record), writingPart(record), cachePart(record), firstTokenPart(record)};
  if (auto memory = memoryPart(record)) out.parts.push_back(*memory);
  out.faster = fasterSentence(record);
  addLevers(out, record);
  out.limits = limitsSentence(record);
  return out;
}

QString Explanation::text() const {
  QStringList lines;
  for (const ExplainPart& part : parts) {
    lines << part.title + QStringLiteral(". ") + part.sentences.join(u' ');
    for (const ExplainFigure& f : part.figures) lines << QStringLiteral("  ") + f.name + QStringLiteral(": ") + f.value;
    lines << QString();
  }
  lines << tr("What would make it faster. ") + faster;
  for (const ExplainLever& l : levers) lines << QStringLiteral("  ") + l.lever + QStringLiteral(": ") + l.effect;
  if (!leftOut.isEmpty()) lines << leftOut;
  if (!limits.isEmpty()) lines << QString() << limits;
  return lines.join(u'\n');
}

}  // namespace tg
