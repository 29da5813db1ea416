#include "engine/chat_template/prompt_tokens.h"

#include <algorithm>
#include <optional>

namespace tg {
namespace {

constexpr std::size_t kResync = 16;  // bytes a token may be off (a space a vocabulary adds or drops)

// Bytes that are message content, as sorted ranges.
class ContentRanges {
 public:
  explicit ContentRanges(const RenderedText& rendered) {
    for (const TextSegment& s : rendered.segments) {
      if (!s.user_content || s.begin == s.end) continue;
      if (!ranges_.empty() && ranges_.back().second == s.begin) {
        ranges_.back().second = s.end;
      } else {
        ranges_.emplace_back(s.begin, s.end);
      }
    }
  }
  bool touches(std::size_t begin, std::size_t end) const {
    const auto range = std::upper_bound(ranges_.begin(), ranges_.end(), begin,
                                        [](std::size_t at, const auto& r) { return at < r.second; });
    return range != ranges_.end() && range->first < end;
  }

 private:
  std::vector<std::pair<std::size_t, std::size_t>> ranges_;
};

// A token made of its own text in REST, which only parsing special tokens does. (Unknown characters give the unknown token, too.)
bool parsed_special(const Tokenizer& tokenizer, TokenId id, std::string_view rest) {
  const TokenKind kind = tokenizer.kind(id);
  return kind == TokenKind::control || (kind == TokenKind::unknown && rest.starts_with(tokenizer.piece(id, true)));
}

class RenderedTokenizer {
 public:
  RenderedTokenizer(const RenderedText& rendered, const Tokenizer& tokenizer)
      : text_(rendered.text), tokenizer_(tokenizer), content_(rendered) {}

  // Text behind kept ids. What follows a special token may depend on it (a space added or dropped), so it is encoded with it.
  void encode_behind(TokenId before, std::size_t begin, std::size_t end, std::vector<PromptToken>& out) const {
    const std::size_t length = tokenizer_.kind(before) == TokenKind::control ? tokenizer_.piece(before, true).size() : 0;
    if (length == 0 || begin >= end) return encode(begin, end, out);
    std::vector<PromptToken> with;
    encode(begin - length, end, with);
    if (with.empty() || with.front().id != before) return encode(begin, end, out);
    out.insert(out.end(), with.begin() + 1, with.end());
  }

  // Usually one call of the tokenizer; only text that imitates special tokens inside a message needs the cutting.
  void encode(std::size_t begin, std::size_t end, std::vector<PromptToken>& out) const {
    if (begin >= end) return;
    const std::string_view part = text_.substr(begin, end - begin);
    const std::vector<TokenId> ids = tokenizer_.encode(part, {.parse_special = true, .add_special = false});
    const std::vector<std::size_t> offsets = token_offsets(tokenizer_, ids, part);
    std::vector<PromptToken> special;  // of the template
    bool imitated = false;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (!parsed_special(tokenizer_, ids[i], part.substr(offsets[i]))) continue;
      const std::size_t at = begin + offsets[i];
      if (content_.touches(at, at + tokenizer_.piece(ids[i], true).size())) {
        imitated = true;
      } else {
        special.push_back({ids[i], at});
      }
    }
    if (imitated) return encode_cut(begin, end, special, out);
    for (std::size_t i = 0; i < ids.size(); ++i) out.push_back({ids[i], begin + offsets[i]});
  }

 private:
  void encode_cut(std::size_t begin, std::size_t end, const std::vector<PromptToken>& special, std::vector<PromptToken>& out) const {
    for (const PromptToken& token : special) {
      encode_plain(begin, token.begin, out);
      out.push_back(token);
      begin = token.begin + tokenizer_.piece(token.id, true).size();
    }
    encode_plain(begin, end, out);
  }

  void encode_plain(std::size_t begin, std::size_t end, std::vector<PromptToken>& out) const {
    if (begin >= end) return;
    const std::string_view part = text_.substr(begin, end - begin);
    const std::vector<TokenId> ids = tokenizer_.encode(part, {.parse_special = false, .add_special = false});
    const std::vector<std::size_t> offsets = token_offsets(tokenizer_, ids, part);
    for (std::size_t i = 0; i < ids.size(); ++i) out.push_back({ids[i], begin + offsets[i]});
  }

