// Opening the database: fresh, migrated, damaged, read-only, newer, shared, on a full disk.
#include <QtSql/QSqlDatabase>
#include <QtSql/QSqlQuery>
#include <QTemporaryDir>
#include <QtTest>
#include <csignal>
#include <functional>
#include <grp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage/chat_store.h"

using namespace tg::storage;

namespace {

Chat chatCalled(const QString& id) {
  Chat chat;
  chat.id = chat.title = id;
  return chat;
}

Message userMessage(const QString& id, const QString& chatId, const QString& text) {
  Message message;
  message.id = id;
  message.chatId = chatId;
  message.role = QStringLiteral("user");
  message.text = text;
  return message;
}

OpenOptions at(const QString& folder) {
  OpenOptions options;
  options.folder = folder;
  return options;
}

std::unique_ptr<Database> opened(const OpenOptions& options) {
  auto database = Database::open(options);
  if (!database) qWarning("%s (%s)", qPrintable(database.failure().sentence), qPrintable(database.failure().details));
  return database ? std::move(*database) : nullptr;
}

void putChat(const QString& folder, const QString& id) {
  const auto database = opened(at(folder));
  ChatStore store(database.get());
  QVERIFY(store.createChat(chatCalled(id)).ok());
  QVERIFY(store.addMessage(userMessage(id + QStringLiteral("-1"), id, QStringLiteral("hello from ") + id)).ok());
}

// The program's own steps into FOLDER, for more to come after them. Returns the version they lead to.
int copyMigrations(const QString& folder) {
  QDir().mkpath(folder);
  const QDir own(QStringLiteral(":/storage/migrations"));
  const QStringList names = own.entryList({QStringLiteral("*.sql")}, QDir::Files);
  for (const QString& name : names) QFile::copy(own.filePath(name), folder + QLatin1Char('/') + name);
  return static_cast<int>(names.size());
}

QStringList schemaOf(Database& database) {
  QStringList schema;
  QSqlQuery query(database.connection());
  query.exec(QStringLiteral("SELECT type, name, sql FROM sqlite_master ORDER BY type, name"));
  while (query.next()) schema.append(query.value(0).toString() + QLatin1Char(' ') + query.value(1).toString() + QLatin1Char(' ') + query.value(2).toString());
  return schema;
}

void overwrite(const QString& file, qint64 offset, const QByteArray& bytes) {
  QFile f(file);
  QVERIFY(f.open(QIODevice::ReadWrite));
  QVERIFY(f.seek(offset));
  QCOMPARE(f.write(bytes), bytes.size());
}

// Runs CHECKS in a child process, where limits and user ids can be changed; true when it returned true.
bool inChild(const std::function<bool()>& checks) {
  const pid_t child = fork();
  if (child == 0) _exit(checks() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Root may write anywhere; the read-only cases run as nobody.
void becomeNobody() {
  constexpr uid_t nobody = 65534;
  if (geteuid() != 0) return;
  if (setgroups(0, nullptr) != 0 || setresgid(nobody, nobody, nobody) != 0 || setresuid(nobody, nobody, nobody) != 0) _exit(2);
}

}  // namespace

class DatabaseTest : public QObject {
  Q_OBJECT
  std::unique_ptr<QTemporaryDir> dir_;
  QString folder() const { return dir_->filePath(QStringLiteral("profile")); }
  QString file() const { return folder() + QLatin1Char('/') + Database::fileName(); }

 private Q_SLOTS:
  void init() {
    dir_ = std::make_unique<QTemporaryDir>();
    QVERIFY(dir_->isValid());
    ::chmod(qPrintable(dir_->path()), 0755);
  }

  void freshFileIsPrivateAndSafe() {
    const auto database = opened(at(folder()));
    QVERIFY(database);
    QCOMPARE(database->report().state, OpenState::Created);
    ChatStore store(database.get());
    QVERIFY(store.createChat(chatCalled(QStringLiteral("a"))).ok());
    for (const QString& suffix : {QString(), QStringLiteral("-wal"), QStringLiteral("-shm")}) {
      struct stat info;
      QCOMPARE(::stat(qPrintable(file() + suffix), &info), 0);
      QCOMPARE(info.st_mode & 0777u, 0600u);
    }
    QSqlQuery query(database->connection());
    for (const auto& [pragma, value] : {std::pair("journal_mode", "wal"), std::pair("synchronous", "2"), std::pair("foreign_keys", "1")}) {
      QVERIFY(query.exec(QStringLiteral("PRAGMA ") + QLatin1String(pragma)) && query.next());
      QCOMPARE(query.value(0).toString(), QLatin1String(value));
    }
    QVERIFY(query.exec(QStringLiteral("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND NOT strict AND name NOT LIKE 'message_fts%' AND name NOT LIKE 'sqlite%'")));
    QVERIFY(!query.next());
  }

  void reopensWhatWasWritten() {
    putChat(folder(), QStringLiteral("a"));
    QVERIFY(!QFile::exists(file() + QStringLiteral("-wal")));  // folded in by a clean close
    const auto database = opened(at(folder()));
    QCOMPARE(database->report().state, OpenState::Opened);
    QCOMPARE(ChatStore(database.get()).chats()->size(), 1);
    QVERIFY(database->check()->isEmpty());
  }

  // A dump of each released schema lives beside the test; migrating from it must give what a fresh start gives.
  void migratedSchemaEqualsFresh() {
    const auto fresh = opened(at(dir_->filePath(QStringLiteral("fresh"))));
    QFile dump(QStringLiteral(TG_SOURCE_DIR "/tests/storage/data/schema-1.sql"));
    QVERIFY(dump.open(QIODevice::ReadOnly));
    QVERIFY(QDir().mkpath(folder()));
    {
      QSqlDatabase old = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), QStringLiteral("old"));
      old.setDatabaseName(file());
      QVERIFY(old.open());
      for (const QString& statement : QString::fromUtf8(dump.readAll()).split(QStringLiteral(";\n\n"), Qt::SkipEmptyParts)) {
        QSqlQuery query(old);
        if (!statement.trimmed().isEmpty()) QVERIFY2(query.exec(statement), qPrintable(statement));
      }
    }
    QSqlDatabase::removeDatabase(QStringLiteral("old"));
    const auto migrated = opened(at(folder()));
    QVERIFY(migrated);
    QCOMPARE(schemaOf(*migrated), schemaOf(*fresh));
  }

