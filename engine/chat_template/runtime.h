// What one render may use and what it owns: budgets, namespaces, scopes, the clock.
// Thread: one render, one thread.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/chat_template/value.h"

namespace tg::jinja {

struct Scope {
  const Scope* parent = nullptr;
  std::vector<std::pair<std::string, Value>> names;
  bool captured = false;  // a macro was defined in it: it must outlive its block
  const Value* find(std::string_view name) const;  // here or above
  void set(std::string_view name, Value value);    // here
};

// Limits of one render. A template of a file is untrusted: it ends with a sentence, not with a hang.
inline constexpr std::int64_t kMaxSteps = 20'000'000;           // about two seconds
inline constexpr std::size_t kBytesPerStep = 64;                // work on text counts as well
inline constexpr std::size_t kMaxLiveBytes = std::size_t{256} << 20;
inline constexpr std::size_t kMaxListItems = std::size_t{1} << 20;
inline constexpr int kMaxDepth = 1000;                          // nested evaluations

class Runtime {
 public:
  virtual ~Runtime() = default;

  void charge(std::size_t steps = 1);
  void charge_text(std::size_t bytes) { charge(1 + bytes / kBytesPerStep); }
  Value string(Text text);
  Value string(std::string bytes) { return string(Text(std::move(bytes))); }
  Value list(std::vector<Value> items, ListKind kind = ListKind::list);
  Value dict(Dict dict);
  Namespace* new_namespace() { return &namespaces_.emplace_back(); }

  // Iterates as Python would: items of a list, keys of a dict, characters of a string. Fails otherwise.
  std::vector<Value> items_of(const Value& value);

  // What filters such as map and select need of the evaluator.
  virtual Value call(const Value& callee, const Arguments& arguments) = 0;
  virtual Value call_filter(std::string_view name, const Value& self, const Arguments& arguments) = 0;
  virtual bool call_test(std::string_view name, const Value& self, const Arguments& arguments) = 0;

  std::string now;  // ISO 8601; empty: the clock

  class DepthGuard {
   public:
    explicit DepthGuard(Runtime& runtime);
    ~DepthGuard() { --runtime_.depth_; }
    DepthGuard(const DepthGuard&) = delete;
    DepthGuard& operator=(const DepthGuard&) = delete;

   private:
    Runtime& runtime_;
  };

 private:
  std::int64_t steps_left_ = kMaxSteps;
  std::shared_ptr<std::size_t> live_bytes_ = std::make_shared<std::size_t>(0);
  int depth_ = 0;
  std::deque<Namespace> namespaces_;
};

// ---- Attributes and items ------------------------------------------------------------------------------------------
Value attribute_of(Runtime& runtime, const Value& object, std::string_view name);  // object.name
Value item_of(Runtime& runtime, const Value& object, const Value& key);            // object[key]
Value slice_of(Runtime& runtime, const Value& object, const Value& start, const Value& stop, const Value& step);
// "a.b.0" of filters such as map(attribute=...)
Value attribute_path(Runtime& runtime, const Value& object, const Value& path);
Function find_method(const Value& object, std::string_view name);  // null: none

// ---- Operators -----------------------------------------------------------------------------------------------------
enum class BinaryOperator : std::uint8_t { add, subtract, multiply, divide, floor_divide, modulo, power };
Value binary(Runtime& runtime, BinaryOperator op, const Value& a, const Value& b);
Value negate(const Value& value, bool minus);

// ---- Tables of functions -------------------------------------------------------------------------------------------
using FunctionTable = std::unordered_map<std::string_view, Function>;
const FunctionTable& text_filters();
const FunctionTable& number_filters();
const FunctionTable& sequence_filters();
const FunctionTable& selection_filters();
const FunctionTable& tests();
const FunctionTable& string_methods();
const FunctionTable& string_search_methods();
const FunctionTable& globals();
Function find_filter(std::string_view name);  // null: unknown
Function find_test(std::string_view name);

// ---- Python's text formatting --------------------------------------------------------------------------------------
Value percent_format(Runtime& runtime, const Text& format, const Value& arguments);             // "..." % x
Value brace_format(Runtime& runtime, const Text& format, const Arguments& arguments);           // "...".format(x)
std::string format_time(std::string_view format, std::string_view iso);                         // strftime in English

// ---- Arguments -----------------------------------------------------------------------------------------------------
std::int64_t to_integer(const Value& value, std::string_view what);  // fails: "WHAT must be a whole number"
const Text& to_string(const Value& value, std::string_view what);

}  // namespace tg::jinja
