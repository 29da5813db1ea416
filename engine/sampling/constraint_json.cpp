#include "engine/sampling/constraint_json.h"

#include <algorithm>
#include <limits>

#include "engine/base/text.h"
#include "engine/sampling/json_automaton.h"

namespace tg {
namespace {

// Tokens as a tree over their bytes, children of a node beside each other.
class TokenTree {
 public:
  // TOKENS: bytes and id, sorted by bytes.
  explicit TokenTree(std::vector<std::pair<std::string, TokenId>> tokens) : tokens_(std::move(tokens)) {
    std::sort(tokens_.begin(), tokens_.end());
  }

  template <class OnToken>
  void walk(const JsonAutomaton& automaton, const JsonAutomaton::State& state, const OnToken& allow) const {
    walk(automaton, state, 0, tokens_.size(), 0, allow);
  }

 private:
  // Tokens [begin, end) share their first DEPTH bytes, which led to STATE.
  template <class OnToken>
  void walk(const JsonAutomaton& automaton, const JsonAutomaton::State& state, std::size_t begin, std::size_t end,
            std::size_t depth, const OnToken& allow) const {
    while (begin < end && tokens_[begin].first.size() == depth) allow(tokens_[begin++].second);
    while (begin < end) {
      const char byte = tokens_[begin].first[depth];
      const auto next = std::partition_point(
          tokens_.begin() + static_cast<std::ptrdiff_t>(begin), tokens_.begin() + static_cast<std::ptrdiff_t>(end), [&](const auto& token) {
            return static_cast<unsigned char>(token.first[depth]) <= static_cast<unsigned char>(byte);
          });
      const auto stop = static_cast<std::size_t>(next - tokens_.begin());
      const JsonAutomaton::State following = automaton.step(state, static_cast<unsigned char>(byte));
      if (!following.empty()) walk(automaton, following, begin, stop, depth + 1, allow);
      begin = stop;
    }
  }

  std::vector<std::pair<std::string, TokenId>> tokens_;
};

constexpr std::size_t kMaxPiece = 256;  // bytes; bounds the walk's depth, longer pieces are never needed

// Whole characters without quotes, backslashes and controls: what may stand anywhere inside a string.
bool is_plain(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint c = decode_utf8(bytes, at);
    if (!c.valid || c.value < 0x20 || c.value == '"' || c.value == '\\') return false;
    at += c.length;
  }
  return true;
}

}  // namespace

class ConstraintVocabulary {
 public:
  explicit ConstraintVocabulary(const Tokenizer& tokenizer)
      : pieces_(static_cast<std::size_t>(std::max(tokenizer.vocab_size(), 0))), plain_(pieces_.size(), false), end_(tokenizer.eog()) {
    std::vector<std::pair<std::string, TokenId>> tokens, others;
    for (TokenId id = 0; id < tokenizer.vocab_size(); ++id) {
      const TokenKind kind = tokenizer.kind(id);
      if (kind == TokenKind::control || kind == TokenKind::unknown || kind == TokenKind::unused || tokenizer.is_eog(id)) continue;
      std::string piece = tokenizer.piece(id, false);
      if (piece.empty() || piece.size() > kMaxPiece) continue;
      const auto index = static_cast<std::size_t>(id);
      plain_[index] = is_plain(piece);
      if (!plain_[index]) others.emplace_back(piece, id);
      tokens.emplace_back(piece, id);
      pieces_[index] = std::move(piece);
    }
    all_ = std::make_unique<TokenTree>(std::move(tokens));
    special_ = std::make_unique<TokenTree>(std::move(others));
  }

  const std::string& piece(TokenId id) const { return pieces_[static_cast<std::size_t>(id)]; }
  std::size_t size() const { return pieces_.size(); }
  bool plain(std::size_t id) const { return plain_[id]; }
  const std::vector<TokenId>& end_tokens() const { return end_; }
  const TokenTree& all() const { return *all_; }
  const TokenTree& special() const { return *special_; }  // tokens that are not plain

 private:
  std::vector<std::string> pieces_;
  std::vector<bool> plain_;
  std::vector<TokenId> end_;
  std::unique_ptr<TokenTree> all_, special_;
};

