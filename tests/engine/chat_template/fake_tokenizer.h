// A small vocabulary for tests: bytes, some longer pieces (longest first), control tokens. It needs no file.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "engine/tokenizer/tokenizer.h"

namespace tg::test {

class FakeTokenizer final : public Tokenizer {
 public:
  // Control tokens get the ids from 1000 on. The one called BOS is put in front where add_special asks for it.
  FakeTokenizer(std::vector<std::string> control, std::vector<std::string> end_of_generation, std::string bos = {})
      : control_(std::move(control)), eog_(std::move(end_of_generation)), bos_(std::move(bos)) {}

  std::vector<TokenId> encode(std::string_view text, const TokenizeOptions& options) const override {
    std::vector<TokenId> ids;
    if (options.add_special && bos() >= 0) ids.push_back(bos());
    for (std::size_t at = 0; at < text.size();) {
      TokenId id = options.parse_special ? control_at(text.substr(at)) : -1;
      if (id < 0) id = piece_at(text.substr(at));
      ids.push_back(id);
      at += piece(id, true).size();
    }
    return ids;
  }

  std::string piece(TokenId id, bool special) const override {
    if (id < 256) return std::string(1, static_cast<char>(id));
    if (id < 1000) return is_piece(id) ? pieces()[static_cast<std::size_t>(id - 256)] : std::string();
    return special ? control_[static_cast<std::size_t>(id - 1000)] : std::string();
  }

  std::string decode(std::span<const TokenId> ids, bool special) const override {
    std::string text;
    for (const TokenId id : ids) text += piece(id, special);
    return text;
  }

  int vocab_size() const override { return 1000 + static_cast<int>(control_.size()); }
  TokenKind kind(TokenId id) const override {
    if (id >= 256 && id < 1000) return is_piece(id) ? TokenKind::normal : TokenKind::unused;
    return id < 256 ? TokenKind::byte : TokenKind::control;
  }
  TokenId bos() const override { return bos_.empty() ? -1 : find(bos_); }
  TokenId eos() const override { return eog_.empty() ? -1 : find(eog_.front()); }
  bool is_eog(TokenId id) const override { return std::ranges::any_of(eog_, [&](const auto& t) { return find(t) == id; }); }
  std::vector<TokenId> eog() const override {
    std::vector<TokenId> ids;
    for (const std::string& text : eog_) ids.push_back(find(text));
    return ids;
  }
  TokenId find(std::string_view text) const override {
    const auto hit = std::ranges::find(control_, text);
    return hit == control_.end() ? -1 : 1000 + static_cast<TokenId>(hit - control_.begin());
  }
  std::string_view model_name() const override { return "fake"; }
  std::string_view pre_name() const override { return "fake"; }

 private:
  // Pieces that span what a template and a message bring show whether the two are encoded together.
  static const std::vector<std::string>& pieces() {
    static const std::vector<std::string> all{"user\nh", "assistant\n", "hello", " world", "\n\n", "ab", "bc", "<|", "|>"};
    return all;
  }
  static bool is_piece(TokenId id) { return id >= 256 && static_cast<std::size_t>(id - 256) < pieces().size(); }
  TokenId control_at(std::string_view text) const {
    TokenId best = -1;
    for (std::size_t i = 0; i < control_.size(); ++i) {
      const bool longer = best < 0 || control_[i].size() > control_[static_cast<std::size_t>(best - 1000)].size();
      if (text.starts_with(control_[i]) && longer) best = 1000 + static_cast<TokenId>(i);
    }
    return best;
  }
  static TokenId piece_at(std::string_view text) {
    TokenId best = static_cast<unsigned char>(text[0]);
    std::size_t length = 1;
    for (std::size_t i = 0; i < pieces().size(); ++i) {
      if (!text.starts_with(pieces()[i]) || pieces()[i].size() <= length) continue;
      best = 256 + static_cast<TokenId>(i);
      length = pieces()[i].size();
    }
    return best;
  }

  std::vector<std::string> control_, eog_;
  std::string bos_;
};

}  // namespace tg::test
