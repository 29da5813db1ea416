// The token list of a GGUF file (tokenizer.ggml.tokens and its companions), checked, with special ids and the
// end-of-generation set. Thread: immutable after load(). Ownership: shares the file, texts are views into it.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/types.h"
#include "engine/gguf/reader.h"
#include "engine/tokenizer/token_index.h"
#include "engine/tokenizer/tokenizer.h"

namespace tg {

class Vocabulary {
 public:
  static Result<Vocabulary> load(std::shared_ptr<const GgufFile> file);

  int size() const { return static_cast<int>(texts_->size()); }
  bool has(TokenId id) const { return id >= 0 && id < size(); }
  std::string_view text(TokenId id) const {
    const std::string_view said = (*texts_)[static_cast<std::size_t>(id)];
    return said.empty() ? std::string_view(named_.at(id)) : said;
  }
  TokenKind kind(TokenId id) const { return kinds_[static_cast<std::size_t>(id)]; }
  float score(TokenId id) const { return scores_.empty() ? 0.0F : scores_[static_cast<std::size_t>(id)]; }
  TokenId find(std::string_view text) const { return ids_.find(text, *this); }  // -1: none
  TokenId byte_token(unsigned char byte) const;                                  // <0xXX>, -1: none
  std::size_t longest() const { return longest_; }                               // bytes of the longest token
  bool is_eog(TokenId id) const { return has(id) && eog_[static_cast<std::size_t>(id)]; }
  std::vector<TokenId> eog() const;

  TokenId bos = -1, eos = -1, unknown = -1;
  const GgufFile& file() const { return *file_; }

 private:
  Status load_texts(const GgufArray& tokens);
  Status load_scores();
  Status load_kinds();
  Status load_special_ids();
  void correct_kinds();
  void collect_eog();
  Result<TokenId> special_id(std::string_view name) const;

  std::shared_ptr<const GgufFile> file_;
  const GgufStrings* texts_ = nullptr;    // the file's own list
  std::map<TokenId, std::string> named_;  // stand-ins for tokens without a text
  std::vector<TokenKind> kinds_;
  std::vector<float> scores_;
  std::vector<bool> eog_;
  TokenId eot_ = -1, eom_ = -1;
  TokenIndex ids_;
  std::size_t longest_ = 0;
};

}  // namespace tg