namespace {

class JsonConstraint final : public TokenConstraint {
 public:
  JsonConstraint(std::shared_ptr<const ConstraintVocabulary> vocabulary, std::shared_ptr<const JsonAutomaton> automaton)
      : vocabulary_(std::move(vocabulary)), automaton_(std::move(automaton)), state_(automaton_->start()) {}

  bool mask(std::span<float> logits) override {
    std::vector<bool> allowed(logits.size(), false);
    bool any = false;
    const auto allow = [&](TokenId id) {
      const auto index = static_cast<std::size_t>(id);
      if (id >= 0 && index < allowed.size()) any = allowed[index] = true;
    };
    mark(allow);
    if (complete()) {
      for (const TokenId id : vocabulary_->end_tokens()) allow(id);
    }
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < logits.size(); ++i) {
      if (!allowed[i]) logits[i] = -kInfinity;
      else if (!(logits[i] > -kInfinity)) logits[i] = std::numeric_limits<float>::lowest();
    }
    return any;
  }

  bool complete() const override { return automaton_->complete(state_); }

  void accept(TokenId id) override {
    if (id < 0 || static_cast<std::size_t>(id) >= vocabulary_->size()) return;
    const std::string& piece = vocabulary_->piece(id);
    if (piece.empty()) return;  // a control token says nothing
    JsonAutomaton::State next = state_;
    for (const char byte : piece) next = automaton_->step(next, static_cast<unsigned char>(byte));
    if (!next.empty()) state_ = std::move(next);
  }

  std::unique_ptr<TokenConstraint> clone() const override { return std::make_unique<JsonConstraint>(*this); }

 private:
  // Inside a string nearly every token fits: only those with quotes, escapes or parts of characters need the walk.
  template <class OnToken>
  void mark(const OnToken& allow) const {
    JsonAutomaton::State text, structure;
    for (const auto& stack : state_) (automaton_->plain_text(stack) ? text : structure).push_back(stack);
    if (!text.empty()) {
      for (std::size_t id = 0; id < vocabulary_->size(); ++id) {
        if (vocabulary_->plain(id)) allow(static_cast<TokenId>(id));
      }
      vocabulary_->special().walk(*automaton_, text, allow);
    }
    if (!structure.empty()) vocabulary_->all().walk(*automaton_, structure, allow);
  }

  std::shared_ptr<const ConstraintVocabulary> vocabulary_;
  std::shared_ptr<const JsonAutomaton> automaton_;
  JsonAutomaton::State state_;
};

constexpr int kMaxDepth = 200;  // of the schema's text; what is compiled may be nested half as deep

}  // namespace

Result<nlohmann::ordered_json> read_json_schema(std::string_view text) {
  using Schema = nlohmann::ordered_json;
  bool too_deep = false;
  const auto shallow = [&too_deep](int depth, Schema::parse_event_t, Schema&) {
    too_deep = too_deep || depth > kMaxDepth;
    return !too_deep;
  };
  Schema schema = Schema::parse(text, shallow, false);
  if (too_deep) return make_error(ErrorCode::bad_argument, "The JSON schema is nested too deeply.");
  if (schema.is_discarded()) return make_error(ErrorCode::bad_argument, "The schema is not JSON.");
  if (const auto nodes = compile_schema(schema); !nodes) return nodes.error();
  return schema;
}

std::shared_ptr<const ConstraintVocabulary> make_constraint_vocabulary(const Tokenizer& tokenizer) {
  return std::make_shared<const ConstraintVocabulary>(tokenizer);
}

Result<std::unique_ptr<TokenConstraint>> make_json_constraint(std::shared_ptr<const ConstraintVocabulary> vocabulary,
                                                              const nlohmann::ordered_json& schema) {
  auto nodes = compile_schema(schema);
  if (!nodes) return nodes.error();
  auto automaton = std::make_shared<const JsonAutomaton>(std::move(*nodes));
  return std::unique_ptr<TokenConstraint>(std::make_unique<JsonConstraint>(std::move(vocabulary), std::move(automaton)));
}

}  // namespace tg