  void migrationBacksUpFirstAndKeepsThree() {
    putChat(folder(), QStringLiteral("a"));
    const QString steps = dir_->filePath(QStringLiteral("steps"));
    const int newest = copyMigrations(steps);
    OpenOptions options = at(folder());
    options.migrations = steps;
    for (int version = newest + 1; version <= newest + 5; ++version) {
      QFile step(steps + QStringLiteral("/00%1_more.sql").arg(version));
      QVERIFY(step.open(QIODevice::WriteOnly));
      step.write(QStringLiteral("CREATE TABLE more_%1 (x INTEGER) STRICT;\n\nINSERT INTO more_%1 VALUES (1);\n").arg(version).toUtf8());
      step.close();
      const auto database = opened(options);
      QVERIFY(database);
      QCOMPARE(database->report().state, OpenState::Migrated);
      QCOMPARE(ChatStore(database.get()).chats()->size(), 1);
    }
    QCOMPARE(Database::backups(folder()).size(), 3);
    for (const QString& backup : Database::backups(folder())) QVERIFY(backup.contains(QStringLiteral("chats-v")));
  }

  // A step that fails leaves the file as it was before that step, and the backup beside it.
  void failedMigrationChangesNothing() {
    putChat(folder(), QStringLiteral("a"));
    const QString steps = dir_->filePath(QStringLiteral("steps"));
    const int newest = copyMigrations(steps);
    QFile step(steps + QStringLiteral("/00%1_broken.sql").arg(newest + 1));
    QVERIFY(step.open(QIODevice::WriteOnly));
    step.write("CREATE TABLE half (x INTEGER) STRICT;\n\nDROP TABLE chat;\n\nthis is not SQL;\n");
    step.close();
    OpenOptions options = at(folder());
    options.migrations = steps;
    QVERIFY(!Database::open(options).ok());
    QCOMPARE(Database::backups(folder()).size(), 1);
    const auto database = opened(at(folder()));
    QCOMPARE(database->report().state, OpenState::Opened);
    QCOMPARE(ChatStore(database.get()).chats()->size(), 1);
  }

