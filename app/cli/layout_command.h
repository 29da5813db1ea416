// `turnglass-cli layout simulate | lint`: hosted prompt-cache rules applied to request sequences, JSON lines.
#pragma once
#include <QStringList>

// ARGUMENTS without program and command name. Exit code as in CLI.md.
int layout_command(const QStringList& arguments);
