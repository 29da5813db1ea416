// Numbers as people read them and sentences about cache misses: UI.md sections 3 and 12.
#include <QLocale>
#include <QTest>

#include "app/decimal.h"
#include "app/error_words.h"
#include "app/format.h"
#include "app/words.h"

using namespace tg;

namespace {

// Special spaces are hard to see in a test: _ stands for U+00A0, ' for U+202F.
QString plain(QString s) { return s.replace(QChar(0x00A0), QLatin1Char('_')).replace(QChar(0x202F), QLatin1Char('\'')); }

TurnRecord record(const QString& cause, int reusable, int reused, int fresh, int new_tokens) {
  TurnRecord r;
  r.inputTotal = reused + fresh;
  r.inputCached = reused;
  r.inputFresh = fresh;
  r.prefillTps = 1000;
  r.segments = {{QStringLiteral("new"), new_tokens}};
  r.cache.reusable = reusable;
  r.cache.reused = reused;
  if (cause.isEmpty()) return r;
  r.cache.miss = RecordMiss();
  r.cache.miss->cause = cause;
  return r;
}

}  // namespace

class TestNumbersAndWords : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() { QLocale::setDefault(QLocale::c()); }
  void numbers_data();
  void numbers();
  void unknownIsADash();
  void decimals();
  void missSentences_data();
  void missSentences();
  void tiers();
  void errors();
  void recordRoundTrip();
};

void TestNumbersAndWords::numbers_data() {
  QTest::addColumn<QString>("shown");
  QTest::addColumn<QString>("expected");
  const auto row = [](const char* name, const QString& shown, const char* expected) { QTest::newRow(name) << plain(shown) << QString::fromUtf8(expected); };
  row("count", format::count(4812), "4'812");
  row("small count", format::count(812), "812");
  row("large count", format::count(1234567), "1'234'567");
  row("negative", format::count(-4812), "−4'812");
  row("below 1 ms", format::measuredTime(0.4), "< 1_ms");
  row("ms", format::measuredTime(89), "89_ms");
  row("almost 100 ms", format::measuredTime(99.7), "0.10_s");
  row("two decimals", format::measuredTime(160), "0.16_s");
  row("almost 10 s", format::measuredTime(9996), "10.0_s");
  row("one decimal", format::measuredTime(24000), "24.0_s");
  row("minutes", format::measuredTime(100000), "1_min 40_s");
  row("hours", format::measuredTime(3840000), "1_h 04_min");
  row("expected tenths", format::expectedTime(160), "≈_0.2_s");
  row("expected least", format::expectedTime(3), "≈_0.1_s");
  row("expected seconds", format::expectedTime(14200), "≈_14_s");
  row("expected steps of ten", format::expectedTime(101000), "≈_1_min 40_s");
  row("expected minutes", format::expectedTime(734000), "≈_12_min");
  row("rate", format::rate(39.94), "39.9_tok/s");
  row("rate in thousands", format::rate(1204), "1'200_tok/s");
  row("rate below ten", format::rate(5.301), "5.30_tok/s");
  row("MiB", format::bytes(qint64{720} << 20), "720_MiB");
  row("GiB", format::bytes(2491081031), "2.32_GiB");
  row("bytes", format::bytes(512), "512_B");
  row("next unit", format::bytes((qint64{1} << 30) - 1), "1.00_GiB");
  row("share", format::share(4640, 4812), "96_%");
  row("share below one", format::share(2, 1000), "< 1_%");
  row("share not quite all", format::share(9999, 10000), "99_%");
  row("share none", format::share(0, 10), "0_%");
  row("share all", format::share(10, 10), "100_%");
  row("money line", format::moneyLine(QStringLiteral("1872000000"), QStringLiteral("USD"), true), "≈_$0.0019");
  row("money line whole", format::moneyLine(QStringLiteral("12345000000000"), QStringLiteral("USD"), false), "$12.34");
  row("money detail", format::moneyDetail(QStringLiteral("1872000000"), QStringLiteral("USD")), "$0.001872");
  row("money cents", format::moneyDetail(QStringLiteral("12345600000"), QStringLiteral("USD")), "$0.0123");
  row("money half to even", format::moneyDetail(QStringLiteral("1125000000000"), QStringLiteral("USD")), "$1.12");
  row("money tiny", format::moneyDetail(QStringLiteral("99999999"), QStringLiteral("USD")), "< $0.0001");
  row("money nothing", format::moneyDetail(QStringLiteral("0"), QStringLiteral("EUR")), "€0");
  row("money beyond 64 bits", format::moneyDetail(QStringLiteral("123456789012345678901234567890"), QStringLiteral("USD")), "$123'456'789'012'345'678.90");
  row("spoken time", format::spokenTime(160), "0.16 seconds");
  row("spoken bytes", format::spokenBytes(qint64{720} << 20), "720 mebibytes");
}

