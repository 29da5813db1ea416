#include "engine/sampling/penalty_window.h"

#include <utility>

namespace tg {

PenaltyWindow::PenaltyWindow(std::vector<TokenId> history, int last_n) : tokens_(std::move(history)), last_n_(last_n) {
  for (std::size_t i = begin(); i < tokens_.size(); ++i) ++counts_[tokens_[i]];
}

std::size_t PenaltyWindow::begin() const {
  if (last_n_ < 0) return 0;
  const auto n = static_cast<std::size_t>(last_n_);
  return tokens_.size() > n ? tokens_.size() - n : 0;
}

void PenaltyWindow::push(TokenId id) {
  if (last_n_ == 0) return;
  const std::size_t old_begin = begin();
  tokens_.push_back(id);
  ++counts_[id];
  if (begin() == old_begin) return;
  const auto left = counts_.find(tokens_[old_begin]);
  if (--left->second == 0) counts_.erase(left);
}

void PenaltyWindow::apply(std::span<float> logits, float repeat, float presence, float frequency) const {
  if (repeat == 1.0F && presence == 0.0F && frequency == 0.0F) return;
  for (const auto& [id, count] : counts_) {
    if (id < 0 || static_cast<std::size_t>(id) >= logits.size()) continue;
    float& logit = logits[static_cast<std::size_t>(id)];
    if (repeat > 0.0F) logit = logit > 0.0F ? logit / repeat : logit * repeat;
    logit -= frequency * static_cast<float>(count) + presence;
  }
}

}  // namespace tg
