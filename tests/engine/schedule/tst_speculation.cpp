// Speculative decoding gives the tokens that plain decoding gives, greedy and sampled, whatever the layer kinds of target and draft.
#include <QtTest>
#include <atomic>

#include "tests/support/engine_checks.h"
#include "tests/support/fake_model.h"
#include "tests/support/model_kinds.h"

using namespace tg;
using namespace tg::test;

class TestSpeculation : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void speculationGivesTheSameTokens_data() { layer_kinds(); }
  void speculationGivesTheSameTokens() {
    QFETCH(int, window);
    QFETCH(bool, recurrent);
    FakeOptions fake = options_of(window, recurrent);
    fake.repeats = true;
    const FakeEngine e(fake);
    for (const float temperature : {0.0F, 0.3F}) {
      TurnRequest plain = e.request("a", tokens(120, 30), 900);
      plain.sampling.temperature = temperature;
      plain.sampling.repeat_penalty = temperature > 0 ? 1.05F : 1.0F;
      plain.use_cache = false;
      TurnRequest drafting = plain;
      drafting.speculation.kind = SpeculationOptions::Kind::ngram;
      const TurnReport r = e.run(drafting);
      SAME_ANSWER(r, e.run(plain));
      QVERIFY(r.drafted > 0);
      if (temperature == 0.0F) QVERIFY(r.accepted > 0);
      QVERIFY(r.accepted <= r.drafted);
    }
  }

  void aDraftModelChangesNothing_data() { layer_kinds(); }
  void aDraftModelChangesNothing() {
    QFETCH(int, window);
    QFETCH(bool, recurrent);
    FakeOptions fake = options_of(window, recurrent);
    const auto small = fake_loader(options_of(100, false)), same = fake_loader(fake);
    // "draft" answers unlike the target (no draft is met), "model" and "twin" alike (all are).
    const auto engine = make_engine({}, [&](const std::string& path, const LoadOptions& load, const auto& progress, const CancelToken& cancel) {
      return path == "draft" ? small(path, load, progress, cancel) : same(path, load, progress, cancel);
    });
    const ModelHandle model = *engine->load("model", {}, {}, {});
    const auto run = [&](const ModelHandle& draft, float temperature) {
      TurnRequest r;
      r.model = model;
      r.sequence = "a";
      r.prompt.ids = tokens(400, 31);
      r.max_tokens = 60;
      r.ignore_eos = r.logits_sha = true;
      r.use_cache = false;
      r.sampling.temperature = temperature;
      r.sampling.seed = 5;
      if (draft) r.speculation = {SpeculationOptions::Kind::draft, draft, 5};
      auto waiter = std::make_shared<Waiter>();
      engine->submit(std::move(r), waiter);
      return waiter->wait();
    };
    const ModelHandle draft = *engine->load("draft", {}, {}, {}), twin = *engine->load("twin", {}, {}, {});
    for (const float temperature : {0.0F, 1.0F}) {
      const TurnReport plain = run(nullptr, temperature), drafted = run(draft, temperature), twinned = run(twin, temperature);
      SAME_ANSWER(drafted, plain);
      SAME_ANSWER(twinned, plain);
      QVERIFY(drafted.drafted > 0);
      if (temperature > 0) continue;
      QVERIFY(twinned.accepted > 30);
      QVERIFY(twinned.accepted >= twinned.drafted - 5);
    }
    engine->unload(draft);
    QCOMPARE(run(draft, 0).finish_reason, FinishReason::error);
  }

  void aDraftModelKeepsItsCache_data() { layer_kinds(); }
  void aDraftModelKeepsItsCache() {
    QFETCH(int, window);
    QFETCH(bool, recurrent);
    FakeOptions fake = options_of(window, recurrent), second = fake;
    std::atomic<int> read{0};
    second.on_step = [&](std::span<const SequenceStep> steps, const CancelToken&) { read += static_cast<int>(steps.front().tokens.size()); };
    const auto target = fake_loader(fake), drafts = fake_loader(second);
    const auto engine = make_engine({}, [&](const std::string& path, const LoadOptions& load, const auto& progress, const CancelToken& cancel) {
      return path == "draft" ? drafts(path, load, progress, cancel) : target(path, load, progress, cancel);
    });
    const ModelHandle model = *engine->load("model", {}, {}, {}), draft = *engine->load("draft", {}, {}, {});
    std::vector<TokenId> prompt = tokens(600, 32);
    for (int turn = 0; turn < 3; ++turn) {
      read = 0;
      TurnRequest r;
      r.model = model;
      r.sequence = "a";
      r.prompt.ids = prompt;
      r.max_tokens = 20;
      r.ignore_eos = r.logits_sha = true;
      r.sampling.temperature = 0;
      r.speculation = {SpeculationOptions::Kind::draft, draft, 4};
      auto waiter = std::make_shared<Waiter>();
      engine->submit(r, waiter);
      const TurnReport report = waiter->wait();
      QVERIFY(report.drafted > 0);
      if (turn > 0) QVERIFY2(read < 250, qPrintable(QString::number(read)));  // 60 new tokens of the text, the rest is drafts
      else QVERIFY(read >= 600);
      INTEGRITY(engine);
      QCOMPARE(engine->cache_states().size(), std::size_t{1});  // it is no chat
      prompt = prompt + report.output_ids + tokens(40, 33 + static_cast<std::uint64_t>(turn));
    }
  }
};

QTEST_GUILESS_MAIN(TestSpeculation)
#include "tst_speculation.moc"
