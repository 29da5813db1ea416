// What scenarios alone cannot show: a program killed while it writes snapshots, a full disk, two programs after one another on one profile, a long
// random walk, and logits whose first half came back from disk.
#include <QTest>
#include <future>

#ifdef __unix__
#include <sys/resource.h>
#include <csignal>
#endif

#include "tests/replay/replay_judge.h"
#include "tests/replay/replay_models.h"

using namespace tg::test;

namespace {

QJsonObject options_of(std::initializer_list<std::pair<QString, QJsonValue>> more = {}) {
  QJsonObject out{{QStringLiteral("temperature"), 0.8}, {QStringLiteral("seed"), 11}, {QStringLiteral("max_tokens"), 8}, {QStringLiteral("threads"), 1}, {QStringLiteral("logits_sha"), true}};
  for (const auto& [key, value] : more) out.insert(key, value);
  return out;
}

QJsonObject step(const char* name, const QJsonValue& value) { return {{QLatin1String(name), value}}; }

QJsonObject send_ids(const QString& chat, int seed) {
  return step("send_ids", QJsonObject{{QStringLiteral("chat"), chat}, {QStringLiteral("tokens"), QJsonArray{QStringLiteral("@400:%1").arg(seed)}}, {QStringLiteral("max_tokens"), 4}});
}

QByteArray bytes_of(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

class TestReplayProcesses : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void killedWhileWriting_data();
  void killedWhileWriting();
  void fullDisk();
  void twoPrograms_data() { kinds(); }
  void twoPrograms();
  void walk_data() { kinds(); }
  void walk();
  void split_data();
  void split();

 private:
  static void kinds() {
    QTest::addColumn<QString>("kind");
    for (const char* kind : {"full", "window", "delta", "conv"}) QTest::newRow(kind) << QString::fromLatin1(kind);
  }
  QString model(const QString& kind);
  QTemporaryDir dir_{fast_folder()};
};

QString TestReplayProcesses::model(const QString& kind) {
  const QString path = dir_.filePath(kind + QStringLiteral(".gguf"));
  if (QFile::exists(path)) return path;
  QFile file(path);
  if (file.open(QIODevice::WriteOnly)) file.write(QByteArray::fromStdString(replay_model(kind.toStdString())));
  return path;
}

void TestReplayProcesses::killedWhileWriting_data() {
  QTest::addColumn<QString>("kind");
  QTest::addColumn<int>("after");
  for (const char* kind : {"full", "window", "delta"})
    for (const int after : {1, 2, 4, 6}) QTest::addRow("%s after %d answers", kind, after) << QString::fromLatin1(kind) << after;
}

// The next program finds what is whole, and never anything wrong.
void TestReplayProcesses::killedWhileWriting() {
  QFETCH(QString, kind);
  QFETCH(int, after);
  const QTemporaryDir profiles(fast_folder());
  const QString profile = profiles.filePath(QStringLiteral("killed")), path = profiles.filePath(QStringLiteral("first.json"));
  QJsonArray steps;
  for (int i = 0; i < 12; ++i) steps.append(send_ids(QString(QLatin1Char(static_cast<char>('a' + i % 4))), 1 + i));
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(QJsonDocument(expanded(QJsonObject{{QStringLiteral("options"), options_of()}, {QStringLiteral("steps"), steps}}).toObject()).toJson());
  file.close();
  QProcess program;
  program.start(QStringLiteral(TG_BIN_DIR "/turnglass-cli"),
                {QStringLiteral("replay"), path, QStringLiteral("--model"), model(kind), QStringLiteral("--profile"), profile, QStringLiteral("--backend"), QStringLiteral("cpu")});
  QByteArray printed;
  while (printed.count('\n') < after && program.waitForReadyRead(20000)) printed += program.readAllStandardOutput();
  program.kill();  // SIGKILL
  QVERIFY(program.waitForFinished());

  QJsonArray again{send_ids(QStringLiteral("a"), 1), send_ids(QStringLiteral("b"), 2), step("integrity", true), send_ids(QStringLiteral("a"), 5), send_ids(QStringLiteral("a"), 5)};
  const QJsonObject scenario{{QStringLiteral("options"), options_of()}, {QStringLiteral("steps"), again}};
  const ReplayRun warm = Replayer(model(kind), profile).run(scenario, true), cold = Replayer(model(kind), profiles.filePath(QStringLiteral("cold"))).run(scenario, false);
  QVERIFY2(warm.problem.isEmpty() && cold.problem.isEmpty(), qPrintable(warm.problem + cold.problem));
  QCOMPARE(warm.exit, 0);
  QCOMPARE(warm.turns.size(), 4);
  for (int i = 0; i < 4; ++i) {
    for (const char* key : {"output_ids", "logits_sha"}) QCOMPARE(warm.turns[i].value(QLatin1String(key)), cold.turns[i].value(QLatin1String(key)));
    QVERIFY(word(part(part(warm.turns[i], "cache"), "miss"), "cause") != QLatin1String("unknown"));
  }
  QVERIFY(whole(warm.turns[3], "input_cached") >= 398);
  QVERIFY(Replayer(model(kind), profile).stored(QStringLiteral("tmp")).isEmpty());
}

// Pages larger than a file may be: every snapshot fails, every answer is right, and nobody is told a lie.
void TestReplayProcesses::fullDisk() {
#ifdef __unix__
  TinyModel wide = tiny_llama(tg::Format::F32, tg::Format::F32, 1024);
  const QString path = dir_.filePath(QStringLiteral("wide.gguf"));
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(QByteArray::fromStdString(model_with_letters(wide)));
  file.close();
  const QTemporaryDir profiles(fast_folder());
  const QJsonObject one = step("send", QJsonObject{{QStringLiteral("chat"), QStringLiteral("a")}, {QStringLiteral("text"), QStringLiteral("@130:1")}});
  const QJsonObject two = step("send", QJsonObject{{QStringLiteral("chat"), QStringLiteral("a")}, {QStringLiteral("text"), QStringLiteral("@20:2")}});
  const QJsonObject scenario{{QStringLiteral("options"), options_of({{QStringLiteral("kv_type"), QStringLiteral("f32")}})},
                             {QStringLiteral("steps"), QJsonArray{one, two, step("integrity", true), step("restart", true), two, step("integrity", true)}}};
  const ReplayRun cold = Replayer(path, profiles.filePath(QStringLiteral("cold"))).run(scenario, false);
  rlimit before{};
  QCOMPARE(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 450000;  // a page has half a megabyte, the database less
  const auto heard = std::signal(SIGXFSZ, SIG_DFL);  // as a shell starts programs: the program itself must not end by it
  QCOMPARE(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Replayer player(path, profiles.filePath(QStringLiteral("full")));
  const ReplayRun warm = player.run(scenario, true);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, heard);
  QVERIFY2(warm.problem.isEmpty() && cold.problem.isEmpty(), qPrintable(warm.problem + cold.problem));
  QVERIFY2(warm.exit == 0, warm.errors.constData());
  QCOMPARE(warm.turns.size(), 3);
  for (int i = 0; i < 3; ++i) {
    for (const char* key : {"output_ids", "logits_sha"}) QCOMPARE(warm.turns[i].value(QLatin1String(key)), cold.turns[i].value(QLatin1String(key)));
  }
  QVERIFY(whole(warm.turns[1], "input_cached") > 130);   // memory still serves
  QCOMPARE(whole(warm.turns[2], "input_cached"), 0);     // the disk has nothing
  QCOMPARE(word(part(part(warm.turns[2], "cache"), "miss"), "cause"), QStringLiteral("model_reloaded"));
  QVERIFY(player.stored(QStringLiteral("page")).isEmpty());
  QVERIFY(player.stored(QStringLiteral("tmp")).isEmpty());
#endif
}

// The second `chat send` reuses what the first one left on disk; the answer is the one of a profile without any cache.
void TestReplayProcesses::twoPrograms() {
  QFETCH(QString, kind);
  const QTemporaryDir profiles(fast_folder());
  const auto send = [&](const QString& profile, const QString& text, bool cache) {
    QProcess program;
    QStringList args{QStringLiteral("chat"), QStringLiteral("send"), QStringLiteral("--chat"), QStringLiteral("log"), QStringLiteral("--model"), model(kind), QStringLiteral("--text"), text,
                     QStringLiteral("--profile"), profiles.filePath(profile), QStringLiteral("--json"), QStringLiteral("--temperature"), QStringLiteral("0"), QStringLiteral("--max-tokens"),
                     QStringLiteral("16"), QStringLiteral("--backend"), QStringLiteral("cpu"), QStringLiteral("--quiet")};
    if (!cache) args << QStringLiteral("--no-cache");
    program.start(QStringLiteral(TG_BIN_DIR "/turnglass-cli"), args);
    program.waitForFinished(30000);
    return QJsonDocument::fromJson(program.readAllStandardOutput()).object();
  };
  const QString long_text = scenario_text(QStringLiteral("@300:1")), next = scenario_text(QStringLiteral("@30:2"));
  const QJsonObject a1 = send(QStringLiteral("a"), long_text, true), b1 = send(QStringLiteral("b"), long_text, false);
  const QJsonObject a2 = send(QStringLiteral("a"), next, true), b2 = send(QStringLiteral("b"), next, false);
  QCOMPARE(word(a1, "text"), word(b1, "text"));
  QCOMPARE(word(a2, "text"), word(b2, "text"));
  QCOMPARE(whole(a2, "turn"), 2);
  QVERIFY2(whole(a2, "input_cached") >= whole(a1, "input_total") + whole(a1, "output") - 8, qPrintable(QString::number(whole(a2, "input_cached"))));
  QCOMPARE(whole(part(part(a2, "cache"), "source"), "disk"), whole(a2, "input_cached"));
  QCOMPARE(word(part(b2, "cache"), "outcome"), QStringLiteral("disabled"));
}

// Everything a user can do, in an order nobody would, with the books and every stored page checked after each step: 2 000 steps in all.
void TestReplayProcesses::walk() {
  QFETCH(QString, kind);
  constexpr int kSteps = 500;
  // Not qHash, which is salted anew in every process: a walk that fails must be walked again. TG_WALK_SEED asks for others.
  std::uint64_t state = qChecksum(kind.toLatin1()) + static_cast<std::uint64_t>(qEnvironmentVariableIntValue("TG_WALK_SEED")) * 1000003ULL;
  const auto below = [&](std::uint64_t n) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<int>((state >> 33U) % n);
  };
  QJsonArray steps;
  QStringList chats;
  const auto any = [&] { return chats[below(static_cast<std::uint64_t>(chats.size()))]; };
  const auto of = [&](const QString& chat) { return QJsonObject{{QStringLiteral("chat"), chat}}; };
  const auto text = [&] { return QStringLiteral("@%1:%2").arg(1 + below(90)).arg(below(1000)); };
  for (int i = 0; i < kSteps; ++i) {
    QJsonObject s = of(chats.isEmpty() ? QString() : any());
    const int what = below(40);
    if (chats.isEmpty() || what < 14) {
      if (chats.size() < 2 || (chats.size() < 7 && below(8) == 0)) chats << QStringLiteral("c%1").arg(i), s = of(chats.last());
      s[QLatin1String("text")] = text();
      QJsonObject options{{QStringLiteral("max_tokens"), 1 + below(20)}, {QStringLiteral("seed"), 1 + below(50)}};
      if (below(5) == 0) options[QLatin1String("speculative")] = QStringLiteral("ngram");
      s[QLatin1String("options")] = options;
      if (below(9) == 0) steps.append(step("cancel_after", QJsonObject{{QStringLiteral("output_tokens"), 1 + below(6)}}));
      steps.append(step("send", s));
    } else if (what < 17) {
      steps.append(step("regenerate", s));
    } else if (what < 20) {
      s[QLatin1String("message")] = 1 + 2 * below(4);
      s[QLatin1String("text")] = text();
      steps.append(step("edit", s));
    } else if (what < 22) {
      const QString as = QStringLiteral("f%1").arg(i);
      s[QLatin1String("as")] = as;
      s[QLatin1String("after")] = 2 * (1 + below(2));
      steps.append(step("fork", s));
      steps.append(step("send", QJsonObject{{QStringLiteral("chat"), as}, {QStringLiteral("text"), text()}}));
      chats[below(static_cast<std::uint64_t>(chats.size()))] = as;
    } else if (what < 24) {
      QJsonObject other = of(any());
      s[QLatin1String("text")] = text();
      other[QLatin1String("text")] = text();
      steps.append(other[QLatin1String("chat")] == s[QLatin1String("chat")] ? step("send", s) : step("parallel", QJsonArray{step("send", s), step("send", other)}));
    } else if (what < 26) {
      steps.append(step("evict", s));
    } else if (what < 29) {
      steps.append(step(what == 26 ? "pin" : "unpin", s));
    } else if (what < 32) {
      s[QLatin1String("tier")] = below(2) == 0 ? QStringLiteral("disk") : QStringLiteral("ram");
      steps.append(step("keep", s));
    } else if (what < 35) {
      steps.append(step("budget", QJsonObject{{QStringLiteral("ram"), below(600000)}, {QStringLiteral("disk"), below(900000)}}));
    } else if (what == 35) {
      steps.append(step("set", QJsonObject{{QStringLiteral("kv_type"), below(2) == 0 ? QStringLiteral("f16") : QStringLiteral("q8_0")}}));
    } else if (what == 36) {
      steps.append(step("set", QJsonObject{{QStringLiteral("chunk"), below(3) * 24}}));
    } else if (what < 39) {
      steps.append(step("unload", true));
    } else {
      steps.append(step("restart", true));
    }
    steps.append(step("integrity", true));
  }
  const QJsonObject options = options_of({{QStringLiteral("context"), 900}, {QStringLiteral("on_full"), QStringLiteral("drop-oldest")}, {QStringLiteral("system"), QStringLiteral("@80:5")}});
  const QJsonObject scenario{{QStringLiteral("options"), options}, {QStringLiteral("steps"), steps}};
  const QTemporaryDir profiles(fast_folder());
  auto side = std::async(std::launch::async, [&] { return Replayer(model(kind), profiles.filePath(QStringLiteral("cold"))).run(scenario, false); });
  const ReplayRun warm = Replayer(model(kind), profiles.filePath(QStringLiteral("warm"))).run(scenario, true), cold = side.get();
  QVERIFY2(warm.problem.isEmpty() && cold.problem.isEmpty(), qPrintable(warm.problem + cold.problem));
  QCOMPARE(warm.lines.size(), cold.lines.size());
  Judge judge;
  int reused = 0, from_disk = 0;
  for (int i = 0; i < warm.lines.size() && judge.problems.isEmpty(); ++i) {
    const QJsonObject &a = warm.lines[i], &b = cold.lines[i];
    if (!a.contains(QLatin1String("input_total"))) {
      const bool may_fail = word(a, "error") == word(b, "error");  // a chat without that message, in both
      const bool keep = part(steps[whole(a, "step") - 1].toObject(), "keep").size() > 0;  // nothing may be kept where there is no room
      judge.check(a.value(QLatin1String("ok")).toBool() || may_fail || keep, QStringLiteral("step %1: %2").arg(whole(a, "step")).arg(word(a, "error")));
      continue;
    }
    judge.record(a, i + 1, true);
    for (const char* key : {"input_total", "output_ids", "logits_sha", "finish_reason"}) judge.check(a.value(QLatin1String(key)) == b.value(QLatin1String(key)), QStringLiteral("line %1: other %2: ").arg(i).arg(QLatin1String(key)) + QString::fromUtf8(QJsonDocument(a).toJson(QJsonDocument::Compact)));
    reused += whole(a, "input_cached") > 0 ? 1 : 0;
    from_disk += whole(part(part(a, "cache"), "source"), "disk") > 0 ? 1 : 0;
  }
  QVERIFY2(judge.problems.isEmpty(), qPrintable(judge.problems.join(QLatin1Char('\n'))));
  QVERIFY(warm.turns.size() > kSteps / 3);
  QVERIFY(reused > warm.turns.size() / 3);
  QVERIFY(from_disk > 3);
}

void TestReplayProcesses::split_data() {
  QTest::addColumn<QString>("path");
  QTest::addColumn<QString>("tokens");
  QTest::addColumn<int>("at");
  QJsonArray ids;
  for (int i = 0; i < 200; ++i) ids.append((i * 37 + i * i) % 90);
  QFile list(dir_.filePath(QStringLiteral("tokens.json")));
  QVERIFY(list.open(QIODevice::WriteOnly));
  list.write(QJsonDocument(ids).toJson());
  for (const char* kind : {"full", "window", "delta", "conv", "latent"})
    for (const int at : {1, 64, 101, 199}) QTest::addRow("%s at %d", kind, at) << model(QString::fromLatin1(kind)) << list.fileName() << at;
  const QDir kit(QStringLiteral(TG_SOURCE_DIR "/../shared/conformance/logits"));
  if (!kit.exists()) qInfo("The conformance kit is not beside the repository; its models are left out.");
  for (const QString& name : kit.entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name)) {
    QTest::addRow("kit %s", qPrintable(name)) << kit.filePath(name + QStringLiteral("/model.gguf")) << kit.filePath(name + QStringLiteral("/tokens.json")) << 71;
  }
}

