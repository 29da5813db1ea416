#include "views/turn/turn_words.h"

#include <QCoreApplication>
#include <QLocale>

#include "app/format.h"

namespace tg {
namespace {

using namespace Qt::StringLiterals;
struct W { Q_DECLARE_TR_FUNCTIONS(tg::TurnWords) };

QString figure(const std::optional<int>& n) { return n ? format::count(*n) : format::unknown(); }
QString plain(const std::optional<int>& n) { return n ? QString::number(*n) : W::tr("an unknown number of"); }

// Digits as wide as the widest one; two digits more never fit by surprise because counts only grow while live.
QString widest(QString text) {
  for (QChar& c : text) {
    if (c.isDigit()) c = u'0';
  }
  return text;
}

FooterGroup inGroup(std::optional<int> total, std::optional<int> cached, std::optional<int> fresh) {
  FooterGroup g;
  g.kind = FooterGroup::In;
  g.runs = {{W::tr("in "), Role::Muted, false},
            {figure(total), Role::Text, true},
            {u" = "_s, Role::Muted, false},
            {W::tr("%1 cached").arg(figure(cached)), Role::CachedText, false},
            {u" + "_s, Role::Muted, false},
            {W::tr("%1 fresh").arg(figure(fresh)), Role::FreshText, false}};
  g.reserve = widest(g.text());
  return g;
}

FooterGroup outGroup(std::optional<int> output, std::optional<int> thinking, bool roomForThinking) {
  FooterGroup g;
  g.kind = FooterGroup::Out;
  g.runs = {{W::tr("out "), Role::Muted, false}, {figure(output), Role::Text, true}};
  g.reserve = W::tr("out ") + u"000"_s;
  if (thinking.value_or(0) > 0) g.runs.append({W::tr(" (%1 thinking)").arg(figure(thinking)), Role::ThinkingText, false});
  if (thinking.value_or(0) > 0 || roomForThinking) g.reserve += W::tr(" (%1 thinking)").arg(u"000"_s);
  return g;
}

FooterGroup valueGroup(FooterGroup::Kind kind, const QString& before, const QString& value, const QString& after, const QString& reserve) {
  FooterGroup g;
  g.kind = kind;
  if (!before.isEmpty()) g.runs.append({before, Role::Muted, false});
  g.runs.append({value, Role::Text, true});
  if (!after.isEmpty()) g.runs.append({after, Role::Muted, false});
  g.reserve = reserve;
  return g;
}

FooterGroup firstGroup(std::optional<double> ms) {
  return valueGroup(FooterGroup::First, W::tr("first "), ms ? format::measuredTime(*ms) : format::unknown(), {}, W::tr("first ") + u"00.0 s"_s);
}

// The unit stays grey, the figure is bold.
FooterGroup rateGroup(std::optional<double> tps) {
  QString value = format::rate(tps), unit;
  if (const qsizetype gap = value.indexOf(QChar(0xA0)); gap > 0) {
    unit = value.mid(gap);
    value = value.left(gap);
  }
  return valueGroup(FooterGroup::Rate, {}, value, unit, u"00.0 tok/s"_s);
}

FooterGroup heldGroup(std::optional<qint64> bytes, ChatTier tier) {
  FooterGroup g = valueGroup(FooterGroup::Held, {}, format::bytes(bytes), {}, u"000 MiB"_s);
  if (bytes) g.tier = tier;
  return g;
}

QString tierGlyph(ChatTier tier) {
  return tier == ChatTier::Gpu ? u"● "_s : tier == ChatTier::Ram ? u"◐ "_s : tier == ChatTier::Disk ? u"◔ "_s : u"◌ "_s;
}

void appendMoney(QVector<FooterGroup>& groups, const QString& pico, const QString& currency, bool approximate) {
  QString value = format::moneyLine(pico, currency.isEmpty() ? u"USD"_s : currency, approximate), mark;
  if (value.startsWith(u'≈')) {
    mark = u"≈\u00A0"_s;
    value = value.mid(1).trimmed();
  }
  groups.append(valueGroup(FooterGroup::Money, mark, value, {}, u"≈ $0.0000"_s));
}

FooterGroup barGroup() {
  FooterGroup g;
  g.kind = FooterGroup::Bar;
  return g;
}

QString spokenMoney(const TurnRecord& record) {
  if (record.cost.costPico.isEmpty()) return {};
  const QString list = record.cost.pricedAs.section(u'/', -1);
  const QString amount = format::moneyLine(record.cost.costPico, {}, false).trimmed();
  const QString currency = record.cost.currency == u"EUR"_s ? W::tr("euros") : W::tr("dollars");
  QString number = amount;
  number.remove(u'$').remove(u'€').remove(u'≈');
  return W::tr(" About %1 %2 on the list %3.").arg(number.trimmed(), currency, list);
}

QString timeOf(const QString& iso) {
  const QDateTime when = QDateTime::fromString(iso, Qt::ISODate);
  return when.isValid() ? QLocale().toString(when.toLocalTime().time(), QLocale::ShortFormat) : iso;
}

QString tierName(const QString& tier) {
  if (tier == u"gpu"_s) return W::tr("GPU");
  if (tier == u"disk"_s) return W::tr("disk");
  return W::tr("RAM");
}

QString placeWords(const RecordMiss& miss) {
  if (miss.where == u"system"_s) return W::tr(", in the system text");
  if (miss.where == u"tools"_s) return W::tr(", in the tools");
  if (miss.where == u"document"_s) return W::tr(", in a document");
  if (miss.where == u"message"_s) return W::tr(", in an earlier message");
  return {};
}

QString refusalWords(const QString& refusal) {
  if (refusal == u"incomplete"_s) return W::tr("it is incomplete");
  if (refusal == u"checksum"_s) return W::tr("a checksum differs");
  if (refusal == u"engine_version"_s) return W::tr("it was made by another engine version");
  return W::tr("it belongs to another model file");
}

QString settingWords(const QString& setting) {
  if (setting == u"kv_type"_s || setting == u"kv_type_k"_s || setting == u"kv_type_v"_s) return W::tr("cache format");
  if (setting == u"context"_s) return W::tr("window");
  if (setting == u"backend"_s) return W::tr("device");
  return setting;
}

QString sources(const RecordCache& cache) {
  const int best = qMax(cache.fromGpu, qMax(cache.fromRam, cache.fromDisk));
  return best == cache.fromGpu && best > 0 ? W::tr("GPU") : best == cache.fromDisk && best > 0 ? W::tr("disk") : W::tr("RAM");
}

QString prefixShort(const RecordMiss& miss, const QString& n) {
  if (miss.detail == u"thinking_dropped"_s) return W::tr("%1 read again: thinking left out by the template").arg(n);
  if (miss.detail == u"edited"_s) return W::tr("%1 read again: you edited message %2").arg(n, figure(miss.message));
  if (miss.detail == u"turns_dropped"_s) return W::tr("%1 read again: turns left out").arg(n);
  return W::tr("%1 read again: differs at token %2").arg(n, figure(miss.atToken));
}

QString prefixSentence(const RecordMiss& miss, const QString& n, const QString& t) {
  if (miss.detail == u"thinking_dropped"_s) {
    return W::tr("The template leaves the thinking of earlier answers out of the prompt. %1 tokens were read again, %2.").arg(n, t);
  }
  if (miss.detail == u"edited"_s) {
    return W::tr("You edited message %1, so all that follows it was read again: %2 tokens, %3.").arg(figure(miss.message), n, t);
  }
  if (miss.detail == u"turns_dropped"_s) {
    return W::tr("Turns %1–%2 left the prompt because the window was full. What follows them was read again: %3 tokens, %4.")
        .arg(miss.turnFirst).arg(miss.turnLast).arg(n, t);
  }
  return W::tr("The prompt differs from what is in the cache from token %1 on%2. %3 tokens were read again, %4.")
      .arg(figure(miss.atToken), placeWords(miss), n, t);
}

QString evictedSentence(const RecordMiss& miss, const QString& n, const QString& t) {
  if (miss.evictedBy == u"user"_s) return W::tr("You evicted the cache of this chat at %1. %2 tokens were read again, %3.").arg(timeOf(miss.when), n, t);
  if (miss.evictedBy == u"idle"_s) return W::tr("The cache of this chat was not used for long, so it was dropped at %1. %2 tokens were read again, %3.").arg(timeOf(miss.when), n, t);
  if (miss.evictedBy == u"close"_s) return W::tr("The cache of this chat was not kept when the program closed at %1. %2 tokens were read again, %3.").arg(timeOf(miss.when), n, t);
  return W::tr("The cache of this chat made room for “%1” at %2 (budget of the %3). %4 tokens were read again, %5.")
      .arg(miss.byChat.isEmpty() ? W::tr("another chat") : miss.byChat, timeOf(miss.when), tierName(miss.tier), n, t);
}

}  // namespace

QString FooterGroup::text() const {
  QString all = tier ? tierGlyph(*tier) : QString();
  for (const FooterRun& run : runs) all += run.text;
  return all;
}

ChatTier heldTier(const TurnRecord& record) {
  return record.backend.startsWith(u"cuda"_s) ? ChatTier::Gpu : ChatTier::Ram;
}

QVector<FooterGroup> footerGroups(const TurnRecord& r, TurnState state, const FooterOptions& options) {
  QVector<FooterGroup> groups{barGroup()};
  if (state == TurnState::Stopped || r.finishReason == u"cancelled"_s) {
    FooterGroup g;
    g.kind = FooterGroup::State;
    g.runs = {{W::tr("stopped ·"), Role::WarnText, true}};
    groups.append(g);
  }
  groups.append(inGroup(r.inputTotal, r.inputCached, r.inputFresh));
  groups.append(outGroup(r.output, r.thinking, options.thinking));
  groups.append(firstGroup(r.ttftMs));
  groups.append(rateGroup(r.decodeTps));
  groups.append(heldGroup(r.kvBytes, heldTier(r)));
  if (options.money == u"hosted"_s || options.money == u"both"_s) appendMoney(groups, r.cost.costPico, r.cost.currency, true);
  if (options.money == u"own"_s || options.money == u"both"_s) appendMoney(groups, r.own.costPico, r.own.currency, r.own.source != u"measured"_s);
  return groups;
}

QVector<FooterGroup> footerGroups(const LiveTurn& live, const FooterOptions& options) {
  QVector<FooterGroup> groups{barGroup()};
  if (live.state == TurnState::Writing || live.state == TurnState::Finished) {
    groups.append(inGroup(live.readTotal, live.readCached, live.readTotal - live.readCached));
    groups.append(outGroup(live.output, live.thinking, options.thinking));
    groups.append(firstGroup(live.ttftMs));
    groups.append(rateGroup(live.writeTps > 0 ? std::optional(live.writeTps) : std::nullopt));
    std::optional<qint64> held;
    if (options.bytesPerToken) held = qRound64(*options.bytesPerToken * (live.readTotal + live.output));
    groups.append(heldGroup(held, options.tier));
    if (options.money == u"hosted"_s || options.money == u"both"_s) appendMoney(groups, live.costPico, live.currency, true);
    if (options.money == u"own"_s) appendMoney(groups, {}, {}, true);
    return groups;
  }
  FooterGroup g;
  g.kind = FooterGroup::State;
  if (live.state == TurnState::Reading) {
    g.runs = {{W::tr("reading "), Role::Muted, false}, {format::count(live.readDone), Role::Text, true},
              {W::tr(" / %1 ").arg(format::count(live.readTotal)), Role::Text, false},
              {W::tr("(%1 cached)").arg(format::count(live.readCached)), Role::CachedText, false}};
    QString rest;
    if (live.readTps > 0) rest += u" · "_s + format::rate(live.readTps);
    if (live.readTps > 0) rest += W::tr(" · %1 left").arg(format::expectedTime((live.readTotal - live.readDone) * 1000.0 / live.readTps));
    else if (live.predictedMs) rest += u" · "_s + format::expectedTime(live.predictedMs);
    g.runs.append({rest, Role::Muted, false});
  } else {
    g.runs = {{stateWord(live), Role::Muted, false}};
  }
  groups.append(g);
  return groups;
}

QString footerText(const QVector<FooterGroup>& groups) {
  QStringList texts;
  for (const FooterGroup& g : groups) {
    if (g.kind == FooterGroup::Bar) continue;
    texts << g.text();
  }
  return texts.join(u"   "_s);
}

QString footerSentence(const TurnRecord& r) {
  QString s = W::tr("Turn %1. Read %2 tokens: %3 cached, %4 fresh. Wrote %5 tokens")
                  .arg(r.turn).arg(plain(r.inputTotal), plain(r.inputCached), plain(r.inputFresh), plain(r.output));
  s += r.thinking.value_or(0) > 0 ? W::tr(", %1 of them thinking.").arg(*r.thinking) : u"."_s;
  if (r.ttftMs) s += W::tr(" First token after %1.").arg(format::spokenTime(*r.ttftMs));
  if (r.decodeTps) s += W::tr(" %1 tokens per second.").arg(format::rate(r.decodeTps).section(QChar(0xA0), 0, 0));
  if (r.kvBytes) s += W::tr(" Cache %1 %2.").arg(format::spokenBytes(*r.kvBytes), heldTier(r) == ChatTier::Gpu ? W::tr("on the GPU") : W::tr("in RAM"));
  s += spokenMoney(r);
  if (const QString miss = missShort(r); !miss.isEmpty()) s += u' ' + miss + u'.';
  return s;
}

QString footerSentence(const LiveTurn& live) {
  if (live.state == TurnState::Reading) {
    return W::tr("Reading: %1 of %2 tokens, %3 of them cached.").arg(live.readDone).arg(live.readTotal).arg(live.readCached);
  }
  if (live.state == TurnState::Writing) return W::tr("Writing: %1 tokens.").arg(live.output);
  return stateWord(live) + u'.';
}

int tokensReadAgain(const TurnRecord& r) { return qMax(0, r.cache.reusable - r.cache.reused); }

bool isMiss(const TurnRecord& r) {
  return r.cache.enabled && r.cache.miss && r.cache.miss->cause != u"first_turn"_s && tokensReadAgain(r) > 0;
}

QString missShort(const TurnRecord& r) {
  if (!r.cache.enabled) return W::tr("caching is off");
  if (!isMiss(r)) return {};
  const RecordMiss& miss = *r.cache.miss;
  const QString n = format::count(tokensReadAgain(r));
  if (miss.cause == u"prefix_changed"_s) return prefixShort(miss, n);
  if (miss.cause == u"evicted"_s && miss.evictedBy == u"user"_s) return W::tr("%1 read again: evicted by you").arg(n);
  if (miss.cause == u"evicted"_s && miss.evictedBy == u"idle"_s) return W::tr("%1 read again: unused for long").arg(n);
  if (miss.cause == u"evicted"_s && miss.evictedBy == u"close"_s) return W::tr("%1 read again: not kept on closing").arg(n);
  if (miss.cause == u"evicted"_s) return W::tr("%1 read again: made room for “%2”").arg(n, miss.byChat.isEmpty() ? W::tr("another chat") : miss.byChat);
  if (miss.cause == u"model_reloaded"_s) return W::tr("%1 read again: model loaded again").arg(n);
  if (miss.cause == u"settings_changed"_s) return W::tr("%1 read again: %2 changed").arg(n, settingWords(miss.setting));
  if (miss.cause == u"window_boundary"_s) return W::tr("%1 read again: no snapshot that far back").arg(n);
  if (miss.cause == u"snapshot_refused"_s) return W::tr("%1 read again: kept cache refused").arg(n);
  return W::tr("%1 read again: cause unknown").arg(n);
}

QString missSentence(const TurnRecord& r) {
  if (!r.cache.enabled) return W::tr("Caching is switched off, so all %1 tokens were read.").arg(figure(r.inputTotal));
  if (r.cache.miss && r.cache.miss->cause == u"first_turn"_s) return W::tr("This is the first message of the chat, so there was nothing to reuse.");
  if (!isMiss(r)) {
    return W::tr("Nothing was read twice. All %1 tokens that could be reused were reused, from the %2.").arg(format::count(r.cache.reused), sources(r.cache));
  }
  const RecordMiss& miss = *r.cache.miss;
  const int again = tokensReadAgain(r);
  const QString n = format::count(again);
  const QString t = format::expectedTime(r.prefillTps.value_or(0) > 0 ? std::optional(again * 1000.0 / *r.prefillTps) : std::nullopt);
  if (miss.cause == u"prefix_changed"_s) return prefixSentence(miss, n, t);
  if (miss.cause == u"evicted"_s) return evictedSentence(miss, n, t);
  if (miss.cause == u"model_reloaded"_s) {
    return W::tr("The model was loaded again at %1 and no kept cache was found. %2 tokens were read again, %3.").arg(timeOf(miss.when), n, t);
  }
  if (miss.cause == u"settings_changed"_s) {
    QString setting = settingWords(miss.setting);
    if (!setting.isEmpty()) setting[0] = setting[0].toUpper();
    return W::tr("%1 changed from %2 to %3, and a cache made with %2 cannot be used with %3. %4 tokens were read again, %5.").arg(setting, miss.from, miss.to, n, t);
  }
  if (miss.cause == u"window_boundary"_s) {
    return W::tr("This model keeps only part of the past in some layers. The nearest kept point was token %1, so %2 tokens were read again, %3.")
        .arg(format::count(r.cache.reused), n, t);
  }
  if (miss.cause == u"snapshot_refused"_s) {
    return W::tr("The cache file on disk was not used: %1. %2 tokens were read again, %3.").arg(refusalWords(miss.refusal), n, t);
  }
  return W::tr("%1 tokens were read again. The cause could not be determined.").arg(n);
}

QString thinkingLine(const TurnRecord& r) {
  const QString tokens = W::tr("%1 tokens").arg(figure(r.thinking));
  return r.thinkingMs ? W::tr("Thought for %1 · %2").arg(format::measuredTime(*r.thinkingMs), tokens) : W::tr("Thought · %1").arg(tokens);
}

QString thinkingLine(const LiveTurn& live) { return W::tr("Thinking … %1 tokens").arg(format::count(live.thinking)); }

QString finishWords(const QString& reason) {
  if (reason == u"stop"_s) return W::tr("the model ended its answer");
  if (reason == u"length"_s) return W::tr("the answer limit was reached");
  if (reason == u"cancelled"_s) return W::tr("stopped by you");
  if (reason == u"context_full"_s) return W::tr("the window was full");
  if (reason == u"interrupted"_s) return W::tr("the program ended");
  return W::tr("an error");
}

QString stateSentence(const MessageInfo& m) {
  const std::optional<TurnRecord>& r = m.record;
  switch (m.state) {
    case TurnState::Length:
      return W::tr("The answer reached its limit of %1 tokens.").arg(r ? figure(r->output) : format::unknown());
    case TurnState::ContextFull:
      return W::tr("The window is full (%1 tokens). The answer ends here.").arg(r ? format::count(r->context) : format::unknown());
    case TurnState::Recovered:
      return r && r->output ? W::tr("The program ended while this answer was being written. %1 tokens were kept.").arg(figure(r->output))
                            : W::tr("The program ended while this answer was being written. The text so far was kept.");
    case TurnState::Error: return m.error.isEmpty() ? W::tr("The answer ended with an error.") : m.error;
    case TurnState::Stopped: return W::tr("You stopped this answer.");
    default: return {};
  }
}

QString ordinal(int n) {
  if (n % 100 >= 11 && n % 100 <= 13) return W::tr("%1th").arg(n);
  if (n % 10 == 1) return W::tr("%1st").arg(n);
  if (n % 10 == 2) return W::tr("%1nd").arg(n);
  return n % 10 == 3 ? W::tr("%1rd").arg(n) : W::tr("%1th").arg(n);
}

QString stateWord(const LiveTurn& live) {
  switch (live.state) {
    case TurnState::Queued:
      return live.queuePosition > 0 ? W::tr("waits for its turn (%1)").arg(ordinal(live.queuePosition)) : W::tr("waits for its turn");
    case TurnState::Loading:
      return live.loadTotal > 0 ? W::tr("Loading the model · %1 of %2").arg(format::bytes(live.loadDone), format::bytes(live.loadTotal))
                                : W::tr("Loading the model …");
    case TurnState::Reading: return W::tr("reading");
    case TurnState::Writing: return live.thinking > 0 && live.text.isEmpty() ? W::tr("thinking") : W::tr("writing");
    default: break;
  }
  return W::tr("waits for its turn");
}

}  // namespace tg
