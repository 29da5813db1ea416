#include "storage/database.h"

#include <QFile>
#include <QFileInfo>
#include <QSqlDatabase>
#include <QTemporaryDir>
#include <QThread>
#include <QUrl>
#include <atomic>

#include "storage/migrations.h"
#include "storage/profile_files.h"
#include "storage/sql.h"

// A static library's resources are linked only when something names them. Outside any namespace, as the macro demands.
static void linkMigrations() { Q_INIT_RESOURCE(migrations); }

namespace tg::storage {

struct Database::Private {
  ProfileFiles files;
  QSqlDatabase connection;
  QString name;                                            // of the Qt connection
  OpenReport report;
  std::unique_ptr<QTemporaryDir> copy;                     // of a read-only profile that has a log to replay or is of an older schema

  ~Private() { disconnect(); }
  Status connect(const QString& file, const QString& options);
  void disconnect();
  Status openReadOnly(const QString& sentence, const QVector<Migration>& migrations);
  Status readAsNewest(const QVector<Migration>& migrations);
  Status connectReadOnly(const QString& sentence);
  Status openForWriting(const QVector<Migration>& migrations);
  Status switchToWal();
  Status bringUpToDate(const QVector<Migration>& migrations);
  Outcome<bool> sound();
};

namespace {

constexpr int kKeptBackups = 3;
constexpr int kWalTries = 100, kWalWaitMs = 20;            // another process may be opening the same new file

Outcome<QString> vacuumInto(QSqlDatabase& connection, const QString& target) {
  const QString part = target + QStringLiteral(".part");
  QFile::remove(part);
  QString quoted = part;
  quoted.replace(QLatin1Char('\''), QStringLiteral("''"));
  auto copied = execute(connection, QStringLiteral("VACUUM INTO '%1'").arg(quoted));
  if (!copied) {
    QFile::remove(part);
    return copied.failure();
  }
  makePrivate(part);
  if (!QFile::rename(part, target)) return Failure{FailureKind::ReadOnly, QStringLiteral("The backup %1 cannot be written.").arg(target), {}};
  return target;
}

// Reads a closed file through a connection of its own.
Outcome<QStringList> integrityOf(const QString& file) {
  const QString name = QStringLiteral("tg-check-") + file;
  QStringList problems;
  Outcome<QStringList> answer = problems;
  {
    QSqlDatabase connection = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), name);
    connection.setConnectOptions(QStringLiteral("QSQLITE_OPEN_READONLY;QSQLITE_OPEN_URI"));
    connection.setDatabaseName(QString::fromUtf8(QUrl::fromLocalFile(file).toEncoded()) + QStringLiteral("?immutable=1"));
    if (!connection.open()) {
      answer = failureOf(connection.lastError());
    } else {
      Sql rows(connection, QStringLiteral("PRAGMA integrity_check(20)"));
      if (!rows.run()) answer = rows.failure();
      else {
        while (rows.next())
          if (rows.asText(0) != QStringLiteral("ok")) problems.append(rows.asText(0));
        Sql id(connection, QStringLiteral("PRAGMA application_id"));
        if (problems.isEmpty() && !(id.run() && id.next() && id.asInt(0) == kApplicationId)) problems.append(QStringLiteral("It is not a chat file of this program."));
        answer = problems;
        if (rows.failed()) answer = rows.failure();
      }
    }
    connection.close();
  }
  QSqlDatabase::removeDatabase(name);
  return answer;
}

}  // namespace

