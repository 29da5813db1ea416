// The files of a profile that storage/ owns: the database with its log, backups/ and quarantine/. Private to storage/.
// Thread: any.
#pragma once
#include <QString>
#include <QStringList>

#include "storage/result.h"

namespace tg::storage {

struct ProfileFiles {
  QString folder;

  QString database() const;
  QString log() const;                                     // -wal
  QString sharedMemory() const;                            // -shm
  QString newBackup(int userVersion) const;                // a name not yet taken
  QStringList backups() const;                             // newest first
  void keepNewestBackups(int count) const;
  bool writable() const;                                   // folder, and the files where they are there
  bool looksLikeSqlite() const;                            // empty or with SQLite's header
  Status prepare() const;                                  // makes the folder and an owner-only file
  Outcome<QString> quarantine() const;                     // moves database, log and index aside; where the database is now
};

bool makePrivate(const QString& file);                     // mode 0600

}  // namespace tg::storage
