#include "storage/migrations.h"

#include <QDir>
#include <QFile>
#include <algorithm>

#include "storage/sql.h"

namespace tg::storage {

QVector<Migration> migrationsIn(const QString& folder) {
  QVector<Migration> found;
  const QDir dir(folder);
  for (const QString& name : dir.entryList({QStringLiteral("*.sql")}, QDir::Files, QDir::Name)) {
    bool numbered = false;
    const int version = name.section(QLatin1Char('_'), 0, 0).toInt(&numbered);
    if (numbered && version > 0) found.append({version, dir.filePath(name)});
  }
  std::sort(found.begin(), found.end(), [](const Migration& a, const Migration& b) { return a.version < b.version; });
  return found;
}

QStringList statementsOf(const QString& sql) {
  QStringList statements;
  for (const QString& part : sql.split(QStringLiteral(";\n\n"))) {
    const QString statement = part.trimmed();
    if (!statement.isEmpty()) statements.append(statement);
  }
  return statements;
}

Outcome<int> userVersion(QSqlDatabase& connection) {
  const auto text = scalar(connection, QStringLiteral("PRAGMA user_version"));
  if (!text) return text.failure();
  return text->toInt();
}

namespace {

Status apply(QSqlDatabase& connection, const Migration& migration) {
  QFile file(migration.file);
  if (!file.open(QIODevice::ReadOnly))
    return Failure{FailureKind::Other, QStringLiteral("A part of the program is missing; install it again."), migration.file};
  Transaction transaction(connection);
  if (auto begun = transaction.begin(); !begun) return begun;
  // Another process may have done this step between our look and our lock.
  const auto now = userVersion(connection);
  if (!now) return now.failure();
  if (*now >= migration.version) return Done{};
  QStringList statements = statementsOf(QString::fromUtf8(file.readAll()));
  statements.append(QStringLiteral("PRAGMA application_id = %1").arg(kApplicationId));
  statements.append(QStringLiteral("PRAGMA user_version = %1").arg(migration.version));
  for (const QString& statement : statements)
    if (auto done = execute(connection, statement); !done) return done;
  return transaction.commit();
}

}  // namespace

Status migrate(QSqlDatabase& connection, const QVector<Migration>& migrations) {
  for (const Migration& migration : migrations)
    if (auto done = apply(connection, migration); !done) return done;
  return Done{};
}

}  // namespace tg::storage
