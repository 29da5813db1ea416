// What the cache tells of itself: every byte counted once, evicting frees what is announced, each movement is heard.
#include <QTemporaryDir>
#include <QtTest>
#include <atomic>

#include "tests/support/fake_model.h"

using namespace tg;
using namespace tg::test;

namespace {

const ChatUse& of(const CacheUse& use, const std::string& chat) {
  static const ChatUse none;
  for (const ChatUse& c : use.chats)
    if (c.sequence == chat) return c;
  return none;
}

void check_sums(const CacheUse& use) {
  TierUse ram = use.ram, disk = use.disk;
  std::uint64_t in_ram = ram.shared + ram.loose, on_disk = disk.shared + disk.loose;
  for (const ChatUse& c : use.chats) {
    in_ram += c.ram;
    on_disk += c.disk;
  }
  QCOMPARE(in_ram, ram.used);
  QCOMPARE(on_disk, disk.used);
  QVERIFY(ram.fixed <= ram.used && disk.fixed <= disk.used);
}

}  // namespace

class TestCacheUse : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void shared_pages_are_counted_once() {
    FakeEngine e;
    const auto head = tokens(256, 1);
    e.run("a", head + tokens(100, 2));
    e.run("b", head + tokens(70, 3));
    e.run("c", tokens(300, 4));
    const CacheUse use = e.engine->cache_use();
    check_sums(use);
    QCOMPARE(use.ram.shared, std::uint64_t{4 * kPageTokens * 8});
    QCOMPARE(of(use, "a").shared_pages, 4);
    QCOMPARE(of(use, "a").shared_tokens, 256);
    QCOMPARE(of(use, "a").shared_with, std::string("b"));
    QCOMPARE(of(use, "c").shared_pages, 0);
    QCOMPARE(of(use, "c").full_pages * use.page_tokens + of(use, "c").tail_tokens, e.engine->cache_state("c")->tokens);
    QVERIFY(!of(use, "a").keeps_part);
  }

  void evicting_frees_what_is_announced() {
    FakeEngine e;
    const auto head = tokens(256, 1);
    e.run("a", head + tokens(200, 2));
    e.run("a", head + tokens(150, 5));  // another version of the same chat
    e.run("b", head + tokens(70, 3));
    const CacheUse before = e.engine->cache_use();
    const std::uint64_t announced = of(before, "a").ram;
    QVERIFY(announced > 0);
    QVERIFY(e.engine->evict("a"));
    const CacheUse after = e.engine->cache_use();
    check_sums(after);
    QCOMPARE(before.ram.used - after.ram.used, announced);
  }

  void pinned_chats_may_not_leave() {
    FakeEngine e;
    e.run("a", tokens(200, 1));
    e.run("b", tokens(200, 2));
    QCOMPARE(e.engine->cache_use().ram.fixed, std::uint64_t{0});
    QVERIFY(e.engine->pin("a", true));
    QCOMPARE(e.engine->cache_use().ram.fixed, of(e.engine->cache_use(), "a").ram);
  }

  void where_a_turn_can_go_on() {
    FakeOptions recurrent;
    recurrent.recurrent = true;
    FakeEngine e(recurrent);
    e.run("a", tokens(200, 1));
    const ChatUse a = of(e.engine->cache_use(), "a");
    QVERIFY(a.keeps_part);
    QVERIFY(!a.restart.empty());
    for (const TokenSpan& s : a.restart) QVERIFY(s.first == s.last && s.last <= e.engine->cache_state("a")->tokens);
    FakeOptions window;
    window.window = 64;
    FakeEngine w(window);
    w.run("a", tokens(400, 1));
    QVERIFY(of(w.engine->cache_use(), "a").keeps_part);
    QCOMPARE(of(w.engine->cache_use(), "a").restart.back().last, w.engine->cache_state("a")->tokens);
  }

  void movements_are_heard() {
    QTemporaryDir dir(QString::fromStdString(scratch_template()));
    std::atomic<int> heard = 0;
    EngineOptions options;
    options.cache_dir = dir.path().toStdString() + "/cache";
    options.cache_changed = [&heard] { ++heard; };
    FakeEngine e({}, options);
    const auto hears = [&](const auto& act) {
      heard = 0;
      act();
      QTRY_VERIFY(heard > 0);
    };
    hears([&] { e.run("a", tokens(200, 1)); });
    hears([&] { QVERIFY(e.engine->pin("a", true)); });
    hears([&] { QVERIFY(e.engine->keep("a", Tier::disk)); });
    QTRY_COMPARE(e.engine->cache_state("a")->tier, Tier::disk);
    hears([&] { QVERIFY(e.engine->evict("a")); });
    hears([&] { e.engine->set_budget({0, 1000, 1000}); });
    check_sums(e.engine->cache_use());
  }
};

QTEST_APPLESS_MAIN(TestCacheUse)
#include "tst_cache_use.moc"