Status Database::Private::connect(const QString& file, const QString& options) {
  static std::atomic<int> counter = 0;
  name = QStringLiteral("tg-storage-%1").arg(++counter);
  connection = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), name);
  if (!connection.isValid())
    return Failure{FailureKind::Other, QStringLiteral("The SQLite driver of Qt is not installed."), QStringLiteral("libqt6sql6-sqlite")};
  connection.setConnectOptions(QStringLiteral("QSQLITE_BUSY_TIMEOUT=5000") + options);
  connection.setDatabaseName(file);
  if (!connection.open()) return failureOf(connection.lastError());
  for (const char16_t* pragma : {u"PRAGMA foreign_keys = ON", u"PRAGMA temp_store = MEMORY", u"PRAGMA synchronous = FULL", u"PRAGMA secure_delete = ON"})
    if (auto set = execute(connection, QString::fromUtf16(pragma)); !set) return set;
  return Done{};
}

void Database::Private::disconnect() {
  if (name.isEmpty()) return;
  connection.close();
  connection = QSqlDatabase();
  QSqlDatabase::removeDatabase(name);
  name.clear();
}

Outcome<bool> Database::Private::sound() {
  const auto answer = scalar(connection, QStringLiteral("PRAGMA quick_check(1)"));
  if (answer) return *answer == QStringLiteral("ok");
  if (answer.failure().kind == FailureKind::Damaged) return false;
  return answer.failure();
}

// QUERY_ONLY also where SQLite would allow writing: into the temporary copy.
Status Database::Private::openReadOnly(const QString& sentence, const QVector<Migration>& migrations) {
  if (auto opened = connectReadOnly(sentence); !opened) return opened;
  if (auto newest = readAsNewest(migrations); !newest) return newest;
  return execute(connection, QStringLiteral("PRAGMA query_only = ON"));
}

// An older schema is brought up to date in a copy elsewhere: the profile itself stays as it is.
Status Database::Private::readAsNewest(const QVector<Migration>& migrations) {
  const auto version = userVersion(connection);
  if (!version) return version.failure();
  if (*version == 0 || migrations.isEmpty() || *version >= migrations.last().version) return Done{};
  if (!copy) copy = std::make_unique<QTemporaryDir>();
  const QString file = copy->filePath(QStringLiteral("newest.db"));
  const auto saved = vacuumInto(connection, file);
  if (!saved) return saved.failure();
  disconnect();
  makePrivate(file);
  if (auto connected = connect(file, QString()); !connected) return connected;
  return migrate(connection, migrations);
}

Status Database::Private::connectReadOnly(const QString& sentence) {
  disconnect();
  report.state = OpenState::ReadOnly;
  report.sentence = sentence;
  if (!QFile::exists(files.database()))
    return Failure{FailureKind::ReadOnly, QStringLiteral("The profile folder %1 cannot be written.").arg(files.folder), {}};
  QString file = files.database();
  QString uri;
  if (files.writable()) {
    uri = QString::fromUtf8(QUrl::fromLocalFile(file).toEncoded()) + QStringLiteral("?mode=ro");
  } else {
    // SQLite cannot make its shared-memory file here. Without a log the file alone is the whole truth; with one, a copy elsewhere is read.
    if (QFileInfo(files.log()).size() > 0) {
      copy = std::make_unique<QTemporaryDir>();
      file = copy->filePath(QStringLiteral("chats.db"));
      if (!QFile::copy(files.database(), file) || !QFile::copy(files.log(), file + QStringLiteral("-wal")))
        return Failure{FailureKind::ReadOnly, QStringLiteral("The read-only profile %1 cannot be read.").arg(files.folder), {}};
      makePrivate(file);
      makePrivate(file + QStringLiteral("-wal"));
      return connect(file, QString());
    }
    uri = QString::fromUtf8(QUrl::fromLocalFile(file).toEncoded()) + QStringLiteral("?immutable=1");
  }
  return connect(uri, QStringLiteral(";QSQLITE_OPEN_READONLY;QSQLITE_OPEN_URI"));
}

