// Byte-pair encoding of one word by the merge list of the file (tokenizer.ggml.merges).
// Thread: immutable after load(); scratch belongs to the caller.
#pragma once
#include <string>
#include <unordered_map>

#include "engine/tokenizer/flat_map.h"
#include "engine/tokenizer/merge_list.h"
#include "engine/tokenizer/vocabulary.h"

namespace tg {

class Bpe {
 public:
  using Scratch = MergeList<std::int32_t>;
  // IGNORE_MERGES: a word that is in the vocabulary is taken whole. BYTE_TOKENS: what is not in the vocabulary becomes
  // <0xXX> tokens.
  static Result<Bpe> load(const Vocabulary& vocabulary, bool ignore_merges, bool byte_tokens);
  // WORD in the vocabulary's spelling.
  void encode_word(const Vocabulary& vocabulary, std::string_view word, Scratch& scratch,
                   std::vector<TokenId>& out) const;

 private:
  struct Merge {
    std::int32_t rank = 0, symbol = -1;
  };
  void add_merge(const Vocabulary& vocabulary, std::string_view left, std::string_view right, std::int32_t rank);
  std::int32_t intern(const Vocabulary& vocabulary, std::string_view text);
  std::int32_t symbol_of(const Vocabulary& vocabulary, std::string_view text) const;
  void append_unknown(const Vocabulary& vocabulary, std::string_view text, std::vector<TokenId>& out) const;

  bool ignore_merges_ = false, byte_tokens_ = false;
  // A symbol that is a token has the token's id; texts that only merges mention are numbered after the vocabulary.
  std::unordered_map<std::string, std::int32_t> extra_symbols_;
  FlatMap<Merge> merges_;  // (left symbol, right symbol)
};

}  // namespace tg
