#include "app/cost/price_line.h"

#include <QHash>
#include <QJsonArray>
#include <algorithm>

#include "app/cost/pricing.h"
#include "app/cost/usage_reader.h"

namespace tg::cost {

namespace {

// A value of the call, else of the line around it.
const Json* inherited(const Json& call, const Json& line, QStringView key) {
  const Json* own = call.find(key);
  return own ? own : line.find(key);
}

QString inheritedText(const Json& call, const Json& line, QStringView key, const QString& fallback) {
  const Json* value = inherited(call, line, key);
  return value && value->isString() ? value->text : fallback;
}

Priced priceCall(const PriceBook& book, const Json& call, const Json& line) {
  Request request;
  request.provider = inheritedText(call, line, u"provider", QString());
  request.model = inheritedText(call, line, u"model", QString());
  request.currency = inheritedText(call, line, u"currency", request.currency);
  request.tier = inheritedText(call, line, u"tier", request.tier);
  request.at = instantOf(inheritedText(call, line, u"at", QString()));
  if (const Json* modifiers = inherited(call, line, u"modifiers"))
    for (const Json& modifier : modifiers->items) request.modifiers.append(modifier.text);
  const Json* limit = inherited(call, line, u"max_output");
  const Count maxOutput = limit ? limit->integer() : Count();
  const QString api = inheritedText(call, line, u"api", QString());
  return price(book, request, usageOf(api, inherited(call, line, u"usage"), inherited(call, line, u"events"), maxOutput));
}

QJsonValue countValue(const Count& count) { return count ? QJsonValue(*count) : QJsonValue(); }
QJsonValue textValue(const QString& text) { return text.isEmpty() ? QJsonValue() : QJsonValue(text); }

QJsonObject answer(const Priced& priced) {
  const Usage& usage = priced.usage;
  const bool known = priced.error.isEmpty();
  const QString least = priced.min ? priced.min->rounded() : QString(), most = priced.max ? priced.max->rounded() : QString();
  return {{QStringLiteral("input_total"), countValue(usage.total)},
          {QStringLiteral("input_cached"), countValue(usage.cached)},
          {QStringLiteral("input_fresh"), countValue(usage.fresh)},
          {QStringLiteral("cache_write"), countValue(usage.write)},
          {QStringLiteral("output"), countValue(usage.output)},
          {QStringLiteral("thinking"), countValue(usage.thinking)},
          {QStringLiteral("cost_pico"), known ? textValue(least) : QJsonValue()},
          {QStringLiteral("cost_min_pico"), textValue(least)},
          {QStringLiteral("cost_max_pico"), textValue(most)},
          {QStringLiteral("currency"), textValue(priced.currency)},
          {QStringLiteral("row"), textValue(priced.row)},
          {QStringLiteral("flags"), QJsonArray::fromStringList(priced.flags)},
          {QStringLiteral("error"), textValue(priced.error)}};
}

// ---- groups

struct Call { const Json* json; qint64 repeat; };


// A count that is not known in one call is not known in the sum.
void addCount(Count& sum, const Count& part, qint64 repeat, bool& tooLarge) {
  if (!sum || !part) {
    sum.reset();
    return;
  }
  qint64 product = 0, total = 0;
  if (__builtin_mul_overflow(*part, repeat, &product) || __builtin_add_overflow(*sum, product, &total)) tooLarge = true;
  sum = total;
}

void addAmount(std::optional<Amount>& sum, const std::optional<Amount>& part, qint64 repeat) {
  if (sum && part) *sum += part->scaled(repeat, 1);
  else sum.reset();
}

qint64 reportedOutput(const Json& call) {
  const Json* usage = call.find(u"usage");
  const Json* output = usage ? usage->find(u"output_tokens") : nullptr;
  return output ? output->integer().value_or(-1) : -1;
}

// A log that repeats a message while it grows: per pair of ids the line with most output counts, the later one if equal.
QVector<const Json*> withoutRepeats(const std::vector<Json>& calls) {
  QVector<const Json*> kept;
  QHash<QString, qsizetype> places;
  for (const Json& call : calls) {
    const QString message = call.string(u"message_id"), request = call.string(u"request_id");
    const QString pair = message + u'\n' + request;
    if (message.isNull() && request.isNull()) {
      kept.append(&call);
    } else if (!places.contains(pair)) {
      places.insert(pair, kept.size());
      kept.append(&call);
    } else if (const qsizetype at = places.value(pair); reportedOutput(call) >= reportedOutput(*kept[at])) {
      kept[at] = &call;
    }
  }
  return kept;
}

QVector<const Json*> callsThatCount(const Json& line, const std::vector<Json>& calls) {
  const QString log = line.string(u"log");
  if (log == QStringLiteral("claude_code")) return withoutRepeats(calls);
  if (log == QStringLiteral("cumulative")) return {&calls.back()};
  QVector<const Json*> all;
  for (const Json& call : calls) all.append(&call);
  return all;
}

void addCounts(Usage& sum, const Usage& part, qint64 repeat, bool& tooLarge) {
  for (Count Usage::* count : {&Usage::total, &Usage::cached, &Usage::fresh, &Usage::write, &Usage::output, &Usage::thinking})
    addCount(sum.*count, part.*count, repeat, tooLarge);
}

Priced emptySum() {
  Priced sum;
  sum.usage.total = sum.usage.cached = sum.usage.fresh = sum.usage.write = sum.usage.output = sum.usage.thinking = 0;
  sum.min = sum.max = Amount();
  return sum;
}

Priced failedGroup(const QString& error) {
  Priced failed;
  failed.error = error;
  return failed;
}

Priced priceGroup(const PriceBook& book, const Json& line, const Json& calls) {
  if (!calls.isArray() || calls.items.empty()) return failedGroup(QStringLiteral("missing_usage"));
  Priced sum = emptySum();
  bool first = true, sameRow = true, tooLarge = false;
  for (const Json* call : callsThatCount(line, calls.items)) {
    QString repeatError;
    const Json* repeatValue = call->find(u"repeat");
    const Count repeat = repeatValue ? countOf(*repeatValue, &repeatError) : Count(1);
    if (!repeat) return failedGroup(repeatError);
    const Priced part = priceCall(book, *call, line);
    addCounts(sum.usage, part.usage, *repeat, tooLarge);
    addAmount(sum.min, part.min, *repeat);
    addAmount(sum.max, part.max, *repeat);
    if (sum.error.isEmpty()) sum.error = part.error;
    sameRow = sameRow && (first || sum.row == part.row);
    sum.row = part.row;
    if (sum.currency.isEmpty()) sum.currency = part.currency;
    sum.flags.append(part.flags);
    first = false;
  }
  if (!sameRow) sum.row.clear();
  std::sort(sum.flags.begin(), sum.flags.end());
  sum.flags.removeDuplicates();
  return tooLarge || (sum.min && sum.min->tooLarge()) || (sum.max && sum.max->tooLarge()) ? failedGroup(QStringLiteral("count_out_of_range")) : sum;
}

}  // namespace

QJsonObject answerLine(const PriceBook& book, const QByteArray& text) {
  const ParsedJson parsed = parseJson(text);
  if (!parsed.ok || !parsed.value.isObject())
    return {{QStringLiteral("id"), QJsonValue()}, {QStringLiteral("error"), QStringLiteral("bad_line")}};
  const Json& line = parsed.value;
  const Json* calls = line.find(u"calls");
  QJsonObject object = answer(calls ? priceGroup(book, line, *calls) : priceCall(book, line, line));
  const Json* id = line.find(u"id");
  object.insert(QStringLiteral("id"), id ? id->toQt() : QJsonValue());
  return object;
}

}  // namespace tg::cost
