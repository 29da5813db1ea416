// What happened to a chat's cache is kept as a short list, whatever happens how often: a log that grows would slow the whole program.
#include <QtTest>

#include "tests/support/fake_model.h"

using namespace tg;
using namespace tg::test;

class TestEventLog : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void eventsOfAChatAreBounded() {
    const FakeEngine e;
    e.run("a", tokens(100, 1), 4);
    for (int i = 0; i < 500; ++i) QVERIFY(e.engine->pin("a", i % 2 == 0).ok());
    const std::vector<CacheEvent> events = e.engine->events("a");
    QVERIFY(!events.empty() && events.size() <= 64);
  }
};

QTEST_GUILESS_MAIN(TestEventLog)
#include "tst_event_log.moc"
