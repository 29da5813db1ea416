// Runs a scenario through turnglass-cli replay and judges its records. A scenario is a replay scenario (CLI.md) whose steps may also carry
// "expect", with {"process":true} for a new process on the same profile and {"damage":{…}} for what happens to the stored files in between.
// Texts "@N:S rest" stand for N characters of seed S and the rest; "@N:S" among tokens for N ids.
#pragma once
#include <QDir>
#include <QDirIterator>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <utility>


namespace tg::test {

// Hundreds of small files are written and flushed: in memory where the system has a place for it.
inline QString fast_folder() {
  const QString shm = QStringLiteral("/dev/shm");
  return (QFileInfo(shm).isWritable() ? shm : QDir::tempPath()) + QStringLiteral("/tg-replay-XXXXXX");
}

inline QString scenario_text(const QString& pattern) {
  static const QRegularExpression form(QStringLiteral("^@(\\d+):(\\d+)(?: (.*))?$"), QRegularExpression::DotMatchesEverythingOption);
  const auto match = form.match(pattern);
  if (!match.hasMatch()) return pattern;
  std::uint64_t state = match.captured(2).toULongLong() * 2654435761U + 97;
  QString out;
  for (int i = 0; i < match.captured(1).toInt(); ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto n = static_cast<int>((state >> 33U) % 32);
    out += i % 6 == 5 || n > 25 ? QLatin1Char(' ') : QLatin1Char(static_cast<char>('a' + n));
  }
  return out + match.captured(3);
}

inline QJsonValue expanded(const QJsonValue& value) {
  if (value.isString()) return scenario_text(value.toString());
  if (value.isArray()) {
    QJsonArray out;
    const QJsonArray array = value.toArray();
    for (const QJsonValue& v : array) {
      if (v.isString() && v.toString().startsWith(QLatin1Char('@')) && !array.first().isObject()) {  // ids
        const QString text = scenario_text(v.toString());
        for (const QChar c : text) out.append(c.unicode() % 90 + 1);
      } else {
        out.append(expanded(v));
      }
    }
    return out;
  }
  if (!value.isObject()) return value;
  QJsonObject out;
  const QJsonObject object = value.toObject();
  for (auto it = object.begin(); it != object.end(); ++it) out.insert(it.key(), expanded(it.value()));
  return out;
}

struct ReplayRun {
  QVector<QJsonObject> lines;      // all, in order
  QVector<QJsonArray> of_step;     // the lines of each step
  QVector<QJsonObject> turns;      // records only
  QByteArray errors;
  int exit = 0;
  QString problem;                 // the program could not be run or printed something else
};

class Replayer {
 public:
  Replayer(QString model, QString profile) : model_(std::move(model)), profile_(std::move(profile)) {}

  QStringList more;                // arguments of every process
  QString other_model;             // for damage "other"

  ReplayRun run(const QJsonObject& scenario, bool cache) const {
    ReplayRun out;
    QJsonArray part;
    QVector<int> numbers;
    const QJsonArray steps = scenario.value(QLatin1String("steps")).toArray();
    out.of_step.resize(steps.size());
    for (int i = 0; i < steps.size() && out.problem.isEmpty(); ++i) {
      QJsonObject step = steps[i].toObject();
      step.remove(QLatin1String("expect"));
      const bool damage = step.contains(QLatin1String("damage"));
      if (!damage && !step.contains(QLatin1String("process"))) {
        part.append(step);
        numbers << i;
        continue;
      }
      process(scenario, part, numbers, cache, out);
      part = {};
      numbers.clear();
      if (damage && cache && out.problem.isEmpty()) out.problem = hurt(step.value(QLatin1String("damage")).toObject());
    }
    if (out.problem.isEmpty()) process(scenario, part, numbers, cache, out);
    return out;
  }

  // Files of the cache with this ending, in order.
  QStringList stored(const QString& ending) const {
    QStringList out;
    QDirIterator it(profile_, {QStringLiteral("*.") + ending}, QDir::Files, QDirIterator::Subdirectories);
    while (it.hasNext()) out << it.next();
    out.sort();
    return out;
  }

