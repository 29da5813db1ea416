// "..." % values and "...".format(values).
#include <algorithm>
#include <cctype>

#include "engine/base/text.h"
#include "engine/chat_template/format_spec.h"

namespace tg::jinja {
namespace {

// One pass over a %-format. Values come one by one, or by name where a mapping is given.
class PercentFormatter {
 public:
  PercentFormatter(Runtime& runtime, const Text& format, const Value& arguments)
      : runtime_(runtime), format_(format), arguments_(arguments),
        tuple_(arguments.is(Kind::list) && arguments.list().kind != ListKind::list) {}

  Text run() {
    const std::string_view bytes = format_.bytes();
    while (at_ < bytes.size()) {
      const std::size_t mark = std::min(bytes.find('%', at_), bytes.size());
      out_.append(format_, at_, mark);
      at_ = mark;
      if (at_ < bytes.size()) field();
      if (out_.size() > kMaxTextBytes) fail("The chat template makes too long a text.");
    }
    // What has items is taken for a mapping, of which not all need be used.
    const bool mapping = arguments_.is(Kind::dict) || arguments_.is(Kind::list) || arguments_.is(Kind::undefined);
    const bool left = tuple_ ? used_ < arguments_.list().items.size() : (used_ == 0 && !mapping);
    if (left) fail("not all arguments converted during string formatting");
    out_.set_markup(format_.is_markup());
    return std::move(out_);
  }

 private:
  char peek() const { return at_ < format_.size() ? format_.bytes()[at_] : '\0'; }

  Value next_value() {
    if (!tuple_) {
      if (used_++ > 0) fail("not enough arguments for format string");
      return arguments_;
    }
    if (used_ >= arguments_.list().items.size()) fail("not enough arguments for format string");
    return arguments_.list().items[used_++];
  }

  int read_number() {
    if (peek() == '*') {
      ++at_;
      const std::int64_t width = to_integer(next_value(), "* wants int: it");
      if (width < 0 || width > kMaxFieldWidth) fail("width too big");
      return static_cast<int>(width);
    }
    int number = 0;
    for (; std::isdigit(static_cast<unsigned char>(peek())) != 0; ++at_) {
      number = number * 10 + (peek() - '0');
      if (number > kMaxFieldWidth) fail("width too big");
    }
    return number;
  }

  void field() {
    ++at_;
    const Value* named = nullptr;
    if (peek() == '(') {
      const std::size_t close = format_.bytes().find(')', at_);
      if (close == std::string::npos) fail("incomplete format key");
      if (!arguments_.is(Kind::dict)) fail("format requires a mapping");
      const std::string key = format_.bytes().substr(at_ + 1, close - at_ - 1);
      named = arguments_.dict().find(std::string_view(key));
      if (named == nullptr) fail("'" + key + "'");
      at_ = close + 1;
    }
    FormatSpec spec;
    for (; peek() != '\0' && std::string_view("-+ #0").find(peek()) != std::string_view::npos; ++at_) {
      if (peek() == '-') spec.align = '<';
      if (peek() == '+' || (peek() == ' ' && spec.sign != '+')) spec.sign = peek();
      spec.alternate |= peek() == '#';
      spec.zero |= peek() == '0';
    }
    spec.width = read_number();
    if (peek() == '.') {
      ++at_;
      spec.precision = read_number();
    }
    while (peek() == 'l' || peek() == 'h' || peek() == 'L') ++at_;
    const char type = peek();
    if (type == '\0') fail("incomplete format");
    ++at_;
    if (type == '%') return out_.append("%");
    convert(named != nullptr ? *named : next_value(), spec, type);
  }

  void convert(const Value& value, FormatSpec spec, char type) {
    switch (type) {
      case 's':
      case 'r':
      case 'a': return text(type == 's' ? to_text(runtime_, value) : to_repr(runtime_, value), spec);
      case 'c': return text(character(value), spec);
      case 'd':
      case 'i':
      case 'u': return integer(value, spec, 'd');
      case 'x':
      case 'X':
      case 'o': return integer(value, spec, type);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        if (!value.is_number()) fail("must be real number, not " + std::string(type_name(value)));
        spec.type = type;
        return out_.append(formatted(runtime_, Value(value.real()), spec));
      default:
        fail(std::string("unsupported format character '") + type + "'");
    }
  }

  void text(Text part, FormatSpec spec) {
    if (format_.is_markup() && !part.is_markup()) part = escaped(part);
    spec.type = 's';
    spec.align = spec.align == '<' ? '<' : '>';
    out_.append(formatted(runtime_, Value::string(std::move(part)), spec));
  }

  static Text character(const Value& value) {
    if (value.is(Kind::string) && count_characters(value.text().bytes()) == 1) return value.text();
    if (!value.is_integral() || value.integer() < 0 || value.integer() > 0x10FFFF) fail("%c requires int or char");
    std::string bytes;
    append_utf8(bytes, static_cast<std::uint32_t>(value.integer()));
    return Text(bytes);
  }