void TestNumbersAndWords::numbers() {
  QFETCH(QString, shown);
  QFETCH(QString, expected);
  QCOMPARE(shown, expected);
}

void TestNumbersAndWords::unknownIsADash() {
  const QString dash = QStringLiteral("–");
  QCOMPARE(format::rate(std::nullopt), dash);
  QCOMPARE(format::bytes(std::nullopt), dash);
  QCOMPARE(format::expectedTime(std::nullopt), dash);
  QCOMPARE(format::moneyLine({}, {}, true), dash);
  QCOMPARE(format::moneyDetail(QStringLiteral("12.5"), {}), dash);
  QCOMPARE(format::share(1, 0), dash);
}

void TestNumbersAndWords::decimals() {
  QCOMPARE(decimal::scaled(QStringLiteral("999999"), 6, 2), QStringLiteral("1.00"));
  QCOMPARE(decimal::scaled(QStringLiteral("1250000"), 6, 1), QStringLiteral("1.2"));
  QCOMPARE(decimal::scaled(QStringLiteral("1350000"), 6, 1), QStringLiteral("1.4"));
  QCOMPARE(*decimal::whole_digits(QStringLiteral("000120")), QStringLiteral("120"));
  QVERIFY(!decimal::whole_digits(QStringLiteral("-1")));
}

void TestNumbersAndWords::missSentences_data() {
  QTest::addColumn<TurnRecord>("r");
  QTest::addColumn<QString>("shorter");
  QTest::addColumn<QString>("sentence");
  TurnRecord r = record({}, 4640, 4640, 172, 172);
  r.cache.fromRam = 4640;
  QTest::newRow("all reused") << r << QString() << QStringLiteral("Nothing was read twice. All 4'640 tokens that could be reused were reused, from the RAM.");
  QTest::newRow("first turn") << record(QStringLiteral("first_turn"), 0, 0, 40, 20) << QString()
                              << QStringLiteral("This is the first message of the chat, so there was nothing to reuse.");
  r = record(QStringLiteral("prefix_changed"), 17, 17, 5788, 60);
  r.cache.miss->atToken = 18;
  r.cache.miss->where = QStringLiteral("system");
  QTest::newRow("prefix changed") << r << QStringLiteral("5'728 read again: differs at token 18")
                                  << QStringLiteral("The prompt differs from what is in the cache from token 18 on, in the system text. 5'728 tokens were read again, ≈_5.7_s.");
  r.cache.miss->detail = QStringLiteral("thinking_dropped");
  QTest::newRow("thinking") << r << QStringLiteral("5'728 read again: thinking left out by the template")
                            << QStringLiteral("The template leaves the thinking of earlier answers out of the prompt. 5'728 tokens were read again, ≈_5.7_s.");
  r.cache.miss->detail = QStringLiteral("edited");
  r.cache.miss->message = 3;
  QTest::newRow("edited") << r << QStringLiteral("5'728 read again: you edited message 3")
                          << QStringLiteral("You edited message 3, so all that follows it was read again: 5'728 tokens, ≈_5.7_s.");
  r.cache.miss->detail = QStringLiteral("turns_dropped");
  r.cache.miss->turnFirst = 1;
  r.cache.miss->turnLast = 4;
  QTest::newRow("dropped") << r << QStringLiteral("5'728 read again: turns left out")
                           << QStringLiteral("Turns 1–4 left the prompt because the window was full. What follows them was read again: 5'728 tokens, ≈_5.7_s.");
  r = record(QStringLiteral("evicted"), 1032, 0, 1200, 168);
  r.cache.miss->byChat = QStringLiteral("Trip");
  r.cache.miss->tier = QStringLiteral("ram");
  r.cache.miss->when = QStringLiteral("soon");
  QTest::newRow("evicted by budget") << r << QStringLiteral("1'032 read again: made room for “Trip”")
                                     << QStringLiteral("The cache of this chat made room for “Trip” at soon (budget of the RAM). 1'032 tokens were read again, ≈_1.0_s.");
  r.cache.miss->evictedBy = QStringLiteral("user");
  QTest::newRow("evicted by user") << r << QStringLiteral("1'032 read again: evicted by you")
                                   << QStringLiteral("You evicted the cache of this chat at soon. 1'032 tokens were read again, ≈_1.0_s.");
  r = record(QStringLiteral("settings_changed"), 100, 0, 120, 20);
  r.cache.miss->setting = QStringLiteral("kv_type");
  r.cache.miss->from = QStringLiteral("f16");
  r.cache.miss->to = QStringLiteral("q8_0");
  QTest::newRow("settings") << r << QStringLiteral("100 read again: the number format of the cache changed")
                            << QStringLiteral("The number format of the cache changed from f16 to q8_0, and a cache made with f16 cannot be used with q8_0. 100 tokens were read again, ≈_0.1_s.");
  r = record(QStringLiteral("snapshot_refused"), 100, 0, 120, 20);
  r.cache.miss->refusal = QStringLiteral("checksum");
  QTest::newRow("snapshot") << r << QStringLiteral("100 read again: kept cache refused")
                            << QStringLiteral("The cache file on disk was not used: a checksum differs. 100 tokens were read again, ≈_0.1_s.");
  QTest::newRow("unknown") << record(QStringLiteral("unknown"), 100, 0, 120, 20) << QStringLiteral("100 read again: cause unknown")
                           << QStringLiteral("100 tokens were read again. The cause could not be determined.");
  r = record({}, 0, 0, 300, 20);
  r.cache.enabled = false;
  QTest::newRow("off") << r << QStringLiteral("caching is off") << QStringLiteral("Caching is switched off, so all 300 tokens were read.");
}

