#include "engine/sampling/sampler.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "engine/sampling/candidates.h"
#include "engine/sampling/penalty_window.h"
#include "engine/sampling/random.h"

namespace tg {
namespace {

std::uint64_t chosen_seed(std::uint64_t wanted) {
  if (wanted != 0) return wanted;
  std::random_device device;
  const std::uint64_t seed = (static_cast<std::uint64_t>(device()) << 32U) | device();
  return (seed >> 11U) | 1U;  // below 2^53: a JSON number keeps it exactly
}

constexpr int kMostBest = 4096;         // a longer list is no gain over the row
constexpr float kMostTopP = 0.9999F;    // beyond, the rounding of the row's mass would count

// Which tokens the chain can still choose, whatever the row: the longest list it may need.
CandidateWish wish_of(const SamplingOptions& o, int vocab) {
  if (o.temperature <= 0.0F) return {0, 0.0F, false};
  if (o.typical < 1.0F) return {};
  if (o.top_k > 0 && o.top_k < vocab) return o.top_k <= kMostBest ? CandidateWish{o.top_k, -1.0F, false} : CandidateWish{};
  const bool nucleus = o.top_p < 1.0F;
  if (o.min_p > 0.0F) return {0, 0.001F - std::log(std::min(o.min_p, 1.0F)), nucleus};
  // What lies further back than this holds, even if it is the whole vocabulary, less than the part that top-p cuts off.
  if (nucleus && o.top_p <= kMostTopP) return {0, 0.5F + std::log(static_cast<float>(std::max(vocab, 1)) / (1.0F - o.top_p)), true};
  return {};
}

}  // namespace

struct Sampler::State {
  SamplingOptions options;
  std::uint64_t seed;
  Random random;
  PenaltyWindow window;
  Candidates candidates;
  CandidateScan scan;
  RowCandidates found;
  std::unique_ptr<TokenConstraint> constraint;

  State(const SamplingOptions& wanted, std::vector<TokenId> history)
      : options(wanted), seed(chosen_seed(wanted.seed)), random(seed), window(std::move(history), wanted.repeat_last_n) {}

  bool penalises() const {
    return options.repeat_last_n != 0 && (options.repeat_penalty != 1.0F || options.presence_penalty != 0.0F || options.frequency_penalty != 0.0F);
  }

  TokenId choose(std::span<float> logits) {
    if (constraint && !constraint->mask(logits)) return -1;
    window.apply(logits, options.repeat_penalty, options.presence_penalty, options.frequency_penalty);
    const CandidateWish wish = wish_of(options, static_cast<int>(logits.size()));
    if (wish.any()) {
      scan.row(wish, logits, found);
      return choose(found);
    }
    candidates.assign(logits);
    return draw();
  }

  TokenId choose(RowCandidates& row) {
    if (options.temperature <= 0.0F) return std::min_element(row.list.begin(), row.list.end(), more_likely)->id;
    candidates.assign(row);
    return draw();
  }

  TokenId draw() {
    candidates.keep_top_k(options.top_k);
    candidates.keep_typical(options.typical);
    candidates.keep_top_p(options.top_p);
    candidates.keep_min_p(options.min_p);
    return candidates.draw(options.temperature, random.uniform());
  }
};

Sampler::Sampler(const SamplingOptions& options, std::vector<TokenId> history)
    : state_(std::make_unique<State>(options, std::move(history))) {}
Sampler::~Sampler() = default;
Sampler::Sampler(Sampler&&) noexcept = default;
Sampler& Sampler::operator=(Sampler&&) noexcept = default;

TokenId Sampler::sample(std::span<float> logits) {
  const TokenId id = state_->choose(logits);
  if (id >= 0) accept(id);
  return id;
}

TokenId Sampler::sample(RowCandidates& row) {
  const TokenId id = state_->choose(row);
  accept(id);
  return id;
}

CandidateWish Sampler::wish(int vocab) const {
  return state_->constraint || state_->penalises() ? CandidateWish{} : wish_of(state_->options, vocab);
}

void Sampler::accept(TokenId forced) {
  state_->window.push(forced);
  if (state_->constraint) state_->constraint->accept(forced);
}

std::uint64_t Sampler::seed() const { return state_->seed; }
bool Sampler::constraint_met() const { return state_->constraint && state_->constraint->complete(); }
void Sampler::set_constraint(std::unique_ptr<TokenConstraint> constraint) { state_->constraint = std::move(constraint); }

}  // namespace tg
