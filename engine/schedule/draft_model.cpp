#include "engine/schedule/draft_model.h"

#include <algorithm>

namespace tg {
namespace {

constexpr int kChunk = 128;  // rows of the draft model beside one step of the target

}  // namespace

DraftModel::DraftModel(ModelRuntime& runtime, KvCache& cache, std::span<const TokenId> prompt)
    : runtime_(runtime), cache_(cache), failed_(runtime.forward->kv_layout().state_bytes > 0) {
  CacheRequest request;
  request.sequence = "draft";
  request.key = runtime.key;
  request.ids = prompt;
  request.use_cache = false;  // its pages are no chat's: they go with the turn
  lease_ = cache_.begin(request);
  cache_.restore(*lease_, 0);
}

DraftModel::~DraftModel() { cache_.finish(std::move(lease_)); }

bool DraftModel::run(std::span<const TokenId> tokens, int position, bool wants_logits) {
  const int last = static_cast<int>(tokens.size()) - 1;
  cache_.reserve(*lease_, position + last + 1);
  SequenceStep step;
  step.tokens = tokens;
  step.first_position = position;
  step.pages = lease_->pages();
  if (wants_logits) step.logit_rows = std::span(&last, 1);
  logits_.resize(static_cast<std::size_t>(runtime_.info->description.vocab));
  StepCounters counters;
  failed_ = !runtime_.forward->run(std::span(&step, 1), logits_.data(), CancelToken(), counters);
  return !failed_;
}

std::vector<TokenId> DraftModel::propose(std::span<const TokenId> text, int n) {
  std::vector<TokenId> draft;
  const int length = static_cast<int>(text.size());
  n = std::min(n, runtime_.info->context - length);
  if (failed_ || n < 1) return draft;
  const int known = lease_->tokens(), end = std::min(length, known + std::min(kChunk, runtime_.forward->max_rows()));
  const auto fresh = text.subspan(static_cast<std::size_t>(known), static_cast<std::size_t>(end - known));
  if (!run(fresh, known, end == length)) return draft;
  cache_.commit(*lease_, fresh);
  if (end < length) return draft;
  while (true) {
    draft.push_back(static_cast<TokenId>(std::max_element(logits_.begin(), logits_.end()) - logits_.begin()));
    if (static_cast<int>(draft.size()) >= n || !run(std::span(&draft.back(), 1), length + static_cast<int>(draft.size()) - 1, true)) return draft;
  }
}

}  // namespace tg
