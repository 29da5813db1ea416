// Runs a model's forward pass over whole sequences in steps of any shape, with pages of its own. Header only, no Qt.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/forward/forward.h"

namespace tg::test {

struct RunOptions {
  int chunk = 0;                          // tokens of each sequence per step; 0: all
  int threads = 1;
  KvType kv = KvType::f32;
  std::string kernels = "auto";
  std::vector<std::vector<TokenId>> with = {};  // further sequences in the same steps, in front of the first one
};

class PagedSequence {
 public:
  PagedSequence(std::vector<TokenId> tokens, const KvLayout& layout, Device& device) : tokens_(std::move(tokens)) {
    for (const KvGroup& group : layout.groups) {
      auto& table = pages_.emplace_back();
      for (std::size_t i = 0; i < tokens_.size() / kPageTokens + 1; ++i) table.push_back(keep(device.allocate(group.page_bytes)));
    }
    for (const auto& table : pages_) tables_.push_back(table.data());
    if (layout.state_bytes > 0) state_ = keep(device.allocate(layout.state_bytes));
  }
  int left() const { return static_cast<int>(tokens_.size()) - done_; }
  // Lets go of pages that lie wholly before the windows, as a cache may.
  void release_behind(const KvLayout& layout) {
    for (std::size_t g = 0; g < pages_.size(); ++g) {
      const int window = layout.groups[g].window;
      for (int page = 0; window > 0 && (page + 1) * kPageTokens <= done_ - window + 1; ++page) pages_[g][static_cast<std::size_t>(page)] = nullptr;
    }
  }
  SequenceStep next(int n) {
    wanted_.resize(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) wanted_[static_cast<std::size_t>(i)] = i;
    const auto part = std::span<const TokenId>(tokens_).subspan(static_cast<std::size_t>(done_), static_cast<std::size_t>(n));
    const SequenceStep step{part, done_, tables_, state_, wanted_};
    done_ += n;
    return step;
  }

 private:
  std::byte* keep(std::shared_ptr<std::byte> memory) { return memory_.emplace_back(std::move(memory)).get(); }
  std::vector<TokenId> tokens_;
  std::vector<std::shared_ptr<std::byte>> memory_;
  std::vector<std::vector<std::byte*>> pages_;
  std::vector<std::byte* const*> tables_;
  std::byte* state_ = nullptr;
  std::vector<int> wanted_;
  int done_ = 0;
};

// Logits [tokens x vocab] of TOKENS; an error's sentence instead of a result.
inline Result<std::vector<float>> all_logits(const std::shared_ptr<const GgufFile>& file, const std::vector<TokenId>& tokens, const RunOptions& options) {
  const auto description = describe_model(*file, 0);
  if (!description) return description.error();
  auto made = make_cpu_device({options.threads, options.kernels});
  if (!made) return made.error();
  const std::shared_ptr<Device> device(std::move(*made));
  const int chunk = options.chunk > 0 ? options.chunk : static_cast<int>(tokens.size());
  auto forward = Forward::load(file, *description, device, options.kv, options.kv, chunk * (1 + static_cast<int>(options.with.size())), {}, {});
  if (!forward) return forward.error();
  const auto vocab = static_cast<std::size_t>(description->vocab);
  std::vector<PagedSequence> sequences;
  for (const auto& other : options.with) sequences.emplace_back(other, (*forward)->kv_layout(), *device);
  sequences.emplace_back(tokens, (*forward)->kv_layout(), *device);
  std::vector<float> out, logits;
  StepCounters counters;
  while (sequences.back().left() > 0) {
    std::vector<SequenceStep> steps;
    std::size_t rows = 0;
    for (PagedSequence& s : sequences) {
      if (s.left() == 0) continue;
      s.release_behind((*forward)->kv_layout());
      steps.push_back(s.next(std::min(chunk, s.left())));
      rows += steps.back().tokens.size();
    }
    logits.resize(rows * vocab);
    const Status status = (*forward)->run(steps, logits.data(), {}, counters);
    if (!status) return status.error();
    out.insert(out.end(), logits.end() - static_cast<std::ptrdiff_t>(steps.back().tokens.size() * vocab), logits.end());
  }
  return out;
}

}  // namespace tg::test
