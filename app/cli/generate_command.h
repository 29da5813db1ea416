// `generate`: the engine's own command, with what only app/ knows of a turn added to its record.
#pragma once
#include <QStringList>

namespace tg {

int generate_command(const QStringList& arguments);

}  // namespace tg
