// `explain --turn ID`: one turn as arithmetic in words, the text of the inspector's tab Explain. Thread: the application's.
#pragma once
#include "app/commands/profile_command.h"

namespace tg {

void explain_command(ApplicationImpl& app, const ProfileCommand& command);

}  // namespace tg
