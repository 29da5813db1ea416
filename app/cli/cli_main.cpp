// turnglass-cli: everything headless. One table of commands; the engine's own are forwarded to the same code as turnglass-engine's.
#include <QCoreApplication>

#include "app/cli/commands.h"

int main(int argc, char** argv) {
  QCoreApplication app(argc, argv);
  QCoreApplication::setApplicationName(QStringLiteral("turnglass-cli"));
  QCoreApplication::setApplicationVersion(QStringLiteral(TG_VERSION));
  return tg::run_cli(argc, argv);
}
