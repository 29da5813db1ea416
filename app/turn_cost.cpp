#include "app/turn_cost.h"

#include <QDateTime>
#include <QSet>
#include <algorithm>
#include <cmath>

#include "app/cost/pricing.h"

namespace tg {
namespace {

// The whole prompt counts as fresh: the cache of this machine says nothing about a hosted one.
cost::Usage usage_of(const TurnRecord& record) {
  cost::Usage usage;
  usage.total = usage.fresh = *record.inputTotal;
  usage.cached = usage.write = 0;
  usage.output = *record.output;
  usage.thinking = record.thinking.value_or(0);
  usage.hostedEquivalent = true;
  return usage;
}

QString row_name(const cost::Row& row) { return row.provider + QLatin1Char('/') + row.model; }

}  // namespace

QStringList price_rows() {
  QSet<QString> names;
  for (const cost::Row& row : cost::PriceBook::shipped().rows()) names.insert(row_name(row));
  QStringList out(names.begin(), names.end());
  out.sort();
  return out;
}

QString price_book_date() { return cost::PriceBook::shipped().asOf(); }

RecordCost hosted_cost(const TurnRecord& record, const QString& pricedAs) {
  RecordCost out;
  const cost::PriceBook& book = cost::PriceBook::shipped();
  out.book = book.asOf();
  out.pricedAs = pricedAs;
  if (pricedAs.isEmpty()) return out.error = QStringLiteral("no_price_row_chosen"), out;
  if (!record.inputTotal || !record.output) return out.error = QStringLiteral("incomplete_usage"), out;
  cost::Request request;
  request.provider = pricedAs.section(QLatin1Char('/'), 0, 0);
  request.model = pricedAs.section(QLatin1Char('/'), 1);
  request.at = QDateTime::currentMSecsSinceEpoch() * 1000000;
  // A list in another currency is a list of its own: the row chosen says which.
  for (const cost::Row& row : book.rows()) {
    if (row.provider == request.provider && row.names(request.model)) request.currency = row.currency;
  }
  const cost::Priced priced = cost::price(book, request, usage_of(record));
  out.currency = priced.currency;
  out.error = priced.error;
  if (priced.error.isEmpty() && priced.min) out.costPico = priced.min->rounded();
  for (const cost::PricedLine& line : priced.lines) {
    out.lines.push_back({line.bucket, line.tokens, cost::priceText(line.picoPerToken), cost::Amount::of(line.tokens, line.picoPerToken).rounded()});
  }
  return out;
}

RecordOwn own_cost(const TurnRecord& record, const DeclaredPower& power) {
  RecordOwn own;
  if (!power.busyWatts || !record.totalMs) return own;
  own.joules = *power.busyWatts * *record.totalMs / 1000;
  own.source = QStringLiteral("declared");
  bool ok = false;
  const double price = power.kwhPrice.toDouble(&ok);
  if (!ok || price < 0) return own;
  own.kwhPrice = power.kwhPrice;
  own.currency = power.currency;
  // Declared watts carry two or three digits; a double is exact enough for what they give.
  own.costPico = QString::number(std::llround(*own.joules / 3.6e6 * price * 1e12));
  return own;
}

}  // namespace tg
