// One SQLite file, opened the safe way: WAL, synchronous FULL, foreign keys, STRICT tables, owner-only mode, migrations with a backup before.
// Thread: a Database belongs to the thread that opened it (Qt SQL connections do not travel).
// Ownership: owns its connection; closes it in the destructor after a checkpoint.
// Errors: open() answers a Failure only when there is nothing to work with; everything else is told by the report.
#pragma once
#include <QString>
#include <QStringList>
#include <memory>

#include "storage/result.h"

class QSqlDatabase;

namespace tg::storage {

struct OpenOptions {
  QString folder;                                          // the profile; made if missing
  bool readOnly = false;
  QString migrations = QStringLiteral(":/storage/migrations");  // numbered files NNN_name.sql
};

enum class OpenState { Opened, Created, Migrated, Quarantined, ReadOnly };

struct OpenReport {
  OpenState state = OpenState::Opened;
  QString sentence;                      // what the user should know; empty: nothing
  QString file, quarantined;             // quarantined: where the damaged file is now
  QStringList backups;                   // newest first; offered after a quarantine
  int interrupted = 0;                   // answers found half written by an earlier run and kept as recovered
  bool writable() const { return state != OpenState::ReadOnly; }
};

class Database {
 public:
  static Outcome<std::unique_ptr<Database>> open(const OpenOptions& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const OpenReport& report() const;
  QSqlDatabase& connection();                              // for storage/ itself
  Outcome<QString> backup(const QString& target = QString());  // VACUUM INTO, then checked; empty target: into backups/. Gives the file
  Outcome<QStringList> check();                            // integrity_check, foreign keys, search index; empty list: sound
  Status repairSearch();                                   // builds the search index anew from the messages
  void checkpoint();                                       // folds the write-ahead log into the file

  static QString fileName();                               // below the profile
  static QStringList backups(const QString& folder);       // newest first
  static Status checkBackup(const QString& backupFile);    // what restore() would refuse
  // Puts a backup in the place of the database, which must be closed. The old file is kept in quarantine/, never deleted.
  static Status restore(const QString& folder, const QString& backupFile);

 private:
  struct Private;
  explicit Database(std::unique_ptr<Private> d);
  std::unique_ptr<Private> d_;
};

}  // namespace tg::storage
