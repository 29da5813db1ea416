// Unix time as ISO 8601, UTC, to the second.
#pragma once
#include <cstdint>
#include <string>

namespace tg {

std::string iso_time(std::int64_t unix_ms);  // "2026-11-29T19:07:00Z"; empty for 0

}  // namespace tg
