// Drafts for speculative decoding without a second model: what followed the last time the same few tokens occurred.
#pragma once
#include <span>
#include <vector>

#include "engine/base/types.h"

namespace tg {

// At most MAX tokens that followed an earlier occurrence of the last 4, 3 or 2 tokens of HISTORY; empty: there was none.
std::vector<TokenId> ngram_draft(std::span<const TokenId> history, int max);

}  // namespace tg