void TestReplayProcesses::split() {
  QFETCH(QString, path);
  QFETCH(QString, tokens);
  QFETCH(int, at);
  const QTemporaryDir out(fast_folder());
  std::array<QProcess, 2> programs;
  for (std::size_t i = 0; i < 2; ++i) {
    QStringList args{QStringLiteral("logits"), path, QStringLiteral("--tokens"), tokens, QStringLiteral("--all"), QStringLiteral("--out"), out.filePath(QString::number(i)), QStringLiteral("--backend"),
                     QStringLiteral("cpu"), QStringLiteral("--threads"), QStringLiteral("1")};
    if (i == 1) args << QStringLiteral("--split") << QString::number(at);
    programs[i].start(QStringLiteral(TG_BIN_DIR "/turnglass-cli"), args);
  }
  for (QProcess& program : programs) {
    QVERIFY(program.waitForFinished(30000));
    QVERIFY2(program.exitCode() == 0, program.readAllStandardError().constData());
  }
  const QByteArray plain = bytes_of(out.filePath(QStringLiteral("0"))), joined = bytes_of(out.filePath(QStringLiteral("1")));
  QVERIFY(!plain.isEmpty());
  QVERIFY(plain == joined);
}

QTEST_GUILESS_MAIN(TestReplayProcesses)
#include "tst_replay_processes.moc"
