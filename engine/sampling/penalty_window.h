// The last tokens of a sequence, counted, for the repetition, presence and frequency penalties.
#pragma once
#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/base/types.h"

namespace tg {

class PenaltyWindow {
 public:
  // LAST_N tokens are looked at; -1: all, 0: none.
  PenaltyWindow(std::vector<TokenId> history, int last_n);
  void push(TokenId id);
  // Positive logits are divided by REPEAT, negative ones multiplied; then frequency * count + presence is taken off.
  void apply(std::span<float> logits, float repeat, float presence, float frequency) const;

 private:
  std::size_t begin() const;  // index of the first token inside the window
  std::vector<TokenId> tokens_;
  int last_n_;
  std::unordered_map<TokenId, int> counts_;
};

}  // namespace tg
