// What stays on disk when the program closes, and what leaves memory because nobody uses it. The clock is the test's.
#include <QDirIterator>
#include <QTemporaryDir>
#include <QtTest>

#include "tests/support/engine_checks.h"
#include "tests/support/fake_model.h"

using namespace tg;
using namespace tg::test;

namespace {

constexpr std::uint64_t kPage = kPageTokens * 8;  // bytes of a page of the toy model
constexpr std::int64_t kHour = 3600 * 1000;

EngineOptions options_in(const QTemporaryDir& dir, const KeepRules& rules = {}) {
  return {dir.path().toStdString() + "/cache", {0, 1U << 26U, 1U << 26U}, rules};
}

qsizetype pages(const QTemporaryDir& dir) {
  qsizetype n = 0;
  QDirIterator it(dir.path(), {QStringLiteral("*.page")}, QDir::Files, QDirIterator::Subdirectories);
  for (; it.hasNext(); it.next()) ++n;
  return n;
}

TurnRequest asking(const FakeEngine& e, const std::string& chat, std::vector<TokenId> prompt, KeepOnClose keep) {
  TurnRequest r = e.request(chat, std::move(prompt));
  r.keep_on_close = keep;
  return r;
}

}  // namespace

class TestCacheKeep : public QObject {
  Q_OBJECT
  const std::string scratch_ = scratch_template();
  QString scratch() const { return QString::fromStdString(scratch_); }

 private Q_SLOTS:
  void neverLeavesNoPages_data() {
    QTest::addColumn<int>("window");
    QTest::addColumn<bool>("recurrent");
    QTest::newRow("full") << 0 << false;
    QTest::newRow("window") << 100 << false;
    QTest::newRow("recurrent") << 0 << true;
  }
  void neverLeavesNoPages() {
    QFETCH(int, window);
    QFETCH(bool, recurrent);
    FakeOptions kind;
    kind.window = window;
    kind.recurrent = recurrent;
    const QTemporaryDir dir(scratch());
    const auto prompt = tokens(500, 1);
    {
      const FakeEngine e(kind, options_in(dir));
      e.run(asking(e, "a", prompt, KeepOnClose::never));
      INTEGRITY(e.engine);  // waits for the files
      QCOMPARE(pages(dir), 0);
      const CacheState s = *e.engine->cache_state("a");
      QVERIFY(s.keep_on_close == KeepOnClose::never && !s.stays_on_close);
    }
    QCOMPARE(pages(dir), 0);
    const FakeEngine e(kind, options_in(dir));
    const CacheState s = *e.engine->cache_state("a");
    QCOMPARE(s.tokens, 0);
    QCOMPARE(s.reason, std::string("dropped_close"));
    QVERIFY(s.keep_on_close == KeepOnClose::never);
    const TurnReport r = e.run("a", prompt);
    QCOMPARE(r.input_cached, 0);
    QCOMPARE(r.cache.miss.cause, MissCause::evicted);
    QCOMPARE(r.cache.miss.evicted_by, std::string("close"));
    QVERIFY(!r.cache.miss.when.empty());
    SAME_ANSWER(r, e.cold("x", prompt));
  }

  void neverTakesBackWhatWasWritten() {
    const QTemporaryDir dir(scratch());
    {
      const FakeEngine e({}, options_in(dir));
      e.run("a", tokens(500, 2));
      e.run("b", tokens(500, 3));
      INTEGRITY(e.engine);
      const qsizetype both = pages(dir);
      QVERIFY(e.engine->keep_on_close("a", KeepOnClose::never));
      e.run("a", tokens(900, 2));
      INTEGRITY(e.engine);
      QCOMPARE(pages(dir), both);
    }
    const FakeEngine e({}, options_in(dir));
    QCOMPARE(e.engine->cache_state("a")->tokens, 0);
    QCOMPARE(e.run("b", tokens(500, 3)).input_cached, 499);
    QCOMPARE(pages(dir), 9);  // 516 tokens
  }

