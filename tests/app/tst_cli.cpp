// The command line as a program: exit codes, one sentence per refusal, JSON shapes. Runs turnglass-cli with a scripted engine.
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

namespace {

struct Run {
  int code = -1;
  QByteArray out, err;
  QJsonObject json() const { return QJsonDocument::fromJson(out).object(); }
};

}  // namespace

class TestCli : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void helpAndVersion();
  void refusals_data();
  void refusals();
  void chatLifecycle();
  void exportAndImport();
  void foreignImport();
  void energyAndDatabase();
  void replayRefusesBadScenario();

 private:
  Run cli(const QStringList& args) const;
  QString profile() const { return dir_.path() + QStringLiteral("/profile"); }
  QTemporaryDir dir_;
};

Run TestCli::cli(const QStringList& args) const {
  QProcess process;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert(QStringLiteral("TURNGLASS_SCRIPT"), QStringLiteral("instant"));
  process.setProcessEnvironment(environment);
  process.start(QStringLiteral(TG_BIN_DIR "/turnglass-cli"), args);
  Run run;
  if (!process.waitForFinished(30000)) return run;
  run.code = process.exitCode();
  run.out = process.readAllStandardOutput();
  run.err = process.readAllStandardError();
  return run;
}

void TestCli::helpAndVersion() {
  QCOMPARE(cli({QStringLiteral("--version")}).out.trimmed(), QByteArray("turnglass-cli " TG_VERSION));
  const Run help = cli({QStringLiteral("--help")});
  QCOMPARE(help.code, 0);
  for (const char* name : {"chat", "cache", "replay", "models", "db", "energy", "price", "generate", "info", "logits", "render"}) QVERIFY2(help.out.contains(name), name);
  for (const char* name : {"chat", "cache", "replay", "models", "db", "energy"}) QCOMPARE(cli({QLatin1String(name), QStringLiteral("--help")}).code, 0);
}

void TestCli::refusals_data() {
  QTest::addColumn<QStringList>("args");
  QTest::addColumn<int>("code");
  const auto row = [](const char* args, int code) { QTest::newRow(args) << QString::fromLatin1(args).split(QLatin1Char(' ')) << code; };
  row("nonsense", 2);
  row("chat", 2);
  row("chat dance", 2);
  row("chat show nobody", 2);
  row("chat send --chat a", 2);
  row("chat send --chat a --text hi --temperature hot", 2);
  row("chat send --chat a --text hi --model /nowhere/gone.gguf", 2);
  row("chat send --chat a --text hi --kv-type q9", 2);
  row("chat send --chat a --text hi --kernels neon9", 2);
  row("chat send --chat a --text hi --json-schema /nowhere/gone.json", 2);
  row("chat send --chat a --text hi --json-schema /dev/null", 2);
  row("chat import /nowhere/gone.json", 2);
  row("cache keep nobody", 2);
  row("cache budget --ram many", 2);
  row("replay /nowhere/gone.json", 2);
  row("models verify /nowhere/gone.gguf", 2);
  row("models get ftp://x/y --sha256 00", 2);
  row("energy set --busy much", 2);
}

void TestCli::refusals() {
  QFETCH(QStringList, args);
  QFETCH(int, code);
  if (args.value(0) != QLatin1String("nonsense") && args.size() > 1) args << QStringLiteral("--profile") << profile();
  const Run run = cli(args);
  QCOMPARE(run.code, code);
  if (args.size() > 1) QCOMPARE(run.err.count('\n'), 1);
}

void TestCli::chatLifecycle() {
  const QStringList at{QStringLiteral("--profile"), profile(), QStringLiteral("--json")};
  const auto chat = [&](const QStringList& args) { return cli(QStringList{QStringLiteral("chat")} + args + at); };
  for (int turn = 1; turn <= 2; ++turn) {
    const Run sent = chat({QStringLiteral("send"), QStringLiteral("--chat"), QStringLiteral("log"), QStringLiteral("--text"), QStringLiteral("marmalade"),
                           QStringLiteral("--system"), QStringLiteral("Be brief."), QStringLiteral("--priced-as"), QStringLiteral("openai/none")});
    QVERIFY2(sent.code == 0 || !sent.err.isEmpty(), sent.err.constData());
    const QJsonObject r = sent.json();
    QCOMPARE(r.value(QLatin1String("turn")).toInt(), turn);
    QCOMPARE(r.value(QLatin1String("input_total")).toInt(), r.value(QLatin1String("input_cached")).toInt() + r.value(QLatin1String("input_fresh")).toInt());
    QVERIFY(r.value(QLatin1String("cost")).toObject().value(QLatin1String("cost_pico")).isNull());
    QVERIFY(!r.value(QLatin1String("cost")).toObject().value(QLatin1String("error")).toString().isEmpty());
    QVERIFY(!r.value(QLatin1String("text")).toString().isEmpty());
  }
  QCOMPARE(chat({QStringLiteral("show"), QStringLiteral("log")}).json().value(QLatin1String("messages")).toArray().size(), 4);
  QCOMPARE(chat({QStringLiteral("search"), QStringLiteral("marmalade")}).json().value(QLatin1String("hits")).toArray().size(), 2);
  QCOMPARE(chat({QStringLiteral("fork"), QStringLiteral("log"), QStringLiteral("--as"), QStringLiteral("copy"), QStringLiteral("--after"), QStringLiteral("2")}).code, 0);
  QCOMPARE(chat({QStringLiteral("show"), QStringLiteral("copy")}).json().value(QLatin1String("messages")).toArray().size(), 2);
  QCOMPARE(chat({QStringLiteral("rename"), QStringLiteral("copy"), QStringLiteral("--title"), QStringLiteral("renamed")}).code, 0);
  QCOMPARE(chat({QStringLiteral("delete"), QStringLiteral("renamed")}).code, 0);
  QCOMPARE(chat({QStringLiteral("list")}).json().value(QLatin1String("chats")).toArray().size(), 1);
}

