// The facade app/ uses: load a model, submit a turn, hear events, look at and steer the cache. Plain structs, no Qt.
// Thread: Engine's methods may be called from any thread and never block on a running step, except load() and the destructor.
// Listeners are called on the engine's worker thread and must return at once.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/types.h"
#include "engine/cache/cache_types.h"
#include "engine/schedule/turn_listener.h"
#include "engine/schedule/turn_types.h"

namespace tg {

struct EngineOptions {
  std::string cache_dir = {};          // snapshots; empty: nothing is kept on disk
  CacheBudget budget{0, std::uint64_t{2} << 30, std::uint64_t{8} << 30};
  KeepRules keep;
  std::string curves_file = {};        // measured prefill curves per model and machine; empty: none kept
  std::string tuning_file = {};        // what was measured about this processor, a few lines of text; empty: nothing is measured
  std::function<void()> cache_changed = {};  // something moved in the cache; from any thread, must only pass the word on
};

class Engine {
 public:
  static std::unique_ptr<Engine> create(const EngineOptions& options);
  virtual ~Engine() = default;    // cancels all turns, writes what "keep on close" asks for, at most 1 s

  virtual Result<ModelHandle> load(const std::string& path, const LoadOptions& options,
                                   const std::function<void(std::uint64_t, std::uint64_t)>& progress, const CancelToken& cancel) = 0;
  virtual void unload(const ModelHandle& model) = 0;  // its turns are cancelled, its pages go to disk or away

  virtual TurnId submit(TurnRequest request, std::shared_ptr<TurnListener> listener) = 0;
  virtual void cancel(TurnId turn) = 0;
  // Ends reading after N prompt tokens or N output tokens: for tests of cancellation at an exact point.
  virtual void cancel_after(const std::string& sequence, int prefill_tokens, int output_tokens) = 0;

  virtual std::vector<CacheState> cache_states() const = 0;
  virtual std::optional<CacheState> cache_state(const std::string& sequence) const = 0;
  virtual Status keep(const std::string& sequence, Tier tier) = 0;
  // Reads the chat's pages from disk in the background, without moving other chats: while the user types. Its model may come later.
  virtual void prefetch(const std::string& sequence) = 0;
  virtual Status evict(const std::string& sequence) = 0;
  // "Never" writes nothing more; what is on disk by then goes when the engine closes.
  virtual Status keep_on_close(const std::string& sequence, KeepOnClose keep) = 0;
  virtual void set_keep_rules(const KeepRules& rules) = 0;
  virtual KeepRules keep_rules() const = 0;
  // Chats unused for longer than the rules' idle time leave memory. To be called now and then; NOW_MS: Unix time.
  virtual void leave_idle(std::int64_t now_ms) = 0;
  virtual Status pin(const std::string& sequence, bool pinned) = 0;
  virtual Status forget(const std::string& sequence) = 0;   // the chat was deleted: pages and snapshot go
  virtual Status clear() = 0;
  virtual void set_budget(const CacheBudget& budget) = 0;
  virtual CacheBudget budget() const = 0;
  virtual bool flush_cache(std::chrono::milliseconds limit) = 0;  // waits until what was asked of the cache has moved; false: not yet
  virtual Result<std::string> check_integrity() = 0;        // a sentence, or what is wrong
  virtual std::vector<CacheEvent> events(const std::string& sequence) const = 0;
  virtual CacheUse cache_use() const = 0;                   // who holds how many bytes where, each counted once
  // A fork starts with its parent's pages (they are found by prefix anyway); this only names the relation for reasons.
  virtual void fork(const std::string& from, const std::string& to) = 0;

  // Expected wait before sending `prompt` in `sequence`. Unset times: not measured yet. Never waits for a running step.
  virtual Prediction predict(const ModelHandle& model, const std::string& sequence, const std::vector<TokenId>& prompt) const = 0;
  // The same from counts alone, by what earlier runs measured: the model need not be loaded. CACHED tokens are held, DISK_BYTES of them in a
  // snapshot; BACKEND empty: any.
  virtual Expectation expect(const std::string& fingerprint, const std::string& backend, int cached, int fresh, std::uint64_t disk_bytes) const = 0;
};

}  // namespace tg
