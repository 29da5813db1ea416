// The values a template computes with: Python's, as far as templates can tell the difference.
// Lists and dicts are immutable and shared; their nesting is bounded when they are made, so that walking and destroying
// them needs a bounded stack. Namespaces are the one mutable thing; the Runtime owns them.
// Thread: values made by a render stay on its thread; constants of a parsed template are shared read-only.
#pragma once
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/chat_template/text.h"

namespace tg::jinja {

// Thrown inside this folder only; parse() and render() turn it into an Error.
struct Failure {
  std::string message;
};
[[noreturn]] void fail(std::string message);

class Runtime;
class Value;
struct List;
struct Dict;
struct Namespace;
struct Callable;
struct LoopState;

struct Undefined {
  std::shared_ptr<const std::string> why;  // sentence for whoever uses it: "'x' is undefined"
};
struct None {};

using TextPtr = std::shared_ptr<const Text>;
using ListPtr = std::shared_ptr<const List>;
using DictPtr = std::shared_ptr<const Dict>;
using CallablePtr = std::shared_ptr<const Callable>;
using LoopPtr = std::shared_ptr<LoopState>;

enum class Kind : std::uint8_t { undefined, none, boolean, integer, real, string, list, dict, name_space, callable, loop };

class Value {
 public:
  Value() : data_(Undefined{}) {}
  Value(None none) : data_(none) {}
  explicit Value(bool value) : data_(value) {}
  Value(std::int64_t value) : data_(value) {}
  Value(double value) : data_(value) {}
  explicit Value(TextPtr text) : data_(std::move(text)) {}
  explicit Value(ListPtr list) : data_(std::move(list)) {}
  explicit Value(DictPtr dict) : data_(std::move(dict)) {}
  explicit Value(Namespace* space) : data_(space) {}
  explicit Value(CallablePtr callable) : data_(std::move(callable)) {}
  explicit Value(LoopPtr loop) : data_(std::move(loop)) {}
  static Value undefined(std::string why);
  static Value string(Text text);  // for constants; a render makes its strings through Runtime::string
  static Value string(std::string bytes) { return string(Text(std::move(bytes))); }

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is(Kind kind_wanted) const { return kind() == kind_wanted; }
  bool is_number() const { return is(Kind::boolean) || is(Kind::integer) || is(Kind::real); }
  bool is_integral() const { return is(Kind::boolean) || is(Kind::integer); }

  // The accessors require the kind they name.
  bool boolean() const { return std::get<bool>(data_); }
  std::int64_t integer() const { return is(Kind::boolean) ? (boolean() ? 1 : 0) : std::get<std::int64_t>(data_); }
  double real() const { return is(Kind::real) ? std::get<double>(data_) : static_cast<double>(integer()); }
  const Text& text() const { return *std::get<TextPtr>(data_); }
  const List& list() const { return *std::get<ListPtr>(data_); }
  const ListPtr& list_pointer() const { return std::get<ListPtr>(data_); }
  const Dict& dict() const { return *std::get<DictPtr>(data_); }
  Namespace& name_space() const { return *std::get<Namespace*>(data_); }
  const Callable& callable() const { return *std::get<CallablePtr>(data_); }
  LoopState& loop() const { return *std::get<LoopPtr>(data_); }
  const Undefined& undefined_reason() const { return std::get<Undefined>(data_); }
  const void* identity() const;  // what `is sameas` compares; null for plain values

 private:
  std::variant<Undefined, None, bool, std::int64_t, double, TextPtr, ListPtr, DictPtr, Namespace*, CallablePtr, LoopPtr> data_;
};

inline constexpr int kMaxNesting = 200;  // of lists in lists

enum class ListKind : std::uint8_t { list, tuple, group };  // group: (grouper, list) of the filter groupby

struct List {
  std::vector<Value> items;
  ListKind kind = ListKind::list;
  int depth = 1;
  Origin origin;  // of its punctuation when it is printed
};

struct Dict {
  std::vector<std::pair<Value, Value>> entries;  // in order of insertion
  std::map<std::string, std::size_t, std::less<>> index;  // of string keys
  int depth = 1;
  Origin origin;
  bool is_message = false;  // an element of `messages`
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  void set(Value key, Value value);  // while it is being made
};

struct Namespace {
  std::vector<std::pair<std::string, Value>> entries;
  const Value* find(std::string_view name) const;
  void set(std::string_view name, Value value);
};

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
  bool empty() const { return positional.empty() && named.empty(); }
  // Argument number INDEX, or the one called NAME; null: not given.
  const Value* find(std::size_t index, std::string_view name) const;
  Value get(std::size_t index, std::string_view name, Value fallback) const;
  const Value& require(std::size_t index, std::string_view name, std::string_view function) const;
};

// A filter, test, method or global. SELF: what stands before the bar or the dot; undefined for a global.
using Function = Value (*)(Runtime&, const Value& self, const Arguments&);

struct Callable {
  std::string name;
  Function function = nullptr;   // null: a macro, see Runtime
  Value self;
  const struct Macro* macro = nullptr;
  struct Scope* scope = nullptr;  // where the macro was defined; owned by the Runtime
  std::shared_ptr<std::int64_t> state;  // cycler and joiner: calls so far
  int depth = 1;
};

struct LoopState {
  ListPtr items;
  std::size_t index = 0;  // of the current item
  int depth = 1;          // loops around it, itself included
  std::vector<Value> changed;  // arguments of the last loop.changed()
  const struct Statement* recursive = nullptr;  // loop(items) renders this body again; null once the loop has ended
  struct Scope* scope = nullptr;                // around the loop
};

// ---- Making --------------------------------------------------------------------------------------------------------
Value make_list(std::vector<Value> items, ListKind kind = ListKind::list, Origin origin = {});
Value make_dict(Dict dict);
int depth_of(const Value& value);

// ---- Python's view -------------------------------------------------------------------------------------------------
bool truthy(const Value& value);
bool equal(Runtime& runtime, const Value& a, const Value& b);
// < 0, 0, > 0; fails where Python has no order, naming OPERATOR.
int compare(Runtime& runtime, const Value& a, const Value& b, std::string_view op);
bool contains(Runtime& runtime, const Value& container, const Value& item);
std::string_view type_name(const Value& value);    // "str", "NoneType"
std::string integer_text(std::int64_t value);
std::string real_text(double value);  // shortest that reads back, as Python prints it
Text to_text(Runtime& runtime, const Value& value);  // str()
Text to_repr(Runtime& runtime, const Value& value);  // repr()
[[noreturn]] void fail_undefined(const Value& undefined);

// ---- JSON ----------------------------------------------------------------------------------------------------------
struct JsonStyle {
  int indent = -1;  // < 0: one line
  std::string indent_text;  // used where the indent was given as text
  std::string item_separator = ", ", key_separator = ": ";
  bool ensure_ascii = false, sort_keys = false;
};
Text to_json(Runtime& runtime, const Value& value, const JsonStyle& style);
// Strings below get ORIGIN. Fails on nesting deeper than kMaxNesting.
Value from_json(const nlohmann::ordered_json& json, Origin origin);

}  // namespace tg::jinja