void TestCli::exportAndImport() {
  const QStringList at{QStringLiteral("--profile"), profile()};
  const QString file = dir_.path() + QStringLiteral("/chat.json");
  QCOMPARE(cli(QStringList{QStringLiteral("chat"), QStringLiteral("export"), QStringLiteral("log"), QStringLiteral("--out"), file} + at).code, 0);
  const QString other = dir_.path() + QStringLiteral("/other");
  QCOMPARE(cli({QStringLiteral("chat"), QStringLiteral("import"), file, QStringLiteral("--profile"), other}).code, 0);
  const Run a = cli(QStringList{QStringLiteral("chat"), QStringLiteral("export"), QStringLiteral("log"), QStringLiteral("--format"), QStringLiteral("md")} + at);
  const Run b = cli({QStringLiteral("chat"), QStringLiteral("export"), QStringLiteral("log"), QStringLiteral("--format"), QStringLiteral("md"), QStringLiteral("--profile"), other});
  QCOMPARE(a.code, 0);
  QCOMPARE(a.out, b.out);
  QCOMPARE(cli(QStringList{QStringLiteral("chat"), QStringLiteral("export"), QStringLiteral("log"), QStringLiteral("--format"), QStringLiteral("csv")} + at).out.count('\n'), 4);
}

void TestCli::foreignImport() {
  const auto import = [this](const QByteArray& json) {
    const QString path = dir_.path() + QStringLiteral("/foreign.json");
    QFile file(path);
    if (file.open(QIODevice::WriteOnly)) file.write(json);
    file.close();
    return cli({QStringLiteral("chat"), QStringLiteral("import"), path, QStringLiteral("--json"), QStringLiteral("--profile"), dir_.path() + QStringLiteral("/foreign")});
  };
  const auto messages = [](const Run& run) { return run.json().value(QLatin1String("imported")).toArray().first().toObject().value(QLatin1String("messages")).toInt(); };
  QCOMPARE(messages(import(R"([{"title":"t","current_node":"b","mapping":{"a":{"message":{"author":{"role":"user"},"content":{"parts":["hi"]}},"parent":null},)"
                           R"("b":{"message":{"author":{"role":"assistant"},"content":{"parts":["ho"]}},"parent":"a"}}}])")), 2);
  QCOMPARE(messages(import(R"({"name":"l","messages":[{"versions":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"currentlySelected":0}]})")), 1);
  QCOMPARE(messages(import(R"([{"role":"system","content":"s"},{"role":"user","content":"hi"}])")), 1);
  QCOMPARE(import(R"([{"title":"circle","current_node":"a","mapping":{"a":{"parent":"a"}}}])").code, 2);
  QCOMPARE(import("[1,2,{").code, 2);
}

void TestCli::energyAndDatabase() {
  const QStringList at{QStringLiteral("--profile"), profile()};
  const Run energy = cli(QStringList{QStringLiteral("energy"), QStringLiteral("set"), QStringLiteral("--busy"), QStringLiteral("60"), QStringLiteral("--price"), QStringLiteral("0.30"),
                                     QStringLiteral("--currency"), QStringLiteral("EUR")} + at);
  QCOMPARE(energy.json().value(QLatin1String("busy_watts")).toDouble(), 60.0);
  const Run sent = cli(QStringList{QStringLiteral("chat"), QStringLiteral("send"), QStringLiteral("--chat"), QStringLiteral("e"), QStringLiteral("--text"), QStringLiteral("go"),
                                   QStringLiteral("--json")} + at);
  const QJsonObject own = sent.json().value(QLatin1String("own")).toObject();
  QVERIFY(own.value(QLatin1String("joules")).toDouble() > 0);
  QCOMPARE(own.value(QLatin1String("currency")).toString(), QStringLiteral("EUR"));
  QCOMPARE(cli(QStringList{QStringLiteral("db"), QStringLiteral("check"), QStringLiteral("--json")} + at).json().value(QLatin1String("ok")).toBool(), true);
  QCOMPARE(cli(QStringList{QStringLiteral("db"), QStringLiteral("backup")} + at).code, 0);
  QCOMPARE(cli(QStringList{QStringLiteral("db"), QStringLiteral("restore")} + at).code, 0);
}

void TestCli::replayRefusesBadScenario() {
  const QString path = dir_.path() + QStringLiteral("/bad.json");
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write("{\"steps\":3}");
  file.close();
  QCOMPARE(cli({QStringLiteral("replay"), path}).code, 2);
}

QTEST_GUILESS_MAIN(TestCli)
#include "tst_cli.moc"
