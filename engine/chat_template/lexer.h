// Source of a template to tokens, with Jinja's white-space rules for trim_blocks and lstrip_blocks.
// Thread: pure. Throws Failure with the line.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "engine/chat_template/value.h"

namespace tg::jinja {

enum class TokenType : std::uint8_t { data, variable_begin, variable_end, block_begin, block_end, name, string, integer, real, op, end };

struct Token {
  TokenType type = TokenType::end;
  int line = 1;
  std::string text;  // data, name, operator; the value of a string
  std::int64_t integer = 0;
  double real = 0;
};

inline constexpr std::size_t kMaxSourceBytes = std::size_t{4} << 20;

std::vector<Token> tokenize_template(std::string_view source);
// Newlines of all systems become \n and one at the end goes, as Jinja does.
std::string normalise_newlines(std::string_view source);
[[noreturn]] void fail_at(int line, const std::string& what);

}  // namespace tg::jinja
