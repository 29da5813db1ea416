// Reads counts of one usage object and remembers the first thing wrong with them. Private to app/cost.
#pragma once
#include <initializer_list>

#include "app/cost/usage.h"

namespace tg::cost {

class UsageReader {
 public:
  explicit UsageReader(const Json& usage) : usage_(usage) {}
  Count optional(std::initializer_list<QStringView> path);  // unset when absent or null
  Count required(std::initializer_list<QStringView> path);
  qint64 orZero(std::initializer_list<QStringView> path) { return optional(path).value_or(0); }
  qint64 sum(std::initializer_list<qint64> parts);          // checked
  void require(bool consistent) { if (!consistent) fail(QStringLiteral("inconsistent_usage")); }
  void fail(const QString& error) { if (error_.isEmpty()) error_ = error; }
  const QString& error() const { return error_; }
  const Json& usage() const { return usage_; }

 private:
  const Json& usage_;
  QString error_;
};

Count countOf(const Json& value, QString* error);           // one JSON value as a count

// The wire forms by name; null: not known.
using WireForm = Usage (*)(UsageReader& in);
WireForm wireForm(const QString& api);

}  // namespace tg::cost
