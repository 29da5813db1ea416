#include "engine/tokenizer/pre_tokenizer.h"

#include "engine/tokenizer/scanners.h"

namespace tg {
namespace {

using Contractions = WordRules::Contractions;

constexpr WordRules kAnyDigits{.max_digits = 0};
constexpr WordRules kThreeDigits{};
constexpr WordRules kOneDigit{.max_digits = 1};
constexpr WordRules kQwen35{.marks_in_words = true, .max_digits = 1};
constexpr WordRules kSeedCoder{.max_digits = 1, .tail = ""};
constexpr WordRules kGpt4o{.contractions = Contractions::after_word, .case_split = true, .tail = "\r\n/"};
constexpr WordRules kYoutu{.contractions = Contractions::after_word, .case_split = true, .max_digits = 1, .tail = "\r\n/"};
constexpr WordRules kKimi{.contractions = Contractions::after_word, .case_split = true, .han_apart = true};
constexpr WordRules kTekken{.contractions = Contractions::none, .case_split = true, .max_digits = 1, .tail = "\r\n/"};

PreTokenizer words_of(const WordRules& rules) {
  return {{{scan::words, rules}}};
}
PreTokenizer llama3() {
  PreTokenizer pre = words_of(kThreeDigits);
  pre.ignore_merges = pre.add_bos = true;
  return pre;
}
PreTokenizer glm4() {
  PreTokenizer pre = words_of(kThreeDigits);
  pre.ignore_merges = true;
  return pre;
}
PreTokenizer tekken() {
  PreTokenizer pre = words_of(kTekken);
  pre.ignore_merges = pre.add_bos = true;
  return pre;
}
PreTokenizer minicpm5() {
  PreTokenizer pre{{{scan::number_run, kThreeDigits}, {scan::words, kAnyDigits}}};
  pre.ignore_merges = true;
  return pre;
}
PreTokenizer gpt2() {
  return {{{scan::gpt2_words, {}}}};
}
PreTokenizer single_digits() {
  return {{{scan::number_run, kOneDigit}, {scan::gpt2_words, {}}}};
}
PreTokenizer falcon() {
  return {{{scan::falcon_punctuation, {}}, {scan::gpt2_words, {}}, {scan::three_ascii_digits, {}}}};
}
PreTokenizer fallback() {  // named "default"
  return {{{scan::default_punctuation, {}},
           {scan::gpt2_words, {}},
           {scan::number_run, kAnyDigits},
           {scan::three_ascii_digits, {}}}};
}
PreTokenizer deepseek_llm() {
  return {{{scan::one_newline, {}},
           {scan::cased_letters_after_space, {}},
           {scan::wide_punctuation_after_space, {}},
           {scan::final_space, {}},
           {scan::cjk_run, {}},
           {scan::number_run, kAnyDigits}}};
}
PreTokenizer deepseek_coder() {
  return {{{scan::one_newline, {}},
           {scan::letters_after_space, {}},
           {scan::punctuation_after_space, {}},
           {scan::cjk_run, {}},
           {scan::number_run, kOneDigit}}};
}
PreTokenizer deepseek_v3() {
  return {{{scan::number_run, kThreeDigits}, {scan::cjk_kana_run, {}}, {scan::deepseek_v3_words, {}}}};
}
PreTokenizer bloom() {
  return {{{scan::bloom_words, {}}}};
}
PreTokenizer viking() {
  return {{{scan::bloom_words, {}}, {scan::number_run, kOneDigit}}};
}
PreTokenizer tiny_aya() {
  return {{{scan::digits_before_word_end, {}}, {scan::digits_from_right, {}}, {scan::words, kGpt4o}}};
}
PreTokenizer superbpe() {  // words reach over spaces: only numbers are cut
  return {{{scan::number_run, kAnyDigits}, {scan::digits_from_right, {}}}};
}
PreTokenizer youtu() {
  PreTokenizer pre{{{scan::east_asian_scripts, {}}, {scan::words, kYoutu}}};
  pre.ignore_merges = true;
  return pre;
}
PreTokenizer laguna() {
  return {{{scan::newlines_or_rest, {}}, {scan::words, kOneDigit}}};
}
PreTokenizer gemma4() {
  PreTokenizer pre{{{scan::newlines_or_rest, {}}}};
  pre.byte_alphabet = false;
  pre.add_bos = true;
  return pre;
}

struct Family {
  PreTokenizer pre;
  std::vector<std::string_view> names;
};

const std::vector<Family>& all_families() {
  static const std::vector<Family> list{
      {llama3(), {"llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"}},
      {words_of(kThreeDigits), {"dbrx", "smaug-bpe", "chatglm-bpe"}},
      {glm4(), {"glm4", "glm5"}},
      {words_of(kOneDigit),
       {"qwen2", "deepseek-r1-qwen", "kormo", "f2llmv2", "megrez", "stablelm2", "hunyuan", "solar-open", "grok-2",
        "bailingmoe", "bailingmoe2", "llada-moe"}},
      {words_of(kQwen35), {"qwen35"}},
      {words_of(kSeedCoder), {"seed-coder"}},
      {words_of(kGpt4o), {"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"}},
      {words_of(kKimi), {"kimi-k2"}},
      {tekken(), {"tekken"}},
      {minicpm5(), {"minicpm5"}},
      {gpt2(),
       {"gpt-2", "phi-2", "mpt", "olmo", "jais", "trillion", "granite-docling", "gigachat", "a.x-4.0", "mellum",
        "exaone4"}},
      {single_digits(), {"starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b", "mellum2"}},
      {falcon(), {"falcon"}},
      {fallback(), {"default"}},
      {deepseek_llm(), {"deepseek-llm"}},
      {deepseek_coder(), {"deepseek-coder"}},
      {deepseek_v3(), {"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"}},
      {bloom(), {"bloom", "poro-chat", "gpt3-finnish"}},
      {viking(), {"viking"}},
      {gemma4(), {"gemma4"}},
      {tiny_aya(), {"tiny_aya", "cohere2moe"}},
      {superbpe(), {"superbpe"}},
      {youtu(), {"youtu"}},
      {laguna(), {"laguna"}},
  };
  return list;
}

// Cuts each word (given by its end) where the pass matches; what lies between matches stays a word.
std::vector<std::size_t> apply(const Pass& pass, const Characters& text, const std::vector<std::size_t>& ends) {
  std::vector<std::size_t> out;
  out.reserve(ends.size());
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    std::size_t gap = begin;
    for (std::size_t at = begin; at < end;) {
      const std::size_t n = pass.match(text, at, end, pass.rules);
      if (n == 0) {
        ++at;
        continue;
      }
      if (at > gap) out.push_back(at);
      at += n;
      out.push_back(at);
      gap = at;
    }
    if (gap < end) out.push_back(end);
    begin = end;
  }
  return out;
}

}  // namespace

const PreTokenizer* pre_tokenizer(std::string_view name) {
  for (const Family& family : all_families()) {
    for (const std::string_view known : family.names) {
      if (known == name) return &family.pre;
    }
  }
  return nullptr;
}

std::vector<std::string_view> split_words(const PreTokenizer& pre, std::string_view text) {
  const Characters characters = characters_of(text);
  std::vector<std::size_t> ends{characters.size()};
  for (const Pass& pass : pre.passes) ends = apply(pass, characters, ends);
  std::vector<std::string_view> words;
  words.reserve(ends.size());
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    const std::size_t first = characters.offsets[begin];
    if (end > begin) words.push_back(text.substr(first, characters.offsets[end] - first));
    begin = end;
  }
  return words;
}

}  // namespace tg
