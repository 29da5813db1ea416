// Why a turn reads what it might have reused: compares the prompt with the chat's last request and with what is stored.
#include <algorithm>

#include "engine/cache/iso_time.h"
#include "engine/cache/kv_cache.h"

namespace tg {
namespace {

constexpr std::size_t kShownTokens = 12;  // of the texts around the first difference

int common_length(std::span<const TokenId> a, std::span<const TokenId> b) {
  const std::size_t n = std::min(a.size(), b.size());
  return static_cast<int>(std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin()).first - a.begin());
}

std::vector<TokenId> shown_from(std::span<const TokenId> ids, int at) {
  const std::span<const TokenId> rest = ids.subspan(static_cast<std::size_t>(at));
  const std::span<const TokenId> some = rest.first(std::min(rest.size(), kShownTokens));
  return {some.begin(), some.end()};
}

CacheMiss of_loss(const Loss& loss) {
  CacheMiss miss;
  miss.cause = loss.cause;
  miss.evicted_by = loss.by;
  miss.by_chat = loss.by_chat;
  miss.tier = loss.tier;
  miss.refusal = loss.refusal;
  miss.when = iso_time(loss.at_ms);
  return miss;
}

}  // namespace

// The cause told is that of the first token not reused: a loss, else the difference to the last request, else what window or recurrent
// layers cannot do. What is none of these is unknown.
void KvCache::find_cause(CacheLease& lease, const Tree& t) const {
  CacheReport& report = lease.finding_.report;
  lease.finding_.was.clear();
  lease.finding_.is.clear();
  report.miss = {};
  const std::span<const TokenId> prompt = lease.prompt_;
  const int most = std::max(0, static_cast<int>(prompt.size()) - 1);
  const int stored = t.index->match(prompt.first(static_cast<std::size_t>(most))).tokens;
  const auto found = records_.find(lease.sequence_);
  const ChatRecord* record = found == records_.end() || found->second->ids.empty() ? nullptr : found->second.get();
  const bool same_model = record != nullptr && record->key.fingerprint == t.key.fingerprint;
  const int common = same_model ? common_length(record->ids, prompt) : 0;
  report.reused = lease.cached_;
  report.reusable = std::max({stored, std::min(common, most), lease.cached_});
  report.outcome = report.reused == 0 ? "cold" : report.reused < report.reusable ? "partial" : "reused";

  CacheMiss& miss = report.miss;
  const bool differs = record != nullptr && same_model && common < static_cast<int>(std::min(record->ids.size(), prompt.size())) && stored <= common;
  const bool lost = report.reused < std::min(common, most) && stored < std::min(common, most);
  if (record == nullptr) {
    const auto refused = refused_.find(SnapshotStore::chat_name(lease.sequence_));
    if (refused != refused_.end()) {
      miss.cause = MissCause::snapshot_refused;
      miss.refusal = name_of(refused->second);
    } else if (report.reused == 0) {
      miss.cause = MissCause::first_turn;
    } else if (report.reused < report.reusable) {
      miss.cause = MissCause::window_boundary;
    }
  } else if (const KeyDifference d = difference(record->key, t.key); !d.setting.empty() && report.reused < std::max(common, 1)) {
    miss.cause = MissCause::settings_changed;
    miss.setting = d.setting;
    miss.from = d.from;
    miss.to = d.to;
  } else if (lost) {
    if (record->loss.cause != MissCause::none) miss = of_loss(record->loss);
    else miss.cause = MissCause::unknown;
  } else if (differs) {
    miss.cause = MissCause::prefix_changed;
    miss.at_token = common + 1;
    lease.finding_.was = shown_from(record->ids, common);
    lease.finding_.is = shown_from(prompt, common);
  } else if (report.reused < report.reusable) {
    if (record->loss.cause == MissCause::snapshot_refused) miss = of_loss(record->loss);
    else miss.cause = MissCause::window_boundary;
  }
}

}  // namespace tg
