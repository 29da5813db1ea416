#include "storage/profile_files.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>

namespace tg::storage {

namespace {

QString stamp() { return QDateTime::currentDateTimeUtc().toString(QStringLiteral("yyyyMMdd-HHmmss")); }

QString freeName(const QString& base, const QString& suffix) {
  QString name = base + suffix;
  for (int i = 2; QFile::exists(name); ++i) name = base + QStringLiteral("-%1").arg(i) + suffix;
  return name;
}

}  // namespace

bool makePrivate(const QString& file) { return QFile::setPermissions(file, QFile::ReadOwner | QFile::WriteOwner); }

QString ProfileFiles::database() const { return folder + QStringLiteral("/chats.db"); }
QString ProfileFiles::log() const { return database() + QStringLiteral("-wal"); }
QString ProfileFiles::sharedMemory() const { return database() + QStringLiteral("-shm"); }

QString ProfileFiles::newBackup(int userVersion) const {
  QDir().mkpath(folder + QStringLiteral("/backups"));
  return freeName(folder + QStringLiteral("/backups/chats-v%1-").arg(userVersion) + stamp(), QStringLiteral(".db"));
}

QStringList ProfileFiles::backups() const {
  QStringList files;
  const QDir dir(folder + QStringLiteral("/backups"));
  for (const QFileInfo& file : dir.entryInfoList({QStringLiteral("chats-v*.db")}, QDir::Files, QDir::Time)) files.append(file.filePath());
  return files;
}

void ProfileFiles::keepNewestBackups(int count) const {
  const QStringList files = backups();
  for (int i = count; i < files.size(); ++i) QFile::remove(files[i]);
}

bool ProfileFiles::writable() const {
  if (!QFileInfo(folder).isWritable()) return false;
  for (const QString& file : {database(), log(), sharedMemory()})
    if (QFile::exists(file) && !QFileInfo(file).isWritable()) return false;
  return true;
}

bool ProfileFiles::looksLikeSqlite() const {
  QFile file(database());
  if (!file.open(QIODevice::ReadOnly) || file.size() == 0) return true;
  return file.read(16) == QByteArray("SQLite format 3\0", 16);
}

Status ProfileFiles::prepare() const {
  if (!QDir().mkpath(folder))
    return Failure{FailureKind::ReadOnly, QStringLiteral("The profile folder %1 cannot be made.").arg(folder), {}};
  QFile file(database());
  if (file.exists()) return Done{};
  // Made before SQLite opens it: the log and its index take over the mode of this file.
  if (!file.open(QIODevice::WriteOnly | QIODevice::NewOnly) && !file.exists())
    return Failure{FailureKind::ReadOnly, QStringLiteral("The profile folder %1 cannot be written.").arg(folder), file.errorString()};
  makePrivate(database());
  return Done{};
}

Outcome<QString> ProfileFiles::quarantine() const {
  QDir().mkpath(folder + QStringLiteral("/quarantine"));
  const QString target = freeName(folder + QStringLiteral("/quarantine/chats-") + stamp(), QStringLiteral(".db"));
  if (!QFile::rename(database(), target))
    return Failure{FailureKind::ReadOnly, QStringLiteral("The damaged chat database could not be put aside."), database()};
  QFile::rename(log(), target + QStringLiteral("-wal"));
  QFile::rename(sharedMemory(), target + QStringLiteral("-shm"));
  return target;
}

}  // namespace tg::storage
