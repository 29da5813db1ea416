// Drafts for speculative decoding by a second, smaller model of the same vocabulary. It follows the text of a turn in pages of its own, which
// the next turn finds again, and proposes its most likely continuation; whatever it proposes, the answer stays the target's.
// Thread: the worker's; one object belongs to one turn.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/cache/kv_cache.h"
#include "engine/schedule/model_runtime.h"

namespace tg {

class DraftModel {
 public:
  // PROMPT of the turn, TITLE of its chat; RUNTIME and CACHE outlive the object.
  DraftModel(ModelRuntime& runtime, KvCache& cache, std::span<const TokenId> prompt, const std::string& title);
  ~DraftModel();

  const ModelRuntime* runtime() const { return &runtime_; }
  // At most N tokens after TEXT. Reads at most one chunk of what it does not know of TEXT yet; empty while it is still behind or where
  // the window is full.
  std::vector<TokenId> propose(std::span<const TokenId> text, int n);

 private:
  void keep_state(std::shared_ptr<std::byte>& to);
  bool run(std::span<const TokenId> tokens, int position, bool wants_token);
  ModelRuntime& runtime_;
  KvCache& cache_;
  std::unique_ptr<CacheLease> lease_;
  RowCandidates found_;
  std::shared_ptr<std::byte> before_;  // state at the end of the text, while drafting
  bool failed_ = false;
};

}  // namespace tg
