// Thin help over Qt SQL: statements with typed binding, transactions, and SQLite's errors as Failures. Private to storage/.
// Thread: that of the connection.
#pragma once
#include <QSqlDatabase>
#include <QSqlError>
#include <QSqlQuery>
#include <QVariant>
#include <optional>

#include "storage/result.h"

namespace tg::storage {

Failure failureOf(const QSqlError& error);

// One prepared statement, bound from left to right.
class Sql {
 public:
  Sql(QSqlDatabase& connection, const QString& text);
  Sql& text(const QString& value);                         // never NULL: a null QString is stored as ''
  Sql& textOrNull(const QString& value);                   // empty is NULL
  Sql& number(qint64 value);
  Sql& flag(bool value) { return number(value ? 1 : 0); }
  Sql& real(double value);
  Sql& blob(const QByteArray& value);
  template <class T>
  Sql& maybe(const std::optional<T>& value) {
    query_.addBindValue(value ? QVariant(*value) : QVariant());
    return *this;
  }
  bool run();                                              // also for the next set of values
  bool next();
  int changed() const { return query_.numRowsAffected(); }
  Status status();                                         // run() as a Status
  Failure failure() const { return failureOf(query_.lastError()); }
  bool failed() const { return query_.lastError().type() != QSqlError::NoError; }

  QString asText(int column) const { return query_.value(column).toString(); }
  qint64 asNumber(int column) const { return query_.value(column).toLongLong(); }
  int asInt(int column) const { return query_.value(column).toInt(); }
  bool asFlag(int column) const { return query_.value(column).toInt() != 0; }
  double asReal(int column) const { return query_.value(column).toDouble(); }
  QByteArray asBlob(int column) const { return query_.value(column).toByteArray(); }
  bool isNull(int column) const { return query_.isNull(column); }
  std::optional<double> maybeReal(int column) const;
  std::optional<int> maybeInt(int column) const;
  std::optional<qint64> maybeNumber(int column) const;

 private:
  QSqlQuery query_;
  bool prepared_;
};

Status execute(QSqlDatabase& connection, const QString& statement);
Outcome<QString> scalar(QSqlDatabase& connection, const QString& statement);  // first column of the first row, '' without a row

// BEGIN IMMEDIATE … COMMIT; rolls back when it goes out of scope uncommitted.
class Transaction {
 public:
  explicit Transaction(QSqlDatabase& connection) : connection_(connection) {}
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  Status begin();
  Status commit();

 private:
  QSqlDatabase& connection_;
  bool open_ = false;
};

}  // namespace tg::storage
