#include "engine/chat_template/value.h"

#include <algorithm>
#include <cmath>

#include "engine/chat_template/runtime.h"

namespace tg::jinja {

void fail(std::string message) { throw Failure{std::move(message)}; }

Value Value::undefined(std::string why) {
  Value value;
  value.data_ = Undefined{std::make_shared<const std::string>(std::move(why))};
  return value;
}

Value Value::string(Text text) { return Value(std::make_shared<const Text>(std::move(text))); }

const void* Value::identity() const {
  switch (kind()) {
    case Kind::list: return std::get<ListPtr>(data_).get();
    case Kind::dict: return std::get<DictPtr>(data_).get();
    case Kind::name_space: return std::get<Namespace*>(data_);
    case Kind::callable: return std::get<CallablePtr>(data_).get();
    case Kind::loop: return std::get<LoopPtr>(data_).get();
    default: return nullptr;
  }
}

const Value* Dict::find(std::string_view key) const {
  const auto hit = index.find(key);
  return hit == index.end() ? nullptr : &entries[hit->second].second;
}

namespace {

bool equal_keys(const Value& a, const Value& b) {
  if (a.is(Kind::string) && b.is(Kind::string)) return a.text().bytes() == b.text().bytes();
  if (a.is(Kind::list) && b.is(Kind::list)) {  // tuples
    const std::vector<Value>& x = a.list().items;
    const std::vector<Value>& y = b.list().items;
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), equal_keys);
  }
  if (a.is_number() && b.is_number()) return a.real() == b.real();
  return a.kind() == b.kind() && (a.is(Kind::none) || (a.identity() != nullptr && a.identity() == b.identity()));
}

}  // namespace

const Value* Dict::find(const Value& key) const {
  if (key.is(Kind::string)) return find(std::string_view(key.text().bytes()));
  for (const auto& [name, value] : entries) {
    if (equal_keys(name, key)) return &value;
  }
  return nullptr;
}

void Dict::set(Value key, Value value) {
  if (key.is(Kind::list) && key.list().kind == ListKind::list) fail("unhashable type: 'list'");
  if (key.is(Kind::dict)) fail("unhashable type: 'dict'");
  depth = std::max({depth, depth_of(key) + 1, depth_of(value) + 1});
  if (const Value* old = find(key)) {
    *const_cast<Value*>(old) = std::move(value);  // an element of our own entries
    return;
  }
  if (key.is(Kind::string)) index.emplace(key.text().bytes(), entries.size());
  entries.emplace_back(std::move(key), std::move(value));
}

const Value* Namespace::find(std::string_view name) const {
  for (const auto& [key, value] : entries) {
    if (key == name) return &value;
  }
  return nullptr;
}

void Namespace::set(std::string_view name, Value value) {
  for (auto& [key, old] : entries) {
    if (key == name) {
      old = std::move(value);
      return;
    }
  }
  entries.emplace_back(std::string(name), std::move(value));
}

const Value* Arguments::find(std::size_t index, std::string_view name) const {
  if (index < positional.size()) return &positional[index];
  for (const auto& [key, value] : named) {
    if (key == name) return &value;
  }
  return nullptr;
}

Value Arguments::get(std::size_t index, std::string_view name, Value fallback) const {
  const Value* found = find(index, name);
  return found != nullptr ? *found : std::move(fallback);
}

const Value& Arguments::require(std::size_t index, std::string_view name, std::string_view function) const {
  const Value* found = find(index, name);
  if (found == nullptr) fail(std::string(function) + "() missing 1 required argument: '" + std::string(name) + "'");
  return *found;
}

int depth_of(const Value& value) {
  switch (value.kind()) {
    case Kind::list: return value.list().depth;
    case Kind::dict: return value.dict().depth;
    case Kind::callable: return value.callable().depth;
    case Kind::loop: return value.loop().items->depth + 1;
    default: return 0;
  }
}

namespace {
void check_nesting(int depth) {
  if (depth > kMaxNesting) fail("values are nested too deeply");
}
}  // namespace

Value make_list(std::vector<Value> items, ListKind kind, Origin origin) {
  auto list = std::make_shared<List>();
  for (const Value& item : items) list->depth = std::max(list->depth, depth_of(item) + 1);
  check_nesting(list->depth);
  list->items = std::move(items);
  list->kind = kind;
  list->origin = origin;
  return Value(ListPtr(std::move(list)));
}

Value make_dict(Dict dict) {
  check_nesting(dict.depth);
  return Value(DictPtr(std::make_shared<const Dict>(std::move(dict))));
}

