// Where a chat's cache is and why: restart, budgets, pins, eviction, settings. Every answer equals the one without cache.
#include <QTemporaryDir>
#include <QtTest>

#include "engine/cache/kv_cache.h"
#include "tests/support/cache_files.h"
#include "tests/support/engine_checks.h"
#include "tests/support/fake_model.h"
#include "tests/support/model_kinds.h"

using namespace tg;
using namespace tg::test;

namespace {

constexpr std::uint64_t kPage = kPageTokens * 8;  // bytes of a page of the toy model

}  // namespace

class TestCacheTiers : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void restartIsWarmFromDisk_data() { layer_kinds(); }
  void restartIsWarmFromDisk() {
    QFETCH(int, window);
    QFETCH(bool, recurrent);
    const QTemporaryDir dir(scratch());
    std::vector<TokenId> prompt = tokens(700, 1);
    int held = 0;
    for (int turn = 0; turn < 4; ++turn) {
      const FakeEngine e(options_of(window, recurrent), on_disk(dir));
      if (turn > 0) {
        const auto state = e.engine->cache_state("a");
        QVERIFY(state);
        QCOMPARE(state->tokens, held);
        QCOMPARE(state->tier, Tier::disk);
        const Prediction p = e.engine->predict(e.model, "a", prompt);
        QCOMPARE(p.cached, held);
        QCOMPARE(p.tier, Tier::disk);
      }
      const TurnReport warm = e.run("a", prompt);
      SAME_ANSWER(warm, e.cold("a", prompt));
      QCOMPARE(warm.input_cached, held);
      QCOMPARE(warm.cache.from_disk, held);
      QCOMPARE(warm.cache.miss.cause, turn == 0 ? MissCause::first_turn : MissCause::none);
      INTEGRITY(e.engine);
      held = warm.kv_tokens;
      prompt = prompt + warm.output_ids + tokens(40, 2 + static_cast<std::uint64_t>(turn));
    }
  }

  void filesAreSharedSmallAndPrivate() {
    const QTemporaryDir dir(scratch());
    {
      const FakeEngine e({}, on_disk(dir));
      e.run("a", tokens(640, 3) + tokens(64, 4), 1);
      e.run("b", tokens(640, 3) + tokens(64, 5), 1);
    }
    const QStringList pages = files(dir, QStringLiteral("page"));
    QCOMPARE(pages.size(), 12);  // ten shared, one of each chat
    QCOMPARE(files(dir, QStringLiteral("chat")).size(), 2);
    for (const QString& page : pages) QCOMPARE(QFile::permissions(page) & (QFile::ReadGroup | QFile::ReadOther | QFile::WriteOther), QFile::Permissions());
    QVERIFY(files(dir, QStringLiteral("tmp")).isEmpty());
  }

  void forgottenChatLeavesNoFiles() {
    const QTemporaryDir dir(scratch());
    const FakeEngine e({}, on_disk(dir));
    e.run("a", tokens(300, 6));
    e.run("b", tokens(300, 7));
    QVERIFY(e.engine->forget("a"));
    QTRY_VERIFY(!e.engine->cache_state("a"));
    INTEGRITY(e.engine);  // waits for the files
    QCOMPARE(files(dir, QStringLiteral("chat")).size(), 1);
    QCOMPARE(files(dir, QStringLiteral("page")).size(), 5);
    QVERIFY(e.engine->forget("b"));
    QTRY_VERIFY(!e.engine->cache_state("b"));
    INTEGRITY(e.engine);
    QVERIFY(files(dir, QStringLiteral("page")).isEmpty());
  }

  void evictionByTheUserIsNamed_data() { layer_kinds(); }
  void evictionByTheUserIsNamed() {
    QFETCH(int, window);
    QFETCH(bool, recurrent);
    const QTemporaryDir dir(scratch());
    const std::vector<TokenId> prompt = tokens(300, 8);
    {
      const FakeEngine e(options_of(window, recurrent), on_disk(dir));
      e.run("a", prompt);
      QVERIFY(e.engine->evict("a"));
      QCOMPARE(e.engine->cache_state("a")->tokens, 0);
      QCOMPARE(e.engine->events("a").back().reason, std::string("dropped_user"));
      INTEGRITY(e.engine);
    }
    const FakeEngine e(options_of(window, recurrent), on_disk(dir));  // remembered over a restart
    const TurnReport r = e.run("a", prompt);
    QCOMPARE(r.input_cached, 0);
    QCOMPARE(r.cache.outcome, std::string("cold"));
    QCOMPARE(r.cache.reusable, 299);
    QCOMPARE(r.cache.miss.cause, MissCause::evicted);
    QCOMPARE(r.cache.miss.evicted_by, std::string("user"));
    QVERIFY(r.cache.miss.when.size() == 20 && r.cache.miss.when.ends_with("Z"));
  }

  void evictionKeepsWhatOthersUse() {
    const FakeEngine e;
    e.run("a", tokens(256, 9) + tokens(100, 10));
    e.run("b", tokens(256, 9) + tokens(100, 11));
    QVERIFY(e.engine->evict("a"));
    const TurnReport a = e.run("a", tokens(256, 9) + tokens(100, 10));
    QCOMPARE(a.input_cached, 256);
    QCOMPARE(a.cache.outcome, std::string("partial"));
    QCOMPARE(a.cache.miss.cause, MissCause::evicted);
    QCOMPARE(e.run("b", tokens(256, 9) + tokens(100, 11)).input_cached, 355);
  }

  void tightMemoryMovesTheOldestToDisk() {
    const QTemporaryDir dir(scratch());
    const FakeEngine e({}, on_disk(dir, {0, 12 * kPage, 1U << 26U}));
    const std::vector<TokenId> a = tokens(500, 12), b = tokens(500, 13);
    e.run("a", a);
    e.run("b", b);
    QTRY_COMPARE(e.engine->cache_state("a")->tier, Tier::disk);
    QCOMPARE(e.engine->events("a").back().reason, std::string("moved_budget:b"));
    const TurnReport r = e.run("a", a);
    QCOMPARE(r.input_cached, 499);
    QVERIFY(r.cache.from_disk > 0);
    SAME_ANSWER(r, e.cold("x", a));
    INTEGRITY(e.engine);
  }

  void tightMemoryWithoutDiskDropsTailFirst() {
    FakeEngine e({}, EngineOptions{{}, {0, 12 * kPage, 0}, {}});
    const std::vector<TokenId> a = tokens(500, 14);
    e.run("a", a);
    e.run("b", tokens(500, 15));
    const TurnReport r = e.run("a", a);
    QVERIFY(r.input_cached < 499);
    QCOMPARE(r.input_cached % kPageTokens, 0);  // the beginning stayed
    QCOMPARE(r.cache.miss.cause, MissCause::evicted);
    QCOMPARE(r.cache.miss.evicted_by, std::string("budget"));
    QCOMPARE(r.cache.miss.by_chat, std::string("b"));
    QCOMPARE(r.cache.miss.tier, std::string("ram"));
    SAME_ANSWER(r, e.cold("x", a));
    INTEGRITY(e.engine);
  }

  void pinnedChatsStay() {
    FakeEngine e({}, EngineOptions{{}, {0, 12 * kPage, 0}, {}});
    const std::vector<TokenId> a = tokens(500, 16);
    e.run("a", a);
    QVERIFY(e.engine->pin("a", true));
    for (std::uint64_t i = 0; i < 4; ++i) e.run("b", tokens(500, 17 + i));
    QCOMPARE(e.run("a", a).input_cached, 499);
    QVERIFY(e.engine->cache_state("a")->pinned);
    QVERIFY(e.engine->pin("a", false));
    for (std::uint64_t i = 0; i < 4; ++i) e.run("b", tokens(500, 27 + i));
    QVERIFY(e.run("a", a).input_cached < 499);
    INTEGRITY(e.engine);
  }

  void aChatIsPinnedBeforeItHoldsAnything() {
    const QTemporaryDir dir(scratch());
    {
      const FakeEngine e({}, on_disk(dir));
      QVERIFY(e.engine->pin("a", true));
      QVERIFY(e.engine->evict("b"));
      INTEGRITY(e.engine);
    }
    const FakeEngine e({}, on_disk(dir, {0, 12 * kPage, 0}));
    const TurnReport r = e.run("a", tokens(500, 42));
    QCOMPARE(r.cache.miss.cause, MissCause::first_turn);
    for (std::uint64_t i = 0; i < 4; ++i) e.run("b", tokens(500, 43 + i));
    QCOMPARE(e.run("a", tokens(500, 42)).input_cached, 499);
  }

  void smallDiskDropsTheOldest() {
    const QTemporaryDir dir(scratch());
    const FakeEngine e({}, on_disk(dir, {0, 9 * kPage, 20 * kPage}));
    for (std::uint64_t i = 0; i < 4; ++i) {
      e.run("chat" + std::to_string(i), tokens(500, 31 + i));
      INTEGRITY(e.engine);
    }
    QTRY_COMPARE(files(dir, QStringLiteral("page")).size(), 20);  // all is written, the oldest pages made room
    const TurnReport r = e.run("chat0", tokens(500, 31));
    QCOMPARE(r.cache.miss.cause, MissCause::evicted);
    QCOMPARE(r.cache.miss.tier, std::string("disk"));
    QCOMPARE(e.run("chat3", tokens(500, 34)).input_cached, 499);
    INTEGRITY(e.engine);
  }

  void aBudgetSetLowTakesEffectAtOnce() {
    const FakeEngine e;
    e.run("a", tokens(500, 40));
    e.engine->set_budget({0, 2 * kPage, 0});
    const CacheState s = *e.engine->cache_state("a");
    QVERIFY(s.bytes <= 2 * kPage);
    QCOMPARE(e.run("a", tokens(500, 40)).cache.miss.evicted_by, std::string("budget"));
  }

  void keepMovesBetweenTiers() {
    const QTemporaryDir dir(scratch());
    const FakeEngine e({}, on_disk(dir));
    e.run("a", tokens(300, 41));
    QVERIFY(e.engine->keep("a", Tier::disk));
    QTRY_COMPARE(e.engine->cache_state("a")->tier, Tier::disk);
    QVERIFY(e.engine->keep("a", Tier::ram));
    QTRY_COMPARE(e.engine->cache_state("a")->tier, Tier::ram);
    QCOMPARE(e.engine->cache_state("a")->reason, std::string("kept"));
    QVERIFY(!e.engine->keep("a", Tier::gpu));
    QVERIFY(!e.engine->keep("nobody", Tier::ram));
    QCOMPARE(e.run("a", tokens(300, 41)).input_cached, 299);
    INTEGRITY(e.engine);
  }

  void prefetchReadsWhileTheUserTypes_data() { layer_kinds(); }
  void prefetchReadsWhileTheUserTypes() {
    QFETCH(int, window);
    QFETCH(bool, recurrent);
    const QTemporaryDir dir(scratch());
    const std::vector<TokenId> a = tokens(700, 36);
    TurnReport first;
    {
      const FakeEngine e(options_of(window, recurrent), on_disk(dir));
      first = e.run("a", a);
    }
    FakeEngine e(options_of(window, recurrent), on_disk(dir));
    e.engine->prefetch("a");
    INTEGRITY(e.engine);
    const TurnReport r = e.run("a", a + first.output_ids + tokens(30, 37));
    QCOMPARE(r.input_cached, first.kv_tokens);
    QCOMPARE(r.cache.from_disk, 0);
    QCOMPARE(r.cache.from_ram, first.kv_tokens);
    SAME_ANSWER(r, e.cold("x", a + first.output_ids + tokens(30, 37)));
  }

  void prefetchWaitsForTheModel() {
    const QTemporaryDir dir(scratch());
    FakeEngine e({}, on_disk(dir));
    e.run("a", tokens(500, 38));
    e.engine->unload(e.model);
    QTRY_COMPARE(e.engine->cache_state("a")->tier, Tier::disk);
    e.engine->prefetch("a");
    e.engine->prefetch("no such chat");
    e.engine->prefetch("a");
    e.model = *e.engine->load("model", {}, {}, {});
    QTRY_COMPARE(e.engine->cache_state("a")->tier, Tier::ram);
    INTEGRITY(e.engine);
  }

  void prefetchMovesNobody() {
    const QTemporaryDir dir(scratch());
    const FakeEngine e({}, on_disk(dir, {0, 12 * kPage, 1U << 26U}));
    e.run("a", tokens(500, 39));
    e.run("b", tokens(500, 41));
    QTRY_COMPARE(e.engine->cache_state("a")->tier, Tier::disk);
    e.engine->prefetch("a");
    INTEGRITY(e.engine);
    QCOMPARE(e.engine->cache_state("b")->tier, Tier::ram);
    QCOMPARE(e.run("b", tokens(500, 41)).cache.from_ram, 499);
  }

  void otherKvTypeIsNamed() {
    FakeEngine e;
    e.run("a", tokens(300, 42));
    LoadOptions load;
    load.k_type = load.v_type = KvType::q8_0;
    e.model = *e.engine->load("model", load, {}, {});
    const TurnReport r = e.run("a", tokens(300, 42));
    QCOMPARE(r.input_cached, 0);
    QCOMPARE(r.cache.miss.cause, MissCause::settings_changed);
    QCOMPARE(r.cache.miss.setting, std::string("kv_type"));
    QCOMPARE(r.cache.miss.from, std::string("f16"));
    QCOMPARE(r.cache.miss.to, std::string("q8_0"));
  }

  void otherModelNeverServes() {
    FakeEngine e;
    e.run("a", tokens(300, 43));
    e.model = *e.engine->load("other", {}, {}, {});
    const TurnReport r = e.run("a", tokens(300, 43));
    QCOMPARE(r.input_cached, 0);
    QCOMPARE(r.cache.miss.cause, MissCause::settings_changed);
    QCOMPARE(r.cache.miss.setting, std::string("model"));
  }

  void unloadWithoutDiskIsNamed() {
    FakeEngine e;
    e.run("a", tokens(300, 44));
    e.engine->unload(e.model);
    QTRY_COMPARE(e.engine->cache_state("a")->tokens, 0);
    e.model = *e.engine->load("model", {}, {}, {});
    const TurnReport r = e.run("a", tokens(300, 44));
    QCOMPARE(r.cache.miss.cause, MissCause::model_reloaded);
  }

  void unloadWithDiskStaysWarm() {
    const QTemporaryDir dir(scratch());
    FakeEngine e({}, on_disk(dir));
    e.run("a", tokens(300, 45));
    e.engine->unload(e.model);
    QTRY_COMPARE(e.engine->cache_state("a")->tier, Tier::disk);
    e.model = *e.engine->load("model", {}, {}, {});
    const TurnReport r = e.run("a", tokens(300, 45));
    QCOMPARE(r.input_cached, 299);
    QVERIFY(r.cache.from_disk > 0);
  }

  void windowBoundaryIsNamed() {
    FakeOptions fake = options_of(0, true);
    const FakeEngine e(fake);
    e.run("a", tokens(300, 46), 1);
    // A shorter prompt: its pages are there, but no state at its end.
    std::vector<TokenId> shorter = tokens(300, 46);
    shorter.resize(200);
    const TurnReport r = e.run("a", shorter);
    QCOMPARE(r.input_cached, 0);
    QCOMPARE(r.cache.miss.cause, MissCause::window_boundary);
    QCOMPARE(r.cache.reusable, 199);
  }

  void changedPrefixSaysWhereAndWhat() {
    const FakeEngine e;
    std::vector<TokenId> prompt = e.model->tokenizer->encode("You are a weather station. It is Monday. What is the weather?", {});
    TurnRequest r = e.request("a", prompt);
    r.prompt.segments = {{SegmentKind::system, 0, "system", 0, 41}, {SegmentKind::new_text, 1, "user", 41, static_cast<int>(prompt.size())}};
    e.run(r);
    r.prompt.ids = e.model->tokenizer->encode("You are a weather station. It is Sunday. What is the weather?", {});
    const CacheReport c = e.run(r).cache;
    QCOMPARE(c.miss.cause, MissCause::prefix_changed);
    QCOMPARE(c.miss.at_token, 34);
    QCOMPARE(c.reused, 33);
    QVERIFY(QString::fromStdString(c.miss.was).startsWith(QLatin1String("Monday")));
    QVERIFY(QString::fromStdString(c.miss.is).startsWith(QLatin1String("Sunday")));
    QCOMPARE(c.miss.where, std::string("system"));
  }

  void forkIsWarmAndShared_data() { layer_kinds(); }
  void forkIsWarmAndShared() {
    QFETCH(int, window);
    QFETCH(bool, recurrent);
    const FakeEngine e(options_of(window, recurrent));
    const TurnReport a = e.run("a", tokens(300, 47));
    e.engine->fork("a", "b");
    QCOMPARE(e.engine->cache_state("b")->tokens, a.kv_tokens);
    QCOMPARE(e.engine->cache_state("b")->shared_bytes, e.engine->cache_state("b")->bytes);
    const std::vector<TokenId> next = tokens(300, 47) + a.output_ids + tokens(20, 48);
    const TurnReport b = e.run("b", next);
    QCOMPARE(b.input_cached, a.kv_tokens);
    SAME_ANSWER(b, e.cold("x", next));
    const std::vector<TokenId> other = tokens(300, 47) + a.output_ids + tokens(20, 49);
    const TurnReport again = e.run("a", other);
    QVERIFY(again.input_cached >= a.kv_tokens);
    SAME_ANSWER(again, e.cold("x", other));
    INTEGRITY(e.engine);
  }
};

QTEST_GUILESS_MAIN(TestCacheTiers)
#include "tst_cache_tiers.moc"
