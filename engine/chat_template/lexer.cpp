#include "engine/chat_template/lexer.h"

#include <algorithm>
#include <array>

#include "engine/chat_template/literals.h"

namespace tg::jinja {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
bool name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

constexpr std::array<std::string_view, 6> kLongOperators{"//", "**", "==", "!=", ">=", "<="};
constexpr std::string_view kOperators = "+-/*%~[](){}<>=.:|,;";

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) read_data();
    push(TokenType::end);
    return std::move(tokens_);
  }

 private:
  bool starts(std::string_view what, std::size_t at) const { return source_.substr(at, what.size()) == what; }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

  void advance(std::size_t to) {
    to = std::min(to, source_.size());
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
    if (to > at_) line_starting_ = source_[to - 1] == '\n';
    at_ = to;
  }

  Token& push(TokenType type, std::string text = {}) {
    tokens_.push_back(Token{type, line_, std::move(text), 0, 0});
    return tokens_.back();
  }

  // Text up to the next opening mark, and that mark.
  void read_data() {
    std::size_t mark = at_;
    while (true) {
      mark = source_.find('{', mark);
      if (mark == std::string_view::npos || starts("{{", mark) || starts("{%", mark) || starts("{#", mark)) break;
      ++mark;
    }
    if (mark == std::string_view::npos) {
      push(TokenType::data, std::string(source_.substr(at_)));
      return advance(source_.size());
    }
    const char kind = source_[mark + 1];
    const char sign = mark + 2 < source_.size() ? source_[mark + 2] : '\0';
    push_data(mark, kind, sign);
    const bool signed_mark = sign == '-' || sign == '+';
    const std::size_t inside = mark + 2 + (signed_mark ? 1 : 0);
    if (kind == '#') return read_comment(inside);
    if (kind == '%' && read_raw(inside)) return;
    advance(inside);
    push(kind == '{' ? TokenType::variable_begin : TokenType::block_begin);
    read_code(kind == '{');
  }

  // White space before a block goes with "-" and, when it is all there is on the line, without "+".
  void push_data(std::size_t end, char kind, char sign) {
    std::string_view text = source_.substr(at_, end - at_);
    if (sign == '-') {
      text = strip_right(text);
    } else if (sign != '+' && kind != '{') {
      const std::size_t newline = text.rfind('\n');
      const std::size_t line = newline == std::string_view::npos ? 0 : newline + 1;
      if (line > 0 || line_starting_) {
        const std::string_view rest = text.substr(line);
        if (strip_right(rest).empty()) text = text.substr(0, line);
      }
    }
    if (!text.empty()) push(TokenType::data, std::string(text));
    advance(end);
  }

  static std::string_view strip_right(std::string_view text) {
    const Text all{std::string(text)};
    return text.substr(0, trimmed(all, is_space, false, true).size());
  }

  std::size_t after_spaces(std::size_t at) const {
    while (at < source_.size()) {
      const std::size_t length = space_length(source_, at);
      if (length == 0) break;
      at += length;
    }
    return at;
  }

  // Behind the end of a block or comment: "-" takes all white space, else one newline (trim_blocks) unless "+".
  std::size_t after_mark(std::size_t at, char sign, bool trim_newline) const {
    if (sign == '-') return after_spaces(at);
    if (sign != '+' && trim_newline && at < source_.size() && source_[at] == '\n') return at + 1;
    return at;
  }

  void read_comment(std::size_t from) {
    const std::size_t close = source_.find("#}", from);
    if (close == std::string_view::npos) fail_at(line_, "Missing end of comment tag");
    const char sign = close > from ? source_[close - 1] : '\0';
    advance(after_mark(close + 2, sign, true));
  }

  // {% raw %} ... {% endraw %}: the text between is data.
  bool read_raw(std::size_t inside) {
    std::size_t at = after_spaces(inside);
    if (!starts("raw", at)) return false;
    at = after_spaces(at + 3);
    const bool minus = starts("-%}", at);
    if (!minus && !starts("%}", at)) return false;
    advance(minus ? after_spaces(at + 3) : at + 2);
    for (std::size_t mark = source_.find("{%", at_); mark != std::string_view::npos; mark = source_.find("{%", mark + 2)) {
      const char sign = mark + 2 < source_.size() ? source_[mark + 2] : '\0';
      std::size_t end = after_spaces(mark + 2 + (sign == '-' || sign == '+' ? 1 : 0));
      if (!starts("endraw", end)) continue;
      end = after_spaces(end + 6);
      const char close = end < source_.size() ? source_[end] : '\0';
      if (close == '-' || close == '+') ++end;
      if (!starts("%}", end)) continue;
      push_data(mark, '%', sign);
      advance(after_mark(end + 2, close, true));
      return true;
    }
    fail_at(line_, "Missing end of raw directive");
  }

  // Tokens up to the closing mark; marks inside brackets do not close.
  void read_code(bool variable) {
    std::string brackets;
    const std::string_view mark = variable ? "}}" : "%}";
    while (at_ < source_.size()) {
      if (brackets.empty() && read_end(mark, variable)) return;
      if (const std::size_t length = space_length(source_, at_); length > 0) {
        advance(at_ + length);
        continue;
      }
      read_token(brackets);
    }
    fail_at(line_, variable ? "unexpected end of template, expected 'end of print statement'"
                            : "unexpected end of template, expected 'end of statement block'");
  }

  bool read_end(std::string_view mark, bool variable) {
    const char sign = peek();
    const bool is_signed = sign == '-' || (sign == '+' && !variable);
    const std::size_t at = at_ + (is_signed ? 1 : 0);
    if (!starts(mark, at)) return false;
    push(variable ? TokenType::variable_end : TokenType::block_end);
    advance(after_mark(at + 2, is_signed ? sign : '\0', !variable));
    return true;
  }

  void read_token(std::string& brackets) {
    const char c = peek();
    if (digit(c)) return read_number();
    if (name_start(c)) return read_name();
    if (c == '\'' || c == '"') return read_string(c);
    const auto two = std::find_if(kLongOperators.begin(), kLongOperators.end(),
                                  [this](std::string_view op) { return starts(op, at_); });
    if (two != kLongOperators.end()) {
      push(TokenType::op, std::string(*two));
      return advance(at_ + 2);
    }
    if (kOperators.find(c) == std::string_view::npos) fail_at(line_, std::string("unexpected char '") + c + "'");
    check_brackets(c, brackets);
    push(TokenType::op, std::string(1, c));
    advance(at_ + 1);
  }

  void check_brackets(char c, std::string& brackets) const {
    if (c == '(' || c == '[' || c == '{') {
      brackets.push_back(c == '(' ? ')' : (c == '[' ? ']' : '}'));
    } else if (c == ')' || c == ']' || c == '}') {
      if (brackets.empty()) fail_at(line_, std::string("unexpected '") + c + "'");
      if (brackets.back() != c) fail_at(line_, std::string("unexpected '") + c + "', expected '" + brackets.back() + "'");
      brackets.pop_back();
    }
  }

  void read_name() {
    std::size_t end = at_;
    while (end < source_.size() && (name_start(source_[end]) || digit(source_[end]))) ++end;
    push(TokenType::name, std::string(source_.substr(at_, end - at_)));
    advance(end);
  }

  void read_number() {
    const bool after_dot = at_ > 0 && source_[at_ - 1] == '.';  // x.0.5: items, not a fraction
    const NumberLiteral number = read_number_literal(source_, at_, !after_dot);
    if (!number.valid) fail_at(line_, "a number is too large");
    Token& token = push(number.is_real ? TokenType::real : TokenType::integer);
    token.integer = number.integer;
    token.real = number.real;
    advance(number.end);
  }

  void read_string(char quote) {
    std::size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) fail_at(line_, std::string("unexpected char '") + quote + "'");
    push(TokenType::string, unescape(source_.substr(at_ + 1, end - at_ - 1), line_));
    advance(end + 1);
  }

  std::string_view source_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_starting_ = true;
};

}  // namespace

void fail_at(int line, const std::string& what) {
  fail("The chat template does not parse: line " + std::to_string(line) + ": " + what + ".");
}

std::string normalise_newlines(std::string_view source) {
  std::string result;
  result.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      result.push_back('\n');
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      result.push_back(source[i]);
    }
  }
  if (!result.empty() && result.back() == '\n') result.pop_back();
  return result;
}

std::vector<Token> tokenize_template(std::string_view source) {
  if (source.size() > kMaxSourceBytes) fail("The chat template is too long.");
  return Lexer(source).run();
}

}  // namespace tg::jinja
