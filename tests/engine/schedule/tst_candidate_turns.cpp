// Turns whose steps hand candidates to the sampler write what turns do that see every logit (asking for the logits' hash makes them see all).
#include <QtTest>

#include "tests/support/fake_model.h"
#include "tests/support/model_kinds.h"

using namespace tg;
using namespace tg::test;

namespace {

struct Chain {
  const char* name;
  float temperature;
  int top_k;
  float top_p, min_p, repeat_penalty, typical;
};
constexpr Chain kChains[] = {{"greedy", 0, 0, 1, 0, 1, 1},          {"defaults", 0.7F, 0, 0.95F, 0.05F, 1, 1}, {"top-k", 1, 40, 0.9F, 0, 1, 1},
                             {"top-p", 1, 0, 0.8F, 0, 1, 1},         {"everything", 1, 0, 1, 0, 1, 1},          {"penalty", 0.8F, 20, 0.95F, 0.05F, 1.2F, 1},
                             {"typical", 0.8F, 0, 0.95F, 0.05F, 1, 0.9F}};

}  // namespace

class TestCandidateTurns : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void sameAnswers_data() { layer_kinds(); }
  void sameAnswers() {
    QFETCH(int, window);
    QFETCH(bool, recurrent);
    FakeOptions options = options_of(window, recurrent);
    for (const bool repeats : {false, true}) {
      options.repeats = repeats;  // drafts are met
      const FakeEngine e(options);
      for (const Chain& chain : kChains) {
        for (const bool drafts : {false, true}) {
          TurnRequest r = e.request("a", tokens(90, 1), 24);
          r.sampling.temperature = chain.temperature;
          r.sampling.top_k = chain.top_k;
          r.sampling.top_p = chain.top_p;
          r.sampling.min_p = chain.min_p;
          r.sampling.repeat_penalty = chain.repeat_penalty;
          r.sampling.typical = chain.typical;
          r.sampling.seed = 5;
          if (drafts) r.speculation.kind = SpeculationOptions::Kind::ngram;
          TurnRequest short_way = r;
          short_way.logits_sha = false;
          const TurnReport all = e.run(r), candidates = e.run(short_way);
          QVERIFY2(candidates.error.message.empty(), candidates.error.message.c_str());
          QVERIFY2(all.output_ids == candidates.output_ids, chain.name);
          QVERIFY(!all.logits_sha.empty() && candidates.logits_sha.empty());
        }
      }
    }
  }

  // In one batch: some see candidates, some every logit, one reads its prompt.
  void sideBySide() {
    const FakeEngine e;
    std::vector<TurnRequest> requests;
    for (int i = 0; i < 4; ++i) {
      TurnRequest r = e.request("chat " + std::to_string(i), tokens(60 + 100 * i, 20 + static_cast<std::uint64_t>(i)), 30);
      r.sampling.temperature = i % 2 == 0 ? 0.0F : 0.9F;
      r.sampling.seed = 9;
      r.logits_sha = i == 1 || i == 2;
      requests.push_back(r);
    }
    std::vector<std::shared_ptr<Waiter>> waiters;
    for (const TurnRequest& r : requests) e.engine->submit(r, waiters.emplace_back(std::make_shared<Waiter>()));
    std::vector<TurnReport> together;
    for (const auto& waiter : waiters) together.push_back(waiter->wait());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      TurnRequest alone = requests[i];
      alone.logits_sha = !alone.logits_sha;
      alone.use_cache = false;
      QCOMPARE(e.run(alone).output_ids, together[i].output_ids);
    }
  }
};

QTEST_GUILESS_MAIN(TestCandidateTurns)
#include "tst_candidate_turns.moc"
