#include "engine/forward/batch.h"

namespace tg {

Status Batch::fill(std::span<const SequenceStep> steps, int max_rows, int vocab, std::size_t n_groups, bool has_state) {
  clear();
  const auto refuse = [](const char* message) { return make_error(ErrorCode::bad_argument, message); };
  for (const SequenceStep& step : steps) {
    const auto n = static_cast<int>(step.tokens.size());
    if (n == 0 || rows + n > max_rows) return refuse("A step holds no tokens, or more than fit.");
    if (step.first_position < 0 || step.pages.size() != n_groups || (has_state && step.state == nullptr)) {
      return refuse("A step lacks its cache pages or state.");
    }
    for (const TokenId token : step.tokens) {
      if (token < 0 || token >= vocab) return refuse("A token is not in the model's vocabulary.");
      tokens.push_back(token);
    }
    owner.push_back(static_cast<int>(sequences.size()));
    sequences.push_back({rows, n, step.first_position, nullptr});
    if (step.wish.any() && step.candidates.size() != step.logit_rows.size()) return refuse("A step has no place for its candidates.");
    const int index = static_cast<int>(sequences.size()) - 1;
    for (std::size_t i = 0; i < step.logit_rows.size();) {
      const int row = step.logit_rows[i];
      if (row < 0 || row >= n || (i > 0 && row <= step.logit_rows[i - 1])) return refuse("A wanted row is not in its step.");
      std::size_t end = i + 1;
      while (end < step.logit_rows.size() && step.logit_rows[end] == step.logit_rows[end - 1] + 1 && step.logit_rows[end] < n) {
        ++end;
      }
      want(index, row, static_cast<int>(end - i));
      i = end;
    }
    rows += n;
  }
  if (rows == 0) return refuse("A step holds no tokens, or more than fit.");
  all.push_back({0, rows});
  return Ok{};
}

void Batch::clear() {
  rows = n_wanted = 0;
  tokens.clear();
  sequences.clear();
  owner.clear();
  all.clear();
  wanted.clear();
  wanted_sequences.clear();
  wanted_owner.clear();
}

void Batch::want(int sequence, int first_row, int count) {
  const SequenceRows& s = sequences[static_cast<std::size_t>(sequence)];
  const int first = s.first_row + first_row;
  wanted_sequences.push_back({first, count, s.first_position + first_row, nullptr});
  wanted_owner.push_back(sequence);
  if (!wanted.empty() && wanted.back().first + wanted.back().count == first) {
    wanted.back().count += count;
  } else {
    wanted.push_back({first, count});
  }
  n_wanted += count;
}

}  // namespace tg
