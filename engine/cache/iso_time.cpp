#include "engine/cache/iso_time.h"

#include <chrono>
#include <cstdio>

namespace tg {

std::string iso_time(std::int64_t unix_ms) {
  if (unix_ms == 0) return {};
  using namespace std::chrono;
  const sys_time<milliseconds> at{milliseconds(unix_ms)};
  const auto day = floor<days>(at);
  const year_month_day date{day};
  const hh_mm_ss clock{floor<seconds>(at - day)};
  char text[40];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text;
}

}  // namespace tg
