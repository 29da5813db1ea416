// What the cache tells: where a chat's tokens are, what a turn reused and why not more. Plain structs, part of the facade engine/engine.h.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tg {

enum class Tier : std::uint8_t { gpu, ram, disk, none };
std::string_view name_of(Tier tier);

enum class MissCause : std::uint8_t { none, first_turn, prefix_changed, evicted, model_reloaded, settings_changed, window_boundary, snapshot_refused, unknown };
std::string_view name_of(MissCause cause);

// Whether a chat's pages stay on disk when the program closes.
enum class KeepOnClose : std::uint8_t { by_size, always, never };  // by_size: up to KeepRules::max_bytes, and when pinned
std::string_view name_of(KeepOnClose keep);                        // by-size always never
std::optional<KeepOnClose> keep_on_close_named(std::string_view name);

struct KeepRules {
  std::uint64_t max_bytes = std::uint64_t{4} << 30;  // of a chat that is kept by size
  std::int64_t idle_ms = 0;                          // without use for so long, a chat leaves memory for the disk, or is dropped where there is none; 0: never
};

struct CacheMiss {
  MissCause cause = MissCause::none;
  int at_token = 0;               // from 1: first token that differs; 0: does not apply
  std::string was, is;            // texts around the difference
  std::string setting, from, to;
  std::string evicted_by;         // budget user idle close
  std::string by_chat, when, tier, refusal, detail, where;
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

struct CacheState {
  std::string sequence;
  int tokens = 0;                 // held in all
  std::uint64_t bytes = 0, shared_bytes = 0;
  Tier tier = Tier::none;         // the slowest tier that holds a part
  int tokens_gpu = 0, tokens_ram = 0, tokens_disk = 0;
  bool pinned = false, busy = false;
  KeepOnClose keep_on_close = KeepOnClose::by_size;
  bool stays_on_close = true;     // what that comes to now, by its size; false also where nothing is written to disk at all
  // Code of UI.md 12.3: used pinned kept shares:N:CHAT moved_budget[:CHAT] moved_idle moved_close dropped_budget[:CHAT] dropped_user
  // dropped_idle dropped_close dropped_check dropped_unload
  std::string fingerprint, reason;
  std::int64_t last_use_ms = 0;   // Unix time
};
struct CacheBudget { std::uint64_t gpu = 0, ram = 0, disk = 0; };

// Bytes held in one tier: used = the sum of what chats hold alone + shared + loose.
struct TierUse {
  std::uint64_t used = 0;
  std::uint64_t shared = 0;       // by two chats or more, counted once
  std::uint64_t loose = 0;        // of no chat's current text: other versions, and turns that are running
  std::uint64_t fixed = 0;        // part of used that may not leave: pinned, or in use by a running turn
};
struct TokenSpan { int first = 0, last = 0; };
struct ChatUse {
  std::string sequence;
  std::uint64_t gpu = 0, ram = 0, disk = 0;  // held by this chat alone: what evicting it frees
  int full_pages = 0, tail_tokens = 0, shared_pages = 0, shared_tokens = 0;
  std::string shared_with;        // sequence of one chat that shares the most
  bool keeps_part = false;        // some layers keep only part of the past: a turn can go on only behind a token of `restart`
  std::vector<TokenSpan> restart;
};
struct CacheUse {
  TierUse gpu, ram, disk;
  std::vector<ChatUse> chats;
  int page_tokens = 0;
};

struct CacheEvent { std::int64_t at_ms = 0; std::string sequence, movement, reason; };

// Of a model that need not be loaded. Unset: not measured on this machine. The load comes on top.
struct Expectation { std::optional<double> ttft_ms, load_ms; };
struct Prediction { int cached = 0, fresh = 0; Tier tier = Tier::none; std::optional<double> ttft_ms, low_ms, high_ms; };

}  // namespace tg
