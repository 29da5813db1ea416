// Damaged, foreign, half-written and unwritable snapshot files: never a wrong answer, never a crash, the reason told.
#include <QTemporaryDir>
#include <QtTest>

#include "engine/cache/kv_cache.h"
#include "tests/support/cache_files.h"
#include "tests/support/engine_checks.h"
#include "tests/support/fake_model.h"
#include "tests/support/model_kinds.h"

using namespace tg;
using namespace tg::test;

class TestCacheDamage : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void damagedFilesAreRefused_data() {
    QTest::addColumn<QString>("ending");
    QTest::addColumn<QString>("damage");
    QTest::addColumn<QString>("refusal");
    for (const char* ending : {"page", "chat"}) {
      QTest::addRow("%s truncated", ending) << QString::fromLatin1(ending) << "truncate" << "incomplete";
      QTest::addRow("%s bit flipped", ending) << QString::fromLatin1(ending) << "flip" << "checksum";
      QTest::addRow("%s empty", ending) << QString::fromLatin1(ending) << "empty" << "incomplete";
      QTest::addRow("%s longer", ending) << QString::fromLatin1(ending) << "longer" << "checksum";
      QTest::addRow("%s other version", ending) << QString::fromLatin1(ending) << "version" << "engine_version";
    }
    QTest::addRow("page missing") << "page" << "missing" << "incomplete";
    QTest::addRow("page of another model") << "page" << "model" << "other_model";
  }
  void damagedFilesAreRefused() {
    QFETCH(QString, ending);
    QFETCH(QString, damage);
    QFETCH(QString, refusal);
    const QTemporaryDir dir(scratch()), other_dir(scratch());
    const std::vector<TokenId> prompt = tokens(400, 50);
    {
      const FakeEngine e({}, on_disk(dir));
      e.run("a", prompt);
      FakeOptions other;
      other.fingerprint = "another";
      const FakeEngine o(other, on_disk(other_dir));
      o.run("a", prompt);
    }
    const QStringList all = files(dir, ending), others = files(other_dir, ending);
    QVERIFY(!all.isEmpty());
    for (qsizetype i = 0; i < all.size(); ++i) {
      QByteArray bytes = content(all[i]);
      if (damage == QLatin1String("truncate")) bytes.chop(5);
      if (damage == QLatin1String("empty")) bytes.clear();
      if (damage == QLatin1String("longer")) bytes += "more";
      if (damage == QLatin1String("flip")) bytes[bytes.size() - 9] = static_cast<char>(bytes[bytes.size() - 9] ^ 4);
      if (damage == QLatin1String("version")) bytes[6] = 99;
      if (damage == QLatin1String("model")) bytes = content(others[i]);
      if (damage == QLatin1String("missing")) QVERIFY(QFile::remove(all[i]));
      else replace(all[i], bytes);
    }
    const FakeEngine e({}, on_disk(dir));
    const TurnReport r = e.run("a", prompt);
    SAME_ANSWER(r, e.cold("x", prompt));
    QCOMPARE(r.input_cached, 0);
    QCOMPARE(r.cache.miss.cause, MissCause::snapshot_refused);
    QCOMPARE(QString::fromStdString(r.cache.miss.refusal), refusal);
    INTEGRITY(e.engine);
    QCOMPARE(e.run("a", prompt).input_cached, 399);
  }

  void oneBadPageIsColdFromThereOn_data() { layer_kinds(); }
  void oneBadPageIsColdFromThereOn() {
    QFETCH(int, window);
    QFETCH(bool, recurrent);
    const QTemporaryDir dir(scratch());
    const std::vector<TokenId> prompt = tokens(400, 51);
    {
      const FakeEngine e(options_of(window, recurrent), on_disk(dir));
      e.run("a", prompt);
    }
    // Each file by itself, so that every page of every group and every state has its turn.
    QStringList all = files(dir, QStringLiteral("page")) + files(dir, QStringLiteral("state"));
    for (const QString& victim : all) {
      const QByteArray good = content(victim);
      QByteArray bad = good;
      bad[bad.size() / 2] = static_cast<char>(bad[bad.size() / 2] ^ 1);
      replace(victim, bad);
      const QTemporaryDir copy(scratch());
      QVERIFY(QDir().mkpath(copy.path() + QStringLiteral("/cache/chats")));
      QDirIterator it(dir.path(), QDir::Files, QDirIterator::Subdirectories);
      while (it.hasNext()) {
        const QString from = it.next(), to = copy.path() + from.mid(dir.path().size());
        QDir().mkpath(QFileInfo(to).path());
        QVERIFY(QFile::copy(from, to));
      }
      const FakeEngine e(options_of(window, recurrent), on_disk(copy));
      const TurnReport r = e.run("a", prompt);
      SAME_ANSWER(r, e.cold("x", prompt));
      if (r.input_cached < 399) QCOMPARE(r.cache.miss.cause, MissCause::snapshot_refused);
      static_cast<void>(e.engine->check_integrity());  // drops what the turn did not need to look at
      INTEGRITY(e.engine);
      replace(victim, good);
    }
  }

  void aKilledWriterLeavesAUsableFolder() {
    const QTemporaryDir dir(scratch());
    {
      const FakeEngine e({}, on_disk(dir));
      e.run("a", tokens(200, 52));
    }
    const QString key = QFileInfo(files(dir, QStringLiteral("page")).front()).path();
    replace(key + QStringLiteral("/0123.page.tmp"), "half");
    replace(key + QStringLiteral("/00000000000000000000000000000000-g0.page"), "of nobody");
    replace(dir.path() + QStringLiteral("/cache/chats/x.chat.tmp"), "half");
    const FakeEngine e({}, on_disk(dir));
    QVERIFY(files(dir, QStringLiteral("tmp")).isEmpty());
    QCOMPARE(files(dir, QStringLiteral("page")).size(), 4);
    QCOMPARE(e.run("a", tokens(200, 52)).input_cached, 199);
  }

  void aSecondProcessLeavesTheFolderAlone() {
    const QTemporaryDir dir(scratch());
    const FakeEngine first({}, on_disk(dir));
    first.run("a", tokens(200, 53));
    const FakeEngine second({}, on_disk(dir));
    QCOMPARE(second.run("a", tokens(200, 53)).input_cached, 0);
    QVERIFY(!second.engine->keep("a", Tier::disk));
    INTEGRITY(first.engine);
  }

  void aFolderThatCannotBeWrittenIsNoError() {
    EngineOptions o;
    o.cache_dir = "/proc/no-such-place";
    const FakeEngine e({}, o);
    e.run("a", tokens(200, 54));
    QCOMPARE(e.run("a", tokens(200, 54)).input_cached, 199);
  }

  void aListWithPagesOfNoBytesIsRefused() {
    ChatRecord record;
    record.sequence = "a";
    record.ids = tokens(70, 1);
    record.layout = {{{0, 64}}, 0};
    QVERIFY(ChatRecord::decode(record.encode()));
    record.layout.groups[0].page_bytes = 0;  // found by fuzzing: no model has such pages, and a turn would have no page to write into
    QVERIFY(!ChatRecord::decode(record.encode()));
  }

  void randomBytesAsFilesAreRefused() {
    const QTemporaryDir dir(scratch());
    {
      const FakeEngine e({}, on_disk(dir));
      e.run("a", tokens(200, 55));
    }
    QMap<QString, QByteArray> all;
    for (const QString& file : files(dir, QStringLiteral("chat")) + files(dir, QStringLiteral("page"))) all[file] = content(file);
    for (std::uint64_t round = 0; round < 300; ++round) {
      const QString victim = all.keys()[static_cast<qsizetype>(mix(round, 1) % static_cast<std::uint64_t>(all.size()))];
      QByteArray bad = all[victim];
      for (std::uint64_t k = 0; k <= mix(round, 2) % 4; ++k) bad[static_cast<qsizetype>(mix(round, 3 + k) % static_cast<std::uint64_t>(bad.size()))] = static_cast<char>(mix(round, 9 + k));
      if (mix(round, 20) % 3 == 0) bad.truncate(static_cast<qsizetype>(mix(round, 21) % static_cast<std::uint64_t>(bad.size())));
      replace(victim, bad);
      if (round % 10 == 0) {
        const FakeEngine e({}, on_disk(dir));
        SAME_ANSWER(e.run("a", tokens(200, 55)), e.cold("x", tokens(200, 55)));
      } else {
        const KvCache cache(dir.path().toStdString() + "/cache", {0, 1U << 20U, 1U << 20U});
        static_cast<void>(cache.states());
      }
      for (auto it = all.begin(); it != all.end(); ++it) replace(it.key(), it.value());
    }
  }
};

QTEST_GUILESS_MAIN(TestCacheDamage)
#include "tst_cache_damage.moc"
