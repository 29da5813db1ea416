#include "storage/sql.h"

namespace tg::storage {

namespace {

// Result codes of sqlite3.h; the driver reports them as decimal text, extended codes in the upper bytes.
constexpr int kBusy = 5, kLocked = 6, kReadOnly = 8, kIoError = 10, kCorrupt = 11, kFull = 13, kCannotOpen = 14, kNotADatabase = 26;
constexpr int kIoErrorWrite = kIoError | (3 << 8), kIoErrorSync = kIoError | (4 << 8), kIoErrorTruncate = kIoError | (6 << 8);

}  // namespace

Failure failureOf(const QSqlError& error) {
  const int extended = error.nativeErrorCode().toInt();
  const QString details = error.databaseText().isEmpty() ? error.driverText() : error.databaseText();
  const auto failure = [&](FailureKind kind, const char16_t* sentence) { return Failure{kind, QString::fromUtf16(sentence), details}; };
  if (error.nativeErrorCode().isEmpty()) return failure(FailureKind::Other, u"The chats are not open.");
  if (extended == kIoErrorWrite || extended == kIoErrorSync || extended == kIoErrorTruncate)
    return failure(FailureKind::DiskFull, u"The disk did not take the data; nothing of this change was saved.");
  switch (extended & 0xff) {
    case kFull: return failure(FailureKind::DiskFull, u"The disk is full; nothing of this change was saved.");
    case kReadOnly:
    case kCannotOpen: return failure(FailureKind::ReadOnly, u"The profile folder cannot be written; this change was not saved.");
    case kBusy:
    case kLocked: return failure(FailureKind::Busy, u"Another program is using the chat database; try again.");
    case kCorrupt:
    case kNotADatabase: return failure(FailureKind::Damaged, u"The chat database is damaged; restart to repair it.");
    default: return failure(FailureKind::Other, u"The chat database refused the change.");
  }
}

Sql::Sql(QSqlDatabase& connection, const QString& text) : query_(connection) {
  query_.setForwardOnly(true);
  prepared_ = query_.prepare(text);
}

Sql& Sql::text(const QString& value) {
  query_.addBindValue(value.isNull() ? QStringLiteral("") : value);
  return *this;
}

Sql& Sql::textOrNull(const QString& value) {
  query_.addBindValue(value.isEmpty() ? QVariant() : QVariant(value));
  return *this;
}

Sql& Sql::number(qint64 value) {
  query_.addBindValue(value);
  return *this;
}

Sql& Sql::real(double value) {
  query_.addBindValue(value);
  return *this;
}

Sql& Sql::blob(const QByteArray& value) {
  query_.addBindValue(value.isNull() ? QByteArray("", 0) : value);
  return *this;
}

bool Sql::run() { return prepared_ && query_.exec(); }

bool Sql::next() { return query_.next(); }

Status Sql::status() {
  if (!run()) return failure();
  return Done{};
}

std::optional<double> Sql::maybeReal(int column) const {
  return isNull(column) ? std::nullopt : std::optional<double>(asReal(column));
}

std::optional<int> Sql::maybeInt(int column) const { return isNull(column) ? std::nullopt : std::optional<int>(asInt(column)); }

std::optional<qint64> Sql::maybeNumber(int column) const {
  return isNull(column) ? std::nullopt : std::optional<qint64>(asNumber(column));
}

Status execute(QSqlDatabase& connection, const QString& statement) {
  QSqlQuery query(connection);
  if (!query.exec(statement)) return failureOf(query.lastError());
  return Done{};
}

Outcome<QString> scalar(QSqlDatabase& connection, const QString& statement) {
  QSqlQuery query(connection);
  if (!query.exec(statement)) return failureOf(query.lastError());
  if (!query.next()) {
    if (query.lastError().type() != QSqlError::NoError) return failureOf(query.lastError());
    return QString();
  }
  return query.value(0).toString();
}

Transaction::~Transaction() {
  // SQLite may have rolled back by itself (disk full); a second ROLLBACK is a harmless error.
  if (open_) (void)execute(connection_, QStringLiteral("ROLLBACK")).ok();
}

Status Transaction::begin() {
  auto begun = execute(connection_, QStringLiteral("BEGIN IMMEDIATE"));
  open_ = begun.ok();
  return begun;
}

Status Transaction::commit() {
  auto committed = execute(connection_, QStringLiteral("COMMIT"));
  if (committed) open_ = false;
  return committed;
}

}  // namespace tg::storage
