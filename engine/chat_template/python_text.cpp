// str() and repr(): how Python prints values.
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "engine/chat_template/runtime.h"

namespace tg::jinja {

std::string_view type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::undefined: return "Undefined";
    case Kind::none: return "NoneType";
    case Kind::boolean: return "bool";
    case Kind::integer: return "int";
    case Kind::real: return "float";
    case Kind::string: return "str";
    case Kind::list: return value.list().kind == ListKind::list ? "list" : "tuple";
    case Kind::dict: return "dict";
    case Kind::name_space: return "Namespace";
    case Kind::callable: return value.callable().macro != nullptr ? "Macro" : "function";
    case Kind::loop: return "LoopContext";
  }
  return "object";
}

std::string integer_text(std::int64_t value) { return std::to_string(value); }

std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 64> buffer{};
  const auto scientific = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(scientific.ptr - buffer.data()));
  const std::size_t e = text.find('e');
  const int exponent = std::atoi(std::string(text.substr(e + 1)).c_str());
  if (exponent < -4 || exponent >= 16) return std::string(text);  // 1e+16, 1.5e-07: the form of to_chars is Python's
  std::array<char, 64> fixed{};
  const auto end = std::to_chars(fixed.data(), fixed.data() + fixed.size(), value, std::chars_format::fixed).ptr;
  std::string result(fixed.data(), end);
  if (result.find('.') == std::string::npos) result += ".0";
  return result;
}

namespace {

void append_repr_character(std::uint32_t c, std::string_view bytes, char quote, std::string& out) {
  std::array<char, 16> buffer{};
  if (c == '\\' || c == static_cast<unsigned char>(quote)) {
    out.push_back('\\');
    out.append(bytes);
  } else if (c == '\n') {
    out += "\\n";
  } else if (c == '\r') {
    out += "\\r";
  } else if (c == '\t') {
    out += "\\t";
  } else if (c == ' ' || is_printable(c)) {
    out.append(bytes);
  } else {
    const char* form = c < 0x100 ? "\\x%02x" : (c < 0x10000 ? "\\u%04x" : "\\U%08x");
    std::snprintf(buffer.data(), buffer.size(), form, c);
    out += buffer.data();
  }
}

Text string_repr(const Text& text) {
  const bool single = text.bytes().find('\'') != std::string::npos;
  const char quote = single && text.bytes().find('"') == std::string::npos ? '"' : '\'';
  Text result(std::string(1, quote));
  result.append(mapped(text, [quote](std::uint32_t c, std::string_view bytes, std::string& out) {
    append_repr_character(c, bytes, quote, out);
  }));
  result.append(std::string_view(&quote, 1));
  if (!text.is_markup()) return result;
  Text markup("Markup(");
  markup.append(result);
  markup.append(")");
  return markup;
}

void append_list(Runtime& runtime, Text& out, const List& list) {
  const bool tuple = list.kind != ListKind::list;
  out.append(tuple ? "(" : "[", list.origin);
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    if (i > 0) out.append(", ", list.origin);
    out.append(to_repr(runtime, list.items[i]));
  }
  if (tuple && list.items.size() == 1) out.append(",", list.origin);
  out.append(tuple ? ")" : "]", list.origin);
}

void append_dict(Runtime& runtime, Text& out, const Dict& dict) {
  out.append("{", dict.origin);
  bool first = true;
  for (const auto& [key, value] : dict.entries) {
    if (!first) out.append(", ", dict.origin);
    first = false;
    out.append(to_repr(runtime, key));
    out.append(": ", dict.origin);
    out.append(to_repr(runtime, value));
  }
  out.append("}", dict.origin);
}

void append_namespace(Runtime& runtime, Text& out, const Namespace& space) {
  out.append("<Namespace {");
  bool first = true;
  for (const auto& [key, value] : space.entries) {
    out.append(first ? "'" : ", '");
    first = false;
    out.append(key);
    out.append("': ");
    out.append(to_repr(runtime, value));
  }
  out.append("}>");
}

Text container_repr(Runtime& runtime, const Value& value) {
  const Runtime::DepthGuard guard(runtime);  // namespaces may hold themselves
  Text out;
  if (value.is(Kind::list)) {
    append_list(runtime, out, value.list());
  } else if (value.is(Kind::dict)) {
    append_dict(runtime, out, value.dict());
  } else {
    append_namespace(runtime, out, value.name_space());
  }
  runtime.charge_text(out.size());
  if (out.size() > kMaxTextBytes) fail("a text grew too long");
  return out;
}

}  // namespace

Text to_repr(Runtime& runtime, const Value& value) {
  runtime.charge();
  switch (value.kind()) {
    case Kind::undefined: return Text("Undefined");
    case Kind::none: return Text("None");
    case Kind::boolean: return Text(value.boolean() ? "True" : "False");
    case Kind::integer: return Text(integer_text(value.integer()));
    case Kind::real: return Text(real_text(value.real()));
    case Kind::string: runtime.charge_text(value.text().size()); return string_repr(value.text());
    case Kind::list:
    case Kind::dict:
    case Kind::name_space: return container_repr(runtime, value);
    case Kind::callable:
      return Text(value.callable().macro != nullptr ? "<Macro '" + value.callable().name + "'>"
                                                    : "<function " + value.callable().name + ">");
    case Kind::loop:
      return Text("<LoopContext " + std::to_string(value.loop().index + 1) + "/" +
                  std::to_string(value.loop().items->items.size()) + ">");
  }
  return Text();
}

Text to_text(Runtime& runtime, const Value& value) {
  if (value.is(Kind::string)) return value.text();
  if (value.is(Kind::undefined)) return Text();
  return to_repr(runtime, value);
}

}  // namespace tg::jinja
