// A model that has not answered yet is measured while nothing is to be done, so that the first wait is known too.
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "engine/engine.h"
#include "tests/replay/replay_models.h"

using namespace tg;
using namespace tg::test;

class TestFirstWait : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void measuredBeforeTheFirstTurn_data() {
    QTest::addColumn<QString>("kind");
    for (const char* kind : {"full", "window", "delta"}) QTest::newRow(kind) << QString::fromLatin1(kind);
  }
  void measuredBeforeTheFirstTurn() {
    QFETCH(QString, kind);
    const QTemporaryDir dir;
    QFile file(dir.filePath(QStringLiteral("model.gguf")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray::fromStdString(replay_model(kind.toStdString())));
    file.close();
    EngineOptions options;
    options.curves_file = dir.filePath(QStringLiteral("curves.json")).toStdString();
    const std::vector<TokenId> prompt(200, 40);
    for (const bool again : {false, true}) {
      const auto engine = Engine::create(options);
      const auto model = engine->load(file.fileName().toStdString(), {}, {}, {});
      QVERIFY(model);
      QCOMPARE(engine->predict(*model, "a", prompt).ttft_ms.has_value(), again);  // the next run knows it at once
      QTRY_VERIFY_WITH_TIMEOUT(engine->predict(*model, "a", prompt).ttft_ms, 15000);
      QVERIFY(*engine->predict(*model, "a", prompt).ttft_ms > 0);
      QVERIFY(engine->cache_states().empty());
      QVERIFY(engine->check_integrity());
    }
  }
};

QTEST_GUILESS_MAIN(TestFirstWait)
#include "tst_first_wait.moc"
