// The small parts a turn is made of: prefill curve, drafts, hash of logits, percentiles.
#include <QCryptographicHash>
#include <QTemporaryDir>
#include <QtTest>

#include "engine/measure/percentile.h"
#include "engine/sampling/random.h"
#include "engine/schedule/curve_store.h"
#include "engine/schedule/ngram_draft.h"
#include "engine/schedule/prefill_curve.h"
#include "engine/schedule/sha256.h"

using namespace tg;

namespace {

constexpr double kFirstToken = 7;
double real_ms(int rows, int depth) { return 2.0 + 0.3 * rows + rows * (depth + rows / 2.0) * 1e-5; }

}  // namespace

class TestScheduleParts : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void curveFindsTheTermsInNoise() {
    PrefillCurve curve;
    Random random(1);
    for (int i = 0; i < 200; ++i) {
      const int rows = 1 + static_cast<int>(random.next() % 400), depth = static_cast<int>(random.next() % 8000);
      const bool ends = i % 3 == 0;
      curve.add(rows, depth, ends, (real_ms(rows, depth) + (ends ? kFirstToken : 0)) * (0.9 + 0.2 * random.uniform()));
    }
    for (const auto& [fresh, cached] : {std::pair{20, 0}, std::pair{500, 0}, std::pair{3000, 4000}}) {
      double expected = kFirstToken;
      for (int done = 0; done < fresh; done += 250) expected += real_ms(std::min(250, fresh - done), cached + done);
      const auto predicted = curve.predict(fresh, cached, 250);
      QVERIFY(predicted && std::abs(*predicted / expected - 1) < 0.1);
    }
    QVERIFY(curve.relative_error() < 0.15);
    const int rows = *curve.rows_within(100, 2000);
    QVERIFY(std::abs(real_ms(rows, 2000) / 100 - 1) < 0.1);
  }

  void curveIsUnknownAtFirstAndNeverNegative() {
    PrefillCurve curve;
    QVERIFY(!curve.predict(10, 0, 10) && !curve.rows_within(10, 0));
    for (int i = 0; i < 20; ++i) curve.add(64, 64 * i, false, 10.0 - 0.2 * i);  // faster with depth: noise of a real machine
    for (int depth = 0; depth < 100000; depth += 5000) QVERIFY(*curve.predict(100, depth, 50) >= 0);
  }

  void curveSurvivesItsText() {
    PrefillCurve curve;
    for (int i = 1; i < 30; ++i) curve.add(i * 10, i * 100, i % 2 == 0, real_ms(i * 10, i * 100));
    const auto again = PrefillCurve::from_text(curve.to_text());
    QVERIFY(again);
    QCOMPARE(*again->predict(300, 500, 100), *curve.predict(300, 500, 100));
    for (const char* bad : {"", "1", "x", "-5 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 1 2 3 4", "3 0.1 1 2 3 4 5 6 7 8 nan 10 11 12 13 14 15 16 1 2 3 4"}) QVERIFY(!PrefillCurve::from_text(bad));
  }

  void storeKeepsAndRefuses() {
    const QTemporaryDir dir;
    const std::string file = dir.path().toStdString() + "/curves.json";
    PrefillCurve curve;
    curve.add(100, 0, false, 30);
    CurveStore store(file);
    store.set_curve("key", curve);
    store.set_limits("cpu", {20, 900, 200, 1764460800});
    store.add_restore(1e9, 500);
    const std::string text = *store.changed_text();
    QVERIFY(!store.changed_text());
    for (const std::string& content : {text, std::string("not json"), std::string("[1]"), std::string("{\"curves\":{\"key\":5}}"), text.substr(0, text.size() / 2)}) {
      QFile f(QString::fromStdString(file));
      QVERIFY(f.open(QIODevice::WriteOnly | QIODevice::Truncate));
      f.write(content.data(), static_cast<qint64>(content.size()));
      f.close();
      const CurveStore again(file);
      QCOMPARE(again.curve("key").has_value(), content == text);
      QCOMPARE(again.limits("cpu").has_value(), content == text);
      QCOMPARE(again.restore_ms(1e9).has_value(), content == text);
      QCOMPARE(*again.restore_ms(0), 0.0);
    }
  }

  void draftsFollowTheLatestLongestMatch() {
    const std::vector<TokenId> text{1, 2, 3, 4, 9, 9, 2, 3, 4, 5, 6, 7, 2, 3, 4};
    QCOMPARE(ngram_draft(text, 3), (std::vector<TokenId>{5, 6, 7}));
    QCOMPARE(ngram_draft(text, 100), (std::vector<TokenId>{5, 6, 7, 2, 3, 4}));
    QVERIFY(ngram_draft(text, 0).empty());
    QVERIFY(ngram_draft(std::vector<TokenId>{1, 2, 3}, 4).empty());
    QVERIFY(ngram_draft({}, 4).empty());
  }

  void sha256IsQts() {
    for (const int n : {0, 1, 55, 56, 63, 64, 65, 119, 128, 1000}) {
      QByteArray bytes(n, 'x');
      for (int i = 0; i < n; ++i) bytes[i] = static_cast<char>(i * 7);
      const std::string ours = sha256_hex(std::as_bytes(std::span(bytes.constData(), static_cast<std::size_t>(n))));
      QCOMPARE(QByteArray::fromStdString(ours), QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex());
    }
  }

  void percentiles() {
    QCOMPARE(percentile({}, 0.5), 0.0);
    QCOMPARE(percentile({3}, 0.95), 3.0);
    QCOMPARE(percentile({5, 1, 4, 2, 3}, 0.5), 3.0);
    QCOMPARE(percentile({5, 1, 4, 2, 3}, 0.95), 5.0);
    QCOMPARE(percentile({5, 1, 4, 2, 3}, 0.0), 1.0);
  }
};

QTEST_GUILESS_MAIN(TestScheduleParts)
#include "tst_schedule_parts.moc"