  void aSharedBeginningStaysForTheOther() {
    const QTemporaryDir dir(scratch());
    const auto head = tokens(256, 4);
    {
      const FakeEngine e({}, options_in(dir));
      e.run(asking(e, "a", head + tokens(300, 5), KeepOnClose::never));
      e.run("b", head + tokens(100, 6));
    }
    const FakeEngine e({}, options_in(dir));
    const TurnReport a = e.run("a", head + tokens(300, 5));
    QCOMPARE(a.input_cached, 256);
    QCOMPARE(a.cache.miss.evicted_by, std::string("close"));
    QCOMPARE(e.run("b", head + tokens(100, 6)).input_cached, 355);
    INTEGRITY(e.engine);
  }

  void twoThatDoNotStayShareNothing() {
    const QTemporaryDir dir(scratch());
    {
      const FakeEngine e({}, options_in(dir));
      for (const std::uint64_t i : {7U, 8U}) e.run(asking(e, "chat" + std::to_string(i), tokens(256, 4) + tokens(100, i), KeepOnClose::never));
      QVERIFY(e.engine->keep("chat7", Tier::disk));  // asked for now: written now
      INTEGRITY(e.engine);
      QVERIFY(pages(dir) > 0);
    }
    QCOMPARE(pages(dir), 0);
  }

  void bySizeStaysUpToTheLimit() {
    const QTemporaryDir dir(scratch());
    const KeepRules rules{6 * kPage, 0};
    {
      const FakeEngine e({}, options_in(dir, rules));
      e.run("small", tokens(300, 9));
      e.run("large", tokens(500, 10));
      e.run(asking(e, "wanted", tokens(500, 11), KeepOnClose::always));
      e.run("pinned", tokens(500, 12));
      QVERIFY(e.engine->pin("pinned", true));
      for (const char* chat : {"small", "wanted", "pinned"}) QVERIFY2(e.engine->cache_state(chat)->stays_on_close, chat);
      QVERIFY(!e.engine->cache_state("large")->stays_on_close);
    }
    const FakeEngine e({}, options_in(dir, rules));
    QCOMPARE(e.run("small", tokens(300, 9)).input_cached, 299);
    QCOMPARE(e.run("wanted", tokens(500, 11)).input_cached, 499);
    QCOMPARE(e.run("pinned", tokens(500, 12)).input_cached, 499);
    QCOMPARE(e.engine->events("small").back().reason, std::string("moved_close"));
    const TurnReport large = e.run("large", tokens(500, 10));
    QCOMPARE(large.input_cached, 0);
    QCOMPARE(large.cache.miss.cause, MissCause::evicted);
    QCOMPARE(large.cache.miss.evicted_by, std::string("close"));
  }

  void aHigherLimitWritesWhatStaysNow() {
    const QTemporaryDir dir(scratch());
    {
      const FakeEngine e({}, options_in(dir, {kPage, 0}));
      e.run("a", tokens(500, 13));
      INTEGRITY(e.engine);
      QCOMPARE(pages(dir), 0);
      e.engine->set_keep_rules({100 * kPage, 0});
      INTEGRITY(e.engine);
      QCOMPARE(pages(dir), 9);
    }
    const FakeEngine e({}, options_in(dir, {100 * kPage, 0}));
    QCOMPARE(e.run("a", tokens(500, 13)).input_cached, 499);
  }

  void aChangeOfModelIsNoClose() {
    const QTemporaryDir dir(scratch());
    FakeEngine e({}, options_in(dir, {kPage, 0}));
    e.run("a", tokens(500, 14));
    e.engine->unload(e.model);
    QTRY_COMPARE(e.engine->cache_state("a")->tier, Tier::disk);
    e.model = *e.engine->load("model", {}, {}, {});
    QCOMPARE(e.run("a", tokens(500, 14)).input_cached, 499);
  }

