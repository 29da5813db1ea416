// A loaded model and one turn on it: request, progress, report. Plain structs, part of the facade engine/engine.h.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/types.h"
#include "engine/cache/cache_types.h"
#include "engine/chat_template/prompt_types.h"
#include "engine/gguf/reader.h"
#include "engine/measure/phase_work.h"
#include "engine/model/description.h"
#include "engine/sampling/sampler.h"
#include "engine/tokenizer/tokenizer.h"

namespace tg {

class ChatTemplate;

// ---- Models -------------------------------------------------------------------------------------------------------------
struct LoadOptions {
  std::string backend = "auto";   // auto cpu cuda
  std::string kernels = "auto";
  int threads = 0;                // 0: physical cores
  int context = 8192;             // tokens; 0: the model's; never more than the model's
  KvType k_type = KvType::f16, v_type = KvType::f16;
  int chunk = 0;                  // prefill rows per step; 0: chosen by time
  std::string tuning_file = {};   // what was measured about this processor; empty: nothing is measured (Engine::load takes its own)
};

// A loaded model. Immutable; tokenizer and description are usable from any thread at any time.
struct LoadedModel {
  std::string path, name, fingerprint;
  std::shared_ptr<const GgufFile> file;
  ModelDescription description;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const ChatTemplate> chat_template;  // null: the file brings none
  bool thinks = false;            // by its template
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
  std::string json_schema;        // the answer must be JSON of it (constraint_json.h); stop texts and ignore_eos then do not apply; empty: free
  ThinkingOptions thinking;
  SpeculationOptions speculation;
  bool use_cache = true;
  std::optional<KeepOnClose> keep_on_close;  // unset: as the chat has it
  bool logits_sha = false;        // SHA-256 of the logits the last output token was sampled from
  // What app/ knows about why the prompt differs, shown only when the engine's comparison proves it: "thinking_dropped" "edited" "turns_dropped".
  std::string change_hint;
  int change_message = -1;
};

enum class FinishReason : std::uint8_t { stop, length, cancelled, context_full, error };
std::string_view name_of(FinishReason reason);

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
  PhaseWork read_work, write_work;  // of its steps; writing: those without a prompt beside them. A step serves batch_mean turns
  double step_weights = 0;        // bytes of weights that one decode step reads
  int threads = 0;
  bool int8 = false;              // which peak bounds its arithmetic
  std::optional<MeasuredLimits> limits;
  std::vector<TokenId> output_ids;
  std::string text;               // answer without thinking, stop text removed
  std::string thinking_text;
  std::string logits_sha;
  std::string constraint;         // "json_schema": the answer was held to one; empty: free
  std::vector<std::string> warnings;  // "schema_not_enforced:pattern": a word of the schema that the answer was not held to
  std::vector<float> rate_curve;  // tok/s per output token (smoothed over 8)
  Error error;                    // where the turn ended by one
};

using TurnId = std::uint64_t;

}  // namespace tg
