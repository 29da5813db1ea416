// What the cache remembers of a chat: its last request, where its pages are, and what became of those that are gone.
// Survives a restart in the chat's snapshot file.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/types.h"
#include "engine/cache/cache_types.h"
#include "engine/cache/page_key.h"
#include "engine/cache/prefix_tree.h"

namespace tg {

// How tokens of the last request were lost, if they were.
struct Loss {
  MissCause cause = MissCause::none;  // evicted model_reloaded snapshot_refused
  std::string by;                     // budget user idle close
  std::string by_chat;                // made room for
  std::string tier;                   // where they were
  std::string refusal;
  std::int64_t at_ms = 0;
};

struct ChatRecord {
  std::string sequence, title;
  PageKey key;
  std::vector<TokenId> ids;           // prompt and answer of the last request, as far as they were computed
  std::vector<Node*> path;            // pages held of them, without gap from the start
  bool pinned = false;
  KeepOnClose keep = KeepOnClose::by_size;
  std::int64_t last_use = 0;          // Unix time, ms
  std::string reason;                 // why it is where it is
  Loss loss;
  std::deque<CacheEvent> events;      // newest last
  int busy = 0;                       // running turns

  // What of the path is on disk, page by page: filled for encode() and by decode(), so that a missing file is noticed.
  struct Stored {
    std::uint64_t groups = 0;         // bit g: page of group g
    std::vector<TokenId> states;      // positions
  };
  std::vector<Stored> stored;
  CacheLayout layout;                 // of the pages stored

  std::string encode() const;
  static std::optional<ChatRecord> decode(std::string_view bytes);
};

}  // namespace tg