 private:
  void process(const QJsonObject& scenario, const QJsonArray& part, const QVector<int>& numbers, bool cache, ReplayRun& out) const {
    QJsonObject file = scenario;
    QJsonArray steps = part;
    if (!cache) steps.prepend(QJsonObject{{QStringLiteral("cache"), false}});
    file[QLatin1String("steps")] = steps;
    QDir().mkpath(profile_);
    const QString path = profile_ + QStringLiteral(".json");
    QFile f(path);
    if (!f.open(QIODevice::WriteOnly)) return out.problem = QStringLiteral("cannot write the scenario"), void();
    f.write(QJsonDocument(expanded(file).toObject()).toJson());
    f.close();
    QProcess program;
    program.start(QStringLiteral(TG_BIN_DIR "/turnglass-cli"),
                  QStringList{QStringLiteral("replay"), path, QStringLiteral("--model"), model_, QStringLiteral("--profile"), profile_, QStringLiteral("--backend"),
                              QStringLiteral("cpu"), QStringLiteral("--quiet")} + more);
    if (!program.waitForFinished(240000) || program.exitStatus() != QProcess::NormalExit) return out.problem = QStringLiteral("the program did not end well"), void();
    out.exit = std::max(out.exit, program.exitCode());
    out.errors += program.readAllStandardError();
    QList<QByteArray> lines = program.readAllStandardOutput().split('\n');
    lines.removeAll(QByteArray());
    if (!cache && !lines.isEmpty()) lines.removeFirst();
    int at = 0;
    for (int i = 0; i < part.size(); ++i) {
      const QJsonValue side = part[i].toObject().value(QLatin1String("parallel"));
      for (qsizetype n = side.isArray() ? side.toArray().size() : 1; n > 0; --n, ++at) {
        if (at >= lines.size()) return out.problem = QStringLiteral("step %1 printed nothing: ").arg(numbers[i] + 1) + QString::fromUtf8(out.errors), void();
        const QJsonObject line = QJsonDocument::fromJson(lines[at]).object();
        out.lines << line;
        out.of_step[numbers[i]].append(line);
        if (line.contains(QLatin1String("input_total"))) out.turns << line;
      }
    }
    if (at != lines.size()) out.problem = QStringLiteral("more lines than steps");
  }

  // {"files":"page|chat|state","how":"truncate|flip|empty|delete|other_model|engine_version|all_bits","which":N (from the end when negative; all without)}
  QString hurt(const QJsonObject& damage) const {
    QStringList all = stored(damage.value(QLatin1String("files")).toString());
    if (all.isEmpty()) return QStringLiteral("no file to damage");
    const QString how = damage.value(QLatin1String("how")).toString();
    if (damage.contains(QLatin1String("which"))) {
      const int n = damage.value(QLatin1String("which")).toInt();
      all = {all.value(n < 0 ? all.size() + n : n)};
    }
    for (const QString& name : std::as_const(all)) {
      QFile file(name);
      if (how == QLatin1String("delete")) {
        if (!file.remove()) return QStringLiteral("cannot delete");
        continue;
      }
      if (!file.open(QIODevice::ReadWrite)) return QStringLiteral("cannot open");
      QByteArray bytes = file.readAll();
      if (how == QLatin1String("truncate")) bytes.truncate(bytes.size() / 2);
      if (how == QLatin1String("empty")) bytes.clear();
      if (how == QLatin1String("flip")) bytes[bytes.size() - 3] = static_cast<char>(bytes[bytes.size() - 3] ^ 16);
      if (how == QLatin1String("engine_version")) bytes[6] = 77;
      if (how == QLatin1String("garbage")) bytes.fill('\x5a');
      if (how == QLatin1String("swap") && all.size() > 1) bytes = bytes_of(all[(all.indexOf(name) + 1) % all.size()]);
      file.resize(0);
      file.seek(0);
      file.write(bytes);
    }
    return {};
  }
  static QByteArray bytes_of(const QString& name) {
    QFile file(name);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }

  QString model_, profile_;
};

}  // namespace tg::test
