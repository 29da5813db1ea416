#include "app/cli/chat_command.h"

#include <QCoreApplication>
#include <QDir>
#include <QEventLoop>
#include <QFileInfo>

#include "app/cli/console.h"
#include "app/commands/chat_commands.h"
#include "app/commands/profile_command.h"

namespace tg {
namespace {

// Relative paths mean the folder of this process, not that of the window they may be handed to.
QStringList with_absolute_files(QStringList args) {
  static const QStringList options{QStringLiteral("--attach"), QStringLiteral("--out"), QStringLiteral("--template"), QStringLiteral("--tools"), QStringLiteral("--model"), QStringLiteral("--json-schema")};
  for (qsizetype i = 0; i + 1 < args.size(); ++i) {
    const bool existing = QFileInfo::exists(args[i + 1]);
    if (options.contains(args[i]) && (existing || args[i] == QLatin1String("--out"))) args[i + 1] = QFileInfo(args[i + 1]).absoluteFilePath();
    if (args[i] == QLatin1String("import") && existing) args[i + 1] = QFileInfo(args[i + 1]).absoluteFilePath();
  }
  return args;
}

}  // namespace

int chat_command(const QString& kind, const QStringList& arguments) {
  if (arguments.isEmpty() || arguments.contains(QStringLiteral("--help")) || arguments.contains(QStringLiteral("-h"))) {
    console::line(profile_command_parser()->helpText().toUtf8());
    return arguments.isEmpty() ? 2 : 0;
  }
  const QStringList args = with_absolute_files(QStringList{kind} + arguments);
  AppOptions options;
  options.profile = profile_of(args);
  // Tests and demos without a model file.
  options.scriptedEngine = qEnvironmentVariable("TURNGLASS_SCRIPT");
  QString error;
  bool busy = false;
  const std::unique_ptr<ApplicationImpl> app = ApplicationImpl::open(options, &error, &busy);
  if (busy) {
    const std::optional<int> code = hand_over_command(profile_paths(options.profile).socketName(), args, console::output(nullptr));
    return code ? *code : console::refuse(error, 1);
  }
  if (!app) return console::refuse(error, 1);
  QEventLoop loop;
  int code = 0;
  bool ended = false;
  run_profile_command(*app, args, console::output([&](int exit) {
    code = exit;
    ended = true;
    loop.quit();
  }));
  if (!ended) loop.exec();
  return code;
}

}  // namespace tg
