// The sampling chain: order, ties, penalty windows, one draw per token.
#include <QtTest>
#include <cmath>
#include <map>

#include "engine/sampling/candidates.h"
#include "engine/sampling/random.h"
#include "engine/sampling/sampler.h"

using namespace tg;

namespace {

SamplingOptions plain() {
  SamplingOptions o;
  o.temperature = 1.0F;
  o.top_p = 1.0F;
  o.min_p = 0.0F;
  o.seed = 7;
  return o;
}

std::map<TokenId, int> drawn(const SamplingOptions& options, const std::vector<float>& logits, int n, std::vector<TokenId> history = {}) {
  SamplingOptions o = options;
  o.repeat_last_n = options.repeat_last_n;
  Sampler sampler(o, std::move(history));
  std::map<TokenId, int> counts;
  for (int i = 0; i < n; ++i) {
    std::vector<float> copy = logits;
    ++counts[sampler.sample(copy)];
  }
  return counts;
}

std::vector<float> logs(const std::vector<double>& probabilities) {
  std::vector<float> out;
  for (double p : probabilities) out.push_back(static_cast<float>(std::log(p)));
  return out;
}

}  // namespace

class TestSampler : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void greedyTakesLowestIdOfTies() {
    SamplingOptions o = plain();
    o.temperature = 0;
    std::vector<float> logits{1, 5, 5, NAN, 5};
    QCOMPARE(Sampler(o, {}).sample(logits), 1);
    std::vector<float> nan_first{NAN, -2, -1};
    QCOMPARE(Sampler(o, {}).sample(nan_first), 2);
  }

  void drawsFollowTheDistribution() {
    const auto counts = drawn(plain(), logs({0.5, 0.3, 0.2}), 20000);
    QVERIFY(std::abs(counts.at(0) / 20000.0 - 0.5) < 0.02);
    QVERIFY(std::abs(counts.at(1) / 20000.0 - 0.3) < 0.02);
    QVERIFY(std::abs(counts.at(2) / 20000.0 - 0.2) < 0.02);
  }

  void filtersKeepWhatTheyShould_data() {
    QTest::addColumn<int>("topK");
    QTest::addColumn<double>("typical");
    QTest::addColumn<double>("topP");
    QTest::addColumn<double>("minP");
    QTest::addColumn<QVector<int>>("kept");
    QTest::newRow("top-k 2") << 2 << 1.0 << 1.0 << 0.0 << QVector<int>{0, 1};
    QTest::newRow("top-p reaches exactly the mass") << 0 << 1.0 << 0.7 << 0.0 << QVector<int>{0, 1};
    QTest::newRow("top-p one token") << 0 << 1.0 << 0.3 << 0.0 << QVector<int>{0};
    QTest::newRow("top-p after top-k sees the smaller total") << 2 << 1.0 << 0.5 << 0.0 << QVector<int>{0};
    QTest::newRow("min-p") << 0 << 1.0 << 1.0 << 0.45 << QVector<int>{0, 1, 2};
    QTest::newRow("min-p 1 keeps the best") << 0 << 1.0 << 1.0 << 1.0 << QVector<int>{0};
    // Entropy 1.26 nats; -log p = 0.92, 1.14, 1.61, 2.53: the second token is the most typical, then the first.
    QTest::newRow("typical") << 0 << 0.3 << 1.0 << 0.0 << QVector<int>{1};
    QTest::newRow("typical, two") << 0 << 0.5 << 1.0 << 0.0 << QVector<int>{0, 1};
  }
  void filtersKeepWhatTheyShould() {
    QFETCH(int, topK);
    QFETCH(double, typical);
    QFETCH(double, topP);
    QFETCH(double, minP);
    QFETCH(QVector<int>, kept);
    SamplingOptions o = plain();
    o.top_k = topK;
    o.typical = static_cast<float>(typical);
    o.top_p = static_cast<float>(topP);
    o.min_p = static_cast<float>(minP);
    const auto counts = drawn(o, logs({0.40, 0.32, 0.20, 0.08}), 4000);
    QVector<int> seen;
    for (const auto& entry : counts) seen.push_back(entry.first);
    QCOMPARE(seen, kept);
  }

  void temperatureComesLast() {
    // Tempered first, min-p would keep both; last, it drops the second whatever the temperature.
    SamplingOptions o = plain();
    o.min_p = 0.5F;
    o.temperature = 100;
    QCOMPARE(drawn(o, logs({0.7, 0.3}), 500).size(), std::size_t{1});
  }

  void penaltiesComeBeforeTheFilters() {
    // Filtered first, top-k would leave the penalised token alone; penalised first, another one is the most likely.
    SamplingOptions o = plain();
    o.top_k = 1;
    o.presence_penalty = 2;
    Sampler sampler(o, {0});
    std::vector<float> logits{3, 2, 0};
    QCOMPARE(sampler.sample(logits), TokenId{1});
  }

  void topKComesBeforeTopP() {
    // Of all mass 0.4 + 0.2 reach 0.55 and of the two kept 0.4 alone does.
    SamplingOptions o = plain();
    o.top_p = 0.55F;
    const std::vector<float> logits = logs({0.4, 0.2, 0.2, 0.2});
    QCOMPARE(drawn(o, logits, 500).size(), std::size_t{2});
    o.top_k = 2;
    QCOMPARE(drawn(o, logits, 500).size(), std::size_t{1});
  }

  void topKTiesGoToTheLowestIds() {
    SamplingOptions o = plain();
    o.top_k = 2;
    const auto counts = drawn(o, {1, 1, 1, 1}, 500);
    QCOMPARE(counts.size(), std::size_t{2});
    QVERIFY(counts.count(0) == 1 && counts.count(1) == 1);
  }

  void oneDrawPerToken() {
    // The n-th token depends on the seed and n alone, whatever the chain left over.
    Random random(7);
    Sampler sampler(plain(), {});
    const std::vector<float> logits = logs({0.25, 0.25, 0.25, 0.25});
    for (int i = 0; i < 100; ++i) {
      std::vector<float> copy = logits;
      QCOMPARE(sampler.sample(copy), static_cast<TokenId>(random.uniform() * 4));
      sampler.accept(1);  // forced: no draw
    }
  }

  void greedyDrawsNothing() {
    SamplingOptions o = plain();
    o.temperature = 0;
    QCOMPARE(drawn(o, {0, 3, 1}, 10).at(1), 10);
  }

  void penaltyWindows_data() {
    QTest::addColumn<int>("lastN");
    QTest::addColumn<int>("winner");
    QTest::newRow("off") << 0 << 0;
    QTest::newRow("last 1 holds token 2 only") << 1 << 0;
    QTest::newRow("last 2 holds tokens 1 and 2") << 2 << 0;
    QTest::newRow("last 3 reaches token 0") << 3 << 3;
    QTest::newRow("whole context") << -1 << 3;
  }
  void penaltyWindows() {
    QFETCH(int, lastN);
    QFETCH(int, winner);
    SamplingOptions o = plain();
    o.temperature = 0;
    o.repeat_penalty = 2;
    o.repeat_last_n = lastN;
    std::vector<float> logits{4, 3.5F, 3.2F, 3};
    QCOMPARE(Sampler(o, {0, 1, 2}).sample(logits), winner);
  }

  void windowMovesWithEachToken() {
    SamplingOptions o = plain();
    o.temperature = 0;
    o.presence_penalty = 10;
    o.repeat_last_n = 2;
    Sampler sampler(o, {});
    std::vector<TokenId> out;
    for (int i = 0; i < 6; ++i) {
      std::vector<float> logits{3, 2, 1};
      out.push_back(sampler.sample(logits));
    }
    QCOMPARE(out, (std::vector<TokenId>{0, 1, 2, 0, 1, 2}));
  }

  void penaltyArithmetic() {
    SamplingOptions o = plain();
    o.temperature = 0;
    o.repeat_penalty = 2;
    o.presence_penalty = 0.5F;
    o.frequency_penalty = 0.25F;
    std::vector<float> logits{4, -1, 9, 0};
    Sampler(o, {0, 0, 1}).sample(logits);
    QCOMPARE(logits[0], 4 / 2.0F - 0.25F * 2 - 0.5F);
    QCOMPARE(logits[1], -1 * 2.0F - 0.25F - 0.5F);
    QCOMPARE(logits[3], 0.0F);
  }

  void sameSeedSameStream() {
    std::vector<float> logits(5000);
    Random random(3);
    for (float& l : logits) l = static_cast<float>(random.uniform() * 8);
    SamplingOptions o;
    o.seed = 42;
    QVERIFY(drawn(o, logits, 300) == drawn(o, logits, 300));
    o.seed = 43;
    SamplingOptions random_seed;
    QVERIFY(Sampler(random_seed, {}).seed() != 0);
  }

  void impossibleLogitsGiveAToken() {
    std::vector<float> none(4, -INFINITY);
    QCOMPARE(Sampler(plain(), {}).sample(none), 0);
    std::vector<float> infinite{0, INFINITY, 0};
    QCOMPARE(Sampler(plain(), {}).sample(infinite), 1);
  }

  void lazySortEqualsFullSort() {
    Random random(11);
    std::vector<float> logits(3000);
    for (float& l : logits) l = static_cast<float>(static_cast<int>(random.uniform() * 50));  // many ties
    Candidates c;
    c.assign(logits);
    std::vector<TokenId> ids(logits.size());
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<TokenId>(i);
    std::stable_sort(ids.begin(), ids.end(), [&](TokenId a, TokenId b) { return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)]; });
    for (std::size_t i = 0; i < ids.size(); ++i) QCOMPARE(c[i].id, ids[i]);
  }
};

QTEST_GUILESS_MAIN(TestSampler)
#include "tst_sampler.moc"
