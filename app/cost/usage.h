// What a provider reported for one request, in disjoint buckets: input_total = cached + fresh + write; output includes thinking.
// Pure functions, any thread. Wrong counts are errors, never repaired; what was not reported stays unset.
#pragma once
#include <QString>
#include <QStringList>
#include <optional>

#include "app/cost/json_tree.h"

namespace tg::cost {

using Count = std::optional<qint64>;

struct Usage {
  QString error;                         // unknown_api missing_usage not_an_integer negative_count count_out_of_range inconsistent_usage incomplete_usage
  Count total, cached, fresh, write, output, thinking;
  qint64 write5m = 0, write1h = 0;       // of `write`, with the lifetime reported; the rest has the row's default lifetime
  bool writeNotReported = false;         // write is 0 then, or unknown where the row charges writes (resolveWrite)
  Count outputMin, outputMax;            // bounds of an output that is not known; outputMax unset: open
  QString uncertainty;                   // incomplete_usage ambiguous_reasoning: why output is not known
  qint64 audioCached = 0, audioFresh = 0, searches = 0;
  Count storageSeconds;                  // of a stored cache resource
  bool explicitRead = false;             // cached tokens have the price of an explicit cache
  bool hostedEquivalent = false;         // a local run: priced as if the whole prompt were fresh
  QStringList flags;

  static Usage failed(const QString& error);
  void resolveWrite(bool rowChargesWrites);
};

// API is one of the wire forms; USAGE null: absent. MAXOUTPUT bounds an answer cut short.
Usage usageOf(const QString& api, const Json* usage, const Json* events, Count maxOutput);

}  // namespace tg::cost
