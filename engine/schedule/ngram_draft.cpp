#include "engine/schedule/ngram_draft.h"

#include <algorithm>

namespace tg {

std::vector<TokenId> ngram_draft(std::span<const TokenId> history, int max) {
  for (const std::size_t n : {std::size_t{4}, std::size_t{3}, std::size_t{2}}) {
    if (history.size() <= n || max <= 0) continue;
    const auto last = history.last(n);
    for (std::size_t at = history.size() - n; at-- > 0;) {
      if (!std::equal(last.begin(), last.end(), history.begin() + static_cast<std::ptrdiff_t>(at))) continue;
      const auto following = history.subspan(at + n);
      const auto some = following.first(std::min(following.size(), static_cast<std::size_t>(max)));
      return {some.begin(), some.end()};
    }
  }
  return {};
}

}  // namespace tg
