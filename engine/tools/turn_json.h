// The turn record of the command line, as far as the engine knows it: what only app/ knows (chat, cost, own) is left out.
#pragma once
#include "engine/chat_template/chat_template.h"
#include "engine/engine.h"

namespace tg {

Json turn_json(const TurnReport& report, const LoadedModel& model, const Prompt& prompt);
Json miss_json(const CacheMiss& miss);  // null where there is none

}  // namespace tg