  // Nothing may be written into the profile, yet all of it is read: brought up to date in a copy.
  void olderSchemaIsReadWhereNothingMayBeWritten() {
    const QString steps = dir_->filePath(QStringLiteral("steps"));
    const int newest = copyMigrations(steps);
    for (int version = 2; version <= newest; ++version)
      for (const QString& name : QDir(steps).entryList({QStringLiteral("%1_*.sql").arg(version, 3, 10, QLatin1Char('0'))})) QVERIFY(QFile::remove(steps + QLatin1Char('/') + name));
    OpenOptions first = at(folder());
    first.migrations = steps;
    {
      const auto database = opened(first);
      ChatStore store(database.get());
      QVERIFY(store.createChat(chatCalled(QStringLiteral("a"))).ok());
    }
    OpenOptions reading = at(folder());
    reading.readOnly = true;
    for (int i = 0; i < 2; ++i) {
      const auto database = opened(reading);
      QVERIFY(database);
      QCOMPARE(database->report().state, OpenState::ReadOnly);
      ChatStore store(database.get());
      QCOMPARE(store.chats()->size(), 1);
      QVERIFY(store.turns(QStringLiteral("a")).ok());
      QCOMPARE(store.createChat(chatCalled(QStringLiteral("b"))).failure().kind, FailureKind::ReadOnly);
    }
    QCOMPARE(opened(at(folder()))->report().state, OpenState::Migrated);
  }

  void newerFileOpensReadOnly() {
    putChat(folder(), QStringLiteral("a"));
    {
      const auto database = opened(at(folder()));
      QSqlQuery query(database->connection());
      QVERIFY(query.exec(QStringLiteral("PRAGMA user_version = 99")));
    }
    const auto database = opened(at(folder()));
    QVERIFY(database);
    QCOMPARE(database->report().state, OpenState::ReadOnly);
    QVERIFY(database->report().sentence.contains(QStringLiteral("newer")));
    ChatStore store(database.get());
    QCOMPARE(store.chats()->size(), 1);
    QCOMPARE(store.createChat(chatCalled(QStringLiteral("b"))).failure().kind, FailureKind::ReadOnly);
  }

