// Words, numbers, punctuation and white space: the scanners shared by most pre-tokenizers.
#include "engine/tokenizer/scanners.h"

namespace tg::scan {
namespace {

using std::size_t;

bool is_newline(std::uint32_t c) {
  return c == '\r' || c == '\n';
}

std::uint32_t ascii_lower(std::uint32_t c) {
  return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

// Length of 's 't 'm 'd 're 've 'll at AT; 0: none.
size_t contraction(const Characters& t, size_t at, size_t end, bool any_case) {
  if (at >= end || t.code_points[at] != '\'') return 0;
  const auto next = [&](size_t i) {
    if (at + i >= end) return std::uint32_t{0};
    return any_case ? ascii_lower(t.code_points[at + i]) : t.code_points[at + i];
  };
  const std::uint32_t first = next(1);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  const std::uint32_t second = next(2);
  if ((first == 'r' && second == 'e') || (first == 'v' && second == 'e') || (first == 'l' && second == 'l')) return 3;
  return 0;
}

size_t space_run(const Characters& t, size_t at, size_t end) {
  size_t n = 0;
  while (at + n < end && is_space(t.classes[at + n])) ++n;
  return n;
}

// White space without newlines: all of it at the end of the text, else all but the last, which goes to the next word.
size_t plain_space(size_t run, size_t at, size_t end) {
  return run > 1 && at + run < end ? run - 1 : run;
}

// White space up to its last newline, or as plain_space where it has none.
size_t space_or_newlines(const Characters& t, size_t at, size_t end) {
  const size_t run = space_run(t, at, end);
  for (size_t n = run; n > 0; --n) {
    if (is_newline(t.code_points[at + n - 1])) return n;
  }
  return plain_space(run, at, end);
}

template <class Predicate>
size_t run_while(const Characters& t, size_t at, size_t end, Predicate belongs) {
  size_t n = 0;
  while (at + n < end && belongs(t.classes[at + n], t.code_points[at + n])) ++n;
  return n;
}

bool is_word_class(CharClass c, const WordRules& rules) {
  if (c == CharClass::mark) return rules.marks_in_words;
  return is_letter(c) && !(c == CharClass::han && rules.han_apart);
}

// Classes of cased words: what may stand in the upper-case part and in the lower-case part. Marks and caseless letters
// are in both.
bool is_shared_case(CharClass c, const WordRules& rules) {
  return c == CharClass::letter || c == CharClass::mark || (c == CharClass::han && !rules.han_apart);
}
bool is_upper_part(CharClass c, const WordRules& rules) {
  return c == CharClass::upper || is_shared_case(c, rules);
}
bool is_lower_part(CharClass c, const WordRules& rules) {
  return c == CharClass::lower || is_shared_case(c, rules);
}

// Upper* Lower+, else Upper+ Lower*, with the longest upper-case part that lets it match.
size_t cased_word(const Characters& t, size_t at, size_t end, const WordRules& rules) {
  const size_t upper = run_while(t, at, end, [&](CharClass c, std::uint32_t) { return is_upper_part(c, rules); });
  const size_t lower =
      run_while(t, at + upper, end, [&](CharClass c, std::uint32_t) { return is_lower_part(c, rules); });
  if (lower > 0) return upper + lower;
  for (size_t n = upper; n > 0; --n) {  // the lower-case part may begin inside the upper-case one
    if (is_lower_part(t.classes[at + n - 1], rules)) return n;
  }
  return upper;
}

size_t plain_word(const Characters& t, size_t at, size_t end, const WordRules& rules) {
  return run_while(t, at, end, [&](CharClass c, std::uint32_t) { return is_word_class(c, rules); });
}

// A word with at most one character before it that is neither letter, number nor newline.
size_t word(const Characters& t, size_t at, size_t end, const WordRules& rules) {
  const auto match = rules.case_split ? cased_word : plain_word;
  const CharClass c = t.classes[at];
  size_t length = 0;
  if (!is_letter(c) && c != CharClass::number && !is_newline(t.code_points[at])) {
    length = match(t, at + 1, end, rules);
    length += length > 0;
  }
  if (length == 0) length = match(t, at, end, rules);
  if (length > 0 && rules.contractions == WordRules::Contractions::after_word) {
    length += contraction(t, at + length, end, true);
  }
  return length;
}

bool is_tail(std::uint32_t c, std::string_view tail) {
  return c < 0x80 && tail.find(static_cast<char>(c)) != tail.npos;
}

// An optional space and what is neither white space, letter nor number; then the characters of the tail.
size_t punctuation(const Characters& t, size_t at, size_t end, const WordRules& rules) {
  const size_t space = t.code_points[at] == ' ' ? 1 : 0;
  const size_t run = run_while(t, at + space, end, [&](CharClass c, std::uint32_t) {
    return !is_space(c) && !is_letter(c) && c != CharClass::number && !(c == CharClass::mark && rules.marks_in_words);
  });
  if (run == 0) return 0;
  return space + run +
         run_while(t, at + space + run, end, [&](CharClass, std::uint32_t c) { return is_tail(c, rules.tail); });
}

}  // namespace

size_t number_run(const Characters& t, size_t at, size_t end, const WordRules& rules) {
  const size_t limit = rules.max_digits > 0 ? static_cast<size_t>(rules.max_digits) : end - at;
  return run_while(t, at, at + std::min(limit, end - at),
                   [](CharClass c, std::uint32_t) { return c == CharClass::number; });
}

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
size_t gpt2_words(const Characters& t, size_t at, size_t end, const WordRules&) {
  if (const size_t n = contraction(t, at, end, false); n > 0) return n;
  const size_t space = t.code_points[at] == ' ' && at + 1 < end ? 1 : 0;
  const CharClass first = t.classes[at + space];
  if (!is_space(first)) {
    const auto kind = [](CharClass c) { return is_letter(c) ? 1 : c == CharClass::number ? 2 : is_space(c) ? 0 : 3; };
    const int wanted = kind(first);
    return space + run_while(t, at + space, end, [&](CharClass c, std::uint32_t) { return kind(c) == wanted; });
  }
  return plain_space(space_run(t, at, end), at, end);
}

// contraction|[^\r\n\p{L}\p{N}]?word|\p{N}{1,n}| ?[^\s\p{L}\p{N}]+tail*|\s*[\r\n]+|\s+(?!\S)|\s+
size_t words(const Characters& t, size_t at, size_t end, const WordRules& rules) {
  if (rules.contractions == WordRules::Contractions::own_word) {
    if (const size_t n = contraction(t, at, end, true); n > 0) return n;
  }
  if (rules.han_apart && t.classes[at] == CharClass::han) {
    return run_while(t, at, end, [](CharClass c, std::uint32_t) { return c == CharClass::han; });
  }
  if (const size_t n = word(t, at, end, rules); n > 0) return n;
  if (const size_t n = number_run(t, at, end, rules); n > 0) return n;
  if (const size_t n = punctuation(t, at, end, rules); n > 0) return n;
  return space_or_newlines(t, at, end);
}

// [!-/:-@[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
size_t deepseek_v3_words(const Characters& t, size_t at, size_t end, const WordRules&) {
  const auto is_sign = [](CharClass c) { return c == CharClass::punctuation || c == CharClass::symbol; };
  const auto signs = [&](CharClass c, std::uint32_t) { return is_sign(c); };
  const auto letters = [](CharClass c, std::uint32_t) { return is_letter(c) || c == CharClass::mark; };
  const auto latin = [](CharClass, std::uint32_t c) { return ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z'; };
  const CharClass first = t.classes[at];
  if (t.code_points[at] < 0x80 && is_sign(first)) {
    if (const size_t n = run_while(t, at + 1, end, latin); n > 0) return 1 + n;
  }
  if (!is_letter(first) && !is_sign(first) && !is_newline(t.code_points[at])) {
    if (const size_t n = run_while(t, at + 1, end, letters); n > 0) return 1 + n;
  }
  if (const size_t n = run_while(t, at, end, letters); n > 0) return n;
  const size_t space = t.code_points[at] == ' ' ? 1 : 0;
  if (const size_t n = run_while(t, at + space, end, signs); n > 0) {
    return space + n + run_while(t, at + space + n, end, [](CharClass, std::uint32_t c) { return is_newline(c); });
  }
  return space_or_newlines(t, at, end);
}

}  // namespace tg::scan
