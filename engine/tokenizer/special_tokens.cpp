#include "engine/tokenizer/special_tokens.h"

namespace tg {
namespace {

std::uint64_t edge(std::uint32_t node, char byte) {
  return (static_cast<std::uint64_t>(node) << 8 | static_cast<unsigned char>(byte)) + 1;  // keys are not zero
}

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// Phi-3's tokenizer strips white space after its added tokens, except after these.
bool keeps_space(std::string_view text) {
  return text == "<unk>" || text == "<s>" || text == "<|endoftext|>";
}

// Runs already taken by longer tokens. A shorter match overlaps one of them exactly where its first or last byte is
// taken.
class Taken {
 public:
  explicit Taken(std::size_t size) : id_(size, -1), taken_(size, false) {}
  bool free(std::size_t begin, std::size_t end) const { return !taken_[begin] && !taken_[end - 1]; }
  void take(std::size_t begin, std::size_t end, TokenId id) {
    for (std::size_t i = begin; i < end; ++i) taken_[i] = true;
    id_[begin] = id;
  }
  bool is_taken(std::size_t at) const { return taken_[at]; }
  TokenId id_at(std::size_t at) const { return id_[at]; }

 private:
  std::vector<TokenId> id_;  // of the token that begins here
  std::vector<bool> taken_;
};

std::vector<Fragment> fragments_of(std::string_view text, const Taken& taken) {
  std::vector<Fragment> out;
  for (std::size_t at = 0; at < text.size();) {
    if (taken.id_at(at) >= 0) out.push_back({{}, taken.id_at(at)});
    const bool plain = !taken.is_taken(at);
    std::size_t end = at + 1;
    while (end < text.size() && taken.is_taken(end) != plain && taken.id_at(end) < 0) ++end;
    if (plain) out.push_back({text.substr(at, end - at), -1});
    at = end;
  }
  return out;
}

}  // namespace

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary, bool strip_right) {
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    const TokenKind kind = vocabulary.kind(id);
    if (kind != TokenKind::control && kind != TokenKind::user_defined && kind != TokenKind::unknown) continue;
    const std::string_view text = vocabulary.text(id);
    insert(text, id);
    tokens_.insert(static_cast<std::uint64_t>(id) + 1,
                   {kind == TokenKind::user_defined, strip_right && !keeps_space(text)});
  }
}

void SpecialTokens::insert(std::string_view text, TokenId id) {
  std::uint32_t node = 0;
  for (const char c : text) {
    const auto fresh = static_cast<std::uint32_t>(token_of_node_.size());
    node = next_.insert(edge(node, c), fresh);
    if (node == fresh) token_of_node_.push_back(-1);
  }
  token_of_node_[node] = id;
  first_byte_[static_cast<unsigned char>(text[0])] = true;
  longest_ = std::max(longest_, text.size());
}

void SpecialTokens::find_at(std::string_view text, std::size_t begin, bool parse_special,
                            std::vector<std::vector<Match>>& by_length) const {
  std::uint32_t node = 0;
  for (std::size_t at = begin; at < text.size(); ++at) {
    const std::uint32_t* next = next_.find(edge(node, text[at]));
    if (next == nullptr) return;
    node = *next;
    const TokenId id = token_of_node_[node];
    if (id < 0) continue;
    if (parse_special || tokens_.find(static_cast<std::uint64_t>(id) + 1)->user_defined) {
      by_length[at - begin].push_back({begin, id});
    }
  }
}

std::vector<Fragment> SpecialTokens::split(std::string_view text, bool parse_special) const {
  if (text.empty()) return {};
  std::vector<std::vector<Match>> by_length(longest_);  // index: length - 1
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    if (first_byte_[static_cast<unsigned char>(text[begin])]) find_at(text, begin, parse_special, by_length);
  }
  Taken taken(text.size());
  for (std::size_t length = longest_; length > 0; --length) {
    for (const Match& match : by_length[length - 1]) {
      std::size_t end = match.begin + length;
      if (!taken.free(match.begin, end)) continue;
      if (tokens_.find(static_cast<std::uint64_t>(match.id) + 1)->strip_right) {
        while (end < text.size() && !taken.is_taken(end) && is_space(text[end])) ++end;
      }
      taken.take(match.begin, end, match.id);
    }
  }
  return fragments_of(text, taken);
}

}  // namespace tg
