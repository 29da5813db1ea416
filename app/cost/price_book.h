// A dated price book: rows of hosted models with bands, price sets, modifiers and periods, read strictly from JSON.
// Thread: immutable after reading, any thread. Errors: a book that contradicts itself is refused with one sentence.
#pragma once
#include <QDateTime>
#include <QHash>
#include <QString>
#include <QVector>
#include <optional>

#include "app/cost/json_tree.h"

namespace tg::cost {

// Nanoseconds since 1970 UTC of an RFC 3339 instant; unset: not one. Years 1970 to 2261.
std::optional<qint64> instantOf(QStringView rfc3339);

struct Price {
  enum class Kind { Absent, Unknown, SameAsInput, Known };  // Absent: the key is missing; Unknown: it is null
  Kind kind = Kind::Absent;
  qint64 pico = 0;                       // per token, when Known
  bool given() const { return kind != Kind::Absent; }
};

struct Band {
  std::optional<qint64> upTo;            // largest input_total, inclusive; unset: no end
  QHash<QString, Price> prices;          // by key of the book: input output cached_read cache_write_5m …
  Price price(const QString& key) const { return prices.value(key); }
  std::optional<qint64> pico(const QString& key) const;     // "=input" resolved; unset: not known
};

struct Schedule {
  QString priceSet;
  QVector<std::pair<int, int>> windows;  // minutes of a UTC day, end exclusive
  QVector<int> weekdays;                 // 1 = Monday
  QVector<QDate> offDates;
  bool covers(qint64 instant) const;
};

struct Modifier { qint64 num = 1, den = 1; };

struct Row {
  QString id, provider, model, currency;
  QStringList aliases;
  bool datedSuffix = false;
  std::optional<qint64> from, to, certainUntil;             // instants
  bool excess = false;                   // tier_scope: only the part beyond a band has the next band's price
  QHash<QString, QVector<Band>> sets;    // standard batch flex fast peak
  std::optional<Schedule> schedule;
  Price storagePerHour;                  // per token and hour
  std::optional<qint64> picoPerSearch;   // web search
  QHash<QString, Modifier> modifiers;
  QString defaultWriteTtl;               // 5m 30m 1h, empty: none
  QString source, seen;                  // of the first source: shown beside a price

  bool names(const QString& modelId) const;                 // model or alias, whole string, without regard to case
  bool appliesAt(qint64 instant) const;
};

struct FoundRow {
  const Row* row = nullptr;
  QString error;                         // unknown_model no_price_in_currency no_price_at_date
};

class PriceBook {
 public:
  static std::optional<PriceBook> read(const QByteArray& json, QString* refusal);
  static const PriceBook& shipped();     // the book inside the program

  FoundRow find(const QString& provider, const QString& model, const QString& currency, qint64 at) const;
  const QVector<Row>& rows() const { return rows_; }
  QString name() const { return name_; }
  QString asOf() const { return asOf_; } // date of the book

 private:
  QString name_, asOf_;
  QVector<Row> rows_;
};

}  // namespace tg::cost
