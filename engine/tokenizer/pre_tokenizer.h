// Pre-tokenizers of byte-level BPE: cut a text into words, within which merges happen. A GGUF file names its one in
// tokenizer.ggml.pre; the patterns behind the names are facts of the tokenizers' own tokenizer.json files, written here
// as scanners. Thread: immutable.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/tokenizer/characters.h"

namespace tg {

// How the scanner for words, numbers, punctuation and white space behaves (the pattern shared by Llama 3, Qwen, GPT-4o
// and others).
struct WordRules {
  enum class Contractions : std::uint8_t { none, own_word, after_word };
  Contractions contractions = Contractions::own_word;
  bool case_split = false;         // "fooBar" is two words
  bool marks_in_words = false;     // combining marks count as letters
  bool han_apart = false;          // a run of Han characters is a word of its own
  int max_digits = 3;              // digits per number; 0: no limit
  std::string_view tail = "\r\n";  // characters that punctuation takes along
};

// One pass over the words so far. Length of the match that starts at AT, within [AT, END); 0: none.
using Matcher = std::size_t (*)(const Characters& text, std::size_t at, std::size_t end, const WordRules& rules);
struct Pass {
  Matcher match;
  WordRules rules;
};

struct PreTokenizer {
  std::vector<Pass> passes;    // each cuts the words of the one before
  bool ignore_merges = false;  // a word that is in the vocabulary is taken whole
  bool add_bos = false;        // where the file does not say
  bool byte_alphabet = true;   // false: merges run on raw UTF-8, with space written as U+2581 (Gemma 4)
};

// Null for a name we do not know: the caller refuses it, a guess would silently cost quality.
const PreTokenizer* pre_tokenizer(std::string_view name);

// Words of TEXT, in order and without gaps.
std::vector<std::string_view> split_words(const PreTokenizer& pre, std::string_view text);

}  // namespace tg
