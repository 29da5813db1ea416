#include "app/cost/local_turn.h"

#include <algorithm>

#include "app/cost/pricing.h"

namespace tg {

namespace {

using namespace cost;

constexpr qint64 kNanosPerMs = 1'000'000;

Request requestFor(const QString& pricedAs, const QDateTime& at, const PriceBook& book) {
  Request request;
  const qsizetype slash = pricedAs.indexOf(u'/');
  request.provider = pricedAs.left(slash);
  request.model = pricedAs.mid(slash + 1);
  request.at = at.toMSecsSinceEpoch() * kNanosPerMs;
  // A row may exist in one currency only, and not in dollars: its own list then.
  const FoundRow found = book.find(request.provider, request.model, request.currency, *request.at);
  if (!found.row && found.error == QStringLiteral("no_price_in_currency"))
    for (const Row& row : book.rows())
      if (row.provider == request.provider && row.names(request.model)) request.currency = row.currency;
  return request;
}

Usage bucketsOf(qint64 cached, qint64 write, qint64 total, qint64 output, qint64 thinking) {
  Usage usage;
  usage.total = total;
  usage.cached = cached;
  usage.write = write;
  usage.fresh = total - cached - write;
  usage.output = output;
  usage.thinking = thinking;
  return usage;
}

// What the rule reads and writes of a prompt whose first PREFIX tokens it may still hold.
Usage byRule(const CacheRule& rule, const QString& model, qint64 prefix, const Usage& whole) {
  const qint64 total = *whole.total, cached = rule.usable(prefix, total, model);
  const bool writes = rule.mode == CacheRule::Mode::Breakpoint && total >= rule.minimum(model);
  return bucketsOf(cached, writes ? total - cached : 0, total, *whole.output, *whole.thinking);
}

void addCachedRange(const PriceBook& book, const Request& request, const CacheRules& rules, qint64 reusable, const Usage& whole, RecordCost& cost) {
  const CacheRule* rule = rules.automaticFor(request.provider, request.model);
  if (!rule) return;
  const Priced best = price(book, request, byRule(*rule, request.model, reusable, whole));
  const Priced worst = price(book, request, byRule(*rule, request.model, 0, whole));
  if (!best.error.isEmpty() || !worst.error.isEmpty()) return;
  cost.ifCachedRule = rule->id;
  cost.ifCachedMinPico = std::min(*best.min, *worst.min).rounded();
  cost.ifCachedMaxPico = std::max(*best.max, *worst.max).rounded();
}

}  // namespace

RecordCost cost_of_local_turn(const PriceBook& book, const QString& priced_as, qint64 input_total, qint64 output, qint64 thinking,
                              const QDateTime& at, std::optional<qint64> reusable, const CacheRules& rules) {
  RecordCost cost;
  cost.book = book.asOf();
  cost.pricedAs = priced_as;
  if (priced_as.isEmpty()) {
    cost.error = QStringLiteral("no_price_row_chosen");
    return cost;
  }
  const Request request = requestFor(priced_as, at, book);
  const Usage whole = bucketsOf(0, 0, input_total, output, thinking);
  const Priced priced = price(book, request, whole);
  cost.currency = priced.currency;
  cost.error = priced.error;
  if (!priced.error.isEmpty()) return cost;
  cost.costPico = priced.min->rounded();
  for (const PricedLine& line : priced.lines)
    cost.lines.append({line.bucket, line.tokens, priceText(line.picoPerToken), Amount::of(line.tokens, line.picoPerToken).rounded()});
  if (reusable) addCachedRange(book, request, rules, std::clamp<qint64>(*reusable, 0, input_total), whole, cost);
  return cost;
}

QStringList priced_as_choices(const PriceBook& book, const QDateTime& at) {
  QStringList choices;
  for (const Row& row : book.rows())
    if (row.appliesAt(at.toMSecsSinceEpoch() * kNanosPerMs)) choices.append(row.provider + u'/' + row.model);
  choices.sort();
  choices.removeDuplicates();
  return choices;
}

QString sum_of_pico(const QStringList& amounts) {
  Amount sum;
  for (const QString& amount : amounts) {
    const auto pico = wholePico(amount);
    if (!pico) return QString();
    sum += *pico;
  }
  return sum.rounded();
}

}  // namespace tg