void TestNumbersAndWords::missSentences() {
  QFETCH(TurnRecord, r);
  QFETCH(QString, shorter);
  QFETCH(QString, sentence);
  QCOMPARE(plain(words::missShort(r)), shorter);
  QCOMPARE(plain(words::missSentence(r)), sentence);
}

void TestNumbersAndWords::tiers() {
  ChatInfo chat;
  chat.tier = ChatTier::Ram;
  chat.tokensHeld = 8192;
  QCOMPARE(words::tierBadge(chat), QStringLiteral("in RAM"));
  chat.tokensToRead = 4700;
  chat.partly = true;
  QCOMPARE(plain(words::tierBadge(chat)), QStringLiteral("partly in RAM, 8'192 of 12'892"));
}

void TestNumbersAndWords::errors() {
  QCOMPARE(words::sentence(make_error(ErrorCode::template_error, "roles must alternate")), QStringLiteral("The chat template stopped with: roles must alternate. Nothing was sent."));
  QCOMPARE(words::sentence(make_error(ErrorCode::no_template, "x")), QStringLiteral("This model brings no chat template. Choose one."));
  QCOMPARE(words::sentence(make_error(ErrorCode::io, "x."), QStringLiteral("/nowhere/model.gguf")), QStringLiteral("The file is gone or cannot be read: model.gguf."));
  QCOMPARE(words::exit_code(make_error(ErrorCode::does_not_fit, "x")), 4);
  QCOMPARE(words::exit_code(make_error(ErrorCode::template_error, "x")), 3);
}

void TestNumbersAndWords::recordRoundTrip() {
  TurnRecord r = record(QStringLiteral("evicted"), 100, 40, 80, 20);
  r.chat = QStringLiteral("a");
  r.turn = 3;
  r.ttftMs = 41.5;
  r.kvBytes = 10782720;
  r.cache.miss->evictedBy = QStringLiteral("user");
  r.cost.costPico = QStringLiteral("123456789012345678901234567890");
  r.cost.lines = {{QStringLiteral("fresh"), 412, QStringLiteral("0.5"), QStringLiteral("206000000")}};
  r.warnings = {QStringLiteral("prompt_jump")};
  const QJsonObject json = r.toJson();
  QCOMPARE(TurnRecord::fromJson(json).toJson(), json);
  QVERIFY(json.value(QLatin1String("stop_ms")).isNull());
  QCOMPARE(json.value(QLatin1String("kv")).toObject().value(QLatin1String("bytes")).toInteger(), 10782720);
}

QTEST_GUILESS_MAIN(TestNumbersAndWords)
#include "tst_numbers_and_words.moc"