  void foreignDatabaseIsRefused() {
    QVERIFY(QDir().mkpath(folder()));
    {
      QSqlDatabase other = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), QStringLiteral("other"));
      other.setDatabaseName(file());
      QVERIFY(other.open());
      QSqlQuery query(other);
      QVERIFY(query.exec(QStringLiteral("CREATE TABLE x (y)")) && query.exec(QStringLiteral("PRAGMA user_version = 1")));
    }
    QSqlDatabase::removeDatabase(QStringLiteral("other"));
    const auto refused = Database::open(at(folder()));
    QVERIFY(!refused.ok());
    QVERIFY(refused.failure().sentence.contains(QStringLiteral("another program")));
  }

  void damagedFileIsPutAside_data() {
    QTest::addColumn<int>("offset");
    QTest::addColumn<int>("length");
    QTest::newRow("header") << 0 << 16;
    QTest::newRow("header fields") << 16 << 84;
    QTest::newRow("schema page") << 100 << 2000;
    QTest::newRow("everything after page 1") << 4096 << 40000;
  }

  void damagedFileIsPutAside() {
    QFETCH(int, offset);
    QFETCH(int, length);
    putChat(folder(), QStringLiteral("a"));
    QString backup;
    {
      const auto database = opened(at(folder()));
      backup = *database->backup();
    }
    overwrite(file(), offset, QByteArray(length, '\xee'));
    {
      const auto database = opened(at(folder()));
      QVERIFY(database);
      QCOMPARE(database->report().state, OpenState::Quarantined);
      QVERIFY(QFile::exists(database->report().quarantined));
      QCOMPARE(database->report().backups, QStringList{backup});
      QVERIFY(database->report().sentence.contains(QStringLiteral("backup")));
      QCOMPARE(ChatStore(database.get()).chats()->size(), 0);
    }
    QVERIFY(Database::restore(folder(), backup).ok());
    const auto database = opened(at(folder()));
    QCOMPARE(database->report().state, OpenState::Opened);
    QCOMPARE(ChatStore(database.get()).chats()->size(), 1);
  }

  void restoreRefusesWhatIsNoBackup() {
    putChat(folder(), QStringLiteral("a"));
    QFile text(dir_->filePath(QStringLiteral("text")));
    QVERIFY(text.open(QIODevice::WriteOnly));
    text.write(QByteArray(5000, 'x'));
    text.close();
    QVERIFY(!Database::restore(folder(), text.fileName()).ok());
    QVERIFY(!Database::restore(folder(), dir_->filePath(QStringLiteral("missing"))).ok());
    QCOMPARE(ChatStore(opened(at(folder())).get()).chats()->size(), 1);
  }

  void readOnlyFolder_data() {
    QTest::addColumn<bool>("withLog");
    QTest::newRow("closed cleanly") << false;
    QTest::newRow("with a log to replay") << true;
  }

  void readOnlyFolder() {
    QFETCH(bool, withLog);
    putChat(folder(), QStringLiteral("a"));
    if (withLog)  // a process that dies with a commit in the log only
      QVERIFY(inChild([this] {
        const auto database = opened(at(folder()));
        if (!ChatStore(database.get()).createChat(chatCalled(QStringLiteral("b"))).ok()) return false;
        _exit(0);
      }));
    for (const QString& name : QDir(folder()).entryList(QDir::Files)) ::chmod(qPrintable(folder() + QLatin1Char('/') + name), 0444);
    ::chmod(qPrintable(folder()), 0555);
    QVERIFY(inChild([&] {
      becomeNobody();
      const auto database = opened(at(folder()));
      if (!database || database->report().state != OpenState::ReadOnly || database->report().sentence.isEmpty()) return false;
      ChatStore store(database.get());
      const auto chats = store.chats();
      return chats.ok() && chats->size() == (withLog ? 2 : 1) &&
             store.createChat(chatCalled(QStringLiteral("c"))).failure().kind == FailureKind::ReadOnly && store.messages(QStringLiteral("a"))->size() == 1;
    }));
    ::chmod(qPrintable(folder()), 0755);
  }

  void folderThatCannotBeMade() {
    QVERIFY(inChild([this] {
      becomeNobody();
      const auto refused = Database::open(at(folder()));
      return !refused.ok() && refused.failure().kind == FailureKind::ReadOnly && refused.failure().sentence.endsWith(QLatin1Char('.'));
    }) == true);
  }

  // A limit on the size of files stands for a full disk: writes fail, the message stays with the caller, and succeeds when there is room again.
  void fullDiskLosesNothing() {
    putChat(folder(), QStringLiteral("a"));
    QVERIFY(inChild([this] {
      signal(SIGXFSZ, SIG_IGN);
      const auto database = opened(at(folder()));
      ChatStore store(database.get());
      const rlimit full{300 * 1024, RLIM_INFINITY}, roomy{RLIM_INFINITY, RLIM_INFINITY};
      if (setrlimit(RLIMIT_FSIZE, &full) != 0) return false;
      int written = 0;
      Status last = Done{};
      const auto next = [&] { return userMessage(QStringLiteral("m%1").arg(written), QStringLiteral("a"), QString(20000, QLatin1Char('x'))); };
      while (last.ok() && written < 1000) {
        last = store.addMessage(next());
        if (last.ok()) ++written;
      }
      if (last.ok() || last.failure().kind != FailureKind::DiskFull || last.failure().sentence.isEmpty()) return false;
      if (setrlimit(RLIMIT_FSIZE, &roomy) != 0 || !store.addMessage(next()).ok()) return false;
      return store.messages(QStringLiteral("a"))->size() == written + 2 && database->check()->isEmpty();
    }));
    QVERIFY(opened(at(folder()))->check()->isEmpty());
  }

  // Two programs write to one profile at once: nothing is refused, nothing is lost.
  void twoProcesses() {
    QVector<pid_t> children;
    for (int p = 0; p < 2; ++p) {
      const pid_t child = fork();
      if (child == 0) {
        const auto database = opened(at(folder()));
        if (!database) _exit(1);
        ChatStore store(database.get());
        for (int i = 0; i < 50; ++i)
          if (!store.createChat(chatCalled(QStringLiteral("%1-%2").arg(p).arg(i))).ok()) _exit(1);
        _exit(0);
      }
      children.append(child);
    }
    for (const pid_t child : children) {
      int status = 1;
      waitpid(child, &status, 0);
      QCOMPARE(status, 0);
    }
    const auto database = opened(at(folder()));
    QCOMPARE(ChatStore(database.get()).chats()->size(), 100);
    QVERIFY(database->check()->isEmpty());
  }

  void backupIsACompleteCopy() {
    putChat(folder(), QStringLiteral("a"));
    const auto database = opened(at(folder()));
    const QString target = dir_->filePath(QStringLiteral("it's here.db"));
    QCOMPARE(*database->backup(target), target);
    QVERIFY(!database->backup(target).ok());  // never over an existing file
    const QString other = dir_->filePath(QStringLiteral("other"));
    QVERIFY(QDir().mkpath(other) && Database::restore(other, target).ok());
    QCOMPARE(ChatStore(opened(at(other)).get()).chats()->size(), 1);
  }
};

QTEST_GUILESS_MAIN(DatabaseTest)
#include "tst_database.moc"
