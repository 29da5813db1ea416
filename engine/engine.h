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
#include "engine/chat_template/chat_template.h"
#include "engine/gguf/reader.h"
#include "engine/model/description.h"
#include "engine/sampling/sampler.h"
#include "engine/tokenizer/tokenizer.h"

namespace tg {

// ---- Models -------------------------------------------------------------------------------------------------------------
struct LoadOptions {
  std::string backend = "auto";   // auto cpu cuda
  std::string kernels = "auto";
  int threads = 0;                // 0: physical cores
  int context = 8192;             // tokens; 0: the model's; never more than the model's
  KvType k_type = KvType::f16, v_type = KvType::f16;
  int chunk = 0;                  // prefill rows per step; 0: chosen by time
};

// A loaded model. Immutable; tokenizer and description are usable from any thread at any time.
struct LoadedModel {
  std::string path, name, fingerprint;
  std::shared_ptr<const GgufFile> file;
  ModelDescription description;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const ChatTemplate> chat_template;  // null: the file brings none
  std::string backend, device;    // in real use, not wished
  int threads = 0, context = 0;
  KvType k_type{}, v_type{};
  std::string kernel_variant;
  double load_ms = 0;
  std::uint64_t weights_bytes = 0;
  double kv_bytes_per_token = 0;  // of all groups, windows not yet full
  std::uint64_t state_bytes = 0;
};
using ModelHandle = std::shared_ptr<const LoadedModel>;

// ---- Turns --------------------------------------------------------------------------------------------------------------
struct ThinkingOptions {
  bool starts_inside = false;     // the prompt ends inside a thinking block
  int budget = -1;                // tokens; -1: none. When spent, the model family's closing tokens are forced
};
struct SpeculationOptions {
  enum class Kind : std::uint8_t { off, ngram, draft } kind = Kind::off;
  ModelHandle draft;
  int max_draft = 8;
};

struct TurnRequest {
  ModelHandle model;
  std::string sequence;           // the chat's id: whose cache this is
  std::string sequence_title;     // for reasons the user reads ("made room for ...")
  Prompt prompt;                  // ids and segments; text only for miss texts
  SamplingOptions sampling;
  int max_tokens = 1024;
  std::vector<std::string> stop;  // their text is removed, their tokens counted
  bool ignore_eos = false;
  ThinkingOptions thinking;
  SpeculationOptions speculation;
  bool use_cache = true;
  bool logits_sha = false;        // SHA-256 of the logits the last output token was sampled from
  // What app/ knows about why the prompt differs, shown only when the engine's comparison proves it: "thinking_dropped" "edited" "turns_dropped".
  std::string change_hint;
  int change_message = -1;
};

enum class FinishReason : std::uint8_t { stop, length, cancelled, context_full, error };
std::string_view name_of(FinishReason reason);

enum class Tier : std::uint8_t { gpu, ram, disk, none };
std::string_view name_of(Tier tier);

enum class MissCause : std::uint8_t { none, first_turn, prefix_changed, evicted, model_reloaded, settings_changed, window_boundary, snapshot_refused, unknown };
std::string_view name_of(MissCause cause);

struct CacheMiss {
  MissCause cause = MissCause::none;
  int at_token = 0;               // from 1: first token that differs; 0: does not apply
  std::string was, is;            // texts around the difference
  std::string setting, from, to;
  std::string evicted_by, by_chat, when, tier, refusal, detail, where;
  int message = -1;
  int turn_first = -1, turn_last = -1;
};

struct CacheReport {
  bool enabled = true;
  std::string outcome;            // reused partial cold disabled
  int from_gpu = 0, from_ram = 0, from_disk = 0;
  int reusable = 0, reused = 0;
  CacheMiss miss;
};

// Everything measured in one turn; names and units as in the turn record of the command line.
struct TurnReport {
  int input_total = 0, input_cached = 0, input_fresh = 0, output = 0, thinking = 0;
  FinishReason finish_reason = FinishReason::stop;
  double queue_ms = 0, restore_ms = 0, prefill_ms = 0, ttft_ms = 0, decode_ms = 0, total_ms = 0, thinking_ms = 0;
  std::optional<double> stop_ms;
  double prefill_tps = 0, decode_tps = 0, tps_start = 0, tps_end = 0;
  double itl_p50_ms = 0, itl_p95_ms = 0, itl_max_ms = 0, batch_mean = 0;
  int passes = 0;                 // prefill steps
  int kv_tokens = 0;
  std::uint64_t kv_bytes = 0;
  int context = 0;
  CacheReport cache;
  int drafted = 0, accepted = 0;
  double bytes_read_decode = 0, gb_per_s_decode = 0, gop_per_s_prefill = 0;
  std::optional<double> percent_prefill, percent_decode;  // of this machine's measured limits; unset: not measured
  std::vector<TokenId> output_ids;
  std::string text;               // answer without thinking, stop text removed
  std::string thinking_text;
  std::string logits_sha;
  std::vector<float> rate_curve;  // tok/s per output token (smoothed over 8)
  Error error;                    // where the turn ended by one
};

struct TurnProgress { int done = 0, total = 0, cached = 0; double tokens_per_second = 0; };
struct TurnToken { TokenId id = 0; std::string text; bool thinking = false; int n_output = 0, n_thinking = 0; double tokens_per_second = 0; };

class TurnListener {
 public:
  virtual ~TurnListener() = default;
  virtual void queued(int position) { static_cast<void>(position); }
  virtual void reading(const TurnProgress& progress) = 0;  // first within 500 ms, then at least twice a second
  virtual void token(const TurnToken& token) = 0;          // text: whole UTF-8 characters, stop text never shown
  virtual void finished(const TurnReport& report) = 0;     // last call, also after cancel and error
};
using TurnId = std::uint64_t;

// ---- Cache --------------------------------------------------------------------------------------------------------------
struct CacheState {
  std::string sequence;
  int tokens = 0;                 // held in all
  std::uint64_t bytes = 0, shared_bytes = 0;
  Tier tier = Tier::none;         // the slowest tier that holds a part
  int tokens_gpu = 0, tokens_ram = 0, tokens_disk = 0;
  bool pinned = false, busy = false;
  std::string fingerprint, reason; // reason: code of UI.md 12.3, e.g. "used", "pinned", "kept", "moved_budget:chat b"
  std::int64_t last_use_ms = 0;   // Unix time
};
struct CacheBudget { std::uint64_t gpu = 0, ram = 0, disk = 0; };
struct CacheEvent { std::int64_t at_ms = 0; std::string sequence, movement, reason; };

struct Prediction { int cached = 0, fresh = 0; Tier tier = Tier::none; std::optional<double> ttft_ms, low_ms, high_ms; };

struct EngineOptions {
  std::string cache_dir;          // snapshots; empty: nothing is kept on disk
  CacheBudget budget{0, std::uint64_t{2} << 30, std::uint64_t{8} << 30};
  std::string curves_file;        // measured prefill curves per model and machine; empty: none kept
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
  virtual Status evict(const std::string& sequence) = 0;
  virtual Status pin(const std::string& sequence, bool pinned) = 0;
  virtual Status forget(const std::string& sequence) = 0;   // the chat was deleted: pages and snapshot go
  virtual Status clear() = 0;
  virtual void set_budget(const CacheBudget& budget) = 0;
  virtual CacheBudget budget() const = 0;
  virtual Result<std::string> check_integrity() = 0;        // a sentence, or what is wrong
  virtual std::vector<CacheEvent> events(const std::string& sequence) const = 0;
  // A fork starts with its parent's pages (they are found by prefix anyway); this only names the relation for reasons.
  virtual void fork(const std::string& from, const std::string& to) = 0;

  // Expected wait before sending `prompt` in `sequence`. Unset times: not measured yet. Never waits for a running step.
  virtual Prediction predict(const ModelHandle& model, const std::string& sequence, const std::vector<TokenId>& prompt) const = 0;
};

}  // namespace tg
