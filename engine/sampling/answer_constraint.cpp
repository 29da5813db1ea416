#include "engine/sampling/answer_constraint.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tg {
namespace {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();
constexpr std::size_t kLongestMarker = 32;

bool all_space(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
}

// What the vocabulary says about thinking; found once per turn.
struct ThinkingTokens {
  struct Opener {
    TokenId id;
    bool control;
  };
  std::vector<Opener> openers;
  std::vector<std::pair<TokenId, std::string>> may_close;  // ordinary tokens that hold the last byte of a closing marker and text behind it
};

ThinkingTokens thinking_tokens(const Tokenizer& tokenizer) {
  ThinkingTokens out;
  for (const std::string_view marker : opening_markers()) {
    const TokenId id = tokenizer.find(marker);
    if (id >= 0 && !tokenizer.is_eog(id)) out.openers.push_back({id, tokenizer.kind(id) == TokenKind::control});
  }
  std::string ends;
  for (const std::string_view marker : closing_markers()) ends += marker.back();
  for (TokenId id = 0; id < tokenizer.vocab_size(); ++id) {
    if (tokenizer.kind(id) == TokenKind::control) continue;
    std::string piece = tokenizer.piece(id, false);
    const std::size_t at = piece.find_first_of(ends);
    if (at != std::string::npos && !all_space(std::string_view(piece).substr(at + 1))) out.may_close.emplace_back(id, std::move(piece));
  }
  return out;
}

class AnswerConstraint final : public TokenConstraint {
 public:
  AnswerConstraint(std::unique_ptr<TokenConstraint> answer, std::shared_ptr<const Tokenizer> tokenizer, const ThinkingStream& stream, bool may_think)
      : answer_(std::move(answer)), tokenizer_(std::move(tokenizer)), stream_(stream), may_think_(may_think) {
    if (may_think_ || !stream_.answering()) tokens_ = std::make_shared<const ThinkingTokens>(thinking_tokens(*tokenizer_));
  }
  AnswerConstraint(const AnswerConstraint& other)
      : TokenConstraint(other), answer_(other.answer_->clone()), tokenizer_(other.tokenizer_), tokens_(other.tokens_), stream_(other.stream_),
        may_think_(other.may_think_), begun_(other.begun_), behind_(other.behind_) {}

  bool mask(std::span<float> logits) override {
    if (begun_) return answer_->mask(logits);
    if (!stream_.answering()) return mask_thinking(logits);
    std::vector<std::pair<TokenId, float>> openers;
    if (may_think_) {
      for (const auto& opener : tokens_->openers)
        if ((opener.control || stream_.at_start()) && has(logits, opener.id)) openers.emplace_back(opener.id, at(logits, opener.id));
    }
    const bool any = answer_->mask(logits);
    for (const auto& [id, logit] : openers) at(logits, id) = logit > kForbidden ? logit : std::numeric_limits<float>::lowest();
    return any || !openers.empty();
  }

  void accept(TokenId id) override {
    if (begun_) return answer_->accept(id);
    const bool control = tokenizer_->kind(id) == TokenKind::control;
    const std::string piece = tokenizer_->piece(id, control);
    if (stream_.answering() && !opens(id)) {
      begun_ = !control && !all_space(piece);
      answer_->accept(id);
      if (begun_) return;
    }
    std::vector<TextRun> ignored;
    stream_.feed(piece, control, ignored);
    behind_ += piece;
    if (behind_.size() > kLongestMarker) behind_.erase(0, behind_.size() - kLongestMarker);
  }

  bool complete() const override { return (begun_ || stream_.answering()) && answer_->complete(); }
  std::unique_ptr<TokenConstraint> clone() const override { return std::make_unique<AnswerConstraint>(*this); }

 private:
  // A model may have fewer rows than its vocabulary has tokens.
  static bool has(std::span<const float> logits, TokenId id) { return id >= 0 && static_cast<std::size_t>(id) < logits.size(); }
  static float& at(std::span<float> logits, TokenId id) { return logits[static_cast<std::size_t>(id)]; }

  bool opens(TokenId id) const {
    return may_think_ && std::any_of(tokens_->openers.begin(), tokens_->openers.end(), [id](const auto& opener) { return opener.id == id; });
  }

  bool mask_thinking(std::span<float> logits) const {
    for (const TokenId id : tokenizer_->eog())
      if (has(logits, id)) at(logits, id) = kForbidden;
    for (const auto& [id, piece] : tokens_->may_close)
      if (has(logits, id) && closes_with_text(piece)) at(logits, id) = kForbidden;
    return true;
  }

  // PIECE ends a marker whose beginning it holds or was written before, and says more.
  bool closes_with_text(const std::string& piece) const {
    const std::string text = behind_ + piece;
    for (const std::string_view marker : closing_markers()) {
      const std::size_t at = text.find(marker, behind_.size() >= marker.size() ? behind_.size() - marker.size() + 1 : 0);
      if (at != std::string::npos && !all_space(std::string_view(text).substr(at + marker.size()))) return true;
    }
    return false;
  }

  std::unique_ptr<TokenConstraint> answer_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::shared_ptr<const ThinkingTokens> tokens_;
  ThinkingStream stream_;
  bool may_think_;
  bool begun_ = false;      // the answer has begun: its form alone decides
  std::string behind_;      // the last bytes of what came before
};

}  // namespace

std::unique_ptr<TokenConstraint> constrain_answer(std::unique_ptr<TokenConstraint> answer, std::shared_ptr<const Tokenizer> tokenizer,
                                                  const ThinkingStream& stream, bool may_think) {
  return std::make_unique<AnswerConstraint>(std::move(answer), std::move(tokenizer), stream, may_think);
}

}  // namespace tg