  std::string_view text_;
  const Tokenizer& tokenizer_;
  ContentRanges content_;
};

struct Region {
  std::size_t begin = 0, end = 0;
};

// Where the content of message INDEX stands, and how far the text around it reaches before content of its neighbours.
struct Place {
  std::optional<Region> content;
  std::size_t low = 0, high = 0;
};

Place place_of(const RenderedText& rendered, int index) {
  Place place{std::nullopt, 0, rendered.text.size()};
  for (const TextSegment& s : rendered.segments) {
    if (!s.user_content || s.message < 0) continue;
    if (s.message == index) {
      if (!place.content) place.content = Region{s.begin, s.end};
      place.content->end = s.end;
    } else if (s.message < index) {
      place.low = std::max(place.low, s.end);
    } else {
      place.high = std::min(place.high, s.begin);
    }
  }
  return place;
}

// The place at which SPELLED stands for the whole content of the message.
std::optional<Region> find_spelled(const RenderedText& rendered, int index, const std::string& spelled, std::size_t from) {
  const Place place = place_of(rendered, index);
  std::size_t at = std::max(place.low, from);
  for (at = rendered.text.find(spelled, at); at != std::string::npos; at = rendered.text.find(spelled, at + 1)) {
    const std::size_t end = at + spelled.size();
    if (end > place.high) break;
    if (!place.content || (at <= place.content->begin && end >= place.content->end)) return Region{at, end};
  }
  return std::nullopt;
}

std::string spell(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  std::string text;
  for (const TokenId id : ids) text += tokenizer.piece(id, true);
  return text;
}

void reuse(const Tokenizer& tokenizer, const std::vector<TokenId>& ids, std::size_t begin, std::vector<PromptToken>& out) {
  for (const TokenId id : ids) {
    out.push_back({id, begin});
    begin += tokenizer.piece(id, true).size();
  }
}

}  // namespace

std::vector<std::size_t> token_offsets(const Tokenizer& tokenizer, const std::vector<TokenId>& ids, std::string_view text) {
  std::vector<std::size_t> offsets;
  offsets.reserve(ids.size());
  std::size_t at = 0;
  for (const TokenId id : ids) {
    const std::string piece = tokenizer.piece(id, true);
    std::size_t hit = at;
    std::size_t length = piece.size();
    if (!text.substr(at).starts_with(piece)) {
      const bool control = tokenizer.kind(id) == TokenKind::control;
      const std::string_view window = control ? text : text.substr(0, std::min(text.size(), at + kResync + length));
      hit = window.find(piece, at);
      if (hit == std::string_view::npos) {  // a space put before the text, or an unknown character
        hit = at;
        length = piece.starts_with(' ') && text.substr(at).starts_with(std::string_view(piece).substr(1)) ? length - 1 : 0;
      }
    }
    offsets.push_back(hit);
    at = hit + length;
  }
  return offsets;
}

std::vector<PromptToken> tokenize_rendered(const RenderedText& rendered, const Tokenizer& tokenizer,
                                           const std::vector<ChatMessage>& messages) {
  std::vector<PromptToken> out;
  const RenderedTokenizer encoder(rendered, tokenizer);
  std::size_t done = 0;
  const auto encode_up_to = [&](std::size_t end) {
    if (out.empty()) {
      encoder.encode(done, end, out);
    } else {
      encoder.encode_behind(out.back().id, done, end, out);
    }
  };
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].generated_ids.empty()) continue;
    const std::string spelled = spell(tokenizer, messages[i].generated_ids);
    if (spelled.empty()) continue;
    const auto region = find_spelled(rendered, static_cast<int>(i), spelled, done);
    if (!region) continue;
    encode_up_to(region->begin);
    reuse(tokenizer, messages[i].generated_ids, region->begin, out);
    done = region->end;
  }
  encode_up_to(rendered.text.size());
  return out;
}

}  // namespace tg
