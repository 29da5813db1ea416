// What a scan of a row of logits finds: the same as looking at all of them, in any order of blocks and with any number of parts.
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/base/logit_scan.h"
#include "engine/sampling/random.h"

using namespace tg;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Of few different values, so that many are equal.
std::vector<float> row(int n, std::uint64_t seed, int levels) {
  Random random(seed);
  std::vector<float> logits(static_cast<std::size_t>(n));
  for (float& x : logits) x = static_cast<float>(random.next() % static_cast<std::uint64_t>(levels)) * 20.0F / static_cast<float>(levels) - 5.0F;
  return logits;
}

std::vector<TokenCandidate> sorted(std::vector<TokenCandidate> list) {
  std::sort(list.begin(), list.end(), more_likely);
  return list;
}

std::vector<TokenCandidate> all_of(const std::vector<float>& logits) {
  std::vector<TokenCandidate> all;
  for (std::size_t i = 0; i < logits.size(); ++i)
    if (logits[i] > -kInfinity) all.push_back({std::min(logits[i], std::numeric_limits<float>::max()), static_cast<TokenId>(i)});
  return sorted(all);
}

bool same(const std::vector<TokenCandidate>& a, const std::vector<TokenCandidate>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const TokenCandidate& x, const TokenCandidate& y) { return x.id == y.id && x.logit == y.logit; });
}

}  // namespace

class TestLogitScan : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void findsWhatSortingFinds_data() {
    QTest::addColumn<int>("n");
    QTest::addColumn<int>("levels");
    for (const int n : {1, 31, 32, 33, 200, 1003, 49152})
      for (const int levels : {1, 7, 100000}) QTest::addRow("%d of %d values", n, levels) << n << levels;
  }
  void findsWhatSortingFinds() {
    QFETCH(int, n);
    QFETCH(int, levels);
    const std::vector<float> logits = row(n, 3, levels);
    const std::vector<TokenCandidate> all = all_of(logits);
    CandidateScan scan;
    RowCandidates found;
    for (const int best : {1, 2, 40, 300}) {
      scan.row({best, -1, false}, logits, found);
      QVERIFY(same(sorted(found.list), {all.begin(), all.begin() + std::min(best, n)}));
    }
    for (const float margin : {0.0F, 3.0F, 100.0F}) {
      scan.row({0, margin, true}, logits, found);
      const std::vector<TokenCandidate> list = sorted(found.list);
      QVERIFY(list.size() <= all.size() && same(list, {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(list.size())}));
      for (std::size_t i = list.size(); i < all.size(); ++i) QVERIFY(all[i].logit < all[0].logit - margin);
      double mass = 0;
      for (const float x : logits) mass += std::exp(static_cast<double>(x) - static_cast<double>(all[0].logit));
      QVERIFY2(std::abs(found.mass / mass - 1) < 1e-6, qPrintable(QString::number(found.mass / mass - 1)));
    }
  }

  void orderAndPartsDoNotMatter() {
    const int n = 5000, blocks = (n + CandidateScan::kBlock - 1) / CandidateScan::kBlock;
    const std::vector<float> logits = row(n, 5, 400);
    CandidateScan scan;
    RowCandidates whole, parts;
    Random random(6);
    for (const CandidateWish& wish : {CandidateWish{0, 0, false}, {0, 4, true}, {50, -1, false}, {1, -1, true}}) {
      scan.row(wish, logits, whole);
      for (const int n_parts : {1, 2, 5}) {
        std::vector<int> order(static_cast<std::size_t>(blocks));
        std::iota(order.begin(), order.end(), 0);
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.next() % i]);
        scan.start(wish, n, n_parts);
        for (const int b : order) {
          const int first = b * CandidateScan::kBlock;
          scan.block(static_cast<int>(random.next() % static_cast<std::uint64_t>(n_parts)), first, logits.data() + first, std::min(CandidateScan::kBlock, n - first));
        }
        scan.finish(parts);
        QVERIFY(same(sorted(parts.list), sorted(whole.list)));
        QCOMPARE(parts.mass, whole.mass);
      }
    }
  }

  void whatIsNoNumberIsNoCandidate() {
    std::vector<float> logits(70, -kInfinity);
    CandidateScan scan;
    RowCandidates found;
    scan.row({0, 5, true}, logits, found);
    QVERIFY(same(found.list, {{0.0F, 0}}));
    logits[3] = logits[60] = NAN;
    scan.row({4, -1, false}, logits, found);
    QVERIFY(same(found.list, {{0.0F, 0}}));
    logits[66] = -3;
    logits[40] = kInfinity;
    scan.row({4, -1, false}, logits, found);
    QVERIFY(same(sorted(found.list), all_of(logits)));
    scan.row({0, 1000, true}, logits, found);
    QVERIFY(found.list.size() == 1 && found.list[0].id == 40 && found.mass == 1.0);
  }
};

QTEST_GUILESS_MAIN(TestLogitScan)
#include "tst_logit_scan.moc"
