// "Explain this turn" in words: UI.md's example, each bound, other programs, the cache's saving, and everything that may be unknown.
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>
#include <QTest>

#include "app/explain.h"
#include "app/format.h"
#include "app/records_convert.h"
#include "app/turn_record_json.h"
#include "tests/support/picture_chats.h"

using namespace tg;

namespace {

// Special spaces are hard to see in a test: _ stands for U+00A0, ' for U+202F.
QString plain(QString s) { return s.replace(QChar(0x00A0), QLatin1Char('_')).replace(QChar(0x202F), QLatin1Char('\'')); }

TurnRecord example() { return fake::withWork(fake::pictureRecord(2, 4812, 4640, 310, 212, 160, 39.9, "5004000000")); }

// A turn on two threads of a processor: PREFILL and DECODE are shares of the limits in percent, as memory and arithmetic.
TurnRecord onProcessor(double readMemory, double readArithmetic, double writeMemory, double writeArithmetic, double busy = 2) {
  TurnRecord r = example();
  r.backend = QStringLiteral("cpu");
  r.inputTotal = r.inputFresh = 600;
  r.inputCached = 0;
  r.cache.reusable = r.cache.reused = r.cache.fromGpu = 0;
  r.prefillMs = 900;
  r.decodeMs = 1000;
  r.output = 41;
  RecordWork& w = *r.work;
  w.device = QStringLiteral("CPU");
  w.threads = 2;
  w.limits = {40, 900, 200, 1795996800};
  w.prefill = {readMemory / 100 * 40e9 * 0.8, readArithmetic / 100 * 900e9 * 0.8, 800, 800 * busy, 3};
  w.decode = {writeMemory / 100 * 40e9, writeArithmetic / 100 * 900e9, 1000, 1000 * busy, 40};
  w.stepWeights = w.decode.bytes / 40 * 0.9;
  return r;
}

const ExplainPart& part(const Explanation& e, const char* id) {
  for (const ExplainPart& p : e.parts)
    if (p.id == QLatin1String(id)) return p;
  static const ExplainPart none;
  return none;
}
QString sentences(const Explanation& e, const char* id) { return plain(part(e, id).sentences.join(QLatin1Char(' '))); }
QString figure(const Explanation& e, const char* id, const char* name) {
  for (const ExplainFigure& f : part(e, id).figures)
    if (f.name == QLatin1String(name)) return plain(f.value);
  return QStringLiteral("no such row");
}

}  // namespace

