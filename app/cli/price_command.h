// `turnglass-cli price --book F --usage F | --batch F`: usage as providers report it -> buckets and exact cost, JSON lines.
#pragma once
#include <QStringList>

// ARGUMENTS without program and command name. Exit code as in CLI.md.
int price_command(const QStringList& arguments);