Status Database::Private::switchToWal() {
  Outcome<QString> mode = QString();
  for (int i = 0; i < kWalTries; ++i) {
    mode = scalar(connection, QStringLiteral("PRAGMA journal_mode = WAL"));
    if (mode || mode.failure().kind != FailureKind::Busy) break;
    QThread::msleep(kWalWaitMs);
  }
  if (!mode) return mode.failure();
  if (*mode != QStringLiteral("wal"))
    return Failure{FailureKind::Other, QStringLiteral("The profile folder does not support the chat database's log; move the profile to a local disk."), *mode};
  return Done{};
}

Status Database::Private::bringUpToDate(const QVector<Migration>& migrations) {
  const auto version = userVersion(connection);
  if (!version) return version.failure();
  const int newest = migrations.isEmpty() ? 0 : migrations.last().version;
  if (*version == newest) return Done{};
  report.state = *version == 0 ? OpenState::Created : OpenState::Migrated;
  if (*version > 0) {
    const auto saved = vacuumInto(connection, files.newBackup(*version));
    if (!saved) return saved.failure();
    const auto problems = integrityOf(*saved);
    if (!problems || !problems->isEmpty())
      return Failure{FailureKind::Damaged, QStringLiteral("The backup before the update is not sound; the chats were left as they are."), *saved};
    files.keepNewestBackups(kKeptBackups);
  }
  return migrate(connection, migrations);
}

Status Database::Private::openForWriting(const QVector<Migration>& migrations) {
  if (auto connected = connect(files.database(), QString()); !connected) return connected;
  const auto id = scalar(connection, QStringLiteral("PRAGMA application_id"));
  if (!id) return id.failure();
  const auto version = userVersion(connection);
  if (!version) return version.failure();
  if (*version > 0 && id->toInt() != kApplicationId)
    return Failure{FailureKind::Other, QStringLiteral("%1 is a database of another program.").arg(files.database()), {}};
  if (*version > (migrations.isEmpty() ? 0 : migrations.last().version))
    return openReadOnly(QStringLiteral("These chats were written by a newer version of the program; they can be read, but not changed."), migrations);
  const auto healthy = sound();
  if (!healthy) return healthy.failure();
  if (!*healthy) return Failure{FailureKind::Damaged, QStringLiteral("The chat database is damaged."), {}};
  if (auto wal = switchToWal(); !wal) return wal;
  return bringUpToDate(migrations);
}

Database::Database(std::unique_ptr<Private> d) : d_(std::move(d)) {}

Outcome<std::unique_ptr<Database>> Database::open(const OpenOptions& options) {
  linkMigrations();
  auto d = std::make_unique<Private>();
  d->files.folder = options.folder;
  d->report.file = d->files.database();
  const auto finish = [&](Status status) -> Outcome<std::unique_ptr<Database>> {
    if (!status) return status.failure();
    d->report.backups = d->files.backups();
    return std::unique_ptr<Database>(new Database(std::move(d)));
  };
  const QVector<Migration> migrations = migrationsIn(options.migrations);
  if (options.readOnly) return finish(d->openReadOnly(QStringLiteral("The chats were opened read-only."), migrations));
  if (QFileInfo::exists(options.folder) && !d->files.writable())
    return finish(d->openReadOnly(QStringLiteral("The profile folder %1 cannot be written; chats can be read, but not changed.").arg(options.folder), migrations));
  if (auto prepared = d->files.prepare(); !prepared) return prepared.failure();
  Status opened = d->files.looksLikeSqlite() ? d->openForWriting(migrations)
                                             : Failure{FailureKind::Damaged, QStringLiteral("The chat database is damaged."), {}};
  if (opened || opened.failure().kind != FailureKind::Damaged) return finish(std::move(opened));

  d->disconnect();
  const auto aside = d->files.quarantine();
  if (!aside) return aside.failure();
  if (auto prepared = d->files.prepare(); !prepared) return prepared.failure();
  opened = d->openForWriting(migrations);
  d->report.state = OpenState::Quarantined;
  d->report.quarantined = *aside;
  d->report.sentence = d->files.backups().isEmpty()
                           ? QStringLiteral("The chat database was damaged and was put aside as %1; a new one was started.").arg(*aside)
                           : QStringLiteral("The chat database was damaged and was put aside as %1; a backup can be restored.").arg(*aside);
  return finish(std::move(opened));
}

