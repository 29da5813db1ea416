// Turns through the whole engine on a toy model: cache on and off give the same answers, whatever the layer kinds.
#include <QTemporaryDir>
#include <QtTest>
#include <atomic>
#include <thread>

#include "tests/support/engine_checks.h"
#include "tests/support/fake_model.h"
#include "tests/support/model_kinds.h"

using namespace tg;
using namespace tg::test;

namespace {

// A step that takes its time.
void burn(std::chrono::steady_clock::duration time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {
  }
}

}  // namespace

class TestTurns : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void tenTurnsReuseAndAgree_data() { layer_kinds(); }
  void tenTurnsReuseAndAgree() {
    QFETCH(int, window);
    QFETCH(bool, recurrent);
    const FakeEngine e(options_of(window, recurrent));
    std::vector<TokenId> prompt = tokens(300, 1);
    int held = 0;
    for (int turn = 0; turn < 10; ++turn) {
      const TurnReport warm = e.run("a", prompt, 20), cold = e.cold("a", prompt, 20);
      SAME_ANSWER(warm, cold);
      QCOMPARE(cold.cache.outcome, std::string("disabled"));
      QCOMPARE(warm.input_cached, held);
      QCOMPARE(warm.input_total, warm.input_cached + warm.input_fresh);
      QCOMPARE(warm.cache.outcome, std::string(turn == 0 ? "cold" : "reused"));
      QCOMPARE(warm.cache.miss.cause, turn == 0 ? MissCause::first_turn : MissCause::none);
      QCOMPARE(warm.cache.from_ram, held);
      held = warm.kv_tokens;
      QCOMPARE(held, warm.input_total + warm.output - 1);
      prompt = prompt + warm.output_ids + tokens(30, 100 + static_cast<std::uint64_t>(turn));
      const auto ok = e.engine->check_integrity();
      QVERIFY2(ok, ok ? "" : ok.error().message.c_str());
    }
  }

  void regenerateIsWarm_data() { layer_kinds(); }
  void regenerateIsWarm() {
    QFETCH(int, window);
    QFETCH(bool, recurrent);
    const FakeEngine e(options_of(window, recurrent));
    const std::vector<TokenId> prompt = tokens(500, 2);
    e.run("a", prompt, 40);
    TurnRequest again = e.request("a", prompt, 40);
    again.sampling.temperature = 1;
    again.sampling.seed = 9;
    TurnRequest control = again;
    control.use_cache = false;
    const TurnReport warm = e.run(again);
    SAME_ANSWER(warm, e.run(control));
    QCOMPARE(warm.input_cached, 499);
    QCOMPARE(warm.cache.miss.cause, MissCause::none);
  }

  void editKeepsTheBeginning_data() { layer_kinds(); }
  void editKeepsTheBeginning() {
    QFETCH(int, window);
    QFETCH(bool, recurrent);
    const FakeEngine e(options_of(window, recurrent));
    TurnRequest first = e.request("a", tokens(150, 3) + tokens(400, 4));
    first.prompt.segments = {{SegmentKind::system, -1, "system", 0, 150}, {SegmentKind::new_text, 1, "user", 150, 550}};
    e.run(first);
    TurnRequest edited = first;
    edited.prompt.ids = tokens(150, 3) + tokens(400, 5);
    edited.change_hint = "edited";
    edited.change_message = 1;
    TurnRequest control = edited;
    control.use_cache = false;
    const TurnReport warm = e.run(edited);
    SAME_ANSWER(warm, e.run(control));
    QCOMPARE(warm.input_cached, 150);
    QCOMPARE(warm.cache.miss.cause, MissCause::prefix_changed);
    QCOMPARE(warm.cache.miss.at_token, 151);
    QCOMPARE(warm.cache.miss.detail, std::string("edited"));
    QCOMPARE(warm.cache.miss.where, std::string("message"));
    QCOMPARE(warm.cache.miss.message, 1);
    QVERIFY(!warm.cache.miss.was.empty() && warm.cache.miss.was != warm.cache.miss.is);
  }

  void anotherChatSharesTheSystemPrompt_data() { layer_kinds(); }
  void anotherChatSharesTheSystemPrompt() {
    QFETCH(int, window);
    QFETCH(bool, recurrent);
    const FakeEngine e(options_of(window, recurrent));
    const auto with_system = [&](const std::string& chat, std::uint64_t seed) {
      TurnRequest r = e.request(chat, tokens(200, 6) + tokens(90, seed));
      r.prompt.segments = {{SegmentKind::system, 0, "system", 0, 200}, {SegmentKind::new_text, 1, "user", 200, 290}};
      return r;
    };
    e.run(with_system("a", 7));
    TurnRequest control = with_system("b", 8);
    control.use_cache = false;
    const TurnReport b = e.run(with_system("b", 8));
    SAME_ANSWER(b, e.run(control));
    QCOMPARE(b.input_cached, 200);
    QCOMPARE(b.cache.outcome, std::string("reused"));
    const auto state = e.engine->cache_state("b");
    QVERIFY(state && state->shared_bytes > 0);
  }

  void alternatingChatsStayWarm() {
    const FakeEngine e;
    std::vector<TokenId> a = tokens(400, 10), b = tokens(400, 11);
    for (int round = 0; round < 10; ++round) {
      const TurnReport ra = e.run("a", a), rb = e.run("b", b);
      if (round > 0) QCOMPARE(ra.cache.outcome + rb.cache.outcome, std::string("reusedreused"));
      a = a + ra.output_ids + tokens(20, 12);
      b = b + rb.output_ids + tokens(20, 13);
    }
  }

  void chunkSizeAndNeighboursChangeNothing_data() { layer_kinds(); }
  void chunkSizeAndNeighboursChangeNothing() {
    QFETCH(int, window);
    QFETCH(bool, recurrent);
    const FakeEngine alone(options_of(window, recurrent));
    std::vector<TurnReport> expected;
    for (std::uint64_t chat = 0; chat < 6; ++chat) expected.push_back(alone.cold("x", tokens(100 + static_cast<int>(chat) * 70, chat), 30));
    LoadOptions load;
    load.chunk = 17;
    const FakeEngine together(options_of(window, recurrent), {}, load);
    std::vector<std::shared_ptr<Waiter>> waiters;
    for (std::uint64_t chat = 0; chat < 6; ++chat) {
      waiters.push_back(std::make_shared<Waiter>());
      together.engine->submit(together.request("chat" + std::to_string(chat), tokens(100 + static_cast<int>(chat) * 70, chat), 30), waiters.back());
    }
    double most = 0;
    for (std::size_t chat = 0; chat < 6; ++chat) {
      const TurnReport r = waiters[chat]->wait();
      SAME_ANSWER(r, expected[chat]);
      most = std::max(most, r.batch_mean);
    }
    QVERIFY(most > 1);
  }

  void stopWhileReadingKeepsWhatWasRead_data() { layer_kinds(); }
  void stopWhileReadingKeepsWhatWasRead() {
    QFETCH(int, window);
    QFETCH(bool, recurrent);
    const FakeEngine e(options_of(window, recurrent));
    const std::vector<TokenId> prompt = tokens(400, 20);
    e.engine->cancel_after("a", 200, 0);
    const TurnReport stopped = e.run("a", prompt);
    QCOMPARE(stopped.finish_reason, FinishReason::cancelled);
    QCOMPARE(stopped.output, 0);
    QCOMPARE(stopped.kv_tokens, 200);
    QVERIFY(stopped.stop_ms && *stopped.stop_ms < 200);
    const TurnReport again = e.run("a", prompt);
    SAME_ANSWER(again, e.cold("a", prompt));
    QCOMPARE(again.input_cached, 200);
    QCOMPARE(again.cache.miss.cause, MissCause::none);
  }

  void stopWhileWritingKeepsWhatWasWritten_data() { layer_kinds(); }
  void stopWhileWritingKeepsWhatWasWritten() {
    QFETCH(int, window);
    QFETCH(bool, recurrent);
    const FakeEngine e(options_of(window, recurrent));
    const std::vector<TokenId> prompt = tokens(130, 21);
    e.engine->cancel_after("a", 0, 5);
    const TurnReport stopped = e.run("a", prompt);
    QCOMPARE(stopped.finish_reason, FinishReason::cancelled);
    QCOMPARE(stopped.output, 5);
    const std::vector<TokenId> next = prompt + stopped.output_ids + tokens(10, 22);
    const TurnReport again = e.run("a", next);
    SAME_ANSWER(again, e.cold("a", next));
    QCOMPARE(again.input_cached, 134);
  }

  void aStepCutShortSpoilsNothing_data() { layer_kinds(); }
  void aStepCutShortSpoilsNothing() {
    QFETCH(int, window);
    QFETCH(bool, recurrent);
    FakeOptions fake = options_of(window, recurrent);
    std::mutex mutex;
    std::condition_variable entered;
    bool block = false, inside = false;
    fake.on_step = [&](std::span<const SequenceStep> steps, const CancelToken& cancel) {
      std::unique_lock lock(mutex);
      if (!block || steps.size() < 2) return;
      inside = true;
      entered.notify_all();
      while (!cancel.cancelled()) entered.wait_for(lock, std::chrono::milliseconds(1));
      block = false;
    };
    const FakeEngine e(fake);
    auto a = std::make_shared<Waiter>(), b = std::make_shared<Waiter>();
    const TurnId first = e.engine->submit(e.request("a", tokens(100, 23), 2000), a);
    QVERIFY(a->wait_until([](const Waiter& w) { return w.tokens.size() > 3; }));
    {
      const std::lock_guard lock(mutex);
      block = true;
    }
    e.engine->submit(e.request("b", tokens(150, 24), 100), b);
    {
      std::unique_lock lock(mutex);
      QVERIFY(entered.wait_for(lock, std::chrono::seconds(10), [&] { return inside; }));
    }
    e.engine->cancel(first);
    const TurnReport ra = a->wait(), rb = b->wait();
    QCOMPARE(ra.finish_reason, FinishReason::cancelled);
    SAME_ANSWER(rb, e.cold("x", tokens(150, 24), 100));
    const std::vector<TokenId> next = tokens(100, 23) + ra.output_ids + tokens(9, 25);
    SAME_ANSWER(e.run("a", next), e.cold("x", next));
    QVERIFY(e.engine->check_integrity());
  }

  void endOfTextIsCountedNotShown() {
    const FakeEngine e;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      TurnRequest r = e.request("a", tokens(10, seed), 40);
      r.ignore_eos = false;
      const TurnReport report = e.run(r);
      if (report.finish_reason != FinishReason::stop) continue;
      QCOMPARE(report.output_ids.back(), kEos);
      QCOMPARE(report.output, static_cast<int>(report.output_ids.size()));
      QVERIFY(report.text.find("<eos>") == std::string::npos);
      return;
    }
    QFAIL("no turn ended by itself");
  }

  void stopTextEndsTheTurn() {
    const FakeEngine e;
    const TurnReport whole = e.run("a", tokens(20, 40), 30);
    TurnRequest r = e.request("b", tokens(20, 40), 30);
    r.stop = {whole.text.substr(10, 3)};
    const TurnReport stopped = e.run(r);
    QCOMPARE(stopped.finish_reason, FinishReason::stop);
    QCOMPARE(stopped.text, whole.text.substr(0, whole.text.find(r.stop[0])));
    QVERIFY(stopped.output < 30 && stopped.output >= 3);
  }

  void limitsOfLengthAndContext() {
    FakeOptions fake;
    fake.context = 100;
    const FakeEngine e(fake);
    QCOMPARE(e.run("a", tokens(20, 41), 5).finish_reason, FinishReason::length);
    const TurnReport full = e.run("b", tokens(90, 41), 50);
    QCOMPARE(full.finish_reason, FinishReason::context_full);
    QCOMPARE(full.input_total + full.output, 100);
    const TurnReport refused = e.run("c", tokens(100, 41), 5);
    QCOMPARE(refused.finish_reason, FinishReason::error);
    QCOMPARE(refused.error.code, ErrorCode::does_not_fit);
    QCOMPARE(e.run("d", {}, 5).finish_reason, FinishReason::error);
    QCOMPARE(e.run("d", {5000}, 5).finish_reason, FinishReason::error);
  }

  void thinkingBudgetClosesTheBlock() {
    const FakeEngine e;
    TurnRequest r = e.request("a", tokens(20, 42) + std::vector<TokenId>{kThink}, 40);
    r.thinking.starts_inside = true;
    r.thinking.budget = 7;
    r.sampling.temperature = 1;
    const TurnReport report = e.run(r);
    const auto closing = std::find(report.output_ids.begin(), report.output_ids.end(), kEndThink);
    QVERIFY(closing != report.output_ids.end());
    QCOMPARE(closing - report.output_ids.begin(), std::ptrdiff_t{8});  // 7 thought, a forced newline, the marker
    QVERIFY(report.thinking >= 9 && report.thinking <= 11);
    QVERIFY(!report.text.empty());
    QCOMPARE(report.thinking_text.size(), std::size_t{7});
    // Forced tokens draw nothing: what follows is what the seed says for the 8th draw.
    TurnRequest drafting = r;
    drafting.speculation.kind = SpeculationOptions::Kind::ngram;
    drafting.use_cache = false;
    QCOMPARE(e.run(drafting).output_ids, report.output_ids);
  }

  void progressComesFirstAndGrows() {
    LoadOptions load;
    load.chunk = 50;
    const FakeEngine e({}, {}, load);
    auto w = std::make_shared<Waiter>();
    e.engine->submit(e.request("a", tokens(500, 43)), w);
    const TurnReport r = w->wait();
    QCOMPARE(r.passes, 10);
    QCOMPARE(w->progress.front().done, 0);
    QCOMPARE(w->progress.back().done, 500);
    QCOMPARE(w->progress.size(), std::size_t{11});
    QCOMPARE(w->tokens.size(), std::size_t{16});
    QVERIFY(r.ttft_ms >= r.queue_ms + r.restore_ms && r.total_ms >= r.ttft_ms);
  }

  // A machine that reads one token in half a millisecond: chunks are as long as the time between two figures allows.
  void progressIsToldTwiceASecond() {
    FakeOptions slow;
    slow.on_step = [](std::span<const SequenceStep> steps, const CancelToken&) { burn(std::chrono::microseconds(500) * steps.front().tokens.size()); };
    struct Told : Waiter {
      void reading(const TurnProgress& p) override {
        at.push_back(std::chrono::steady_clock::now());
        Waiter::reading(p);
      }
      std::vector<std::chrono::steady_clock::time_point> at;
    };
    const FakeEngine e(slow);
    e.run("a", tokens(300, 43), 1);
    auto w = std::make_shared<Told>();
    const auto sent = std::chrono::steady_clock::now();
    e.engine->submit(e.request("a", tokens(300, 43) + tokens(1500, 44), 1), w);
    w->wait();
    auto before = sent;
    for (const auto at : w->at) {
      QVERIFY(at - before < std::chrono::milliseconds(500));
      before = at;
    }
    QVERIFY(w->at.size() >= 4);
    for (std::size_t i = 0; i < w->progress.size(); ++i) {
      const TurnProgress& p = w->progress[i];
      QCOMPARE(p.total, 1800);
      QCOMPARE(p.cached, 300);
      QVERIFY(p.done >= p.cached && (i == 0 || (p.done > w->progress[i - 1].done && p.tokens_per_second > 0)));  // with these the time left
    }
  }

  void writingChatsAreNotStarvedByALongPrompt() {
    FakeOptions fake;
    std::atomic<int> reading_alone{0};
    fake.on_step = [&](std::span<const SequenceStep> steps, const CancelToken&) {
      if (steps.size() == 1 && steps[0].tokens.size() > 1) ++reading_alone;
    };
    LoadOptions load;
    load.chunk = 32;
    const FakeEngine e(fake, {}, load);
    auto writer = std::make_shared<Waiter>(), reader = std::make_shared<Waiter>();
    e.engine->submit(e.request("w", tokens(10, 44), 3000), writer);
    QVERIFY(writer->wait_until([](const Waiter& w) { return !w.tokens.empty(); }));
    reading_alone = 0;
    e.engine->submit(e.request("r", tokens(3200, 45), 1), reader);
    QCOMPARE(reader->wait().passes, 100);
    QCOMPARE(reading_alone.load(), 0);  // every chunk came with a row of the writer
    QCOMPARE(writer->wait().output, 3000);
  }

  void aChatsTurnsFollowOneAnother() {
    const FakeEngine e;
    auto first = std::make_shared<Waiter>(), second = std::make_shared<Waiter>();
    e.engine->submit(e.request("a", tokens(50, 46), 3000), first);
    e.engine->submit(e.request("a", tokens(50, 46), 20), second);
    QVERIFY(second->wait_until([](const Waiter& w) { return !w.positions.empty(); }));
    QCOMPARE(second->wait().output, 20);
    QVERIFY(first->done());
  }

  void unloadAndForgetInAnyPhaseAreSafe() {
    for (int round = 0; round < 30; ++round) {
      const FakeEngine e;
      auto a = std::make_shared<Waiter>(), b = std::make_shared<Waiter>(), c = std::make_shared<Waiter>();
      e.engine->submit(e.request("a", tokens(2000, 47), 5000), a);
      e.engine->submit(e.request("b", tokens(20 * round + 1, 48), 5000), b);
      if (round % 3 == 0) a->wait_until([](const Waiter& w) { return !w.progress.empty(); });
      if (round % 3 == 1) b->wait_until([](const Waiter& w) { return !w.tokens.empty(); });
      QVERIFY(e.engine->forget("a"));
      QCOMPARE(a->wait().finish_reason, FinishReason::cancelled);
      e.engine->unload(e.model);
      QCOMPARE(b->wait().finish_reason, FinishReason::cancelled);
      e.engine->submit(e.request("c", tokens(10, 49)), c);
      QCOMPARE(c->wait().finish_reason, FinishReason::error);
      QVERIFY(e.engine->check_integrity());
    }
  }

  // What the window does while chats answer: looks, asks for waits, moves caches. The thread sanitizer watches.
  void steeredFromAnotherThread() {
    const QTemporaryDir dir(QString::fromStdString(scratch_template()));
    const EngineOptions options{dir.path().toStdString() + "/cache", {0, 64 * kPageTokens * 8, 1U << 26U}, {1U << 20U, 1000}};
    std::vector<TurnReport> reports;
    {
      const FakeEngine e({}, options);
      std::atomic<bool> over{false};
      std::thread steering([&] {
        for (std::uint64_t i = 0; !over; ++i) {
          const std::string chat = i % 2 == 0 ? "a" : "b";
          static_cast<void>(e.engine->predict(e.model, chat, tokens(1200, 60)));
          static_cast<void>(e.engine->cache_states());
          static_cast<void>(e.engine->cache_use());
          static_cast<void>(e.engine->events(chat));
          static_cast<void>(e.engine->pin(chat, i % 3 == 0));
          static_cast<void>(e.engine->keep(chat, i % 5 < 3 ? Tier::disk : Tier::ram));
          static_cast<void>(e.engine->keep_on_close(chat, static_cast<KeepOnClose>(i % 3)));
          e.engine->prefetch(chat);
          e.engine->leave_idle(e.engine->cache_state(chat) ? e.engine->cache_state(chat)->last_use_ms + 5000 : 0);
          if (i % 11 == 0) static_cast<void>(e.engine->evict(chat));
          if (i % 17 == 0) e.engine->set_budget({0, (16 + i % 64) * kPageTokens * 8, 1U << 26U});
        }
      });
      for (int round = 0; round < 8; ++round) {
        auto a = std::make_shared<Waiter>(), b = std::make_shared<Waiter>();
        e.engine->submit(e.request("a", tokens(900 + 50 * round, 61), 40), a);
        e.engine->submit(e.request("b", tokens(700, 62 + static_cast<std::uint64_t>(round)), 40), b);
        reports.push_back(a->wait());
        reports.push_back(b->wait());
      }
      over = true;
      steering.join();
      INTEGRITY(e.engine);
    }
    const FakeEngine plain;
    for (int round = 0; round < 8; ++round) {
      SAME_ANSWER(reports[static_cast<std::size_t>(2 * round)], plain.cold("x", tokens(900 + 50 * round, 61), 40));
      SAME_ANSWER(reports[static_cast<std::size_t>(2 * round + 1)], plain.cold("x", tokens(700, 62 + static_cast<std::uint64_t>(round)), 40));
    }
  }

  void destroyedWhileTurnsRun() {
    auto w = std::make_shared<Waiter>();
    {
      const FakeEngine e;
      e.engine->submit(e.request("a", tokens(3000, 50), 5000), w);
    }
    QVERIFY(w->done());
    QCOMPARE(w->wait().finish_reason, FinishReason::cancelled);
  }

  void predictionFollowsWhatWasMeasured() {
    FakeOptions fake;
    fake.on_step = [](std::span<const SequenceStep> steps, const CancelToken&) {  // 20 us a token
      std::size_t n = 0;
      for (const auto& s : steps) n += s.tokens.size();
      burn(std::chrono::microseconds(20) * n);
    };
    const FakeEngine e(fake);
    const std::vector<TokenId> prompt = tokens(2000, 51);
    QVERIFY(!e.engine->predict(e.model, "a", prompt).ttft_ms);
    e.run("a", prompt, 1);
    const Prediction other = e.engine->predict(e.model, "b", tokens(1000, 52));
    QCOMPARE(other.cached, 0);
    QVERIFY(other.ttft_ms && *other.ttft_ms > 10 && *other.ttft_ms < 60);
    const Prediction again = e.engine->predict(e.model, "a", prompt);
    QCOMPARE(again.cached, 1999);
    QCOMPARE(again.fresh, 1);
    QCOMPARE(again.tier, Tier::ram);
  }
};

QTEST_GUILESS_MAIN(TestTurns)
#include "tst_turns.moc"