class TestExplain : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() { QLocale::setDefault(QLocale::c()); }

  void exampleOfTheDesign() {
    const Explanation e = explain(example());
    QCOMPARE(sentences(e, "reading"), QString::fromUtf8("The prompt has 4'812 tokens. 4'640 were in the cache, 172 were read in 1 pass. 2.39_TOP and 4.56_GiB from memory in 0.14_s: 52_% of the arithmetic "
                                                        "this machine was measured to do. So the number of fresh tokens sets the first token."));
    QCOMPARE(sentences(e, "writing"), QString::fromUtf8("310 tokens: the first comes out of reading, the others are 309 steps. Each step reads the weights (4.38_GiB) and the cache (698_MiB on average): "
                                                        "39.8 steps a second, 69_% of the measured memory speed. So bytes per step set the tokens per second."));
    QCOMPARE(sentences(e, "memory"), QString::fromUtf8("5'122 tokens × 144_KiB = 720_MiB, held until it is evicted."));
    QCOMPARE(figure(e, "reading", "Bound by"), QStringLiteral("arithmetic"));
    QCOMPARE(figure(e, "writing", "Bound by"), QStringLiteral("memory speed"));
    QCOMPARE(figure(e, "writing", "Bytes a step"), QStringLiteral("5.06_GiB = 4.38_GiB weights + 698_MiB cache"));
    QVERIFY(figure(e, "writing", "Memory speed").endsWith(QStringLiteral("69_% of the measured limit")));
    QCOMPARE(figure(e, "cache", "Reading not needed"), QString::fromUtf8("≈_3.9_s"));
    QVERIFY(e.faster.contains(QStringLiteral("memory speed bounds")));
    QVERIFY2(e.limits.contains(QStringLiteral("RTX 3060")) && e.limits.contains(QStringLiteral("2026")), qPrintable(e.limits));
  }

  void firstTokenAddsUp() {
    TurnRecord r = example();
    r.ttftMs = 500;
    r.queueMs = 40;
    r.restoreMs = 300;
    r.prefillMs = 150;
    r.loadMs = 812;
    const Explanation e = explain(r);
    QCOMPARE(figure(e, "first_token", "Waited for its turn"), QStringLiteral("40_ms"));
    QCOMPARE(figure(e, "first_token", "Read from the disk cache"), QStringLiteral("0.30_s"));
    QCOMPARE(figure(e, "first_token", "Reading the prompt"), QStringLiteral("0.14_s"));
    QCOMPARE(figure(e, "first_token", "Choosing the token, and between steps"), QStringLiteral("20_ms"));
    QCOMPARE(figure(e, "first_token", "First token"), QStringLiteral("0.50_s"));
    QCOMPARE(figure(e, "first_token", "Loading the model"), QStringLiteral("0.81_s, before the wait that counts"));
    QVERIFY(sentences(e, "first_token").startsWith(QString::fromUtf8("The longest part was “Read from the disk cache”: 0.30_s of 0.50_s.")));
  }

  void whatWouldMakeItFaster_data();
  void whatWouldMakeItFaster();

  void otherProgramsAreNamed() {
    const Explanation slow = explain(onProcessor(10, 30, 30, 5, 1.1)), alone = explain(onProcessor(10, 30, 30, 5, 1.97));
    QVERIFY2(sentences(slow, "writing").contains(QStringLiteral("On average 1.1 of 2 threads had a core")), qPrintable(sentences(slow, "writing")));
    QVERIFY(!alone.text().contains(QStringLiteral("had a core")));
  }

  void fewFreshTokensGiveALowerBound() {
    TurnRecord r = example();
    r.inputFresh = 5;
    r.work->prefill.ops = 70e9;
    // 4 640 tokens x 14 GOP at 32 830 GOP/s
    QCOMPARE(figure(explain(r), "cache", "Reading not needed"), QStringLiteral("at least 1.98_s"));
    r.work->limits.reset();
    QCOMPARE(figure(explain(r), "cache", "Reading not needed"), format::unknown());
  }

  void limitsNotMeasuredYet() {
    TurnRecord r = example();
    r.work->limits.reset();
    const Explanation e = explain(r);
    QCOMPARE(figure(e, "writing", "Bound by"), format::unknown());
    QVERIFY(figure(e, "writing", "Memory speed").endsWith(QString::fromUtf8("share of the limit –")));
    QVERIFY(e.limits.contains(QStringLiteral("had not been measured")));
    QVERIFY(e.faster.contains(QStringLiteral("unknown")));
    QVERIFY2(e.leftOut.contains(QStringLiteral("A file of half the size")), qPrintable(e.leftOut));
  }

  void olderRecordsAndRemoteEngines() {
    TurnRecord old = example();
    old.work.reset();
    const Explanation e = explain(old);
    QVERIFY(sentences(e, "reading").contains(QStringLiteral("older than the counters")));
    QCOMPARE(figure(e, "reading", "Operations"), format::unknown());
    QCOMPARE(figure(e, "reading", "Reading speed"), QStringLiteral("1'200_tok/s"));
    QVERIFY(e.limits.isEmpty());
    TurnRecord remote;
    remote.backend = QStringLiteral("remote");
    const Explanation r = explain(remote);
    for (const ExplainPart& p : r.parts) {
      QVERIFY2(!p.sentences.isEmpty(), qPrintable(p.id));
      for (const ExplainFigure& f : p.figures) QVERIFY2(f.value == format::unknown(), qPrintable(f.name + QStringLiteral(": ") + f.value));
    }
    QVERIFY(sentences(r, "reading").contains(QStringLiteral("does not report")));
    QCOMPARE(r.faster, QStringLiteral("Nothing of this turn was measured."));
  }

  // From a chat file anything may come.
  void oddRecordsStayFinite_data() {
    QTest::addColumn<QByteArray>("json");
    QTest::newRow("negative") << QByteArray(R"({"work":{"prefill":{"bytes":-5,"ops":-1,"ms":-3,"steps":2},"decode":{"steps":1}},"output":3})");
    QTest::newRow("zero limits") << QByteArray(R"({"work":{"prefill":{"bytes":5,"ops":1,"ms":3,"steps":2},"limits":{}},"input_total":3,"input_fresh":0,"input_cached":3})");
    QTest::newRow("huge") << QByteArray(R"({"work":{"threads":2,"step_weights":1e300,"prefill":{"bytes":1e300,"ops":1e300,"ms":1e-300,"steps":2},"limits":{"read_gb_per_s":1e-300,"int8_gop_per_s":1}},"kv":{"tokens":2,"bytes":9}})");
    QTest::newRow("not an object") << QByteArray(R"({"work":[1]})");
  }
  void oddRecordsStayFinite() {
    QFETCH(QByteArray, json);
    const QString text = explain(TurnRecord::fromJson(QJsonDocument::fromJson(json).object())).text();
    QVERIFY(!text.isEmpty());
    QVERIFY2(!text.contains(QStringLiteral("nan")) && !text.contains(QStringLiteral("inf")), qPrintable(text));
  }

  void workSurvivesJsonAndStorage() {
    const TurnRecord r = example();
    const std::string once = to_ordered_json(r).dump();
    QCOMPARE(to_ordered_json(TurnRecord::fromJson(r.toJson())).dump(), once);
    const TurnRecord stored = from_row(to_row(r, QStringLiteral("chat"), QStringLiteral("{}")), r.chat, {});
    QCOMPARE(stored.work->decode.bytes, r.work->decode.bytes);
    QCOMPARE(explain(stored).text(), explain(r).text());
    storage::Turn row = to_row(r, QStringLiteral("chat"), QStringLiteral("{}"));
    row.workJson.clear();
    QVERIFY(!from_row(row, r.chat, {}).work);
  }
};

