// `turnglass-cli replay FILE`: a scenario of turns in one process, one JSON line a step (CLI.md "Scenario file").
#pragma once
#include <QStringList>

namespace tg {

int replay_command(const QStringList& arguments);  // without program and command name; exit code as in CLI.md

}  // namespace tg
