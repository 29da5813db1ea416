// Brings a database to the newest schema: numbered SQL files, each in one transaction that also sets user_version. Private to storage/.
// Thread: that of the connection.
#pragma once
#include <QSqlDatabase>
#include <QStringList>
#include <QVector>

#include "storage/result.h"

namespace tg::storage {

struct Migration {
  int version = 0;                       // user_version after it
  QString file;
};

QVector<Migration> migrationsIn(const QString& folder);    // ascending
QStringList statementsOf(const QString& sql);              // see the comment at the head of 001_first.sql
Outcome<int> userVersion(QSqlDatabase& connection);
Status migrate(QSqlDatabase& connection, const QVector<Migration>& migrations);

inline constexpr int kApplicationId = 0x54475354;          // 'TGST', tells our files from other SQLite databases

}  // namespace tg::storage
