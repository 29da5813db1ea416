// The sampling chain: penalties -> top-k -> typical -> top-p -> min-p -> temperature -> draw (llama.cpp's order, so that results compare).
// Exactly one random draw per sampled token, none when greedy or forced, so that batching and speculation keep the stream.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/logit_scan.h"
#include "engine/base/types.h"

namespace tg {

struct SamplingOptions {
  float temperature = 0.7F;   // <= 0: greedy, ties go to the lowest id
  int top_k = 0;              // 0: off
  float top_p = 0.95F;        // 1: off
  float min_p = 0.05F;        // 0: off
  float typical = 1.0F;       // 1: off
  float repeat_penalty = 1.0F;
  int repeat_last_n = 64;     // -1: whole context; prompt tokens count
  float presence_penalty = 0.0F, frequency_penalty = 0.0F;
  std::uint64_t seed = 0;     // 0: chosen at random, reported
};

// Forbids tokens before sampling (JSON schema). accept() advances it by the token chosen.
class TokenConstraint {
 public:
  virtual ~TokenConstraint() = default;
  // Forbidden tokens become minus infinity, and an allowed one never is. False: no token of this vocabulary may follow.
  virtual bool mask(std::span<float> logits) = 0;
  virtual void accept(TokenId id) = 0;
  virtual bool complete() const = 0;  // the text may end here
  virtual std::unique_ptr<TokenConstraint> clone() const = 0;
};

class Sampler {
 public:
  Sampler(const SamplingOptions& options, std::vector<TokenId> history);
  ~Sampler();
  Sampler(Sampler&&) noexcept;
  Sampler& operator=(Sampler&&) noexcept;
  // LOGITS [vocab] may be changed. The token becomes part of the penalty window. -1: the constraint allows none.
  TokenId sample(std::span<float> logits);
  // What it needs to know of a row of so many logits to choose the same token without the row. Empty: it needs the row itself (a constraint
  // or a penalty changes logits, or the chain looks at all of them).
  CandidateWish wish(int vocab) const;
  TokenId sample(RowCandidates& row);  // found by that wish; may be changed
  void accept(TokenId forced);  // a token that was not drawn
  std::uint64_t seed() const;
  void set_constraint(std::unique_ptr<TokenConstraint> constraint);
  bool constraint_met() const;        // there is one, and the text may end here

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tg
