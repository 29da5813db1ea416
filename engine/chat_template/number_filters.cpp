// Filters that make numbers.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/chat_template/string_helpers.h"

namespace tg::jinja {
namespace {

Value to_int(Runtime&, const Value& self, const Arguments& arguments) {
  const Value fallback = arguments.get(0, "default", Value(std::int64_t{0}));
  const std::int64_t base = to_integer(arguments.get(1, "base", Value(std::int64_t{10})), "base");
  if (self.is_integral()) return Value(self.integer());
  double real = 0;
  if (self.is(Kind::real)) {
    real = self.real();
  } else if (self.is(Kind::string)) {
    if (const auto whole = parse_integer(self.text().bytes(), static_cast<int>(base))) return Value(*whole);
    const auto parsed = parse_real(self.text().bytes());
    if (!parsed) return fallback;
    real = *parsed;
  } else {
    if (self.is(Kind::undefined)) return fallback;
    return fallback;
  }
  if (!(std::fabs(real) < 9.2e18)) return fallback;
  return Value(static_cast<std::int64_t>(real));
}

Value to_float(Runtime&, const Value& self, const Arguments& arguments) {
  if (self.is_number()) return self.real();
  if (self.is(Kind::string)) {
    if (const auto parsed = parse_real(self.text().bytes())) return *parsed;
  }
  return arguments.get(0, "default", Value(0.0));
}

Value absolute(Runtime&, const Value& self, const Arguments&) {
  if (self.is(Kind::real)) return std::fabs(self.real());
  const std::int64_t value = to_integer(self, "abs() argument");
  if (value == INT64_MIN) fail("a number is too large");
  return Value(value < 0 ? -value : value);
}

// Correctly rounded, ties to even, as Python's round() of a float.
double rounded(double value, std::int64_t digits) {
  if (!std::isfinite(value) || digits > 300) return value;
  if (digits < 0) {
    const double scale = std::pow(10.0, static_cast<double>(-digits));
    return std::nearbyint(value / scale) * scale;
  }
  char buffer[700];
  std::snprintf(buffer, sizeof buffer, "%.*f", static_cast<int>(digits), value);
  return parse_real(buffer).value_or(value);
}

Value round(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::int64_t digits = to_integer(arguments.get(0, "precision", Value(std::int64_t{0})), "precision");
  const std::string method = to_text(runtime, arguments.get(1, "method", Value::string("common"))).bytes();
  if (!self.is_number()) {
    if (self.is(Kind::undefined)) fail_undefined(self);
    fail("type " + std::string(type_name(self)) + " doesn't define __round__ method");
  }
  if (method == "common") {
    if (self.is_integral() && digits >= 0) return Value(self.integer());
    if (self.is_integral()) return Value(static_cast<std::int64_t>(rounded(self.real(), std::max<std::int64_t>(digits, -18))));
    return rounded(self.real(), digits);
  }
  if (method != "ceil" && method != "floor") fail("method must be common, ceil or floor");
  const double scale = std::pow(10.0, static_cast<double>(digits));
  return (method == "ceil" ? std::ceil(self.real() * scale) : std::floor(self.real() * scale)) / scale;
}

Value filesizeformat(Runtime& runtime, const Value& self, const Arguments& arguments) {
  static constexpr const char* kDecimal[] = {"kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"};
  static constexpr const char* kBinary[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"};
  const bool binary = truthy(arguments.get(0, "binary", Value(false)));
  const double bytes = to_float(runtime, self, {}).real();
  const double base = binary ? 1024 : 1000;
  if (bytes == 1) return runtime.string("1 Byte");
  if (bytes < base) return runtime.string(std::to_string(static_cast<std::int64_t>(bytes)) + " Bytes");
  double unit = base;
  std::size_t i = 0;
  for (; i < 7 && bytes >= unit * base; ++i) unit *= base;
  char buffer[400];
  std::snprintf(buffer, sizeof buffer, "%.1f %s", bytes / unit, binary ? kBinary[i] : kDecimal[i]);
  return runtime.string(buffer);
}

}  // namespace

const FunctionTable& number_filters() {
  static const FunctionTable table{{"int", to_int}, {"float", to_float}, {"abs", absolute}, {"round", round},
                                   {"filesizeformat", filesizeformat}};
  return table;
}

}  // namespace tg::jinja
