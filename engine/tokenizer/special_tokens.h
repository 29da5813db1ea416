// Finds the texts of added tokens in a text before anything else is tokenised. The longest token wins wherever it
// stands, then the leftmost. Control and unknown tokens count only where the caller parses special tokens; user-defined
// tokens always do. Thread: immutable after construction.
#pragma once
#include <string_view>
#include <vector>

#include "engine/tokenizer/flat_map.h"
#include "engine/tokenizer/vocabulary.h"

namespace tg {

// A run of the text that is either one token or plain text (id -1).
struct Fragment {
  std::string_view text;
  TokenId id = -1;
};

class SpecialTokens {
 public:
  // STRIP_RIGHT: white space after a special token belongs to it (Phi-3).
  SpecialTokens(const Vocabulary& vocabulary, bool strip_right);
  std::vector<Fragment> split(std::string_view text, bool parse_special) const;

 private:
  struct Match {
    std::size_t begin;
    TokenId id;
  };
  void insert(std::string_view text, TokenId id);
  void find_at(std::string_view text, std::size_t begin, bool parse_special,
               std::vector<std::vector<Match>>& by_length) const;

  struct Token {
    bool user_defined = false, strip_right = false;
  };
  FlatMap<std::uint32_t> next_;  // (node, byte) -> node
  std::vector<TokenId> token_of_node_{-1};
  FlatMap<Token> tokens_;  // id + 1 -> what to do with it
  bool first_byte_[256] = {};
  std::size_t longest_ = 0;
};

}  // namespace tg
