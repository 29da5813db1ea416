// Splitting, padding and numbers of text, shared by filters and methods.
#pragma once
#include <optional>
#include <vector>

#include "engine/chat_template/runtime.h"

namespace tg::jinja {

std::vector<Text> split_lines(const Text& text, bool keep_ends);  // at every line break Python knows
std::vector<Text> split_at(const Text& text, std::string_view separator, std::int64_t limit);        // limit < 0: none
std::vector<Text> split_at_right(const Text& text, std::string_view separator, std::int64_t limit);
std::vector<Text> split_words(const Text& text, std::int64_t limit);
std::vector<Text> split_words_right(const Text& text, std::int64_t limit);
Value list_of_texts(Runtime& runtime, std::vector<Text> parts, ListKind kind = ListKind::list);
Text spaces(Runtime& runtime, std::int64_t count, std::string_view fill = " ");
// str.strip() with the characters of CHARS, white space where null.
Text stripped(const Text& text, const Value* chars, bool left, bool right);
Text centred(Runtime& runtime, const Text& text, std::int64_t width, std::string_view fill);
std::optional<std::int64_t> parse_integer(std::string_view text, int base);
std::optional<double> parse_real(std::string_view text);

}  // namespace tg::jinja
