// The cache overview over the real services with a scripted engine: rows and bars follow turns, actions, budgets, and commands of another process.
#include "app/cache_words.h"
#include "app/commands/chat_commands.h"
#include "app/format.h"
#include "tests/support/service_fixture.h"

using namespace tg;
using namespace tg::test;

namespace {

qint64 sum_of(const CacheTier& tier) {
  qint64 sum = 0;
  for (const CacheBlock& b : tier.blocks) sum += b.bytes;
  return sum;
}

}  // namespace

class TestCacheOverview : public QObject {
  Q_OBJECT
  static CacheOverview& cache(ServiceFixture& f) { return f.app().cache(); }
  static const CacheRow& row(ServiceFixture& f, const QString& id) {
    static const CacheRow none;
    const CacheRow* found = cache(f).snapshot().row(id);
    return found ? *found : none;
  }
  static int run(ServiceFixture& f, const QStringList& args) {
    int code = -1;
    CommandOutput output;
    output.out = output.err = [](const QByteArray&) {};
    output.exit = [&code](int c) { code = c; };
    run_profile_command(f.app(), args, output);
    QDeadlineTimer limit(5000);
    while (code < 0 && !limit.hasExpired()) QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
    return code;
  }

 private Q_SLOTS:
  void follows_turns_and_actions() {
    ServiceFixture f;
    QSignalSpy changed(&cache(f), &CacheOverview::changed);
    const QString a = f.chat(QStringLiteral("a")), b = f.chat(QStringLiteral("b"));
    f.turn(a, QStringLiteral("one two three four five"));
    f.turn(b, QStringLiteral("six seven eight"));
    QTRY_COMPARE(cache(f).snapshot().chatsHeld, 2);
    const CacheTier* ram = cache(f).snapshot().tier(ChatTier::Ram);
    QVERIFY(ram && ram->used > 0);
    QCOMPARE(sum_of(*ram), ram->used);
    QVERIFY(!cache(f).snapshot().tier(ChatTier::Gpu)->exists);
    QCOMPARE(words::cacheReason(row(f, a), QDateTime::currentDateTime()), QStringLiteral("used recently"));

    const qint64 used = ram->used, own = row(f, a).own();
    QVERIFY(words::consequence(words::CacheAction::Evict, row(f, a), cache(f).snapshot()).contains(format::bytes(own)));
    cache(f).evict(a);
    QTRY_COMPARE(row(f, a).chat.tier, ChatTier::Cold);
    QCOMPARE(cache(f).snapshot().tier(ChatTier::Ram)->used, used - own);
    QVERIFY(words::cacheReason(row(f, a), QDateTime::currentDateTime()).startsWith(QStringLiteral("dropped by you")));

    cache(f).toTier(b, ChatTier::Disk);
    QTRY_COMPARE(row(f, b).chat.tier, ChatTier::Disk);
    QCOMPARE(cache(f).snapshot().tier(ChatTier::Disk)->used, sum_of(*cache(f).snapshot().tier(ChatTier::Disk)));
    cache(f).pin(b, true);
    QTRY_VERIFY(row(f, b).chat.pinned);
    QTRY_COMPARE(least_budget(cache(f).snapshot(), ChatTier::Disk), row(f, b).own());
    const auto happened = [&](const QString& movement) {
      const QVector<CacheEventInfo> events = cache(f).events(b);
      return std::any_of(events.begin(), events.end(), [&](const CacheEventInfo& e) { return e.movement == movement; });
    };
    QTRY_VERIFY(happened(QStringLiteral("pinned")) && happened(QString::fromUtf8("RAM → disk")));

    cache(f).setBudget(ChatTier::Ram, qint64(3) << 30);
    QTRY_COMPARE(cache(f).snapshot().tier(ChatTier::Ram)->budget, qint64(3) << 30);
    cache(f).clear();
    QTRY_COMPARE(cache(f).snapshot().chatsHeld, 0);
  }

  void commands_of_another_process_are_seen() {
    ServiceFixture f;
    QSignalSpy changed(&cache(f), &CacheOverview::changed), list(&f.chats(), &ChatService::chatsChanged);
    const QString a = f.chat(QStringLiteral("a"));
    f.turn(a, QStringLiteral("one two three"));
    QTRY_COMPARE(row(f, a).chat.tier, ChatTier::Ram);
    list.clear();
    QCOMPARE(run(f, {QStringLiteral("cache"), QStringLiteral("keep"), QStringLiteral("a"), QStringLiteral("--tier"), QStringLiteral("disk")}), 0);
    QTRY_COMPARE(row(f, a).chat.tier, ChatTier::Disk);
    QVERIFY(!list.isEmpty());  // the list of chats was told as well
    QCOMPARE(f.chats().chat(a)->tier, ChatTier::Disk);
    list.clear();
    QCOMPARE(run(f, {QStringLiteral("cache"), QStringLiteral("evict"), QStringLiteral("a")}), 0);
    QTRY_COMPARE(row(f, a).chat.tier, ChatTier::Cold);
    QVERIFY(!list.isEmpty());
  }

