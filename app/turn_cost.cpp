#include "app/turn_cost.h"

#include <QDateTime>
#include <QSet>
#include <algorithm>
#include <cmath>

#include "app/cost/local_turn.h"

namespace tg {
namespace {

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
  const cost::PriceBook& book = cost::PriceBook::shipped();
  RecordCost unknown;
  unknown.book = book.asOf();
  unknown.pricedAs = pricedAs;
  if (pricedAs.isEmpty()) return unknown.error = QStringLiteral("no_price_row_chosen"), unknown;
  if (!record.inputTotal || !record.output) return unknown.error = QStringLiteral("incomplete_usage"), unknown;
  return cost_of_local_turn(book, pricedAs, *record.inputTotal, *record.output, record.thinking.value_or(0), QDateTime::currentDateTimeUtc(),
                            record.cache.reusable);
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
