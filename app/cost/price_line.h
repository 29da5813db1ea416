// One line of `turnglass-cli price`: a request, a stream or a group of calls in, buckets and cost out. Pure, any thread.
#pragma once
#include <QByteArray>
#include <QJsonObject>

#include "app/cost/price_book.h"

namespace tg::cost {

// LINE is one JSON object; anything else gives {"id":null,"error":"bad_line"}.
QJsonObject answerLine(const PriceBook& book, const QByteArray& line);

}  // namespace tg::cost
