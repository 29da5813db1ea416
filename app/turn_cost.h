// What a local turn would cost by the price book, and what it cost on this machine; the two are never added. Pure functions, any thread.
#pragma once
#include <optional>

#include "app/turn_record.h"

namespace tg {

struct DeclaredPower {
  std::optional<double> busyWatts;   // unset: own cost is unknown
  QString kwhPrice, currency;        // price empty: energy only
};

RecordOwn own_cost(const TurnRecord& record, const DeclaredPower& power);
RecordCost hosted_cost(const TurnRecord& record, const QString& pricedAs);  // PROVIDER/MODEL of the book; empty: no price, with the reason
QStringList price_rows();            // "provider/model" of the book in force, sorted
QString price_book_date();

}  // namespace tg
