// The rows of one step: all sequences' tokens one after another, and which of them are wanted at the end.
#pragma once
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/forward/forward.h"

namespace tg {

// Consecutive rows of a step.
struct RowRun {
  int first = 0, count = 0;
};

struct Batch {
  int rows = 0;
  std::vector<TokenId> tokens;            // [rows]
  std::vector<SequenceRows> sequences;    // all rows
  std::vector<int> owner;                 // [sequences]: each its own
  std::vector<RowRun> all, wanted;        // wanted: rows whose logits are asked for, neighbours joined
  std::vector<SequenceRows> wanted_sequences;  // the same rows, sequence by sequence
  std::vector<int> wanted_owner;          // [wanted_sequences]: index of the sequence
  int n_wanted = 0;

  // Takes over STEPS after checking them against the model; an error is the caller's fault. Memory is kept from step to step.
  Status fill(std::span<const SequenceStep> steps, int max_rows, int vocab, std::size_t n_groups, bool has_state);

 private:
  void clear();
  void want(int sequence, int first_row, int count);
};

inline Mat rows_of(Mat m, RowRun run) { return {m.row(run.first), run.count, m.cols, m.stride}; }
inline Mat cols_of(Mat m, int first, int count) { return {m.data + first, m.rows, count, m.stride}; }

}  // namespace tg
