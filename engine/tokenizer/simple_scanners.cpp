// Passes that match one kind of run: used by the pre-tokenizers that cut in several steps.
#include "engine/tokenizer/scanner_ranges_tables.h"
#include "engine/tokenizer/scanners.h"

namespace tg::scan {
namespace {

using std::size_t;

template <class Predicate>
size_t run_while(const Characters& t, size_t at, size_t end, Predicate belongs) {
  size_t n = 0;
  while (at + n < end && belongs(t.classes[at + n], t.code_points[at + n])) ++n;
  return n;
}

// An optional white space, then a run.
template <class Predicate>
size_t run_after_space(const Characters& t, size_t at, size_t end, Predicate belongs) {
  if (is_space(t.classes[at])) {
    const size_t n = run_while(t, at + 1, end, belongs);
    return n > 0 ? n + 1 : 0;
  }
  return run_while(t, at, end, belongs);
}

bool is_ascii_digit(std::uint32_t c) {
  return c >= '0' && c <= '9';
}

bool one_of(std::uint32_t c, std::u32string_view set) {
  return set.find(static_cast<char32_t>(c)) != set.npos;
}

}  // namespace

size_t three_ascii_digits(const Characters& t, size_t at, size_t end, const WordRules&) {
  const auto digit = [](CharClass, std::uint32_t c) { return c >= '0' && c <= '9'; };
  return end - at >= 3 && run_while(t, at, at + 3, digit) == 3 ? 3 : 0;
}

// [0-9]+(?=\b), as a whole; digits that a letter follows are left to the next pass.
size_t digits_before_word_end(const Characters& t, size_t at, size_t end, const WordRules&) {
  if (!is_ascii_digit(t.code_points[at]) || (at > 0 && is_ascii_digit(t.code_points[at - 1]))) return 0;
  const size_t n = run_while(t, at, end, [](CharClass, std::uint32_t c) { return is_ascii_digit(c); });
  if (at + n == end) return n;
  const CharClass next = t.classes[at + n];
  const bool goes_on = is_letter(next) || next == CharClass::mark || next == CharClass::number || t.code_points[at + n] == '_';
  return goes_on ? 0 : n;
}

// Groups of three, counted from the right, of a number that is a word by itself: the first one may be shorter.
size_t digits_from_right(const Characters& t, size_t at, size_t end, const WordRules&) {
  if (!is_ascii_digit(t.code_points[at]) || !is_ascii_digit(t.code_points[end - 1])) return 0;
  return (end - at - 1) % 3 + 1;
}

// [가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+
size_t east_asian_scripts(const Characters& t, size_t at, size_t end, const WordRules&) {
  const auto script = [](std::uint32_t c) {
    if ((c >= 0xAC00 && c <= 0xD7A3) || (c >= 0x3131 && c <= 0x318E)) return 1;
    if (one_of(c, U"！…“”‘’—：；，") || (c >= 0x3001 && c <= 0x303F) || (c >= 0xFE30 && c <= 0xFE4F)) return 2;
    if (c >= 0x3105 && c <= 0x312F) return 3;
    return (c >= 0x4E00 && c <= 0x9FA5) || (c >= 0x3040 && c <= 0x30FF) ? 4 : 0;
  };
  const int first = script(t.code_points[at]);
  return first == 0 ? 0 : run_while(t, at, end, [&](CharClass, std::uint32_t c) { return script(c) == first; });
}

// [\p{P}$+<=>^~|`]+
size_t falcon_punctuation(const Characters& t, size_t at, size_t end, const WordRules&) {
  return run_while(t, at, end,
                   [](CharClass c, std::uint32_t v) { return c == CharClass::punctuation || one_of(v, U"$+<=>^~|`"); });
}

// [\p{P}$+<=>^~|]+
size_t default_punctuation(const Characters& t, size_t at, size_t end, const WordRules&) {
  return run_while(t, at, end,
                   [](CharClass c, std::uint32_t v) { return c == CharClass::punctuation || one_of(v, U"$+<=>^~|"); });
}

size_t one_newline(const Characters& t, size_t at, size_t, const WordRules&) {
  return t.code_points[at] == '\r' || t.code_points[at] == '\n' ? 1 : 0;
}

// [^\n]+|\n+
size_t newlines_or_rest(const Characters& t, size_t at, size_t end, const WordRules&) {
  const bool newline = t.code_points[at] == '\n';
  return run_while(t, at, end, [&](CharClass, std::uint32_t c) { return (c == '\n') == newline; });
}

// \s?\p{L}+
size_t letters_after_space(const Characters& t, size_t at, size_t end, const WordRules&) {
  return run_after_space(t, at, end, [](CharClass c, std::uint32_t) { return is_letter(c); });
}

// \s?\p{P}+
size_t punctuation_after_space(const Characters& t, size_t at, size_t end, const WordRules&) {
  return run_after_space(t, at, end, [](CharClass c, std::uint32_t) { return c == CharClass::punctuation; });
}

// \s? and letters of scripts with case, as DeepSeek LLM lists them
size_t cased_letters_after_space(const Characters& t, size_t at, size_t end, const WordRules&) {
  return run_after_space(t, at, end, [](CharClass, std::uint32_t c) { return in_ranges(c, kCasedLetters); });
}

// \s?[!-/:-~！-／：-～‘-‟　-。]+ ; ':' to '~' takes in the Latin letters
size_t wide_punctuation_after_space(const Characters& t, size_t at, size_t end, const WordRules&) {
  return run_after_space(t, at, end, [](CharClass k, std::uint32_t c) {
    return !is_space(k) &&
           ((c >= '!' && c <= '/') || (c >= ':' && c <= '~') || (c >= 0xFF01 && c <= 0xFF0F) ||
            (c >= 0xFF1A && c <= 0xFF5E) || (c >= 0x2018 && c <= 0x201F) || (c >= 0x3000 && c <= 0x3002));
  });
}

// \s+$
size_t final_space(const Characters& t, size_t at, size_t end, const WordRules& rules) {
  if (!is_space(t.classes[at]) || !is_space(t.classes[end - 1])) return 0;
  // A run was tried as a whole at its first character; only after a newline, a word by itself here, a new one begins.
  if (at > 0 && is_space(t.classes[at - 1]) && one_newline(t, at - 1, at, rules) == 0) return 0;
  const size_t n = run_while(t, at, end, [](CharClass c, std::uint32_t) { return is_space(c); });
  return at + n == end ? n : 0;
}

// [一-龥ࠀ-一가-퟿]+
size_t cjk_run(const Characters& t, size_t at, size_t end, const WordRules&) {
  return run_while(t, at, end, [](CharClass k, std::uint32_t c) {
    return !is_space(k) && ((c >= 0x0800 && c <= 0x9FA5) || (c >= 0xAC00 && c <= 0xD7FF));
  });
}

// [一-龥぀-ゟ゠-ヿ]+
size_t cjk_kana_run(const Characters& t, size_t at, size_t end, const WordRules&) {
  return run_while(t, at, end, [](CharClass, std::uint32_t c) {
    return (c >= 0x4E00 && c <= 0x9FA5) || (c >= 0x3040 && c <= 0x30FF);
  });
}

//  ?[^(\s|.,!?…。，、।۔،)]+
size_t bloom_words(const Characters& t, size_t at, size_t end, const WordRules&) {
  const auto belongs = [](CharClass k, std::uint32_t c) { return !is_space(k) && !one_of(c, U"(|.,!?…。，、।۔،)"); };
  if (t.code_points[at] != ' ') return run_while(t, at, end, belongs);
  const size_t n = run_while(t, at + 1, end, belongs);
  return n > 0 ? n + 1 : 0;
}

}  // namespace tg::scan
