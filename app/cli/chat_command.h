// `chat` and `cache` of turnglass-cli: in a profile of its own, or handed over to the window that holds it.
#pragma once
#include <QStringList>

namespace tg {

int chat_command(const QString& kind, const QStringList& arguments);

}  // namespace tg
