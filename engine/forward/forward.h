// One forward pass of a batch: the single layer walk that reads a ModelDescription and calls device ops.
// Thread: the engine's worker only. Ownership: shares the weights, owns its scratch buffers.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/types.h"
#include "engine/device/device.h"
#include "engine/model/description.h"

namespace tg {

// Layers whose KV lives in the same pool of pages. A page of a group holds kPageTokens tokens of all its layers, one after another.
struct KvGroup {
  int window = 0;                  // 0: full attention, all pages are kept; n: pages further back than n tokens may be released
  std::vector<int> layers;
  std::size_t page_bytes = 0;
  double bytes_per_token = 0;      // page_bytes / kPageTokens
};

// What the cache must hold for this model on this device with these KV types.
struct KvLayout {
  std::vector<KvGroup> groups;
  std::size_t state_bytes = 0;     // recurrent and conv state of one sequence (f32), 0: none
};

// One sequence's part of a step: `tokens` are positions first_position, first_position + 1, ...
struct SequenceStep {
  std::span<const TokenId> tokens;
  int first_position = 0;
  std::span<std::byte* const* const> pages;  // [groups] -> [page index] -> page, enough for first_position + tokens.size(); null: released by its window
  std::byte* state = nullptr;                // state_bytes, advanced in place; zeroed for a new sequence
  std::span<const int> logit_rows;           // indexes into `tokens` whose logits are wanted, ascending
  CandidateWish wish = {};                   // not empty: `candidates` get what it asks for, and this sequence writes no logits
  std::span<RowCandidates> candidates = {};  // [logit_rows]
};

// Bytes read and operations done, counted by formula as the walk goes (for percent_of_limit and Explain).
struct StepCounters {
  double bytes = 0, ops = 0;
  double settle_seconds = 0, settle_cpu_seconds = 0;  // of the step's time: moving weights into memory, which is done once
};

class Forward {
 public:
  // Uploads (repacks) the weights; `progress` gets bytes done of bytes total. Cancelled: ErrorCode::cancelled.
  static Result<std::unique_ptr<Forward>> load(std::shared_ptr<const GgufFile> file, const ModelDescription& description,
                                               std::shared_ptr<Device> device, KvType k_type, KvType v_type, int max_rows,
                                               const std::function<void(std::uint64_t, std::uint64_t)>& progress, const CancelToken& cancel);
  virtual ~Forward() = default;
  virtual const KvLayout& kv_layout() const = 0;
  virtual int max_rows() const = 0;   // rows of all sequences of one step together
  // logits: [sum of logit_rows of sequences without a wish, vocab] f32 in host memory, in order of sequences then rows; null where there
  // are none. Cancelled mid-step: ErrorCode::cancelled, and
  // the KV of this step's positions is undefined (the caller does not publish it; recurrent state must be restored from before).
  virtual Status run(std::span<const SequenceStep> steps, float* logits, const CancelToken& cancel, StepCounters& counters) = 0;
  // Weights are left in the file until steps have been made: does all of that work now. Not while a step runs.
  virtual void settle(const CancelToken&) {}
  virtual bool settled() const { return true; }
  virtual std::uint64_t weights_bytes() const = 0;
  virtual double bytes_per_token() const = 0;   // weights read for one decode step
  virtual double ops_per_token() const = 0;     // multiply-adds x 2 of the matrices for one token, LM head included
};

}  // namespace tg
