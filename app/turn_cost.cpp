#include "app/turn_cost.h"

#include <QDateTime>
#include <cmath>

#include "app/cost/local_turn.h"

namespace tg {
RecordCost hosted_cost(const TurnRecord& record, const QString& pricedAs) {
  if (record.inputTotal && record.output) {
    return cost_of_local_turn(cost::PriceBook::shipped(), pricedAs, *record.inputTotal, *record.output, record.thinking.value_or(0), QDateTime::currentDateTimeUtc(),
                              record.cache.reusable);
  }
  RecordCost out;
  out.book = price_book_date();
  out.pricedAs = pricedAs;
  out.error = QStringLiteral("incomplete_usage");
  return out;
}

QStringList price_rows() { return priced_as_choices(cost::PriceBook::shipped(), QDateTime::currentDateTimeUtc()); }
QString price_book_date() { return cost::PriceBook::shipped().asOf(); }

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
