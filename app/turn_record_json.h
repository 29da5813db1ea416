// The turn record as an object whose keys stand in the order of CLI.md. For app/ only; views use TurnRecord::toJson().
#pragma once
#include <nlohmann/json.hpp>

#include "app/turn_record.h"

namespace tg {

nlohmann::ordered_json to_ordered_json(const TurnRecord& record);

}  // namespace tg