bool truthy(const Value& value) {
  switch (value.kind()) {
    case Kind::undefined:
    case Kind::none: return false;
    case Kind::boolean: return value.boolean();
    case Kind::integer: return value.integer() != 0;
    case Kind::real: return value.real() != 0.0;
    case Kind::string: return !value.text().empty();
    case Kind::list: return !value.list().items.empty();
    case Kind::dict: return !value.dict().entries.empty();
    default: return true;
  }
}

namespace {

// Exact also where an integer does not fit a double.
int compare_numbers(const Value& a, const Value& b) {
  if (a.is_integral() && b.is_integral()) return a.integer() < b.integer() ? -1 : (a.integer() > b.integer() ? 1 : 0);
  const double x = a.real();
  const double y = b.real();
  if (x < y) return -1;
  return x > y ? 1 : 0;
}

bool same_list_type(const List& a, const List& b) { return (a.kind == ListKind::list) == (b.kind == ListKind::list); }

bool equal_dicts(Runtime& runtime, const Dict& a, const Dict& b) {
  if (a.entries.size() != b.entries.size()) return false;
  return std::all_of(a.entries.begin(), a.entries.end(), [&](const auto& entry) {
    runtime.charge();
    const Value* other = b.find(entry.first);
    return other != nullptr && equal(runtime, entry.second, *other);
  });
}

}  // namespace

bool equal(Runtime& runtime, const Value& a, const Value& b) {
  runtime.charge();
  if (a.is_number() && b.is_number()) {
    if (a.is(Kind::real) && std::isnan(a.real())) return false;
    if (b.is(Kind::real) && std::isnan(b.real())) return false;
    return compare_numbers(a, b) == 0;
  }
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::undefined:
    case Kind::none: return true;
    case Kind::string:
      if (a.text().size() != b.text().size()) return false;
      runtime.charge_text(a.text().size());
      return a.text().bytes() == b.text().bytes();
    case Kind::list:
      return same_list_type(a.list(), b.list()) &&
             std::equal(a.list().items.begin(), a.list().items.end(), b.list().items.begin(), b.list().items.end(),
                        [&runtime](const Value& x, const Value& y) { return equal(runtime, x, y); });
    case Kind::dict: return equal_dicts(runtime, a.dict(), b.dict());
    default: return a.identity() == b.identity();
  }
}

int compare(Runtime& runtime, const Value& a, const Value& b, std::string_view op) {
  runtime.charge();
  if (a.is_number() && b.is_number()) return compare_numbers(a, b);
  if (a.is(Kind::string) && b.is(Kind::string)) {
    runtime.charge_text(std::min(a.text().size(), b.text().size()));
    return a.text().bytes().compare(b.text().bytes());  // the order of UTF-8 is the order of code points
  }
  if (a.is(Kind::list) && b.is(Kind::list) && same_list_type(a.list(), b.list())) {
    const std::vector<Value>& x = a.list().items;
    const std::vector<Value>& y = b.list().items;
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
      if (!equal(runtime, x[i], y[i])) return compare(runtime, x[i], y[i], op);
    }
    return x.size() < y.size() ? -1 : (x.size() > y.size() ? 1 : 0);
  }
  if (a.is(Kind::undefined)) fail_undefined(a);
  if (b.is(Kind::undefined)) fail_undefined(b);
  fail("'" + std::string(op) + "' not supported between instances of '" + std::string(type_name(a)) + "' and '" +
       std::string(type_name(b)) + "'");
}

bool contains(Runtime& runtime, const Value& container, const Value& item) {
  switch (container.kind()) {
    case Kind::string:
      if (!item.is(Kind::string)) {
        fail("'in <string>' requires string as left operand, not " + std::string(type_name(item)));
      }
      runtime.charge_text(container.text().size());
      return container.text().bytes().find(item.text().bytes()) != std::string::npos;
    case Kind::list:
      return std::any_of(container.list().items.begin(), container.list().items.end(),
                         [&](const Value& element) { return equal(runtime, element, item); });
    case Kind::dict:
      runtime.charge(1 + container.dict().entries.size() / 64);
      return container.dict().find(item) != nullptr;
    case Kind::undefined: return false;
    default: fail("argument of type '" + std::string(type_name(container)) + "' is not iterable");
  }
}

void fail_undefined(const Value& undefined) {
  const auto& why = undefined.undefined_reason().why;
  fail(why ? *why : "value is undefined");
}

}  // namespace tg::jinja
