// The short path (a sampler that sees candidates) and the long one (the whole row) choose the same token, whatever the chain.
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "engine/sampling/random.h"
#include "engine/sampling/sampler.h"

using namespace tg;

namespace {

SamplingOptions chain(float temperature, int top_k, float top_p, float min_p) {
  SamplingOptions o;
  o.temperature = temperature;
  o.top_k = top_k;
  o.top_p = top_p;
  o.min_p = min_p;
  o.seed = 11;
  return o;
}

// Rounded to LEVELS values a unit: few make many ties.
std::vector<float> row(int n, Random& random, float spread, float levels) {
  std::vector<float> logits(static_cast<std::size_t>(n));
  for (float& x : logits) {
    const double gauss = std::sqrt(-2 * std::log(1 - random.uniform())) * std::cos(6.283185307 * random.uniform());
    x = std::round(static_cast<float>(gauss) * spread * levels) / levels;
  }
  return logits;
}

}  // namespace

class TestCandidatePaths : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void sameTokens_data() {
    QTest::addColumn<float>("temperature");
    QTest::addColumn<int>("top_k");
    QTest::addColumn<float>("top_p");
    QTest::addColumn<float>("min_p");
    QTest::newRow("greedy") << 0.0F << 0 << 1.0F << 0.0F;
    QTest::newRow("greedy, filters are no matter") << 0.0F << 40 << 0.9F << 0.05F;
    QTest::newRow("defaults") << 0.7F << 0 << 0.95F << 0.05F;
    QTest::newRow("hot") << 1.5F << 0 << 0.95F << 0.02F;
    QTest::newRow("top-k") << 1.0F << 40 << 1.0F << 0.0F;
    QTest::newRow("top-k of one") << 1.0F << 1 << 1.0F << 0.0F;
    QTest::newRow("top-k, top-p, min-p") << 0.8F << 64 << 0.9F << 0.1F;
    QTest::newRow("min-p") << 1.0F << 0 << 1.0F << 0.1F;
    QTest::newRow("min-p of one") << 1.0F << 0 << 1.0F << 1.0F;
    QTest::newRow("top-p") << 1.0F << 0 << 0.8F << 0.0F;
    QTest::newRow("top-p of nearly all") << 1.0F << 0 << 0.999F << 0.0F;
    QTest::newRow("top-p of nothing") << 1.0F << 0 << 0.0F << 0.0F;
  }
  void sameTokens() {
    QFETCH(float, temperature);
    QFETCH(int, top_k);
    QFETCH(float, top_p);
    QFETCH(float, min_p);
    Random random(3);
    CandidateScan scan;
    RowCandidates found;
    for (const int vocab : {1, 33, 1000, 32003}) {
      Sampler by_row(chain(temperature, top_k, top_p, min_p), {}), by_candidates(chain(temperature, top_k, top_p, min_p), {});
      QVERIFY(by_candidates.wish(vocab).any() || top_k >= vocab);
      for (int i = 0; i < 40; ++i) {
        std::vector<float> logits = row(vocab, random, 0.5F + static_cast<float>(i % 8), i % 3 == 0 ? 2.0F : 1e6F);
        if (i % 10 == 9) logits[random.next() % logits.size()] = -std::numeric_limits<float>::infinity();
        const CandidateWish wish = by_candidates.wish(vocab);
        if (!wish.any()) break;
        scan.row(wish, logits, found);
        const TokenId short_way = by_candidates.sample(found);
        QCOMPARE(short_way, by_row.sample(logits));
      }
    }
  }

  // By the definition of each filter, with sums over the whole row.
  void asTheFiltersSay() {
    Random random(4);
    for (int i = 0; i < 50; ++i) {
      std::vector<float> logits = row(500, random, 3.0F, 1e6F);
      std::vector<std::pair<double, TokenId>> order;
      double total = 0;
      for (std::size_t t = 0; t < logits.size(); ++t) {
        order.emplace_back(std::exp(static_cast<double>(logits[t])), static_cast<TokenId>(t));
        total += order.back().first;
      }
      std::sort(order.rbegin(), order.rend());
      double sum = 0;
      std::size_t kept = 0;
      while (kept < order.size() && sum < 0.7 * total && order[kept].first >= 0.05 * order[0].first) sum += order[kept++].first;
      std::map<TokenId, bool> allowed;
      for (std::size_t t = 0; t < kept; ++t) allowed[order[t].second] = true;
      Sampler sampler(chain(1.0F, 0, 0.7F, 0.05F), {});
      for (int draw = 0; draw < 50; ++draw) {
        std::vector<float> copy = logits;
        QVERIFY(allowed.count(sampler.sample(copy)) == 1);
      }
    }
  }

  void needsTheRow() {
    const auto wishes = [](auto&& change) {
      SamplingOptions o = chain(0.7F, 40, 0.95F, 0.05F);
      change(o);
      return Sampler(o, {1, 2}).wish(1000).any();
    };
    QVERIFY(wishes([](SamplingOptions&) {}));
    QVERIFY(!wishes([](SamplingOptions& o) { o.repeat_penalty = 1.1F; }));
    QVERIFY(!wishes([](SamplingOptions& o) { o.presence_penalty = 0.5F; }));
    QVERIFY(!wishes([](SamplingOptions& o) { o.frequency_penalty = 0.5F; }));
    QVERIFY(wishes([](SamplingOptions& o) { o.repeat_penalty = 1.1F, o.repeat_last_n = 0; }));
    QVERIFY(!wishes([](SamplingOptions& o) { o.typical = 0.9F; }));
    QVERIFY(!wishes([](SamplingOptions& o) { o.top_k = 0, o.top_p = 1.0F, o.min_p = 0.0F; }));
  }
};

QTEST_GUILESS_MAIN(TestCandidatePaths)
#include "tst_candidate_paths.moc"
