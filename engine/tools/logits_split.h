// `logits --split`: the first tokens are computed, their cache goes to disk, comes back into a new cache, and the rest is computed from it.
#pragma once
#include <functional>
#include <span>

#include "engine/cache/page_key.h"
#include "engine/forward/forward.h"
#include "engine/tools/command.h"

namespace tg {

struct SplitRun {
  std::span<const TokenId> tokens;
  int split = 0;                  // 1 .. tokens - 1
  int chunk = 512;
  bool all = false;               // logits of every position, else of the last
  int vocab = 0;
  PageKey key;
  std::function<void(const float* rows, std::size_t n)> take;
};
// Uses a folder of its own below the system's temporary one and removes it.
Status run_split(Forward& forward, const SplitRun& run);

}  // namespace tg
