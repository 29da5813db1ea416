// Steps of the forward pass: which rows come out, what is refused, cancelling, and what is counted.
#include <QtTest>

#include "tests/support/forward_runner.h"
#include "tests/support/tiny_model.h"

using namespace tg;
using namespace tg::test;

namespace {

struct Loaded {
  std::string bytes;
  std::shared_ptr<const GgufFile> file;
  ModelDescription description;
  std::shared_ptr<Device> device;
  std::unique_ptr<Forward> forward;
};

Loaded load(const TinyModel& model, int max_rows) {
  Loaded l;
  l.bytes = model.bytes();
  l.file = *GgufFile::parse(std::as_bytes(std::span(l.bytes)));
  l.description = *describe_model(*l.file, 0);
  l.device = std::shared_ptr<Device>(std::move(*make_cpu_device({1, "auto"})));
  l.forward = std::move(*Forward::load(l.file, l.description, l.device, KvType::f16, KvType::f16, max_rows, {}, {}));
  return l;
}

std::vector<TokenId> tokens_of(int n) {
  std::vector<TokenId> out;
  for (int i = 0; i < n; ++i) out.push_back((i * 37 + 11) % 200);
  return out;
}

}  // namespace

class TestForward : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void onlyWantedRows_data() {
    QTest::addColumn<QList<int>>("first");
    QTest::addColumn<QList<int>>("second");
    QTest::newRow("none") << QList<int>{} << QList<int>{};
    QTest::newRow("last") << QList<int>{19} << QList<int>{9};
    QTest::newRow("scattered") << QList<int>{0, 3, 4, 17} << QList<int>{2, 5};
    QTest::newRow("neighbours over the border") << QList<int>{18, 19} << QList<int>{0, 1};
    QTest::newRow("one sequence") << QList<int>{} << QList<int>{9};
  }

  void onlyWantedRows() {
    QFETCH(QList<int>, first);
    QFETCH(QList<int>, second);
    for (const TinyModel& model : {tiny_llama(), tiny_qwen35(), tiny_lfm2(), tiny_deepseek2()}) {
      const Loaded l = load(model, 30);
      const auto all = step(l, allOf(20), allOf(10)), some = step(l, first, second);
      QCOMPARE(some.size(), static_cast<std::size_t>(first.size() + second.size()) * 200);
      std::size_t row = 0;
      for (const int r : first) QVERIFY(sameRow(all, static_cast<std::size_t>(r), some, row++));
      for (const int r : second) QVERIFY(sameRow(all, static_cast<std::size_t>(20 + r), some, row++));
    }
  }

  void refusals() {
    const Loaded l = load(tiny_llama(), 8);
    PagedSequence good(tokens_of(8), l.forward->kv_layout(), *l.device), tooLong(tokens_of(9), l.forward->kv_layout(), *l.device);
    QVERIFY(run(l, {good.next(8)}).ok());
    QCOMPARE(run(l, {tooLong.next(9)}).error().code, ErrorCode::bad_argument);
    for (const TokenId bad : {-1, 200, 1 << 30}) {
      PagedSequence unknown({1, bad}, l.forward->kv_layout(), *l.device);
      QCOMPARE(run(l, {unknown.next(2)}).error().code, ErrorCode::bad_argument);
    }
    QCOMPARE(run(l, {}).error().code, ErrorCode::bad_argument);
    PagedSequence noPages(tokens_of(4), {}, *l.device);
    QCOMPARE(run(l, {noPages.next(4)}).error().code, ErrorCode::bad_argument);
  }

  void cancelledStep() {
    const Loaded l = load(tiny_gemma3(), 32);
    PagedSequence sequence(tokens_of(32), l.forward->kv_layout(), *l.device);
    const CancelToken cancel;
    cancel.cancel();
    std::vector<float> logits(32 * 200);
    StepCounters counters;
    const SequenceStep one = sequence.next(32);
    const Status status = l.forward->run({&one, 1}, logits.data(), cancel, counters);
    QVERIFY(!status.ok());
    QCOMPARE(status.error().code, ErrorCode::cancelled);
    QVERIFY(run(l, {one}).ok());  // the pass is usable again
  }

  void cancelledLoad() {
    const std::string bytes = tiny_llama().bytes();
    const auto file = *GgufFile::parse(std::as_bytes(std::span(bytes)));
    const std::shared_ptr<Device> device(std::move(*make_cpu_device({1, "auto"})));
    const CancelToken cancel;
    cancel.cancel();
    const auto forward = Forward::load(file, *describe_model(*file, 0), device, KvType::f16, KvType::f16, 8, {}, cancel);
    QVERIFY(!forward.ok());
    QCOMPARE(forward.error().code, ErrorCode::cancelled);
  }

  void progressEndsAtTheTotal() {
    const std::string bytes = tiny_gemma3().bytes();
    const auto file = *GgufFile::parse(std::as_bytes(std::span(bytes)));
    const std::shared_ptr<Device> device(std::move(*make_cpu_device({1, "auto"})));
    std::uint64_t last = 0, total = 0;
    bool rising = true;
    const auto forward = Forward::load(file, *describe_model(*file, 0), device, KvType::f16, KvType::f16, 8,
                                       [&](std::uint64_t done, std::uint64_t of) { rising = rising && done >= last && done <= of; last = done; total = of; }, {});
    QVERIFY(forward.ok() && rising);
    QVERIFY(last > total / 2);
  }

  void kvGroups() {
    const Loaded l = load(tiny_gemma3(), 8);
    const KvLayout& layout = l.forward->kv_layout();
    QCOMPARE(layout.groups.size(), std::size_t{2});
    QCOMPARE(layout.groups[0].window, 37);
    QCOMPARE(layout.groups[0].layers, (std::vector<int>{0, 1}));
    QCOMPARE(layout.groups[1].window, 0);
    QCOMPARE(layout.state_bytes, std::size_t{0});
    QVERIFY(layout.groups[0].page_bytes == 2 * layout.groups[1].page_bytes);
    QCOMPARE(load(tiny_qwen35(), 8).forward->kv_layout().state_bytes, describe(tiny_qwen35()).state_bytes());
  }

  // One token without earlier keys reads the weights once and little else.
  void countsOneToken() {
    for (const TinyModel& model : {tiny_llama(), tiny_gpt_oss(), tiny_deepseek2(), tiny_lfm2()}) {
      const Loaded l = load(model, 8);
      PagedSequence sequence(tokens_of(1), l.forward->kv_layout(), *l.device);
      StepCounters counters;
      std::vector<float> logits(200);
      const SequenceStep one = sequence.next(1);
      QVERIFY(l.forward->run({&one, 1}, logits.data(), {}, counters).ok());
      QVERIFY2(std::abs(counters.bytes / l.forward->bytes_per_token() - 1.0) < 0.05, qPrintable(QString::number(counters.bytes / l.forward->bytes_per_token())));
      QVERIFY2(std::abs(counters.ops / l.forward->ops_per_token() - 1.0) < 0.05, qPrintable(QString::number(counters.ops / l.forward->ops_per_token())));
    }
  }

 private:
  static ModelDescription describe(const TinyModel& model) {
    const std::string bytes = model.bytes();
    return *describe_model(**GgufFile::parse(std::as_bytes(std::span(bytes))), 0);
  }
  static QList<int> allOf(int n) {
    QList<int> rows;
    for (int i = 0; i < n; ++i) rows.append(i);
    return rows;
  }
  static Status run(const Loaded& l, const std::vector<SequenceStep>& steps) {
    std::vector<float> logits(64 * 200);
    StepCounters counters;
    return l.forward->run(steps, logits.data(), {}, counters);
  }
  // Two fresh sequences of 20 and 10 tokens in one step.
  static std::vector<float> step(const Loaded& l, const QList<int>& first, const QList<int>& second) {
    PagedSequence a(tokens_of(20), l.forward->kv_layout(), *l.device), b(tokens_of(10), l.forward->kv_layout(), *l.device);
    std::vector<SequenceStep> steps{a.next(20), b.next(10)};
    const std::vector<int> wantedA(first.begin(), first.end()), wantedB(second.begin(), second.end());
    steps[0].logit_rows = wantedA;
    steps[1].logit_rows = wantedB;
    std::vector<float> logits((wantedA.size() + wantedB.size()) * 200);
    StepCounters counters;
    const Status status = l.forward->run(steps, logits.data(), {}, counters);
    return status.ok() ? logits : std::vector<float>();
  }
  static bool sameRow(const std::vector<float>& a, std::size_t rowA, const std::vector<float>& b, std::size_t rowB) {
    return std::memcmp(&a[rowA * 200], &b[rowB * 200], 200 * sizeof(float)) == 0;
  }
};

QTEST_GUILESS_MAIN(TestForward)
#include "tst_forward.moc"
