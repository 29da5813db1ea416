#include "app/cli/commands.h"

#include <QCoreApplication>
#include <QStringList>
#include <exception>

#include "app/cli/chat_command.h"
#include "app/cli/console.h"
#include "app/cli/generate_command.h"
#include "app/cli/layout_command.h"
#include "app/cli/maintenance_commands.h"
#include "app/cli/price_command.h"
#include "app/cli/replay_command.h"
#include "engine/base/platform.h"
#include "engine/tools/command.h"

namespace tg {
namespace {

struct AppCommand {
  const char* name;
  const char* help;
  int (*run)(const QStringList& arguments);   // without program and command name
};

int chat(const QStringList& arguments) { return chat_command(QStringLiteral("chat"), arguments); }
int cache(const QStringList& arguments) { return chat_command(QStringLiteral("cache"), arguments); }
int explain_turn(const QStringList& arguments) { return chat_command(QStringLiteral("explain"), arguments); }

const AppCommand kCommands[] = {
    {"generate", "One answer to a prompt, with all its figures", generate_command},
    {"chat", "send list show export import rename delete fork search", chat},
    {"cache", "list keep evict pin unpin budget clear", cache},
    {"explain", "One turn as arithmetic: what bound it, what would change it", explain_turn},
    {"replay", "Run a scenario of turns", replay_command},
    {"price", "Usage to buckets and exact cost", price_command},
    {"layout", "Simulate hosted cache rules", layout_command},
    {"models", "list scan verify get", models_command},
    {"db", "check backup restore", db_command},
    {"energy", "set: what this machine draws and what power costs", energy_command},
};

void print_help() {
  QByteArray out = "turnglass-cli " TG_VERSION "\n\nUsage: turnglass-cli COMMAND [OPTIONS]\n\nCommands:\n";
  for (const AppCommand& c : kCommands) out += "  " + QByteArray(c.name).leftJustified(13) + c.help + "\n";
  for (const Command& c : engine_commands()) {
    if (c.name != "generate") out += "  " + QByteArray::fromStdString(std::string(c.name)).leftJustified(13) + QByteArray::fromStdString(std::string(c.help)) + "\n";
  }
  out += "\nturnglass-cli COMMAND --help tells the options of a command.";
  console::line(out);
}

// Libraries throw (out of memory, iostreams); what reaches this place becomes a sentence.
int guarded(const AppCommand& command, const QStringList& arguments) {
  try {
    return command.run(arguments);
  } catch (const std::bad_alloc&) {
    return console::refuse(QCoreApplication::translate("Cli", "There is not enough memory for this."), kExitDoesNotFit);
  } catch (const std::exception& error) {
    return console::refuse(QCoreApplication::translate("Cli", "The command failed: %1.").arg(QString::fromUtf8(error.what())), kExitFailed);
  }
}

}  // namespace

int run_cli(int argc, char** argv) {
  make_file_size_limit_a_write_error();
  const QByteArray name = argc > 1 ? QByteArray(argv[1]) : QByteArray("--help");
  if (name == "--help" || name == "-h") {
    print_help();
    return argc > 1 ? kExitDone : kExitRefused;
  }
  if (name == "--version") return console::line("turnglass-cli " TG_VERSION), kExitDone;
  for (const AppCommand& command : kCommands) {
    if (name == command.name) return guarded(command, QCoreApplication::arguments().mid(2));
  }
  if (is_engine_command(name.toStdString())) return run_engine_command(argc, argv);
  return console::refuse(QCoreApplication::translate("Cli", "There is no command \"%1\".").arg(QString::fromUtf8(name)));
}

}  // namespace tg
