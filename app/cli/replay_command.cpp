#include "app/cli/replay_command.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QTemporaryDir>

#include "app/cli/console.h"
#include "app/cli/replay_runner.h"
#include "app/paths.h"

namespace tg {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Replay", text); }

struct Scenario {
  QString model;
  QJsonObject options;
  QJsonArray steps;
};

QString read_scenario(const QString& path, Scenario& out) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return tr("The scenario file is gone or cannot be read.");
  const QJsonDocument document = QJsonDocument::fromJson(file.readAll());
  if (!document.isObject() || !document.object().value(QLatin1String("steps")).isArray()) return tr("This is not a scenario: it has no list of steps.");
  out.model = document.object().value(QLatin1String("model")).toString();
  out.options = document.object().value(QLatin1String("options")).toObject();
  out.steps = document.object().value(QLatin1String("steps")).toArray();
  return {};
}

}  // namespace

int replay_command(const QStringList& arguments) {
  QCommandLineParser parser;
  parser.setApplicationDescription(tr("Runs a scenario of turns, one JSON line a step."));
  parser.addPositionalArgument(QStringLiteral("FILE"), tr("Scenario (JSON)"));
  parser.addOption({QStringLiteral("model"), tr("Model; wins over the file"), QStringLiteral("MODEL")});
  parser.addOption({QStringLiteral("profile"), tr("Folder of all data; default: a temporary one"), QStringLiteral("DIR")});
  const QCommandLineOption help = parser.addHelpOption();
  add_run_options(parser);
  if (!parser.parse(QStringList{QStringLiteral("replay")} + arguments)) return console::refuse(parser.errorText());
  if (parser.isSet(help)) return console::line(parser.helpText().toUtf8()), 0;
  if (parser.positionalArguments().size() != 1) return console::refuse(tr("Name one scenario file."));
  Scenario scenario;
  if (const QString error = read_scenario(parser.positionalArguments().front(), scenario); !error.isEmpty()) return console::refuse(error);
  RunOptions defaults;
  if (const QString error = apply_options(defaults, scenario.options); !error.isEmpty()) return console::refuse(error);
  if (const QString error = read_run_options(parser, defaults); !error.isEmpty()) return console::refuse(error);
  const QTemporaryDir temporary;
  const QString profile = parser.isSet(QStringLiteral("profile")) ? parser.value(QStringLiteral("profile")) : temporary.path();
  const QString wished = parser.isSet(QStringLiteral("model")) ? parser.value(QStringLiteral("model")) : scenario.model;
  const QString model = resolve_model(wished, default_model_folders(profile_paths(parser.value(QStringLiteral("profile")))));
  if (!QFile::exists(model)) return console::refuse(tr("The file is gone or cannot be read: %1.").arg(model));
  ReplayRunner runner(profile, model, defaults);
  if (const QString error = runner.open(); !error.isEmpty()) return console::refuse(error, 1);
  bool ok = true;
  for (qsizetype i = 0; i < scenario.steps.size(); ++i) ok = runner.step(static_cast<int>(i) + 1, scenario.steps[i].toObject()) && ok;
  return ok ? 0 : 1;
}

}  // namespace tg
