// Filters over whole sequences: order, joining, grouping.
#include <algorithm>
#include <utility>

#include "engine/base/text.h"
#include "engine/chat_template/string_helpers.h"

namespace tg::jinja {
namespace {

Value first(Runtime& runtime, const Value& self, const Arguments&) {
  std::vector<Value> items = runtime.items_of(self);
  return items.empty() ? Value::undefined("No first item, sequence was empty.") : items.front();
}

Value last(Runtime& runtime, const Value& self, const Arguments&) {
  std::vector<Value> items = runtime.items_of(self);
  return items.empty() ? Value::undefined("No last item, sequence was empty.") : items.back();
}

Value length(Runtime& runtime, const Value& self, const Arguments&) {
  std::size_t size = 0;
  switch (self.kind()) {
    case Kind::undefined: break;
    case Kind::string:
      runtime.charge_text(self.text().size());
      size = count_characters(self.text().bytes());
      break;
    case Kind::list: size = self.list().items.size(); break;
    case Kind::dict: size = self.dict().entries.size(); break;
    case Kind::loop: size = self.loop().items->items.size(); break;
    default: fail("object of type '" + std::string(type_name(self)) + "' has no len()");
  }
  return Value(static_cast<std::int64_t>(size));
}

Value as_list(Runtime& runtime, const Value& self, const Arguments&) { return runtime.list(runtime.items_of(self)); }

Value reverse(Runtime& runtime, const Value& self, const Arguments&) {
  std::vector<Value> items = runtime.items_of(self);
  std::reverse(items.begin(), items.end());
  if (!self.is(Kind::string)) return runtime.list(std::move(items));
  Text text;
  for (const Value& item : items) text.append(item.text());
  text.set_markup(self.text().is_markup());
  return runtime.string(std::move(text));
}

Value part_of(Runtime& runtime, const Value& item, const Value* attribute) {
  return attribute == nullptr || attribute->is(Kind::none) ? item : attribute_path(runtime, item, *attribute);
}

Value join(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Text glue = to_text(runtime, arguments.get(0, "d", Value::string("")));
  const Value* attribute = arguments.find(1, "attribute");
  Text text;
  bool start = true;
  for (const Value& item : runtime.items_of(self)) {
    if (!start) text.append(glue);
    start = false;
    text.append(to_text(runtime, part_of(runtime, item, attribute)));
    runtime.charge_text(glue.size());
    if (text.size() > kMaxTextBytes) break;
  }
  return runtime.string(std::move(text));
}

Value without_case(Runtime& runtime, Value value, bool case_sensitive) {
  if (case_sensitive || !value.is(Kind::string)) return value;
  return runtime.string(with_case(value.text(), CaseChange::lower));
}

// Sort keys of ITEMS: one per attribute of a list "a,b".
std::vector<std::vector<Value>> sort_keys(Runtime& runtime, const std::vector<Value>& items, const Value& attribute,
                                          bool case_sensitive, const Value* fallback = nullptr) {
  std::vector<Value> paths;
  if (attribute.is(Kind::string)) {
    for (Text& path : split_at(attribute.text(), ",", -1)) paths.push_back(Value::string(std::move(path)));
  } else {
    paths.push_back(attribute);
  }
  std::vector<std::vector<Value>> keys(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (const Value& path : paths) {
      Value key = path.is(Kind::none) ? items[i] : attribute_path(runtime, items[i], path);
      if (key.is(Kind::undefined) && fallback != nullptr) key = *fallback;
      keys[i].push_back(without_case(runtime, std::move(key), case_sensitive));
    }
  }
  return keys;
}

int compare_keys(Runtime& runtime, const std::vector<Value>& a, const std::vector<Value>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (const int order = compare(runtime, a[i], b[i], "<"); order != 0) return order;
  }
  return 0;
}

std::vector<std::size_t> sorted_order(Runtime& runtime, const std::vector<std::vector<Value>>& keys, bool backwards) {
  std::vector<std::size_t> order(keys.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return backwards ? compare_keys(runtime, keys[b], keys[a]) < 0 : compare_keys(runtime, keys[a], keys[b]) < 0;
  });
  return order;
}

Value sort(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> items = runtime.items_of(self);
  const bool backwards = truthy(arguments.get(0, "reverse", Value(false)));
  const bool case_sensitive = truthy(arguments.get(1, "case_sensitive", Value(false)));
  auto keys = sort_keys(runtime, items, arguments.get(2, "attribute", None{}), case_sensitive);
  // Keys by attribute are compared as lists, where equal ones, undefined ones too, are never ordered.
  if (arguments.find(2, "attribute") != nullptr) {
    for (auto& key : keys) key = {runtime.list(std::move(key))};
  }
  std::vector<Value> result;
  for (const std::size_t i : sorted_order(runtime, keys, backwards)) result.push_back(items[i]);
  return runtime.list(std::move(result));
}

Value dictsort(Runtime& runtime, const Value& self, const Arguments& arguments) {
  if (self.is(Kind::undefined)) fail_undefined(self);
  if (!self.is(Kind::dict)) fail("'" + std::string(type_name(self)) + "' object has no attribute 'items'");
  const bool case_sensitive = truthy(arguments.get(0, "case_sensitive", Value(false)));
  const std::string by = to_text(runtime, arguments.get(1, "by", Value::string("key"))).bytes();
  const bool backwards = truthy(arguments.get(2, "reverse", Value(false)));
  if (by != "key" && by != "value") fail("You can only sort by either \"key\" or \"value\"");
  const auto& entries = self.dict().entries;
  std::vector<std::vector<Value>> keys;
  for (const auto& [key, value] : entries) {
    keys.push_back({without_case(runtime, by == "key" ? key : value, case_sensitive)});
  }
  std::vector<Value> result;
  for (const std::size_t i : sorted_order(runtime, keys, backwards)) {
    result.push_back(runtime.list({entries[i].first, entries[i].second}, ListKind::tuple));
  }
  return runtime.list(std::move(result));
}

