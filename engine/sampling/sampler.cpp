#include "engine/sampling/sampler.h"

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

// Ties go to the lowest id; NaN never wins.
TokenId argmax(std::span<const float> logits) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < logits.size(); ++i)
    if (logits[i] > logits[best] || logits[best] != logits[best]) best = i;
  return static_cast<TokenId>(best);
}

}  // namespace

struct Sampler::State {
  SamplingOptions options;
  std::uint64_t seed;
  Random random;
  PenaltyWindow window;
  Candidates candidates;
  std::unique_ptr<TokenConstraint> constraint;

  State(const SamplingOptions& wanted, std::vector<TokenId> history)
      : options(wanted), seed(chosen_seed(wanted.seed)), random(seed), window(std::move(history), wanted.repeat_last_n) {}

  TokenId choose(std::span<float> logits) {
    if (constraint && !constraint->mask(logits)) return -1;
    window.apply(logits, options.repeat_penalty, options.presence_penalty, options.frequency_penalty);
    if (options.temperature <= 0.0F) return argmax(logits);
    candidates.assign(logits);
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

void Sampler::accept(TokenId forced) {
  state_->window.push(forced);
  if (state_->constraint) state_->constraint->accept(forced);
}

std::uint64_t Sampler::seed() const { return state_->seed; }
bool Sampler::constraint_met() const { return state_->constraint && state_->constraint->complete(); }
void Sampler::set_constraint(std::unique_ptr<TokenConstraint> constraint) { state_->constraint = std::move(constraint); }

}  // namespace tg
