// The hosted-equivalent price of a turn that ran on this machine. Never added to the machine's own time and energy.
// Pure, any thread. Token counts are the local tokenizer's: say so wherever this is shown.
#pragma once
#include <QStringList>
#include <optional>

#include "app/cost/cache_rules.h"
#include "app/cost/price_book.h"
#include "app/turn_record.h"

namespace tg {

// PRICED_AS is "provider/model" of the book. The whole prompt counts as fresh: the local cache says nothing about a hosted one.
// REUSABLE: tokens at the start of the prompt that the previous request of this chat had too (unset: not known); with it the record says what
// the provider's own cache rule would make of the turn, from its best case to nothing cached. The reason of an unknown price is a code:
// no_price_row_chosen (no model chosen), or an error of the pricing contract.
RecordCost cost_of_local_turn(const cost::PriceBook& book, const QString& priced_as, qint64 input_total, qint64 output, qint64 thinking,
                              const QDateTime& at, std::optional<qint64> reusable = std::nullopt,
                              const cost::CacheRules& rules = cost::CacheRules::shipped());

// What can be chosen as PRICED_AS: "provider/model" of every row in force at AT, sorted, each once.
QStringList priced_as_choices(const cost::PriceBook& book, const QDateTime& at);

// The exact sum of amounts in picounits; empty when one of them is empty or no whole number (a sum with an unknown part is unknown).
QString sum_of_pico(const QStringList& amounts);

}  // namespace tg