Value items(Runtime& runtime, const Value& self, const Arguments&) {
  if (self.is(Kind::undefined)) return runtime.list({});
  if (!self.is(Kind::dict)) fail("Can only get item pairs from a mapping.");
  std::vector<Value> pairs;
  for (const auto& [key, value] : self.dict().entries) pairs.push_back(runtime.list({key, value}, ListKind::tuple));
  return runtime.list(std::move(pairs));
}

Value groupby(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> elements = runtime.items_of(self);
  const Value& attribute = arguments.require(0, "attribute", "groupby");
  const Value* fallback = arguments.find(1, "default");
  const bool case_sensitive = truthy(arguments.get(2, "case_sensitive", Value(false)));
  const auto keys = sort_keys(runtime, elements, attribute, case_sensitive, fallback);
  std::vector<Value> groups;
  std::vector<Value> group;
  const std::vector<std::size_t> order = sorted_order(runtime, keys, false);
  for (std::size_t n = 0; n < order.size(); ++n) {
    group.push_back(elements[order[n]]);
    if (n + 1 < order.size() && compare_keys(runtime, keys[order[n]], keys[order[n + 1]]) == 0) continue;
    Value grouper = attribute_path(runtime, group.front(), attribute);
    if (grouper.is(Kind::undefined) && fallback != nullptr) grouper = *fallback;
    groups.push_back(runtime.list({grouper, runtime.list(std::exchange(group, {}))}, ListKind::group));
  }
  return runtime.list(std::move(groups));
}

Value unique(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> elements = runtime.items_of(self);
  const bool case_sensitive = truthy(arguments.get(0, "case_sensitive", Value(false)));
  const auto keys = sort_keys(runtime, elements, arguments.get(1, "attribute", None{}), case_sensitive);
  std::vector<Value> result;
  std::vector<const Value*> seen;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Value& key = keys[i].front();
    if (std::any_of(seen.begin(), seen.end(), [&](const Value* old) { return equal(runtime, *old, key); })) continue;
    seen.push_back(&key);
    result.push_back(elements[i]);
  }
  return runtime.list(std::move(result));
}

template <bool greatest>
Value extreme(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value> elements = runtime.items_of(self);
  if (elements.empty()) return Value::undefined("No aggregated item, sequence was empty.");
  const bool case_sensitive = truthy(arguments.get(0, "case_sensitive", Value(false)));
  const auto keys = sort_keys(runtime, elements, arguments.get(1, "attribute", None{}), case_sensitive);
  std::size_t best = 0;
  for (std::size_t i = 1; i < elements.size(); ++i) {
    const int order = compare_keys(runtime, keys[i], keys[best]);
    if (greatest ? order > 0 : order < 0) best = i;
  }
  return elements[best];
}

Value sum(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Value* attribute = arguments.find(0, "attribute");
  Value total = arguments.get(1, "start", Value(std::int64_t{0}));
  for (const Value& item : runtime.items_of(self)) {
    total = binary(runtime, BinaryOperator::add, total, part_of(runtime, item, attribute));
  }
  return total;
}

Value batch(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::int64_t size = to_integer(arguments.require(0, "linecount", "batch"), "linecount");
  const Value fill = arguments.get(1, "fill_with", None{});
  if (size < 1) fail("batch() needs a positive number");
  std::vector<Value> rows;
  std::vector<Value> row;
  for (const Value& item : runtime.items_of(self)) {
    if (static_cast<std::int64_t>(row.size()) == size) rows.push_back(runtime.list(std::exchange(row, {})));
    row.push_back(item);
  }
  if (row.empty()) return runtime.list(std::move(rows));
  if (!fill.is(Kind::none)) {
    runtime.charge(static_cast<std::size_t>(size));
    row.resize(static_cast<std::size_t>(size), fill);
  }
  rows.push_back(runtime.list(std::move(row)));
  return runtime.list(std::move(rows));
}

Value slice(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::int64_t count = to_integer(arguments.require(0, "slices", "slice"), "slices");
  const Value fill = arguments.get(1, "fill_with", None{});
  if (count < 1) fail("slice() needs a positive number");
  const std::vector<Value> elements = runtime.items_of(self);
  const auto slices = static_cast<std::size_t>(count);
  runtime.charge(slices);
  const std::size_t each = elements.size() / slices;
  const std::size_t longer = elements.size() % slices;
  std::vector<Value> rows;
  std::size_t at = 0;
  for (std::size_t i = 0; i < slices; ++i) {
    const std::size_t end = at + each + (i < longer ? 1 : 0);
    std::vector<Value> row(elements.begin() + static_cast<std::ptrdiff_t>(at), elements.begin() + static_cast<std::ptrdiff_t>(end));
    if (!fill.is(Kind::none) && i >= longer) row.push_back(fill);
    rows.push_back(runtime.list(std::move(row)));
    at = end;
  }
  return runtime.list(std::move(rows));
}

}  // namespace

const FunctionTable& sequence_filters() {
  static const FunctionTable table{
      {"first", first}, {"last", last}, {"length", length}, {"count", length}, {"list", as_list}, {"reverse", reverse},
      {"join", join}, {"sort", sort}, {"dictsort", dictsort}, {"items", items}, {"groupby", groupby},
      {"unique", unique}, {"min", extreme<false>}, {"max", extreme<true>}, {"sum", sum}, {"batch", batch},
      {"slice", slice}};
  return table;
}

}  // namespace tg::jinja