Database::~Database() {
  if (d_->report.writable()) {
    (void)execute(d_->connection, QStringLiteral("PRAGMA optimize")).ok();
    checkpoint();
  }
}

const OpenReport& Database::report() const { return d_->report; }
QSqlDatabase& Database::connection() { return d_->connection; }
QString Database::fileName() { return QStringLiteral("chats.db"); }
QStringList Database::backups(const QString& folder) { return ProfileFiles{folder}.backups(); }

void Database::checkpoint() { (void)execute(d_->connection, QStringLiteral("PRAGMA wal_checkpoint(TRUNCATE)")).ok(); }

Outcome<QString> Database::backup(const QString& target) {
  const auto version = userVersion(d_->connection);
  if (!version) return version.failure();
  if (!target.isEmpty() && QFile::exists(target))
    return Failure{FailureKind::Other, QStringLiteral("The file %1 exists already.").arg(target), {}};
  const auto saved = vacuumInto(d_->connection, target.isEmpty() ? d_->files.newBackup(*version) : target);
  if (!saved) return saved.failure();
  const auto problems = integrityOf(*saved);
  if (!problems) return problems.failure();
  if (!problems->isEmpty()) return Failure{FailureKind::Damaged, QStringLiteral("The backup is not sound."), problems->join(QLatin1Char('\n'))};
  if (target.isEmpty()) d_->files.keepNewestBackups(kKeptBackups);
  return *saved;
}

Outcome<QStringList> Database::check() {
  QStringList problems;
  for (const char16_t* pragma : {u"PRAGMA integrity_check", u"PRAGMA foreign_key_check"}) {
    Sql rows(d_->connection, QString::fromUtf16(pragma));
    if (!rows.run()) return rows.failure();
    while (rows.next())
      if (rows.asText(0) != QStringLiteral("ok")) problems.append(rows.asText(0));
    if (rows.failed()) return rows.failure();
  }
  if (d_->report.writable()) {
    // FTS5 checks itself by a command that looks like an insert. Rank 1: against the messages too.
    const auto index = execute(d_->connection, QStringLiteral("INSERT INTO message_fts(message_fts, rank) VALUES ('integrity-check', 1)"));
    if (!index) problems.append(QStringLiteral("search index: ") + index.failure().details);
  }
  return problems;
}

Status Database::repairSearch() {
  return execute(d_->connection, QStringLiteral("INSERT INTO message_fts(message_fts) VALUES ('rebuild')"));
}

Status Database::checkBackup(const QString& backupFile) {
  const auto problems = integrityOf(backupFile);
  if (problems && problems->isEmpty()) return Done{};
  return Failure{FailureKind::Damaged, QStringLiteral("%1 is not a sound backup.").arg(backupFile), problems ? problems->join(QLatin1Char('\n')) : problems.failure().details};
}

Status Database::restore(const QString& folder, const QString& backupFile) {
  const ProfileFiles files{folder};
  if (auto sound = checkBackup(backupFile); !sound) return sound;
  const QString part = files.database() + QStringLiteral(".part");
  QFile::remove(part);
  if (!QFile::copy(backupFile, part)) return Failure{FailureKind::DiskFull, QStringLiteral("The backup could not be copied into the profile."), {}};
  makePrivate(part);
  // The log of the old file must go with it: replayed over the restored file it would destroy it.
  if (QFile::exists(files.database()))
    if (const auto aside = files.quarantine(); !aside) return aside.failure();
  if (!QFile::rename(part, files.database())) return Failure{FailureKind::ReadOnly, QStringLiteral("The profile folder %1 cannot be written.").arg(folder), {}};
  return Done{};
}

}  // namespace tg::storage
