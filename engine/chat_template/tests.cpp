// What may stand behind `is`.
#include <algorithm>

#include "engine/chat_template/runtime.h"

namespace tg::jinja {
namespace {

template <Kind... kinds>
Value is_kind(Runtime&, const Value& self, const Arguments&) { return Value((self.is(kinds) || ...)); }

Value is_defined(Runtime&, const Value& self, const Arguments&) { return Value(!self.is(Kind::undefined)); }
Value is_true(Runtime&, const Value& self, const Arguments&) { return Value(self.is(Kind::boolean) && self.boolean()); }
Value is_false(Runtime&, const Value& self, const Arguments&) { return Value(self.is(Kind::boolean) && !self.boolean()); }
Value is_integer(Runtime&, const Value& self, const Arguments&) { return Value(self.is(Kind::integer)); }
Value is_number(Runtime&, const Value& self, const Arguments&) { return Value(self.is_number()); }
Value is_escaped(Runtime&, const Value& self, const Arguments&) {
  return Value(self.is(Kind::string) && self.text().is_markup());
}

std::int64_t remainder(Runtime& runtime, const Value& self, const Value& divisor) {
  const Value rest = binary(runtime, BinaryOperator::modulo, self, divisor);
  return rest.is(Kind::real) ? (rest.real() == 0.0 ? 0 : (rest.real() == 1.0 ? 1 : -1))
                             : to_integer(rest, "the left operand");
}

Value is_odd(Runtime& runtime, const Value& self, const Arguments&) {
  return Value(remainder(runtime, self, Value(std::int64_t{2})) == 1);
}
Value is_even(Runtime& runtime, const Value& self, const Arguments&) {
  return Value(remainder(runtime, self, Value(std::int64_t{2})) == 0);
}
Value divisible_by(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return Value(remainder(runtime, self, arguments.require(0, "num", "divisibleby")) == 0);
}

template <bool upper>
Value is_case(Runtime& runtime, const Value& self, const Arguments&) {
  const Text text = to_text(runtime, self);
  const Text changed = with_case(text, upper ? CaseChange::upper : CaseChange::lower);
  const Text other = with_case(text, upper ? CaseChange::lower : CaseChange::upper);
  return Value(text.bytes() == changed.bytes() && changed.bytes() != other.bytes());
}

Value is_filter(Runtime& runtime, const Value& self, const Arguments&) {
  return Value(find_filter(to_text(runtime, self).bytes()) != nullptr);
}
Value is_test(Runtime& runtime, const Value& self, const Arguments&) {
  return Value(find_test(to_text(runtime, self).bytes()) != nullptr);
}

Value is_equal(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return Value(equal(runtime, self, arguments.require(0, "other", "equalto")));
}
Value is_unequal(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return Value(!equal(runtime, self, arguments.require(0, "other", "ne")));
}
Value is_less(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return Value(compare(runtime, self, arguments.require(0, "other", "lt"), "<") < 0);
}
Value is_at_most(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return Value(compare(runtime, self, arguments.require(0, "other", "le"), "<=") <= 0);
}
Value is_greater(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return Value(compare(runtime, self, arguments.require(0, "other", "gt"), ">") > 0);
}
Value is_at_least(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return Value(compare(runtime, self, arguments.require(0, "other", "ge"), ">=") >= 0);
}
Value is_in(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return Value(contains(runtime, arguments.require(0, "seq", "in"), self));
}

Value same_as(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Value& other = arguments.require(0, "other", "sameas");
  if (self.kind() != other.kind()) return Value(false);
  if (self.identity() != nullptr) return Value(self.identity() == other.identity());
  return Value(equal(runtime, self, other));
}

}  // namespace

const FunctionTable& tests() {
  static const FunctionTable table{
      {"defined", is_defined}, {"undefined", is_kind<Kind::undefined>}, {"none", is_kind<Kind::none>},
      {"boolean", is_kind<Kind::boolean>}, {"true", is_true}, {"false", is_false}, {"integer", is_integer},
      {"float", is_kind<Kind::real>}, {"number", is_number}, {"string", is_kind<Kind::string>},
      {"mapping", is_kind<Kind::dict>}, {"sequence", is_kind<Kind::undefined, Kind::string, Kind::list, Kind::dict>},
      {"iterable", is_kind<Kind::undefined, Kind::string, Kind::list, Kind::dict, Kind::loop>},
      {"callable", is_kind<Kind::undefined, Kind::callable, Kind::loop>}, {"odd", is_odd}, {"even", is_even},
      {"divisibleby", divisible_by}, {"upper", is_case<true>}, {"lower", is_case<false>}, {"filter", is_filter},
      {"test", is_test}, {"escaped", is_escaped}, {"sameas", same_as}, {"in", is_in},
      {"eq", is_equal}, {"equalto", is_equal}, {"==", is_equal}, {"ne", is_unequal}, {"!=", is_unequal},
      {"lt", is_less}, {"lessthan", is_less}, {"<", is_less}, {"le", is_at_most}, {"<=", is_at_most},
      {"gt", is_greater}, {"greaterthan", is_greater}, {">", is_greater}, {"ge", is_at_least}, {">=", is_at_least}};
  return table;
}

}  // namespace tg::jinja
