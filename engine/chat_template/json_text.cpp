// JSON of a context to values, and values to JSON text as Python's json.dumps writes it.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "engine/base/text.h"
#include "engine/chat_template/runtime.h"

namespace tg::jinja {
namespace {

void append_escaped(std::uint32_t c, std::string_view bytes, bool ascii, std::string& out) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    default: break;
  }
  std::array<char, 16> buffer{};
  if (c < 0x20 || (ascii && c >= 0x7F && c < 0x10000)) {
    std::snprintf(buffer.data(), buffer.size(), "\\u%04x", c);
    out += buffer.data();
  } else if (ascii && c >= 0x10000) {
    const std::uint32_t v = c - 0x10000;
    std::snprintf(buffer.data(), buffer.size(), "\\u%04x\\u%04x", 0xD800 + (v >> 10), 0xDC00 + (v & 0x3FF));
    out += buffer.data();
  } else {
    out.append(bytes);
  }
}

class JsonWriter {
 public:
  JsonWriter(Runtime& runtime, const JsonStyle& style) : runtime_(runtime), style_(style) {}

  void write(const Value& value, Origin around) {
    runtime_.charge();
    const std::size_t before = out_.size();
    switch (value.kind()) {
      case Kind::none: out_.append("null", around); break;
      case Kind::boolean: out_.append(value.boolean() ? "true" : "false", around); break;
      case Kind::integer: out_.append(integer_text(value.integer()), around); break;
      case Kind::real: out_.append(number(value.real()), around); break;
      case Kind::string: write_string(value.text(), around); break;
      case Kind::list: write_list(value.list()); break;
      case Kind::dict: write_dict(value.dict()); break;
      default: fail("Object of type " + std::string(type_name(value)) + " is not JSON serializable");
    }
    if (out_.size() > kMaxTextBytes) fail("a text grew too long");
    if (!value.is(Kind::list) && !value.is(Kind::dict)) runtime_.charge_text(out_.size() - before);
  }
  Text take() { return std::move(out_); }

 private:
  static std::string number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    return real_text(value);
  }

  void write_string(const Text& text, Origin around) {
    out_.append("\"", around);
    out_.append(mapped(text, [this](std::uint32_t c, std::string_view bytes, std::string& out) {
      append_escaped(c, bytes, style_.ensure_ascii, out);
    }));
    out_.append("\"", around);
  }

  void new_line(Origin origin) {
    if (style_.indent < 0) return;
    out_.append("\n", origin);
    for (int i = 0; i < level_; ++i) {
      out_.append(style_.indent_text.empty() ? std::string(static_cast<std::size_t>(style_.indent), ' ')
                                             : style_.indent_text, origin);
    }
  }

  void write_list(const List& list) {
    if (list.items.empty()) return out_.append("[]", list.origin);
    out_.append("[", list.origin);
    ++level_;
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      if (i > 0) out_.append(style_.item_separator, list.origin);
      new_line(list.origin);
      write(list.items[i], list.origin);
    }
    --level_;
    new_line(list.origin);
    out_.append("]", list.origin);
  }

  static Text key_text(const Value& key) {
    switch (key.kind()) {
      case Kind::string: return key.text();
      case Kind::none: return Text("null");
      case Kind::boolean: return Text(key.boolean() ? "true" : "false");
      case Kind::integer: return Text(integer_text(key.integer()));
      case Kind::real: return Text(number(key.real()));
      default: fail("keys must be str, int, float, bool or None, not " + std::string(type_name(key)));
    }
  }

  void write_dict(const Dict& dict) {
    if (dict.entries.empty()) return out_.append("{}", dict.origin);
    std::vector<const std::pair<Value, Value>*> order;
    for (const auto& entry : dict.entries) order.push_back(&entry);
    if (style_.sort_keys) {
      std::stable_sort(order.begin(), order.end(), [this](const auto* a, const auto* b) {
        return compare(runtime_, a->first, b->first, "<") < 0;
      });
    }
    out_.append("{", dict.origin);
    ++level_;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i > 0) out_.append(style_.item_separator, dict.origin);
      new_line(dict.origin);
      write_string(key_text(order[i]->first), dict.origin);
      out_.append(style_.key_separator, dict.origin);
      write(order[i]->second, dict.origin);
    }
    --level_;
    new_line(dict.origin);
    out_.append("}", dict.origin);
  }

  Runtime& runtime_;
  const JsonStyle& style_;
  Text out_;
  int level_ = 0;
};

Value number_from(const nlohmann::ordered_json& json) {
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
    return json.get<double>();
  }
  if (json.is_number_integer()) return Value(json.get<std::int64_t>());
  return json.get<double>();
}

Value convert(const nlohmann::ordered_json& json, Origin origin, int depth) {
  if (depth > kMaxNesting) fail("values are nested too deeply");
  switch (json.type()) {
    case nlohmann::ordered_json::value_t::boolean: return Value(json.get<bool>());
    case nlohmann::ordered_json::value_t::number_integer:
    case nlohmann::ordered_json::value_t::number_unsigned:
    case nlohmann::ordered_json::value_t::number_float: return number_from(json);
    case nlohmann::ordered_json::value_t::string: return Value::string(Text(json.get_ref<const std::string&>(), origin));
    case nlohmann::ordered_json::value_t::array: {
      std::vector<Value> items;
      for (const auto& item : json) items.push_back(convert(item, origin, depth + 1));
      return make_list(std::move(items), ListKind::list, origin);
    }
    case nlohmann::ordered_json::value_t::object: {
      Dict dict;
      dict.origin = origin;
      for (const auto& [key, item] : json.items()) {
        dict.set(Value::string(Text(key, origin)), convert(item, origin, depth + 1));
      }
      return make_dict(std::move(dict));
    }
    default: return None{};
  }
}

}  // namespace

Text to_json(Runtime& runtime, const Value& value, const JsonStyle& style) {
  JsonWriter writer(runtime, style);
  writer.write(value, Origin{});
  return writer.take();
}

Value from_json(const nlohmann::ordered_json& json, Origin origin) { return convert(json, origin, 1); }

}  // namespace tg::jinja
