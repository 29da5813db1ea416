// What the popover's segments say about a record and about a running turn.
#include <QLabel>
#include <QStyle>

#include "app/format.h"
#include "views/charts/rate_chart.h"
#include "views/charts/token_bar.h"
#include "views/turn/facts.h"
#include "views/turn/turn_popover.h"
#include "views/turn/turn_words.h"

namespace tg {

using namespace Qt::StringLiterals;

namespace {

QString figure(const std::optional<int>& n) { return n ? format::count(*n) : format::unknown(); }
QString time(const std::optional<double>& ms) { return ms ? format::measuredTime(*ms) : format::unknown(); }
QString percentOf(const std::optional<double>& p) { return p ? QString::number(qRound(*p)) + u"\u00A0%"_s : format::unknown(); }

// Amounts are decimal strings of picodollars that may exceed 64 bits in theory; a chat's sum does not.
bool addPico(const QString& pico, qint64* sum) {
  bool ok = false;
  const qint64 value = pico.toLongLong(&ok);
  if (ok) *sum += value;
  return ok;
}

}  // namespace

QString chatCost(const QVector<MessageInfo>& chat, int* withoutPrice) {
  qint64 sum = 0;
  int priced = 0;
  QString currency;
  *withoutPrice = 0;
  for (const MessageInfo& m : chat) {
    if (!m.record) continue;
    if (addPico(m.record->cost.costPico, &sum)) {
      ++priced;
      currency = m.record->cost.currency;
    } else {
      ++*withoutPrice;
    }
  }
  if (priced == 0) return format::unknown();
  const QString amount = format::moneyLine(QString::number(sum), currency.isEmpty() ? u"USD"_s : currency, *withoutPrice == 0);
  return *withoutPrice > 0 ? u"≥ "_s + amount : amount;
}

void TurnPopover::fillReading(const TurnRecord& r) {
  bar_->setShares({{Part::Cached, r.inputCached.value_or(0)}, {Part::Fresh, r.inputFresh.value_or(0)}}, r.inputTotal.value_or(0));
  reading_->set(tr("Prompt"), tr("%1 = %2 cached + %3 fresh").arg(figure(r.inputTotal), figure(r.inputCached), figure(r.inputFresh)), true, tr("not reported"));
  const RecordCache& c = r.cache;
  QStringList from;
  if (c.fromGpu > 0) from << tr("%1 from the GPU").arg(format::count(c.fromGpu));
  if (c.fromRam > 0) from << tr("%1 from RAM").arg(format::count(c.fromRam));
  if (c.fromDisk > 0) from << tr("%1 from disk").arg(format::count(c.fromDisk));
  reading_->set(tr("Cached tokens came"), from.isEmpty() ? tr("from nowhere: all were read") : from.join(u", "_s));
  reading_->set(tr("Reading took"), r.prefillMs ? tr("%1 · %2").arg(time(r.prefillMs), format::rate(r.prefillTps)) : format::unknown(), false, tr("not measured"));
  reading_->set(tr("Waited before"), time(r.queueMs), false, tr("not measured"));
  reading_->set(tr("Passes"), format::count(r.passes));
  const bool known = r.prefillTps.value_or(0) > 0 && r.inputTotal;
  reading_->set(tr("Same prompt without cache"), format::expectedTime(known ? std::optional(*r.inputTotal * 1000.0 / *r.prefillTps) : std::nullopt), false, tr("the reading speed is not known"));
  reading_->set(tr("Set by"), r.percentPrefill ? tr("arithmetic, %1 of the measured limit").arg(percentOf(r.percentPrefill)) : format::unknown(), false, tr("this machine's limit was not measured"));
  missLine_->setText(missSentence(r));
  missLine_->setProperty("kind", isMiss(r) ? u"warning"_s : u"muted"_s);
  missLine_->style()->unpolish(missLine_);
  missLine_->style()->polish(missLine_);
}

void TurnPopover::fillGenerating(const TurnRecord& r) {
  const int thinking = r.thinking.value_or(0), output = r.output.value_or(0);
  generating_->set(tr("Written"), thinking > 0 ? tr("%1 thinking + %2 answer = %3 tokens").arg(format::count(thinking), format::count(output - thinking), figure(r.output)) : tr("%1 tokens").arg(figure(r.output)), true);
  generating_->set(tr("Time"), time(r.decodeMs), false, tr("not measured"));
  QString speed = format::rate(r.decodeTps);
  if (r.tpsStart && r.tpsEnd) speed += tr(" · %1 at start, %2 at end").arg(format::rate(r.tpsStart), format::rate(r.tpsEnd));
  generating_->set(tr("Average speed"), speed, false, tr("too few tokens to measure"));
  generating_->set(tr("Set by"), r.gbPerSDecode ? tr("memory: %1 GB/s, %2 of the measured limit").arg(*r.gbPerSDecode, 0, 'f', 1).arg(percentOf(r.percentDecode)) : format::unknown(), false, tr("this machine's limit was not measured"));
  generating_->set(tr("Cache held"), tr("%1 tokens · %2").arg(format::count(r.kvTokens), format::bytes(r.kvBytes)));
  if (r.drafted > 0) generating_->set(tr("Speculation"), tr("%1 drafted, %2 accepted").arg(format::count(r.drafted), format::count(r.accepted)));
  generating_->set(tr("Ended because"), finishWords(r.finishReason));
  chart_->setData({r.rateCurve, output, thinking, 0});
}

void TurnPopover::fillCost(const TurnRecord& r) {
  QStringList keys;
  for (const RecordCostLine& line : r.cost.lines) {
    const QString key = tr("%1 · %2 tokens × %3 per million").arg(line.bucket, format::count(line.tokens), line.price.isEmpty() ? format::unknown() : u'$' + line.price);
    cost_->set(key, format::moneyDetail(line.costPico, r.cost.currency));
    keys << key;
  }
  const QString total = tr("Same tokens on %1").arg(r.cost.pricedAs.isEmpty() ? tr("a price list") : r.cost.pricedAs);
  cost_->set(total, r.cost.costPico.isEmpty() ? format::unknown() : u"≈ "_s + format::moneyDetail(r.cost.costPico, r.cost.currency), true, r.cost.error.isEmpty() ? tr("no price for this model") : r.cost.error);
  keys << total;
  if (!r.cost.ifCachedMinPico.isEmpty()) {
    const QString key = tr("With this provider's prompt cache");
    cost_->set(key, tr("≈ %1 to %2").arg(format::moneyDetail(r.cost.ifCachedMinPico, r.cost.currency), format::moneyDetail(r.cost.ifCachedMaxPico, r.cost.currency)));
    keys << key;
  }
  const QString own = tr("This machine");
  QString ownValue = format::unknown();
  if (r.own.joules) ownValue = tr("%1 Wh, %2").arg(*r.own.joules / 3600.0, 0, 'g', 2).arg(r.own.source == u"measured"_s ? tr("measured") : tr("declared"));
  if (r.own.joules && !r.own.costPico.isEmpty()) ownValue += u" · "_s + format::moneyDetail(r.own.costPico, r.own.currency);
  cost_->set(own, ownValue, false, tr("power is neither measured nor declared"));
  keys << own;
  cost_->keepOnly(keys);
  costNote_->setText(r.cost.costPico.isEmpty() ? tr("No price for this model. Choose a row of the price list in the settings.")
                                               : tr("List of %1. The counts are those of the local tokenizer; another model counts differently, hence ≈. Your own machine is never added to the hosted amount.").arg(r.cost.book));
}

void TurnPopover::fillSummary(const TurnRecord& r, const QVector<MessageInfo>& chat) {
  summaryText_->setText(footerSentence(r));
  qint64 read = 0, fresh = 0, out = 0;
  int turns = 0, without = 0;
  for (const MessageInfo& m : chat) {
    if (!m.record) continue;
    ++turns;
    read += m.record->inputTotal.value_or(0);
    fresh += m.record->inputFresh.value_or(0);
    out += m.record->output.value_or(0);
  }
  summary_->set(tr("This chat"), tr("%1 turns").arg(format::count(turns)), true);
  summary_->set(tr("Read"), tr("%1 = %2 cached + %3 fresh").arg(format::count(read), format::count(read - fresh), format::count(fresh)));
  summary_->set(tr("Written in all"), tr("%1 tokens").arg(format::count(out)));
  QString cost = chatCost(chat, &without);
  if (without > 0 && cost != format::unknown()) cost += tr(" · %1 turns without a price").arg(without);
  summary_->set(tr("Same tokens hosted"), cost, false, tr("no turn of this chat has a price"));
}

void TurnPopover::showLive(const LiveTurn& live, int answerLimit) {
  const bool writing = live.state == TurnState::Writing;
  if (liveId_ != live.messageId) {
    liveId_ = live.messageId;
    liveCurve_.clear();
    for (Facts* f : {reading_, generating_, cost_, summary_}) f->keepOnly({});
    missLine_->clear();
    costNote_->setText(tr("The amount is there when the answer is finished."));
    summaryText_->setText(tr("The sums are there when the answer is finished."));
  }
  if (!chosen_ && liveState_ != live.state) go(writing ? Generating : Reading);
  liveState_ = live.state;
  bar_->setShares({{Part::Cached, live.readCached}, {Part::Fresh, qMax(0, live.readDone - live.readCached)}}, live.readTotal);
  reading_->set(tr("Prompt"), tr("%1 / %2 (%3 cached)").arg(format::count(live.readDone), format::count(live.readTotal), format::count(live.readCached)), true);
  reading_->set(tr("Speed now"), live.readTps > 0 ? format::rate(live.readTps) : format::unknown(), false, tr("not measured yet"));
  reading_->set(tr("First token"), live.ttftMs ? time(live.ttftMs) : format::expectedTime(live.predictedMs), false, tr("not measured yet"));
  if (!writing) return;
  generating_->set(tr("Written so far"), tr("%1 tokens").arg(format::count(live.output)), true);
  generating_->set(tr("Speed now"), live.writeTps > 0 ? format::rate(live.writeTps) : format::unknown(), false, tr("not measured yet"));
  generating_->set(tr("Thinking"), format::count(live.thinking));
  if (live.writeTps > 0) liveCurve_.append(static_cast<float>(live.writeTps));
  chart_->setData({liveCurve_, live.output, live.thinking, answerLimit});
}

}  // namespace tg