void TestExplain::whatWouldMakeItFaster_data() {
  QTest::addColumn<TurnRecord>("record");
  QTest::addColumn<QString>("expected");
  const auto row = [](const char* name, const TurnRecord& r, const char* expected) { QTest::newRow(name) << r << QString::fromLatin1(expected); };
  row("decode at the memory limit", onProcessor(5, 60, 80, 10), "writing, which memory speed bounds");
  row("decode near no limit", onProcessor(5, 60, 30, 10), "30_% of its limit");
  row("decode of many chats", onProcessor(5, 60, 30, 70), "writing, which arithmetic bounds");
  row("decode beside a busy program", onProcessor(5, 60, 30, 10, 1.0), "kept waiting meanwhile, by other programs");
  TurnRecord read = onProcessor(5, 60, 80, 10);
  read.prefillMs = 4000;
  row("prefill at the arithmetic limit", read, "reading, which arithmetic bounds");
  TurnRecord few = onProcessor(70, 30, 80, 10);
  few.prefillMs = 4000;
  row("prefill of few tokens", few, "one pass over the weights");
  TurnRecord slow = onProcessor(5, 20, 80, 10);
  slow.prefillMs = 4000;
  row("prefill near no limit", slow, "at 20_% of its limit");
  TurnRecord load = read;
  load.loadMs = 9000;
  row("load", load, "loading the model");
  TurnRecord queue = read;
  queue.queueMs = 9000;
  row("queue", queue, "while other chats were answered");
  TurnRecord restore = read;
  restore.restoreMs = 9000;
  row("restore", restore, "back from disk");
}

void TestExplain::whatWouldMakeItFaster() {
  QFETCH(TurnRecord, record);
  QFETCH(QString, expected);
  const QString faster = plain(explain(record).faster);
  QVERIFY2(faster.contains(expected), qPrintable(faster));
}

QTEST_APPLESS_MAIN(TestExplain)
#include "tst_explain.moc"
