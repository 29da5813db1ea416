// strftime in English, whatever the program's locale is: the text is part of a prompt.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "engine/chat_template/runtime.h"

namespace tg::jinja {
namespace {

constexpr std::array<std::string_view, 7> kDays{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths{"January", "February", "March", "April", "May", "June", "July", "August",
                                                   "September", "October", "November", "December"};

struct Moment {
  int year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0;
  int weekday = 4, day_of_year = 0;  // from Sunday, from 0
};

bool read_iso(std::string_view iso, Moment& moment) {
  const std::string text(iso);
  const int read = std::sscanf(text.c_str(), "%4d-%2d-%2d%*[T ]%2d:%2d:%2d", &moment.year, &moment.month, &moment.day,
                               &moment.hour, &moment.minute, &moment.second);
  return read >= 3 && moment.month >= 1 && moment.month <= 12 && moment.day >= 1 && moment.day <= 31 && moment.hour >= 0 &&
         moment.hour < 24 && moment.minute >= 0 && moment.minute < 60 && moment.second >= 0 && moment.second < 62;
}

Moment moment_of(std::string_view iso) {
  Moment moment;
  if (iso.empty() || !read_iso(iso, moment)) {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    moment = {local.tm_year + 1900, local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec, 0, 0};
  }
  using namespace std::chrono;
  const sys_days day{year{moment.year} / month{static_cast<unsigned>(moment.month)} / std::chrono::day{static_cast<unsigned>(moment.day)}};
  const sys_days new_year{year{moment.year} / January / std::chrono::day{1}};
  moment.weekday = static_cast<int>(weekday{day}.c_encoding());
  moment.day_of_year = static_cast<int>((day - new_year).count());
  return moment;
}

// VALUE in WIDTH places; "-" before the letter leaves the padding out, as glibc does.
std::string number(int value, int width, char flag, char pad = '0') {
  std::string digits = std::to_string(value);
  if (flag == '-') return digits;
  if (flag == '_') pad = ' ';
  while (static_cast<int>(digits.size()) < width) digits.insert(digits.begin(), pad);
  return digits;
}

std::string expand(std::string_view format, const Moment& m);

std::string date_part(char letter, char flag, const Moment& m) {
  const auto day = static_cast<std::size_t>(m.weekday);
  const auto month = static_cast<std::size_t>(m.month - 1);
  switch (letter) {
    case 'a': return std::string(kDays[day].substr(0, 3));
    case 'A': return std::string(kDays[day]);
    case 'b':
    case 'h': return std::string(kMonths[month].substr(0, 3));
    case 'B': return std::string(kMonths[month]);
    case 'd': return number(m.day, 2, flag);
    case 'e': return number(m.day, 2, flag, ' ');
    case 'm': return number(m.month, 2, flag);
    case 'y': return number(m.year % 100, 2, flag);
    case 'Y': return std::to_string(m.year);
    case 'C': return number(m.year / 100, 2, flag);
    case 'j': return number(m.day_of_year + 1, 3, flag);
    case 'w': return std::to_string(m.weekday);
    case 'u': return std::to_string(m.weekday == 0 ? 7 : m.weekday);
    case 'U': return number((m.day_of_year + 7 - m.weekday) / 7, 2, flag);
    case 'W': return number((m.day_of_year + 7 - (m.weekday + 6) % 7) / 7, 2, flag);
    case 'D':
    case 'x': return expand("%m/%d/%y", m);
    case 'F': return expand("%Y-%m-%d", m);
    case 'c': return expand("%a %b %e %H:%M:%S %Y", m);
    default: return {};
  }
}

std::string time_part(char letter, char flag, const Moment& m) {
  const int twelve = m.hour % 12 == 0 ? 12 : m.hour % 12;
  switch (letter) {
    case 'H': return number(m.hour, 2, flag);
    case 'I': return number(twelve, 2, flag);
    case 'k': return number(m.hour, 2, flag, ' ');
    case 'l': return number(twelve, 2, flag, ' ');
    case 'M': return number(m.minute, 2, flag);
    case 'S': return number(m.second, 2, flag);
    case 'f': return "000000";
    case 'p': return m.hour < 12 ? "AM" : "PM";
    case 'P': return m.hour < 12 ? "am" : "pm";
    case 'T':
    case 'X': return expand("%H:%M:%S", m);
    case 'R': return expand("%H:%M", m);
    case 'r': return expand("%I:%M:%S %p", m);
    case 'n': return "\n";
    case 't': return "\t";
    case '%': return "%";
    default: return {};
  }
}

std::string expand(std::string_view format, const Moment& m) {
  std::string out;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 >= format.size()) {
      out.push_back(format[i]);
      continue;
    }
    const std::size_t begin = i++;
    char flag = '\0';
    if ((format[i] == '-' || format[i] == '_' || format[i] == '0') && i + 1 < format.size()) flag = format[i++];
    if (format[i] == 'z' || format[i] == 'Z') continue;  // a time without a zone has none
    std::string part = date_part(format[i], flag, m);
    if (part.empty()) part = time_part(format[i], flag, m);
    out += part.empty() ? std::string(format.substr(begin, i - begin + 1)) : part;
  }
  return out;
}

}  // namespace

std::string format_time(std::string_view format, std::string_view iso) {
  if (iso.empty()) {
    const char* fixed = std::getenv("TURNGLASS_NOW");
    if (fixed != nullptr) iso = fixed;
  }
  return expand(format, moment_of(iso));
}

}  // namespace tg::jinja
