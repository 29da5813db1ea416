// What a sampler must see of a row of logits to choose as it would from the whole row, found in one pass.
// The result depends on the row and the wish alone: not on the order of the blocks, on threads or on the processor.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "engine/base/types.h"

namespace tg {

struct TokenCandidate {
  float logit = 0;
  TokenId id = 0;
};
inline bool more_likely(const TokenCandidate& a, const TokenCandidate& b) { return a.logit > b.logit || (a.logit == b.logit && a.id < b.id); }

struct CandidateWish {
  int best = 0;          // > 0: the so many most likely tokens
  float margin = -1;     // otherwise, >= 0: every token whose logit is at most so far below the largest (a few more may come along)
  bool mass = false;     // how much probability the row holds
  bool any() const { return best > 0 || margin >= 0; }
};

// NaN counts as minus infinity, of which no token is a candidate; a row without any has one, token 0.
struct RowCandidates {
  std::vector<TokenCandidate> list;  // in any order
  double mass = 0;              // where wished: sum over the row of exp(logit - largest logit), relative error below 1e-6
};

// One row, given in blocks. Thread: a part belongs to one thread at a time, the rest to the owner. Memory is kept from row to row.
class CandidateScan {
 public:
  static constexpr int kBlock = 32;  // logits
  void start(const CandidateWish& wish, int vocab, int parts);
  // Logits [first, first + n) of the row; first a multiple of kBlock, n == kBlock except at the row's end.
  void block(int part, int first, const float* logits, int n);
  void finish(RowCandidates& out);
  // All of the above.
  void row(const CandidateWish& wish, std::span<const float> logits, RowCandidates& out);

 private:
  struct alignas(64) Part {
    std::vector<TokenCandidate> list;
    float largest = 0, floor = 0;  // what lies below the floor cannot be a candidate
  };
  void shorten(std::vector<TokenCandidate>& list) const;
  double total(float largest) const;
  CandidateWish wish_;
  std::vector<Part> parts_;
  std::size_t n_parts_ = 0, n_blocks_ = 0;
  std::vector<float> block_max_, block_sum_;  // of exp(logit - block_max_)
};

}  // namespace tg