  void a_busy_chat_says_so() {
    ServiceFixture f;
    QSignalSpy changed(&cache(f), &CacheOverview::changed);
    const QString a = f.chat(QStringLiteral("a"));
    f.turn(a, QStringLiteral("one two three"));
    f.start(a, QStringLiteral("four five six"));
    QTRY_VERIFY(row(f, a).busy);
    QVERIFY(words::whyNot(words::CacheAction::Evict, row(f, a), cache(f).snapshot()).contains(QStringLiteral("is being written")));
    f.finish(a);
    QTRY_VERIFY(!row(f, a).busy);
  }

  void nobody_looks_nothing_is_gathered() {
    ServiceFixture f;
    const QString a = f.chat(QStringLiteral("a"));
    f.turn(a, QStringLiteral("one two three"));
    QCOMPARE(cache(f).snapshot().rows.size(), 0);
    cache(f).refresh();
    QTRY_COMPARE(cache(f).snapshot().rows.size(), 1);
  }

  void integrity() {
    ServiceFixture f;
    QSignalSpy said(&cache(f), &CacheOverview::integrityChecked);
    cache(f).checkIntegrity();
    QTRY_COMPARE(said.size(), 1);
    QVERIFY(said[0][0].toBool());
  }

  void reasons_data() {
    QTest::addColumn<QString>("code");
    QTest::addColumn<QString>("words");
    const auto add = [](const char* code, const char* words) { QTest::newRow(code) << QString::fromUtf8(code) << QString::fromUtf8(words); };
    add("used", "used recently");
    add("pinned", "pinned by you");
    add("kept", "kept by you");
    add("moved_budget:Garden plan", "moved from RAM 13:05: budget, for Garden plan");
    add("moved_idle", "moved to disk 13:05: not used for a while");
    add("moved_close", "moved to disk when the program closed");
    add("dropped_budget", "dropped 13:05: budget, oldest first");
    add("dropped_user", "dropped by you 13:05");
    add("dropped_close", "dropped when the program closed");
    add("dropped_check", "dropped 13:05: failed its check");
    add("shares:640:Garden plan", "shares 640 tokens with Garden plan");
  }
  void reasons() {
    QFETCH(QString, code);
    const QDateTime at(QDate(2026, 11, 29), QTime(13, 5));
    QTEST(words::cacheReason(code, at, at.addSecs(600)), "words");
  }

  void times() {
    const QDateTime now(QDate(2026, 11, 29), QTime(14, 30));
    QCOMPARE(words::shortWhen(now.addSecs(-360), now), QStringLiteral("14:24"));
    QCOMPARE(words::shortWhen(now.addDays(-1), now), QStringLiteral("yesterday"));
    QCOMPARE(words::longWhen(now.addDays(-1), now), QStringLiteral("yesterday 14:30"));
    QCOMPARE(words::shortWhen(QDateTime(), now), format::unknown());
  }

  void budgets_of_pinned_and_oldest() {
    CacheSnapshot s;
    CacheTier ram, disk;
    ram.tier = ChatTier::Ram;
    disk.tier = ChatTier::Disk;
    disk.budget = 1000;
    for (int i = 0; i < 3; ++i) {
      CacheRow r;
      r.chat.id = r.chat.title = QString::number(i);
      r.ownRam = 100;
      r.chat.tokensHeld = 50;
      r.chat.pinned = i == 2;
      ram.used += 100;
      ram.fixed += i == 2 ? 100 : 0;
      s.rows.push_back(r);
    }
    s.tiers = {ram, disk};
    QCOMPARE(least_budget(s, ChatTier::Ram), 100);
    const BudgetPreview p = preview_budget(s, ChatTier::Ram, 150);
    QVERIFY(p.toDisk);
    QCOMPARE(p.bytes, 150);
    QCOMPARE(p.leaving.size(), 2);
    QCOMPARE(p.leaving[0].title, QStringLiteral("1"));  // the pinned one stays, then the longest unused goes first
    QCOMPARE(p.leaving[1].bytes, 50);
    QCOMPARE(p.leaving[1].tokens, 25);
    QCOMPARE(preview_budget(s, ChatTier::Ram, 300).bytes, 0);
  }
};

QTEST_GUILESS_MAIN(TestCacheOverview)
#include "tst_cache_overview.moc"