  // ---- idle

  void idleChatsMoveToDisk() {
    const QTemporaryDir dir(scratch());
    const FakeEngine e({}, options_in(dir, {1U << 30U, kHour}));
    e.run("a", tokens(500, 15));
    e.run("b", tokens(500, 16));
    QVERIFY(e.engine->pin("b", true));
    const std::int64_t used = e.engine->cache_state("a")->last_use_ms;
    e.engine->leave_idle(used + kHour - 1);
    INTEGRITY(e.engine);
    QCOMPARE(e.engine->cache_state("a")->tier, Tier::ram);
    e.engine->leave_idle(used + 2 * kHour);
    INTEGRITY(e.engine);
    QCOMPARE(e.engine->cache_state("a")->tier, Tier::disk);
    QCOMPARE(e.engine->cache_state("a")->reason, std::string("moved_idle"));
    QCOMPARE(e.engine->events("a").back().movement, std::string("to_disk"));
    QCOMPARE(e.engine->cache_state("b")->tier, Tier::ram);
    const TurnReport r = e.run("a", tokens(500, 15));
    QCOMPARE(r.input_cached, 499);
    QVERIFY(r.cache.from_disk > 0);
  }

  void idleChatsOfOneThatDoesNotStayMoveToo() {
    const QTemporaryDir dir(scratch());
    const FakeEngine e({}, options_in(dir, {1U << 30U, kHour}));
    e.run(asking(e, "a", tokens(500, 17), KeepOnClose::never));
    e.engine->leave_idle(e.engine->cache_state("a")->last_use_ms + 2 * kHour);
    INTEGRITY(e.engine);
    QCOMPARE(e.engine->cache_state("a")->tier, Tier::disk);
    QCOMPARE(e.run("a", tokens(500, 17)).input_cached, 499);
  }

  void idleChatsAreDroppedWithoutDisk() {
    FakeEngine e({}, EngineOptions{{}, {0, 1U << 26U, 0}, {1U << 30U, kHour}});
    e.run("a", tokens(500, 18));
    e.engine->leave_idle(e.engine->cache_state("a")->last_use_ms + 2 * kHour);
    INTEGRITY(e.engine);
    QCOMPARE(e.engine->cache_state("a")->tokens, 0);
    QCOMPARE(e.engine->events("a").back().reason, std::string("dropped_idle"));
    const TurnReport r = e.run("a", tokens(500, 18));
    QCOMPARE(r.cache.miss.cause, MissCause::evicted);
    QCOMPARE(r.cache.miss.evicted_by, std::string("idle"));
    QCOMPARE(r.cache.miss.tier, std::string("ram"));
  }

  void withoutTimeOutNothingLeaves() {
    const FakeEngine e;
    e.run("a", tokens(300, 19));
    e.engine->leave_idle(e.engine->cache_state("a")->last_use_ms + 1000 * kHour);
    INTEGRITY(e.engine);
    QCOMPARE(e.engine->cache_state("a")->tier, Tier::ram);
  }

  void aSharedBeginningInUseStays() {
    const QTemporaryDir dir(scratch());
    const FakeEngine e({}, options_in(dir, {1U << 30U, kHour}));
    const auto head = tokens(256, 20);
    e.run("a", head + tokens(200, 21));
    const std::int64_t used = e.engine->cache_state("a")->last_use_ms;
    e.run("b", head + tokens(200, 22));
    e.engine->leave_idle(used + kHour);  // b was used after a
    INTEGRITY(e.engine);
    QCOMPARE(e.engine->cache_state("b")->tier, Tier::ram);
    QCOMPARE(e.engine->cache_state("a")->tokens_ram, 256);
    QVERIFY(e.engine->cache_state("a")->tokens_disk > 0);
  }
};

QTEST_GUILESS_MAIN(TestCacheKeep)
#include "tst_cache_keep.moc"
