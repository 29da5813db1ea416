// The part of Python's two formatting languages that they share: [[fill]align][sign][0][width][.precision][type].
#pragma once
#include <string>

#include "engine/chat_template/runtime.h"

namespace tg::jinja {

inline constexpr int kMaxFieldWidth = 10'000;

struct FormatSpec {
  std::string fill = " ";
  char align = '\0';  // < > ^ =; 0: by type
  char sign = '-';    // - + or space
  bool alternate = false, zero = false, commas = false;
  int width = 0, precision = -1;
  char type = '\0';
};

FormatSpec parse_format_spec(std::string_view spec);
Text formatted(Runtime& runtime, const Value& value, const FormatSpec& spec);

}  // namespace tg::jinja
