// The replay suite: every scenario of scenarios/ is played with the cache and without; answers and logits must be the same, and the records must
// say what was reused and, where it was less than possible, why. Scenarios are data: files of named scenarios with expectations beside the steps.
#include <QTest>
#include <future>

#include "tests/replay/replay_judge.h"
#include "tests/replay/replay_models.h"

using namespace tg::test;

namespace {

QJsonObject merged(QJsonObject base, const QJsonObject& over) {
  for (auto it = over.begin(); it != over.end(); ++it) base[it.key()] = it.value();
  return base;
}

// What the control run does otherwise: "control" overrides options; "serial" sends one after the other what ran side by side; "steps" replaces all.
QJsonObject control_of(const QJsonObject& scenario) {
  QJsonObject out = scenario;
  const QJsonObject control = scenario.value(QLatin1String("control")).toObject();
  out[QLatin1String("options")] = merged(scenario.value(QLatin1String("options")).toObject(), control.value(QLatin1String("options")).toObject());
  if (!control.value(QLatin1String("serial")).toBool()) return out;
  QJsonArray steps;
  const QJsonArray all = scenario.value(QLatin1String("steps")).toArray();
  for (const QJsonValue& step : all) {
    const QJsonValue side = step.toObject().value(QLatin1String("parallel"));
    if (!side.isArray()) steps.append(step);
    const QJsonArray sends = side.toArray();
    for (const QJsonValue& send : sends) steps.append(send);
  }
  out[QLatin1String("steps")] = steps;
  return out;
}

}  // namespace

class TestReplaySuite : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase();
  void scenario_data();
  void scenario();

 private:
  QString model(const QString& kind);
  QTemporaryDir dir_{fast_folder()};
  QHash<QString, QString> files_;
};

void TestReplaySuite::initTestCase() {
  qputenv("TURNGLASS_NOW", "2026-01-01T12:00:00");
  for (const auto& [name, text] : {std::pair{"thinking", &kThinkingTemplate}, {"keep-thinking", &kKeepThinkingTemplate}}) {
    QFile file(dir_.filePath(QLatin1String(name)));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray::fromStdString(*text));
  }
  QFile document(dir_.filePath(QStringLiteral("document.txt")));
  QVERIFY(document.open(QIODevice::WriteOnly));
  document.write(scenario_text(QStringLiteral("@900:77")).toUtf8());
}

QString TestReplaySuite::model(const QString& kind) {
  if (!files_.contains(kind)) {
    files_[kind] = dir_.filePath(kind + QStringLiteral(".gguf"));
    QFile file(files_[kind]);
    if (file.open(QIODevice::WriteOnly)) file.write(QByteArray::fromStdString(replay_model(kind.toStdString())));
  }
  return files_[kind];
}

void TestReplaySuite::scenario_data() {
  QTest::addColumn<QJsonObject>("scenario");
  QTest::addColumn<QString>("kind");
  const QDir folder(QStringLiteral(TG_SOURCE_DIR "/tests/replay/scenarios"));
  int n = 0;
  for (const QString& name : folder.entryList({QStringLiteral("*.json")})) {
    QFile file(folder.filePath(name));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QJsonParseError error;
    const QJsonObject all = QJsonDocument::fromJson(file.readAll(), &error).object();
    QVERIFY2(!all.isEmpty(), qPrintable(name + QStringLiteral(": ") + error.errorString()));
    for (auto it = all.begin(); it != all.end(); ++it, ++n) {
      const QJsonObject scenario = it.value().toObject();
      const QJsonArray models = scenario.value(QLatin1String("models")).toArray({QStringLiteral("full")});
      for (const QJsonValue& kind : models) {
        QTest::addRow("%s (%s)", qPrintable(it.key()), qPrintable(kind.toString())) << scenario << kind.toString();
      }
    }
  }
  QVERIFY2(n >= 40, qPrintable(QString::number(n)));
}

void TestReplaySuite::scenario() {
  QFETCH(QJsonObject, scenario);
  QFETCH(QString, kind);
  QJsonObject options{{QStringLiteral("temperature"), 0.8}, {QStringLiteral("seed"), 11}, {QStringLiteral("max_tokens"), 24}, {QStringLiteral("threads"), 1},
                      {QStringLiteral("logits_sha"), true}};
  options = merged(options, scenario.value(QLatin1String("options")).toObject());
  for (const auto& [key, value] : {std::pair{"template", options.value(QLatin1String("template"))}, {"attach", options.value(QLatin1String("attach"))}}) {
    if (value.isString()) options[QLatin1String(key)] = dir_.filePath(value.toString());
  }
  if (word(options, "speculative") == QLatin1String("draft")) options[QLatin1String("speculative")] = QString(QStringLiteral("draft:") + model(QStringLiteral("other")));
  scenario[QLatin1String("options")] = options;

  const QTemporaryDir profiles(fast_folder());
  const Replayer warm_player(model(kind), profiles.filePath(QStringLiteral("warm"))), cold_player(model(kind), profiles.filePath(QStringLiteral("cold")));
  auto side = std::async(std::launch::async, [&] { return cold_player.run(control_of(scenario), false); });
  const ReplayRun warm = warm_player.run(scenario, true), cold = side.get();
  QVERIFY2(warm.problem.isEmpty(), qPrintable(warm.problem));
  QVERIFY2(cold.problem.isEmpty(), qPrintable(cold.problem));

  Judge judge;
  bool refusals = false;
  const QJsonArray steps = scenario.value(QLatin1String("steps")).toArray();
  for (int i = 0; i < steps.size(); ++i) {
    const QJsonValue expect = steps[i].toObject().value(QLatin1String("expect"));
    const QJsonArray lines = warm.of_step[i];
    for (int k = 0; k < lines.size(); ++k) {
      const QJsonObject wanted = expect.isArray() ? expect.toArray().at(k).toObject() : expect.toObject(), line = lines[k].toObject();
      judge.expect(line, wanted, warm.turns, i + 1);
      if (line.contains(QLatin1String("input_total"))) continue;
      const bool refused = wanted.value(QLatin1String("record")).toObject().value(QLatin1String("ok")) == QJsonValue(false);
      refusals = refusals || refused;
      judge.check(whole(line, "step") > 0 && line.value(QLatin1String("ok")).toBool() == !refused, QStringLiteral("step %1: %2").arg(i + 1).arg(word(line, "error")));
    }
  }
  judge.check(warm.exit == (refusals ? 1 : 0), QStringLiteral("exit %1").arg(warm.exit));
  judge.check(warm.turns.size() == cold.turns.size(), QStringLiteral("other numbers of turns"));
  for (int i = 0; i < std::min(warm.turns.size(), cold.turns.size()); ++i) {
    const QJsonObject &a = warm.turns[i], &b = cold.turns[i];
    judge.record(a, i + 1, true);
    judge.record(b, i + 1, false);
    for (const char* key : {"chat", "turn", "input_total", "segments", "output_ids", "finish_reason", "logits_sha"}) {
      judge.check(a.value(QLatin1String(key)) == b.value(QLatin1String(key)), QStringLiteral("turn %1: %2 is not what it is without the cache").arg(i + 1).arg(QLatin1String(key)));
    }
  }
  QVERIFY2(judge.problems.isEmpty(), qPrintable(QLatin1Char('\n') + judge.problems.join(QLatin1Char('\n'))));
}

QTEST_GUILESS_MAIN(TestReplaySuite)
#include "tst_replay_suite.moc"
