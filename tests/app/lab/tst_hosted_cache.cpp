// Hosted cache rules: simulated request sequences and the linter, with the rules and prices that ship. The larger case files of the pricing pack
// are run too where they are beside the repository.
#include <QFile>
#include <QJsonDocument>
#include <QtTest>

#include "app/lab/lint_line.h"
#include "app/lab/simulate_line.h"

using namespace tg;

namespace {

QJsonObject parsed(const QByteArray& json) { return QJsonDocument::fromJson(json).object(); }

QJsonObject simulated(const QByteArray& line) { return lab::simulateLine(cost::CacheRules::shipped(), cost::PriceBook::shipped(), line); }
QJsonObject linted(const QByteArray& line) { return lab::lintLine(cost::CacheRules::shipped(), line); }

QByteArray claude(const QByteArray& steps) {
  return R"({"id":1,"provider":"anthropic","model":"claude-opus-5","at":"2026-11-25T12:00:00Z","blocks":{"P":{"kind":"system","tokens":4000},"u":{"kind":"user","tokens":10}},"steps":[)" + steps + "]}";
}

QByteArray pair(const QByteArray& before, const QByteArray& after) {
  return R"({"id":1,"provider":"anthropic","model":"claude-opus-5","before":{"conversation":"c","blocks":[)" + before + R"(]},"after":{"t":30,"conversation":"c","blocks":[)" + after + "]}}";
}

QByteArray block(const char* kind, const char* text) { return QByteArray(R"({"kind":")") + kind + R"(","text":")" + text + R"("})"; }

// What differs from the expected keys; empty: nothing.
QString difference(const QJsonObject& want, const QJsonObject& got) {
  for (auto it = want.begin(); it != want.end(); ++it) {
    if (it.value().isArray() && got.value(it.key()).isArray() && it.value().toArray().size() == got.value(it.key()).toArray().size()) {
      const QJsonArray a = it.value().toArray(), b = got.value(it.key()).toArray();
      for (qsizetype i = 0; i < a.size(); ++i) {
        const QString inner = a[i].isObject() ? difference(a[i].toObject(), b[i].toObject()) : a[i] == b[i] ? QString() : it.key();
        if (!inner.isEmpty()) return it.key() + QLatin1Char('[') + QString::number(i) + QStringLiteral("].") + inner;
      }
    } else if (!got.contains(it.key()) || got.value(it.key()) != it.value()) {
      return it.key() + QStringLiteral(": ") + QString::fromUtf8(QJsonDocument(got).toJson(QJsonDocument::Compact));
    }
  }
  return QString();
}

}  // namespace

class HostedCacheTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void sequences_data() {
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<QByteArray>("expected");
    QTest::newRow("written, then read") << claude(R"({"t":0,"prompt":["P","u"],"marks":{"P":"5m"}},{"t":299,"prompt":["P","u"],"marks":{"P":"5m"}})")
                                        << QByteArray(R"({"ambiguous":false,"steps":[{"cached":0,"write":4000,"fresh":10},{"cached":4000,"write":0,"fresh":10}]})");
    QTest::newRow("exactly at the lifetime") << claude(R"({"t":0,"prompt":["P","u"],"marks":{"P":"5m"}},{"t":300,"prompt":["P","u"],"marks":{"P":"5m"}})")
                                             << QByteArray(R"({"ambiguous":true,"total_cost_pico":null,"steps":[{"cached":0},{"cached":null,"range":{"cached":[0,4000],"fresh":[10,10],"write":[0,4000],"cost_pico":["2050000000","25050000000"]}}]})");
    QTest::newRow("gone") << claude(R"({"t":0,"prompt":["P","u"],"marks":{"P":"5m"}},{"t":301,"prompt":["P","u"],"marks":{"P":"5m"}})") << QByteArray(R"({"steps":[{"cached":0},{"cached":0,"write":4000}]})");
    QTest::newRow("other workspace") << claude(R"({"t":0,"prompt":["P"],"marks":{"P":"5m"}},{"t":9,"prompt":["P"],"marks":{"P":"5m"},"workspace":"w"})") << QByteArray(R"({"steps":[{},{"cached":0}]})");
    QTest::newRow("no mark") << claude(R"({"t":0,"prompt":["P","u"]},{"t":9,"prompt":["P","u"]})") << QByteArray(R"({"steps":[{"write":0},{"cached":0,"fresh":4010}]})");
    QTest::newRow("longer lifetime after shorter") << claude(R"({"t":0,"prompt":["P","u"],"marks":{"P":"5m","u":"1h"}})") << QByteArray(R"({"total_cost_pico":"0","steps":[{"error":"ttl_order","cached":null}]})");
    QTest::newRow("unknown block") << claude(R"({"t":0,"prompt":["Q"]})") << QByteArray(R"({"id":1,"error":"bad_line"})");
    QTest::newRow("not JSON") << QByteArray("{") << QByteArray(R"({"id":null,"error":"bad_line"})");
  }

  void sequences() {
    QFETCH(QByteArray, line);
    QFETCH(QByteArray, expected);
    const QString wrong = difference(parsed(expected), simulated(line));
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
  }

