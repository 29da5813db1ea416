// Money, price books, wire forms and the price of local turns. The book here is invented; the larger case files of the pricing pack are run
// too where they are beside the repository.
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include "app/cost/local_turn.h"
#include "app/cost/money.h"
#include "app/cost/price_line.h"

using namespace tg;
using namespace tg::cost;

namespace {

QJsonObject parsed(const QByteArray& json) { return QJsonDocument::fromJson(json).object(); }

// A row of the invented provider; MORE overrides or adds keys.
QJsonObject row(const char* model, const QByteArray& bands, const QByteArray& more = "{}") {
  QJsonObject object = parsed(R"({"provider":"example","aliases":[],"dated_suffix":false,"currency":"USD","effective_from":null,"effective_to":null,
    "certain_until":null,"tier_scope":"whole_request","schedule":null,"storage_per_mtok_hour":null,"fees":{},"modifiers":{},"cache":null,"sources":[]})");
  object[QStringLiteral("model")] = QLatin1String(model);
  object[QStringLiteral("id")] = QString(QStringLiteral("example/") + QLatin1String(model));
  object[QStringLiteral("prices")] = QJsonObject{{QStringLiteral("standard"), QJsonDocument::fromJson(bands).array()}};
  const QJsonObject changes = parsed(more);
  for (auto it = changes.begin(); it != changes.end(); ++it) object[it.key()] = it.value();
  return object;
}

QByteArray bookOf(const QJsonArray& rows) {
  return QJsonDocument(QJsonObject{{QStringLiteral("schema_version"), 1}, {QStringLiteral("book"), QStringLiteral("test")},
                                   {QStringLiteral("as_of"), QStringLiteral("2026-11-29")},
                                   {QStringLiteral("price_unit"), QStringLiteral("currency per 1,000,000 tokens")}, {QStringLiteral("rows"), rows}})
      .toJson();
}

QJsonArray goodRows() {
  return {row("plain", R"([{"up_to":null,"input":"1","cached_read":"0.1","output":"2"}])",
              R"({"aliases":["plain-alias"],"dated_suffix":true,"fees":{"web_search_per_1000":"10"},"modifiers":{"half":{"num":1,"den":2}}})"),
          row("bands", R"([{"up_to":100,"input":"1","cached_read":"0.5","output":"10"},{"up_to":null,"input":"2","cached_read":"1","output":"20"}])"),
          row("excess", R"([{"up_to":100,"input":"1","cached_read":"0.5","output":"10"},{"up_to":null,"input":"3","cached_read":"1.5","output":"20"}])", R"({"tier_scope":"excess"})"),
          row("writes", R"([{"up_to":null,"input":"1","cached_read":"0.1","cache_write_30m":"1.25","output":"2"}])", R"({"cache":{"default_write_ttl":"30m"}})"),
          row("pico", R"([{"up_to":null,"input":"0.000001","output":"0.000001"}])", R"({"modifiers":{"half":{"num":1,"den":2}}})"),
          row("past", R"([{"up_to":null,"input":"1","output":"2"}])", R"({"effective_to":"2026-01-01T00:00:00Z"})"),
          row("peak", R"([{"up_to":null,"input":"1","cached_read":"1","output":"2"}])",
              R"({"prices":{"standard":[{"up_to":null,"input":"1","cached_read":"1","output":"2"}],"peak":[{"up_to":null,"input":"2","cached_read":"2","output":"4"}]},
                  "schedule":{"price_set":"peak","utc_windows":[["01:00","04:00"]],"utc_weekdays":[1,2,3,4,5],"off_dates":["2026-11-24"]}})")};
}

PriceBook goodBook() {
  QString refusal;
  auto book = PriceBook::read(bookOf(goodRows()), &refusal);
  if (!book) qFatal("%s", qPrintable(refusal));
  return *book;
}

QByteArray usageLine(const char* model, const char* usage, const char* more = "") {
  return QByteArray(R"({"id":"x","provider":"example","model":")") + model + R"(","at":"2026-11-25T12:00:00Z","api":"openai_chat","usage":)" + usage + more + "}";
}

constexpr const char* kPlainUsage = R"({"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":40,"cache_write_tokens":0},"completion_tokens":10})";

}  // namespace

class CostTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void pricesAreExactDecimals_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<qint64>("pico");
    QTest::newRow("whole") << QStringLiteral("2") << qint64(2'000'000);
    QTest::newRow("six decimals") << QStringLiteral("0.000001") << qint64(1);
    QTest::newRow("zeros") << QStringLiteral("000.500") << qint64(500'000);
    QTest::newRow("zero") << QStringLiteral("0") << qint64(0);
    for (const char* bad : {"", ".5", "5.", "-1", "+1", "1e3", "1.0000001", "1,5", " 1", "NaN", "1000000000000000"}) QTest::newRow(bad) << QString::fromLatin1(bad) << qint64(-1);
  }

  void pricesAreExactDecimals() {
    QFETCH(QString, text);
    QFETCH(qint64, pico);
    QCOMPARE(picoPerToken(text).value_or(-1), pico);
    if (pico > 0) QCOMPARE(picoPerToken(priceText(pico)), std::optional<qint64>(pico));
  }

  void sumsAreExactAndRoundedOnce() {
    Amount three;
    for (int i = 0; i < 3; ++i) three += Amount::of(1, 1).scaled(1, 2);
    QCOMPARE(three.rounded(), QStringLiteral("2"));                       // 1.5, half to even
    QCOMPARE(Amount::of(5, 1).scaled(1, 2).rounded(), QStringLiteral("2"));  // 2.5, half to even
    QCOMPARE(Amount::of(9223372036854775807, 1'000'000).rounded(), QStringLiteral("9223372036854775807000000"));
    QVERIFY(Amount::of(9223372036854775807, 9223372036854775807).scaled(9223372036854775807, 1).tooLarge());
    QCOMPARE(sum_of_pico({QStringLiteral("18446744073709551616"), QStringLiteral("1")}), QStringLiteral("18446744073709551617"));
    QCOMPARE(sum_of_pico({QStringLiteral("1"), QString()}), QString());      // a sum with an unknown part is unknown
  }

  void instants_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<qint64>("seconds");
    QTest::newRow("UTC") << QStringLiteral("1970-01-02T00:00:01Z") << qint64(86401);
    QTest::newRow("offset") << QStringLiteral("1970-01-02T02:00:00+02:00") << qint64(86400);
    QTest::newRow("fraction") << QStringLiteral("1970-01-02T00:00:00.999Z") << qint64(86400);
    for (const char* bad : {"", "2026-11-25", "2026-11-25T12:00:00", "2026-13-25T12:00:00Z", "2026-11-25T25:00:00Z", "2026-11-25T12:00:00.Z", "2026-11-25T12:00:00+2:00"})
      QTest::newRow(bad) << QString::fromLatin1(bad) << qint64(-1);
  }

  void instants() {
    QFETCH(QString, text);
    QFETCH(qint64, seconds);
    const auto instant = instantOf(text);
    QCOMPARE(instant ? *instant / 1'000'000'000 : -1, seconds);
  }

  void brokenBooksAreRefused_data() {
    QTest::addColumn<QByteArray>("book");
    const QByteArray good = bookOf(goodRows());
    const auto with = [](const QJsonObject& extra) {
      QJsonArray rows = goodRows();
      rows.append(extra);
      return bookOf(rows);
    };
    QTest::newRow("not JSON") << QByteArray("{");
    QTest::newRow("an array") << QByteArray("[]");
    QTest::newRow("text after it") << good + "x";
    QTest::newRow("a key twice") << QByteArray(good).replace("{\n", "{\"book\":\"a\",\n").replace("\"as_of\"", "\"book\"");
    QTest::newRow("no rows") << QByteArray(R"({"schema_version":1,"price_unit":"currency per 1,000,000 tokens"})");
    QTest::newRow("deep") << QByteArray(100000, '[');
    QTest::newRow("number price") << with(row("n", R"([{"up_to":null,"input":1,"output":"2"}])"));
    QTest::newRow("negative price") << with(row("n", R"([{"up_to":null,"input":"-1","output":"2"}])"));
    QTest::newRow("input refers to itself") << with(row("n", R"([{"up_to":null,"input":"=input","output":"2"}])"));
    QTest::newRow("same id") << with(row("plain", R"([{"up_to":null,"input":"1","output":"2"}])", R"({"provider":"other"})"));
    QTest::newRow("overlap by alias") << with(row("n", R"([{"up_to":null,"input":"1","output":"2"}])", R"({"aliases":["PLAIN"]})"));
    QTest::newRow("empty period") << with(row("n", R"([{"up_to":null,"input":"1","output":"2"}])", R"({"effective_from":"2026-01-01T00:00:00Z","effective_to":"2026-01-01T00:00:00Z"})"));
    QTest::newRow("bands descend") << with(row("n", R"([{"up_to":9,"input":"1","output":"2"},{"up_to":8,"input":"1","output":"2"},{"up_to":null,"input":"1","output":"2"}])"));
    QTest::newRow("last band ends") << with(row("n", R"([{"up_to":9,"input":"1","output":"2"}])"));
    QTest::newRow("no bands") << with(row("n", "[]"));
  }

  void brokenBooksAreRefused() {
    QFETCH(QByteArray, book);
    QString refusal;
    QVERIFY(!PriceBook::read(book, &refusal));
    QVERIFY(refusal.endsWith(QLatin1Char('.')) && !refusal.contains(QLatin1Char('\n')));
  }

  void usageIsPriced_data() {
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<QByteArray>("expected");
    const auto add = [](const char* name, const QByteArray& line, const char* expected) { QTest::newRow(name) << line << QByteArray(expected); };
    add("plain", usageLine("plain", kPlainUsage), R"({"id":"x","input_total":100,"input_cached":40,"input_fresh":60,"cost_pico":"84000000","error":null,"row":"example/plain","thinking":null})");
    add("alias, other case", usageLine("PLAIN-Alias", kPlainUsage), R"({"cost_pico":"84000000"})");
    add("dated id", usageLine("plain-20260203", kPlainUsage), R"({"cost_pico":"84000000"})");
    add("no date at its end", usageLine("plain-20269999", kPlainUsage), R"({"error":"unknown_model","row":null,"currency":null,"input_total":100})");
    add("band edge", usageLine("bands", kPlainUsage), R"({"cost_pico":"180000000"})");
    add("next band", usageLine("bands", R"({"prompt_tokens":101,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens":1})"), R"({"cost_pico":"222000000"})");
    add("excess only", usageLine("excess", R"({"prompt_tokens":150,"prompt_tokens_details":{"cached_tokens":120},"completion_tokens":1})"), R"({"cost_pico":"180000000"})");
    add("modifier", usageLine("plain", kPlainUsage, R"(,"modifiers":["half"])"), R"({"cost_pico":"42000000","flags":[]})");
    add("two modifiers", usageLine("plain", kPlainUsage, R"(,"modifiers":["half","half"])"), R"({"cost_pico":"21000000","flags":["modifier_stack_unverified"]})");
    add("unknown modifier", usageLine("plain", kPlainUsage, R"(,"modifiers":["x"])"), R"({"error":"unknown_modifier","cost_pico":null,"row":"example/plain"})");
    add("unknown tier", usageLine("plain", kPlainUsage, R"(,"tier":"batch")"), R"({"error":"no_price_for_tier"})");
    add("other currency", usageLine("plain", kPlainUsage, R"(,"currency":"EUR")"), R"({"error":"no_price_in_currency"})");
    add("past", usageLine("past", kPlainUsage), R"({"error":"no_price_at_date"})");
    add("price missing", usageLine("pico", kPlainUsage), R"({"error":"price_missing","cost_min_pico":null})");
    add("cached not reported", usageLine("plain", R"({"prompt_tokens":100,"completion_tokens":0})"), R"({"error":"cached_not_reported","input_cached":null,"cost_pico":null,"cost_min_pico":"10000000","cost_max_pico":"100000000"})");
    add("write not reported", usageLine("writes", R"({"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens":0})"), R"({"error":"cache_write_not_reported","cache_write":null,"cost_min_pico":"100000000","cost_max_pico":"125000000"})");
    add("more cached than prompt", usageLine("plain", R"({"prompt_tokens":1,"prompt_tokens_details":{"cached_tokens":2},"completion_tokens":0})"), R"({"error":"inconsistent_usage","input_total":null})");
    add("fraction", usageLine("plain", R"({"prompt_tokens":1.0,"completion_tokens":0})"), R"({"error":"not_an_integer"})");
    add("text count", usageLine("plain", R"({"prompt_tokens":"1","completion_tokens":0})"), R"({"error":"not_an_integer"})");
    add("negative", usageLine("plain", R"({"prompt_tokens":-1,"completion_tokens":0})"), R"({"error":"negative_count"})");
    add("2^63", usageLine("plain", R"({"prompt_tokens":9223372036854775808,"completion_tokens":0})"), R"({"error":"count_out_of_range"})");
    add("far too large", usageLine("plain", R"({"prompt_tokens":99999999999999999999999999,"completion_tokens":0})"), R"({"error":"count_out_of_range"})");
    add("no usage", usageLine("plain", "null"), R"({"error":"missing_usage"})");
    add("unknown form", QByteArray(usageLine("plain", kPlainUsage)).replace("openai_chat", "smoke_signals"), R"({"error":"unknown_api"})");
    add("not an object", "[1]", R"({"id":null,"error":"bad_line"})");
    add("search fee", QByteArray(usageLine("plain", R"({"input_tokens":0,"output_tokens":0,"server_tool_use":{"web_search_requests":3}})", R"(,"modifiers":["half"])")).replace("openai_chat", "anthropic_messages"), R"({"cost_pico":"30000000000"})");
    add("peak, first minute", QByteArray(usageLine("peak", kPlainUsage)).replace("25T12:00", "25T01:00"), R"({"cost_pico":"240000000"})");
    add("peak is over", QByteArray(usageLine("peak", kPlainUsage)).replace("25T12:00", "25T04:00"), R"({"cost_pico":"120000000"})");
    add("peak on a free day", QByteArray(usageLine("peak", kPlainUsage)).replace("25T12:00", "24T01:00"), R"({"cost_pico":"120000000"})");
    add("group is rounded once", QByteArray(R"({"id":7,"provider":"example","model":"pico","at":"2026-11-25T12:00:00Z","api":"openai_chat","modifiers":["half"],"calls":[{"usage":{"prompt_tokens":1,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens":0},"repeat":3}]})"), R"({"id":7,"input_total":3,"cost_pico":"2"})");
    add("stream cut short", QByteArray(R"({"id":"x","provider":"example","model":"plain","at":"2026-11-25T12:00:00Z","api":"gemini_stream","events":[{"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5}}],"max_output":50})"), R"({"error":"incomplete_usage","output":null,"cost_min_pico":"20000000","cost_max_pico":"110000000"})");
    add("local run", QByteArray(usageLine("plain", R"({"timings":{"cache_n":90,"prompt_n":10,"predicted_n":5}})")).replace("openai_chat", "llama_server"), R"({"input_cached":90,"cost_pico":"110000000","flags":["hosted_equivalent"]})");
  }

  void usageIsPriced() {
    QFETCH(QByteArray, line);
    QFETCH(QByteArray, expected);
    const QJsonObject answer = answerLine(goodBook(), line), want = parsed(expected);
    for (auto it = want.begin(); it != want.end(); ++it)
      QVERIFY2(answer.contains(it.key()) && answer.value(it.key()) == it.value(), qPrintable(it.key() + QString::fromUtf8(": " + QJsonDocument(answer).toJson(QJsonDocument::Compact))));
  }

  void localTurnTakesThePromptAsFresh() {
    const QDateTime at(QDate(2026, 11, 25), QTime(12, 0), Qt::UTC);
    const RecordCost cost = cost_of_local_turn(goodBook(), QStringLiteral("example/plain"), 412, 57, 20, at);
    QCOMPARE(cost.costPico, QStringLiteral("526000000"));
    QCOMPARE(cost.book, QStringLiteral("2026-11-29"));
    QCOMPARE(cost.currency, QStringLiteral("USD"));
    QCOMPARE(cost.lines.size(), 2);
    QCOMPARE(cost.lines[0].bucket, QStringLiteral("fresh"));
    QCOMPARE(cost.lines[0].price, QStringLiteral("1"));
    QCOMPARE(cost.lines[0].costPico, QStringLiteral("412000000"));
    QCOMPARE(cost.lines[1].costPico, QStringLiteral("114000000"));
    QVERIFY(cost.ifCachedRule.isEmpty());
    QCOMPARE(cost_of_local_turn(goodBook(), QString(), 1, 1, 0, at).error, QStringLiteral("no_price_row_chosen"));
    QCOMPARE(cost_of_local_turn(goodBook(), QStringLiteral("example/none"), 1, 1, 0, at).error, QStringLiteral("unknown_model"));
    QVERIFY(cost_of_local_turn(goodBook(), QStringLiteral("example/none"), 1, 1, 0, at).costPico.isEmpty());
    QVERIFY(priced_as_choices(goodBook(), at).contains(QStringLiteral("example/plain")));
    QVERIFY(!priced_as_choices(goodBook(), at).contains(QStringLiteral("example/past")));
  }

  // What the provider's rule would make of the same turn, with the book and rules that ship.
  void localTurnIfCached() {
    const QDateTime at(QDate(2026, 11, 25), QTime(12, 0), Qt::UTC);
    const PriceBook& book = PriceBook::shipped();
    const RecordCost prefix = cost_of_local_turn(book, QStringLiteral("openai/gpt-4o"), 3000, 0, 0, at, 2500);
    QCOMPARE(prefix.ifCachedRule, QStringLiteral("openai-prefix-128"));
    QCOMPARE(prefix.ifCachedMaxPico, prefix.costPico);                    // nothing cached, and writing is free there
    const Band band = book.find(QStringLiteral("openai"), QStringLiteral("gpt-4o"), QStringLiteral("USD"), at.toMSecsSinceEpoch() * 1'000'000).row->sets.value(QStringLiteral("standard")).first();
    const qint64 hit = 2432;                                              // 1024 + 11 * 128
    Amount want = Amount::of(hit, *band.pico(QStringLiteral("cached_read")));
    want += Amount::of(3000 - hit, *band.pico(QStringLiteral("input")));
    QCOMPARE(prefix.ifCachedMinPico, want.rounded());
    const RecordCost first = cost_of_local_turn(book, QStringLiteral("openai/gpt-4o"), 3000, 0, 0, at, 0);
    QCOMPARE(first.ifCachedMinPico, first.ifCachedMaxPico);
    const RecordCost written = cost_of_local_turn(book, QStringLiteral("openai/gpt-6.2-sol"), 3000, 0, 0, at, 0);
    QCOMPARE(written.ifCachedMaxPico, QStringLiteral("7500000000"));      // written at 2.5
    QCOMPARE(written.costPico, QStringLiteral("6000000000"));
    const RecordCost small = cost_of_local_turn(book, QStringLiteral("openai/gpt-6.2-sol"), 300, 0, 0, at, 200);
    QCOMPARE(small.ifCachedMinPico, small.costPico);                      // below the minimum nothing is kept
  }

  void shippedBookNamesSourceAndDate() {
    QVERIFY(PriceBook::shipped().rows().size() > 100);
    QVERIFY(!PriceBook::shipped().asOf().isEmpty());
    for (const Row& r : PriceBook::shipped().rows()) QVERIFY2(!r.source.isEmpty() && !r.seen.isEmpty(), qPrintable(r.id));
  }

  void caseFilesOfThePack() {
    const QString folder = QStringLiteral(TG_SOURCE_DIR "/../shared/pricing/");
    QFile cases(folder + QStringLiteral("vectors.jsonl"));
    if (!cases.open(QIODevice::ReadOnly)) {
      qInfo("The pricing pack is not beside the repository; its cases were not run.");
      return;
    }
    QHash<QString, PriceBook> books;
    int run = 0;
    while (!cases.atEnd()) {
      const QJsonObject entry = parsed(cases.readLine());
      if (entry.isEmpty()) continue;
      const QString name = entry.value(QStringLiteral("book")).toString();
      if (!books.contains(name)) {
        QFile file(folder + name);
        QVERIFY(file.open(QIODevice::ReadOnly));
        books.insert(name, *PriceBook::read(file.readAll(), nullptr));
      }
      const QJsonObject want = entry.value(QStringLiteral("expect")).toObject();
      const QJsonObject got = answerLine(books[name], QJsonDocument(entry.value(QStringLiteral("in")).toObject()).toJson(QJsonDocument::Compact));
      // Numbers past 2^53 and fractions do not survive this test's own JSON; check.py compares those.
      if (entry.value(QStringLiteral("kind")).toString() == QStringLiteral("overflow") || want.value(QStringLiteral("error")) == QStringLiteral("not_an_integer")) continue;
      for (auto it = want.begin(); it != want.end(); ++it) QVERIFY2(got.value(it.key()) == it.value(), qPrintable(entry.value(QStringLiteral("id")).toString() + QLatin1Char(' ') + it.key()));
      ++run;
    }
    qInfo("%d cases of the pricing pack", run);
  }
};

QTEST_GUILESS_MAIN(CostTest)
#include "tst_cost.moc"
