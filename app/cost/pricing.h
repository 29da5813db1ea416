// What buckets cost by one row of a price book: exact, or a range where something is not known. Pure, any thread.
#pragma once
#include <QString>
#include <QStringList>
#include <QVector>
#include <optional>

#include "app/cost/money.h"
#include "app/cost/price_book.h"
#include "app/cost/usage.h"

namespace tg::cost {

struct Request {
  QString provider, model, currency = QStringLiteral("USD"), tier = QStringLiteral("standard");
  std::optional<qint64> at;              // start, see instantOf(); unset: not readable, no row applies
  QStringList modifiers;
};

// One bucket at one price, for showing how a sum came about.
struct PricedLine {
  QString bucket;                        // the price's key in the book, or fresh, output …
  qint64 tokens = 0, picoPerToken = 0;
};

struct Priced {
  Usage usage;                           // with what the row decided about writes
  QString error;                         // empty: the cost is known
  std::optional<Amount> min, max;        // equal when the cost is known; max unset with min set: open end
  QString row, currency;                 // empty: no row was found
  QStringList flags;                     // sorted
  QVector<PricedLine> lines;             // of the smallest amount
};

Priced price(const PriceBook& book, const Request& request, const Usage& usage);

}  // namespace tg::cost
