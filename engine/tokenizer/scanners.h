// The passes of the pre-tokenizers: one matcher per pattern. Internal to engine/tokenizer.
#pragma once
#include "engine/tokenizer/pre_tokenizer.h"

namespace tg::scan {

std::size_t gpt2_words(const Characters& t, std::size_t at, std::size_t end, const WordRules& rules);
std::size_t words(const Characters& t, std::size_t at, std::size_t end, const WordRules& rules);
std::size_t deepseek_v3_words(const Characters& t, std::size_t at, std::size_t end, const WordRules& rules);
std::size_t number_run(const Characters& t, std::size_t at, std::size_t end,
                       const WordRules& rules);  // up to max_digits
std::size_t three_ascii_digits(const Characters& t, std::size_t at, std::size_t end, const WordRules& rules);
std::size_t digits_before_word_end(const Characters& t, std::size_t at, std::size_t end, const WordRules& rules);
std::size_t digits_from_right(const Characters& t, std::size_t at, std::size_t end, const WordRules& rules);
std::size_t east_asian_scripts(const Characters& t, std::size_t at, std::size_t end, const WordRules& rules);
std::size_t falcon_punctuation(const Characters& t, std::size_t at, std::size_t end, const WordRules& rules);
std::size_t default_punctuation(const Characters& t, std::size_t at, std::size_t end, const WordRules& rules);
std::size_t one_newline(const Characters& t, std::size_t at, std::size_t end, const WordRules& rules);
std::size_t newlines_or_rest(const Characters& t, std::size_t at, std::size_t end, const WordRules& rules);
std::size_t letters_after_space(const Characters& t, std::size_t at, std::size_t end, const WordRules& rules);
std::size_t punctuation_after_space(const Characters& t, std::size_t at, std::size_t end, const WordRules& rules);
std::size_t cased_letters_after_space(const Characters& t, std::size_t at, std::size_t end, const WordRules& rules);
std::size_t wide_punctuation_after_space(const Characters& t, std::size_t at, std::size_t end, const WordRules& rules);
std::size_t final_space(const Characters& t, std::size_t at, std::size_t end, const WordRules& rules);
std::size_t cjk_run(const Characters& t, std::size_t at, std::size_t end, const WordRules& rules);
std::size_t cjk_kana_run(const Characters& t, std::size_t at, std::size_t end, const WordRules& rules);
std::size_t bloom_words(const Characters& t, std::size_t at, std::size_t end, const WordRules& rules);

}  // namespace tg::scan