  void pairs_data() {
    QTest::addColumn<QByteArray>("before");
    QTest::addColumn<QByteArray>("after");
    QTest::addColumn<QString>("cause");
    const QByteArray system = block("system", "Be brief.\\n"), question = block("user", "Hi?\\n");
    const auto with = [&](const QByteArray& first) -> QByteArray { return first + ',' + question; };
    QTest::newRow("time") << with(block("system", "Now: 2026-11-20\\nBe brief.\\n")) << with(block("system", "Now: 2026-11-21\\nBe brief.\\n")) << QStringLiteral("time_in_head");
    QTest::newRow("request") << with(block("system", "trace_id=0123456789abcdef01\\n")) << with(block("system", "trace_id=fedcba987654321001\\n")) << QStringLiteral("request_id_in_head");
    QTest::newRow("counter") << with(block("system", "Turn 7\\n")) << with(block("system", "Turn 8\\n")) << QStringLiteral("counter_in_head");
    QTest::newRow("white space") << with(block("system", "Be  brief.")) << with(block("system", "Be brief.")) << QStringLiteral("whitespace_or_unicode");
    QTest::newRow("numbers") << with(block("system", "Limit 12.0")) << with(block("system", "Limit 12")) << QStringLiteral("number_format");
    QTest::newRow("dates") << with(block("system", "List of 3 Nov 2026.")) << with(block("system", "List of November 3, 2026.")) << QStringLiteral("locale_format");
    QTest::newRow("version") << with(block("system", "Client 1.2.3")) << with(block("system", "Client 1.2.4")) << QStringLiteral("client_version");
    QTest::newRow("other words") << with(block("system", "Be long.")) << with(block("system", "Be short.")) << QStringLiteral("system_text");
    QTest::newRow("section gone") << with(system + ',' + block("document", "d")) << with(system) << QStringLiteral("conditional_section");
    QTest::newRow("thinking gone") << with(system + ',' + block("thinking", "hm")) << with(system) << QStringLiteral("thinking_dropped");
    QTest::newRow("appended") << with(system) << with(system) + ',' + block("assistant", "Hello.") << QString();
    QTest::newRow("last message only") << with(system) << system + ',' + block("user", "Ho?\\n") << QString();
    QTest::newRow("window") << with(block("user", "a")) << question + ',' + block("assistant", "b") << QStringLiteral("history_window");
  }

  void pairs() {
    QFETCH(QByteArray, before);
    QFETCH(QByteArray, after);
    QFETCH(QString, cause);
    QCOMPARE(linted(pair(before, after)).value(QStringLiteral("class")).toString(), cause);
  }

  void contentIsQuiet_data() {
    QTest::addColumn<QByteArray>("kind");
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("fires");
    QTest::newRow("time in the system text") << QByteArray("system") << QByteArray("Current time: 09:14") << true;
    QTest::newRow("time in a question") << QByteArray("user") << QByteArray("Current time: 09:14") << false;
    QTest::newRow("opening hours") << QByteArray("system") << QByteArray("Open from 09:30 to 17:00.") << false;
    QTest::newRow("two lines") << QByteArray("system") << QByteArray("Say the date\\n09:14") << false;
    QTest::newRow("plural") << QByteArray("system") << QByteArray("At most 3 turns.") << false;
    QTest::newRow("user id") << QByteArray("system") << QByteArray("userId: 4821") << true;
  }

  void contentIsQuiet() {
    QFETCH(QByteArray, kind);
    QFETCH(QByteArray, text);
    QFETCH(bool, fires);
    QCOMPARE(linted(pair(block(kind.constData(), text.constData()), "")).value(QStringLiteral("single_fires")).toBool(), fires);
  }

  void textFindingsCountCodePoints() {
    const QJsonArray findings = lab::lintText(QStringLiteral("🚲 Turn 7."));
    QCOMPARE(findings.size(), 1);
    QCOMPARE(findings[0].toObject().value(QStringLiteral("offset")).toInt(), 2);
    QCOMPARE(findings[0].toObject().value(QStringLiteral("excerpt")).toString(), QStringLiteral("Turn 7"));
    QVERIFY(!findings[0].toObject().value(QStringLiteral("advice")).toString().isEmpty());
  }

  void caseFilesOfThePack_data() {
    QTest::addColumn<QString>("file");
    QTest::newRow("simulator") << QStringLiteral("simulator.jsonl");
    QTest::newRow("linter") << QStringLiteral("busters.jsonl");
  }

  void caseFilesOfThePack() {
    QFETCH(QString, file);
    QFile cases(QStringLiteral(TG_SOURCE_DIR "/../shared/pricing/") + file);
    if (!cases.open(QIODevice::ReadOnly)) {
      qInfo("The pricing pack is not beside the repository; its cases were not run.");
      return;
    }
    int run = 0;
    for (; !cases.atEnd(); ++run) {
      const QJsonObject entry = parsed(cases.readLine());
      const QByteArray line = QJsonDocument(entry.value(QStringLiteral("in")).toObject()).toJson(QJsonDocument::Compact);
      const QString wrong = difference(entry.value(QStringLiteral("expect")).toObject(), file.startsWith(QStringLiteral("sim")) ? simulated(line) : linted(line));
      QVERIFY2(wrong.isEmpty(), qPrintable(entry.value(QStringLiteral("id")).toString() + QLatin1Char(' ') + wrong));
    }
    qInfo("%d cases of the pricing pack", run);
  }
};

QTEST_GUILESS_MAIN(HostedCacheTest)
#include "tst_hosted_cache.moc"
