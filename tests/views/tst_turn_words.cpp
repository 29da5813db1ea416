// Every sentence of UI.md 12.1 and the footer line of 6.4, from records.
#include <QTest>

#include "app/format.h"
#include "tests/support/picture_chats.h"
#include "views/transcript/footer_layout.h"
#include "views/turn/turn_words.h"

using namespace tg;
using namespace Qt::StringLiterals;

namespace {

TurnRecord withMiss(const RecordMiss& miss) {
  TurnRecord r = fake::pictureRecord(4, 4812, 3780, 310, 212, 160, 39.9, "1872000000");
  r.cache.reusable = 4812;
  r.cache.reused = 3780;
  r.cache.miss = miss;
  return r;
}

RecordMiss miss(const QString& cause) {
  RecordMiss m;
  m.cause = cause;
  m.atToken = 18;
  m.message = 3;
  m.when = u"2026-11-29T11:06:00"_s;
  return m;
}

}  // namespace

class TestTurnWords : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void moneyIsThereWhileWriting() {
    LiveTurn live;
    live.state = TurnState::Writing;
    live.readTotal = 400;
    live.output = 20;
    FooterOptions options;
    QVERIFY(footerText(footerGroups(live, options)).endsWith(u"–"_s));
    live.costPico = u"1900000000"_s;
    live.currency = u"USD"_s;
    QVERIFY2(footerText(footerGroups(live, options)).endsWith(u"$0.0019"_s), qPrintable(footerText(footerGroups(live, options))));
  }

  void footerLine() {
    const TurnRecord r = fake::pictureRecord(4, 4812, 4640, 310, 212, 160, 39.9, "5000000000");
    QCOMPARE(footerText(footerGroups(r, TurnState::Finished, {})),
             QString(u"in %1 = %2 cached + 172 fresh   out 310 (212 thinking)   first 0.16\u00A0s   39.9\u00A0tok/s   ● %3   "_s.arg(format::count(4812), format::count(4640), format::bytes(r.kvBytes)) +
                 format::moneyLine(u"5000000000"_s, u"USD"_s, true)));
  }

  void unknownIsADash() {
    TurnRecord r;
    const QString text = footerText(footerGroups(r, TurnState::Finished, {}));
    QCOMPARE(text, u"in – = – cached + – fresh   out –   first –   –   –   –"_s);
    QVERIFY(!text.contains(u'0'));
  }

  void stoppedStandsInFront() {
    TurnRecord r = fake::pictureRecord(1, 100, 0, 5, 0, 10, 20, "0");
    r.finishReason = u"cancelled"_s;
    QVERIFY(footerText(footerGroups(r, TurnState::Stopped, {})).startsWith(u"stopped ·"_s));
  }

  void moneySetting() {
    const TurnRecord r = fake::pictureRecord(1, 100, 0, 5, 0, 10, 20, "2000000000");
    FooterOptions none;
    none.money = u"none"_s;
    FooterOptions both;
    both.money = u"both"_s;
    const auto count = [&](const FooterOptions& o) { return footerGroups(r, TurnState::Finished, o).size(); };
    QCOMPARE(count(none) + 1, count({}));
    QCOMPARE(count({}) + 1, count(both));
  }

  void readingLine() {
    LiveTurn live;
    live.state = TurnState::Reading;
    live.readDone = 4730;
    live.readTotal = 4812;
    live.readCached = 4640;
    live.readTps = 1200;
    const QString text = footerText(footerGroups(live, {}));
    QVERIFY(text.startsWith(u"reading %1 / %2 (%3 cached)"_s.arg(format::count(4730), format::count(4812), format::count(4640))));
    QVERIFY(text.endsWith(u" left"_s));
    QVERIFY(text.contains(u"tok/s"_s));
  }

  void sentence() {
    const TurnRecord r = fake::pictureRecord(4, 4812, 4640, 310, 212, 160, 39.9, "1900000000");
    const QString s = footerSentence(r);
    QVERIFY(s.startsWith(u"Turn 4. Read 4812 tokens: 4640 cached, 172 fresh. Wrote 310 tokens, 212 of them thinking. First token after "_s));
    QVERIFY(s.contains(u"tokens per second"_s) && s.contains(u"on the GPU"_s) && s.contains(u"dollars on the list gpt-5.4-mini"_s));
    QVERIFY(!s.contains(u"tok/s"_s) && !s.contains(u"MiB"_s));
  }

  void misses_data() {
    QTest::addColumn<QString>("cause");
    QTest::addColumn<QString>("detail");
    QTest::addColumn<QString>("brief");
    QTest::addColumn<QString>("part");
    const QString n = format::count(1032);
    QTest::newRow("differs") << u"prefix_changed"_s << u""_s << n + u" read again: differs at token 18"_s << u"from token 18 on"_s;
    QTest::newRow("thinking") << u"prefix_changed"_s << u"thinking_dropped"_s << n + u" read again: thinking left out by the template"_s << u"leaves the thinking of earlier answers out"_s;
    QTest::newRow("edited") << u"prefix_changed"_s << u"edited"_s << n + u" read again: you edited message 3"_s << u"You edited message 3"_s;
    QTest::newRow("dropped") << u"prefix_changed"_s << u"turns_dropped"_s << n + u" read again: turns left out"_s << u"the window was full"_s;
    QTest::newRow("budget") << u"evicted"_s << u""_s << n + u" read again: made room for “another chat”"_s << u"made room for"_s;
    QTest::newRow("reload") << u"model_reloaded"_s << u""_s << n + u" read again: model loaded again"_s << u"no kept cache was found"_s;
    QTest::newRow("boundary") << u"window_boundary"_s << u""_s << n + u" read again: no snapshot that far back"_s << u"nearest kept point"_s;
    QTest::newRow("refused") << u"snapshot_refused"_s << u""_s << n + u" read again: kept cache refused"_s << u"cache file on disk was not used"_s;
    QTest::newRow("unknown") << u"unknown"_s << u""_s << n + u" read again: cause unknown"_s << u"could not be determined"_s;
  }
  void misses() {
    QFETCH(QString, cause);
    QFETCH(QString, detail);
    QFETCH(QString, brief);
    QFETCH(QString, part);
    RecordMiss m = miss(cause);
    m.detail = detail;
    const TurnRecord r = withMiss(m);
    QCOMPARE(missShort(r), brief);
    QVERIFY2(missSentence(r).contains(part), qPrintable(missSentence(r)));
    QVERIFY(missSentence(r).contains(format::count(1032)));
    QVERIFY(missSentence(r).endsWith(u'.'));
  }

  void evictedByUserAndSetting() {
    RecordMiss m = miss(u"evicted"_s);
    m.evictedBy = u"user"_s;
    QCOMPARE(missShort(withMiss(m)), QString(format::count(1032) + u" read again: evicted by you"_s));
    m = miss(u"settings_changed"_s);
    m.setting = u"kv_type"_s;
    m.from = u"f16"_s;
    m.to = u"q8_0"_s;
    QVERIFY(missSentence(withMiss(m)).startsWith(u"Cache format changed from f16 to q8_0"_s));
  }

  void noMissHasNoSecondLine() {
    const TurnRecord r = fake::pictureRecord(4, 4812, 4640, 310, 212, 160, 39.9, "1");
    QVERIFY(missShort(r).isEmpty());
    QVERIFY(missSentence(r).startsWith(u"Nothing was read twice."_s));
    TurnRecord first = r;
    first.cache.miss = miss(u"first_turn"_s);
    QVERIFY(missShort(first).isEmpty());
    TurnRecord off = r;
    off.cache.enabled = false;
    QCOMPARE(missShort(off), u"caching is off"_s);
  }

  // A group never moves while its figures grow, and never breaks inside.
  void groupsKeepTheirPlace() {
    const QFont font;
    LiveTurn live;
    live.state = TurnState::Writing;
    live.readTotal = 4812;
    live.readCached = 4640;
    const auto at = [&](int width) {
      QVector<qreal> x;
      const FooterLayout layout(footerGroups(live, {}), width, font);
      for (const FooterPlace& p : layout.places()) x << p.rect.x() + p.rect.y() * 10000;
      return x;
    };
    const auto before = at(900), narrow = at(300);
    live.output = 318;
    live.ttftMs = 160;
    live.writeTps = 39.9;
    QCOMPARE(at(900), before);
    QCOMPARE(at(300), narrow);
    QVERIFY(FooterLayout(footerGroups(live, {}), 200, font).height() > FooterLayout(footerGroups(live, {}), 900, font).height());
  }

  void ordinals() {
    QCOMPARE(ordinal(1), u"1st"_s);
    QCOMPARE(ordinal(2), u"2nd"_s);
    QCOMPARE(ordinal(11), u"11th"_s);
    QCOMPARE(ordinal(23), u"23rd"_s);
  }
};

QTEST_MAIN(TestTurnWords)
#include "tst_turn_words.moc"
