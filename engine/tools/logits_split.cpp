#include "engine/tools/logits_split.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <random>

#include "engine/cache/kv_cache.h"

namespace tg {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    path_ = fs::temp_directory_path(error) / ("turnglass-split-" + std::to_string(std::random_device{}()));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string text() const { return path_.string(); }

 private:
  fs::path path_;
};

CacheLayout layout_of(const Forward& forward) {
  CacheLayout out;
  for (const KvGroup& g : forward.kv_layout().groups) out.groups.push_back({g.window, g.page_bytes});
  out.state_bytes = forward.kv_layout().state_bytes;
  return out;
}

// Computes positions up to END in chunks on the pages of LEASE.
Status compute_to(Forward& forward, KvCache& cache, CacheLease& lease, const SplitRun& run, int end) {
  std::vector<float> logits;
  std::vector<int> wanted;
  while (lease.tokens() < end) {
    const int begin = lease.tokens(), n = std::min(run.chunk, end - begin);
    cache.reserve(lease, begin + n);
    wanted.clear();
    if (run.all) {
      wanted.resize(static_cast<std::size_t>(n));
      std::iota(wanted.begin(), wanted.end(), 0);
    } else if (begin + n == static_cast<int>(run.tokens.size())) {
      wanted.push_back(n - 1);
    }
    const std::span<const TokenId> part = run.tokens.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(n));
    const SequenceStep step{part, begin, lease.pages(), lease.state(), wanted};
    logits.resize(wanted.size() * static_cast<std::size_t>(run.vocab));
    StepCounters counters;
    if (const Status status = forward.run(std::span(&step, 1), logits.data(), interrupt_token(), counters); !status) return status;
    run.take(logits.data(), wanted.size());
    cache.commit(lease, part);
  }
  return Ok{};
}

// One process's life: what is on disk is taken, positions up to END are computed, and all goes to disk. FROM: how much must have come back.
Status run_part(Forward& forward, const std::string& folder, const SplitRun& run, int from, int end) {
  constexpr std::uint64_t kPlenty = std::uint64_t{1} << 40U;
  KvCache cache(folder, {0, kPlenty, kPlenty});
  cache.open(run.key, layout_of(forward), std::make_shared<HostPageMemory>());
  CacheRequest request;
  request.sequence = "split";
  request.key = run.key;
  request.ids = run.tokens;
  request.restart_points = {run.split};
  auto lease = cache.begin(request);
  while (!cache.restore(*lease, kPlenty)) {
  }
  if (lease->cached() != from) return make_error(ErrorCode::io, "The cache did not come back from disk.");
  if (const Status status = compute_to(forward, cache, *lease, run, end); !status) return status;
  cache.checkpoint(*lease);
  cache.finish(std::move(lease));
  if (!cache.flush(std::chrono::minutes(5))) return make_error(ErrorCode::io, "The cache could not be written to disk.");
  return Ok{};
}

}  // namespace

Status run_split(Forward& forward, const SplitRun& run) {
  const auto n = static_cast<int>(run.tokens.size());
  if (run.split < 1 || run.split >= n) return make_error(ErrorCode::bad_argument, "The split lies between the first and the last token.");
  const TemporaryFolder folder;
  if (const Status first = run_part(forward, folder.text(), run, 0, run.split); !first) return first;
  return run_part(forward, folder.text(), run, run.split, n);
}

}  // namespace tg
