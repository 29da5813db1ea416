// `cache list|keep|evict|pin|unpin|budget|clear`. Thread: the application's.
#pragma once
#include "app/commands/profile_command.h"

namespace tg {

void cache_command(ApplicationImpl& app, const ProfileCommand& command);

}  // namespace tg
