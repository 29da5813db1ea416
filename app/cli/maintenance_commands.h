// `models`, `db` and `energy`. ARGUMENTS without program and command name; exit codes as in CLI.md.
#pragma once
#include <QStringList>

namespace tg {

int models_command(const QStringList& arguments);
int db_command(const QStringList& arguments);
int energy_command(const QStringList& arguments);

}  // namespace tg
