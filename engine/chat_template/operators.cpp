// Arithmetic as Python does it, with whole numbers of 64 bits.
#include <algorithm>
#include <cmath>

#include "engine/chat_template/runtime.h"

namespace tg::jinja {
namespace {

constexpr std::string_view kSigns[] = {"+", "-", "*", "/", "//", "%", "** or pow()"};

[[noreturn]] void fail_types(BinaryOperator op, const Value& a, const Value& b) {
  if (a.is(Kind::undefined)) fail_undefined(a);
  if (b.is(Kind::undefined)) fail_undefined(b);
  if (op == BinaryOperator::add && (a.is(Kind::string) || a.is(Kind::list))) {
    fail("can only concatenate " + std::string(type_name(a)) + " (not \"" + std::string(type_name(b)) + "\") to " +
         std::string(type_name(a)));
  }
  fail("unsupported operand type(s) for " + std::string(kSigns[static_cast<std::size_t>(op)]) + ": '" +
       std::string(type_name(a)) + "' and '" + std::string(type_name(b)) + "'");
}

[[noreturn]] void fail_overflow() { fail("a number is too large"); }

Value floor_divide(std::int64_t a, std::int64_t b) {
  if (a == INT64_MIN && b == -1) fail_overflow();
  const std::int64_t quotient = a / b;
  return Value(quotient - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0));
}

Value modulo(std::int64_t a, std::int64_t b) {
  if (b == -1) return Value(std::int64_t{0});
  const std::int64_t rest = a % b;
  return Value(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}

Value power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) fail("0.0 cannot be raised to a negative power");
    return std::pow(static_cast<double>(base), static_cast<double>(exponent));
  }
  std::int64_t result = 1;
  if (base == 0 || base == 1) return Value(exponent == 0 ? 1 : base);
  if (base == -1) return Value(std::int64_t{exponent % 2 == 0 ? 1 : -1});
  for (std::int64_t i = 0; i < exponent; ++i) {  // at most 63 rounds before it overflows
    if (__builtin_mul_overflow(result, base, &result)) fail_overflow();
  }
  return Value(result);
}

Value integers(BinaryOperator op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  const bool divides = op == BinaryOperator::divide || op == BinaryOperator::floor_divide || op == BinaryOperator::modulo;
  if (divides && b == 0) fail(op == BinaryOperator::divide ? "division by zero" : "integer division or modulo by zero");
  switch (op) {
    case BinaryOperator::add:
      if (__builtin_add_overflow(a, b, &result)) fail_overflow();
      return Value(result);
    case BinaryOperator::subtract:
      if (__builtin_sub_overflow(a, b, &result)) fail_overflow();
      return Value(result);
    case BinaryOperator::multiply:
      if (__builtin_mul_overflow(a, b, &result)) fail_overflow();
      return Value(result);
    case BinaryOperator::divide: return static_cast<double>(a) / static_cast<double>(b);
    case BinaryOperator::floor_divide: return floor_divide(a, b);
    case BinaryOperator::modulo: return modulo(a, b);
    case BinaryOperator::power: return power(a, b);
  }
  return Value();
}

Value reals(BinaryOperator op, double a, double b) {
  const bool divides = op == BinaryOperator::divide || op == BinaryOperator::floor_divide || op == BinaryOperator::modulo;
  if (divides && b == 0.0) fail("float division by zero");
  switch (op) {
    case BinaryOperator::add: return a + b;
    case BinaryOperator::subtract: return a - b;
    case BinaryOperator::multiply: return a * b;
    case BinaryOperator::divide: return a / b;
    case BinaryOperator::floor_divide: return std::floor(a / b);
    case BinaryOperator::modulo: {
      const double rest = std::fmod(a, b);
      return rest != 0.0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
    case BinaryOperator::power: return std::pow(a, b);
  }
  return Value();
}

std::size_t repetitions(const Value& count, std::size_t size) {
  const std::int64_t n = std::max<std::int64_t>(count.integer(), 0);
  if (size > 0 && static_cast<std::uint64_t>(n) > kMaxTextBytes / size) fail("The chat template makes too long a text.");
  return static_cast<std::size_t>(n);
}

Value repeat(Runtime& runtime, const Value& sequence, const Value& count) {
  if (sequence.is(Kind::string)) {
    const std::size_t n = sequence.text().empty() ? 0 : repetitions(count, sequence.text().size());
    runtime.charge(n);
    Text text;
    for (std::size_t i = 0; i < n; ++i) text.append(sequence.text());
    text.set_markup(sequence.text().is_markup());
    return runtime.string(std::move(text));
  }
  const List& list = sequence.list();
  const std::size_t n = list.items.empty() ? 0 : repetitions(count, list.items.size());
  runtime.charge(n * list.items.size());
  std::vector<Value> items;
  for (std::size_t i = 0; i < n; ++i) items.insert(items.end(), list.items.begin(), list.items.end());
  return runtime.list(std::move(items), list.kind == ListKind::list ? ListKind::list : ListKind::tuple);
}

Value add(Runtime& runtime, const Value& a, const Value& b) {
  if (a.is(Kind::string) && b.is(Kind::string)) {
    const bool markup = a.text().is_markup() || b.text().is_markup();
    Text text = markup && !a.text().is_markup() ? escaped(a.text()) : a.text();
    text.append(markup && !b.text().is_markup() ? escaped(b.text()) : b.text());
    return runtime.string(std::move(text));
  }
  if (a.is(Kind::list) && b.is(Kind::list) && type_name(a) == type_name(b)) {
    std::vector<Value> items = a.list().items;
    items.insert(items.end(), b.list().items.begin(), b.list().items.end());
    return runtime.list(std::move(items), a.list().kind == ListKind::list ? ListKind::list : ListKind::tuple);
  }
  fail_types(BinaryOperator::add, a, b);
}

}  // namespace

Value binary(Runtime& runtime, BinaryOperator op, const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_integral() && b.is_integral()) return integers(op, a.integer(), b.integer());
    return reals(op, a.real(), b.real());
  }
  const auto sequence = [](const Value& v) { return v.is(Kind::string) || v.is(Kind::list); };
  if (op == BinaryOperator::add) return add(runtime, a, b);
  if (op == BinaryOperator::multiply && sequence(a) && b.is_integral()) return repeat(runtime, a, b);
  if (op == BinaryOperator::multiply && sequence(b) && a.is_integral()) return repeat(runtime, b, a);
  if (op == BinaryOperator::modulo && a.is(Kind::string)) return percent_format(runtime, a.text(), b);
  fail_types(op, a, b);
}

Value negate(const Value& value, bool minus) {
  if (value.is(Kind::undefined)) fail_undefined(value);
  if (!value.is_number()) {
    fail(std::string("bad operand type for unary ") + (minus ? "-" : "+") + ": '" + std::string(type_name(value)) + "'");
  }
  if (value.is(Kind::real)) return minus ? -value.real() : value.real();
  if (value.integer() == INT64_MIN) fail_overflow();
  return Value(minus ? -value.integer() : value.integer());
}

}  // namespace tg::jinja
