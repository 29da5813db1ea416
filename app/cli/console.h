// What a command prints: facts on stdout, sentences on stderr. Thread: main thread.
#pragma once
#include <QString>
#include <nlohmann/json.hpp>

#include "app/instance.h"

namespace tg::console {

void line(const QByteArray& text);                    // stdout, flushed
void json(const nlohmann::ordered_json& object);      // one line
int refuse(const QString& sentence, int exit = 2);    // one printable line on stderr; gives EXIT
CommandOutput output(std::function<void(int)> exit);  // for commands that may also run behind the socket

}  // namespace tg::console
