// The distribution a token is drawn from: a list of tokens, most likely first, that each filter of the chain shortens.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "engine/base/logit_scan.h"

namespace tg {

// Sorted only as far as a filter or the draw looks: a vocabulary of 262 144 is rarely sorted whole.
class Candidates {
 public:
  // NaN counts as minus infinity; a token of minus infinity is never a candidate unless all are.
  void assign(std::span<const float> logits);
  // What a scan of the row found; the lists change places.
  void assign(RowCandidates& row);

  void keep_top_k(int k);
  void keep_typical(float mass);     // locally typical sampling (Meister et al., https://arxiv.org/abs/2202.00666)
  void keep_top_p(float mass);       // nucleus: shortest prefix whose mass reaches it (https://arxiv.org/abs/1904.09751)
  void keep_min_p(float fraction);   // of the most likely token's probability (https://arxiv.org/abs/2407.01082)
  TokenId draw(float temperature, double uniform);  // uniform in [0, 1)

  std::size_t size() const { return list_.size(); }
  const TokenCandidate& operator[](std::size_t i);  // the i-th most likely

 private:
  void sort_prefix(std::size_t n);
  double weight(const TokenCandidate& c) const;  // exp(logit - largest logit)
  double mass();
  std::vector<TokenCandidate> list_;
  std::size_t sorted_ = 0;
  float max_ = 0;
  bool in_order_ = false;  // sums go by falling likelihood: a scan finds its candidates in no order of their own
  double mass_ = 0;        // of the whole row where the list is a part of it; 0: that of the list
};

}  // namespace tg