  void integer(const Value& value, FormatSpec spec, char type) {
    if (!value.is_number() || (value.is(Kind::real) && type != 'd')) {
      if (value.is(Kind::undefined)) fail_undefined(value);
      fail(std::string("%") + type + " format: a real number is required, not " + std::string(type_name(value)));
    }
    if (value.is(Kind::real) && !(value.real() > -9.2e18 && value.real() < 9.2e18)) fail("a number is too large");
    spec.type = type;
    const std::int64_t whole = value.is(Kind::real) ? static_cast<std::int64_t>(value.real()) : value.integer();
    out_.append(formatted(runtime_, Value(whole), spec));
  }

  Runtime& runtime_;
  const Text& format_;
  const Value& arguments_;
  bool tuple_;
  std::size_t used_ = 0, at_ = 0;
  Text out_;
};

// {} {0} {name} {0.attr[key]!r:spec} of str.format.
class BraceFormatter {
 public:
  BraceFormatter(Runtime& runtime, const Text& format, const Arguments& arguments)
      : runtime_(runtime), format_(format), arguments_(arguments) {}

  Text run() {
    const std::string_view bytes = format_.bytes();
    std::size_t at = 0;
    while (at < bytes.size()) {
      const std::size_t mark = std::min(bytes.find_first_of("{}", at), bytes.size());
      out_.append(format_, at, mark);
      if (mark >= bytes.size()) break;
      const char c = bytes[mark];
      if (mark + 1 < bytes.size() && bytes[mark + 1] == c) {
        out_.append(format_, mark, mark + 1);
        at = mark + 2;
        continue;
      }
      if (c == '}') fail("Single '}' encountered in format string");
      const std::size_t close = end_of_field(bytes, mark);
      field(bytes.substr(mark + 1, close - mark - 1));
      at = close + 1;
      if (out_.size() > kMaxTextBytes) fail("The chat template makes too long a text.");
    }
    out_.set_markup(format_.is_markup());
    return std::move(out_);
  }

 private:
  static std::size_t end_of_field(std::string_view bytes, std::size_t open) {
    int depth = 0;
    for (std::size_t i = open; i < bytes.size(); ++i) {
      depth += bytes[i] == '{' ? 1 : (bytes[i] == '}' ? -1 : 0);
      if (depth == 0) return i;
    }
    fail("expected '}' before end of string");
  }

  void field(std::string_view text) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    std::string_view head = text.substr(0, colon);
    std::string spec(colon < text.size() ? text.substr(colon + 1) : std::string_view());
    if (spec.find('{') != std::string::npos) fail("a format inside a format is not possible here");
    const bool repr = head.size() >= 2 && head.substr(head.size() - 2) == "!r";
    const bool str = head.size() >= 2 && head.substr(head.size() - 2) == "!s";
    if (repr || str) head.remove_suffix(2);
    Value value = look_up(head);
    if (repr) value = runtime_.string(to_repr(runtime_, value));
    if (str) value = runtime_.string(to_text(runtime_, value));
    const Text part = formatted(runtime_, value, parse_format_spec(spec));
    const bool fits = !format_.is_markup() || (value.is(Kind::string) && value.text().is_markup());
    out_.append(fits ? part : escaped(part));
  }

  Value look_up(std::string_view path) {
    const std::size_t end = std::min(path.find_first_of(".["), path.size());
    const std::string name(path.substr(0, end));
    Value value = first(name);
    for (std::size_t at = end; at < path.size();) {
      const bool bracket = path[at] == '[';
      const std::size_t stop = bracket ? path.find(']', at) : std::min(path.find_first_of(".[", at + 1), path.size());
      if (stop == std::string_view::npos) fail("expected ']' in format string");
      const std::string part(path.substr(at + 1, stop - at - 1));
      const bool number = bracket && !part.empty() && part.size() < 10 && part.find_first_not_of("0123456789") == std::string::npos;
      value = bracket ? item_of(runtime_, value, number ? Value(std::int64_t{std::stol(part)}) : Value::string(part))
                      : attribute_of(runtime_, value, part);
      at = stop + (bracket ? 1 : 0);
    }
    return value;
  }

  Value first(const std::string& name) {
    const bool number = name.find_first_not_of("0123456789") == std::string::npos;
    if (number && name.size() < 10) {
      const std::size_t index = name.empty() ? next_++ : std::stoul(name);
      if (index >= arguments_.positional.size()) fail("Replacement index " + std::to_string(index) + " out of range for positional args tuple");
      return arguments_.positional[index];
    }
    const Value* found = arguments_.find(SIZE_MAX, name);
    if (found == nullptr) fail("'" + name + "'");
    return *found;
  }

  Runtime& runtime_;
  const Text& format_;
  const Arguments& arguments_;
  std::size_t next_ = 0;
  Text out_;
};

}  // namespace

Value percent_format(Runtime& runtime, const Text& format, const Value& arguments) {
  runtime.charge_text(format.size());
  return runtime.string(PercentFormatter(runtime, format, arguments).run());
}

Value brace_format(Runtime& runtime, const Text& format, const Arguments& arguments) {
  runtime.charge_text(format.size());
  return runtime.string(BraceFormatter(runtime, format, arguments).run());
}

}  // namespace tg::jinja
