// One line of `turnglass-cli layout simulate`: a scenario in, cached, fresh and written tokens and cost of each step out. Pure, any thread.
#pragma once
#include <QByteArray>
#include <QJsonObject>

#include "app/cost/cache_rules.h"
#include "app/cost/price_book.h"

namespace tg::lab {

QJsonObject simulateLine(const cost::CacheRules& rules, const cost::PriceBook& book, const QByteArray& line);

}  // namespace tg::lab
