#include "engine/schedule/draft_model.h"

#include <algorithm>
#include <limits>

namespace tg {
namespace {

constexpr int kChunk = 128;  // rows of the draft model beside one step of the target

}  // namespace

DraftModel::DraftModel(ModelRuntime& runtime, KvCache& cache, std::span<const TokenId> prompt, const std::string& title)
    : runtime_(runtime), cache_(cache) {
  CacheRequest request;
  request.title = title;
  request.key = runtime.key;
  request.ids = prompt;
  request.no_chat = true;
  const int n = static_cast<int>(prompt.size());
  if (n > 1) request.restart_points = {n - 1};
  lease_ = cache_.begin(request);
  cache_.restore(*lease_, std::numeric_limits<std::size_t>::max());
}

DraftModel::~DraftModel() {
  if (!failed_) cache_.checkpoint(*lease_);
  cache_.finish(std::move(lease_));
}

void DraftModel::keep_state(std::shared_ptr<std::byte>& to) {
  const std::size_t bytes = runtime_.forward->kv_layout().state_bytes;
  if (bytes == 0) return;
  if (!to) to = runtime_.memory->allocate(bytes, false);
  runtime_.memory->copy(to.get(), lease_->state(), bytes);
}

bool DraftModel::run(std::span<const TokenId> tokens, int position, bool wants_token) {
  const int last = static_cast<int>(tokens.size()) - 1;
  cache_.reserve(*lease_, position + last + 1);
  SequenceStep step;
  step.tokens = tokens;
  step.first_position = position;
  step.pages = lease_->pages();
  step.state = lease_->state();
  if (wants_token) step.logit_rows = std::span(&last, 1);
  step.wish = {0, 0.0F, false};  // the most likely token
  step.candidates = std::span(&found_, step.logit_rows.size());
  StepCounters counters;
  failed_ = !runtime_.forward->run(std::span(&step, 1), nullptr, CancelToken(), counters);
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
  keep_state(before_);
  while (true) {
    draft.push_back(std::min_element(found_.list.begin(), found_.list.end(), more_likely)->id);
    if (static_cast<int>(draft.size()) >= n || !run(std::span(&draft.back(), 1), length + static_cast<int>(draft.size()) - 1, true)) break;
  }
  // What was drafted is no text yet: a state is led back, positions are written over.
  if (before_) runtime_.memory->copy(lease_->state(), before_.get(), runtime_.forward->kv_layout().state_bytes);
  return draft;
}

}  // namespace tg
