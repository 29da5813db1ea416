// The KV cache of all chats and models: shared prefix pages, tiers RAM -> disk -> dropped, budgets, and why something was read again.
//
//   tokens of a turn:  [ reused: shared nodes ........ | copied part of a page | computed by this turn ............ ]
//                        0                      page border               cached                        tokens
//
// Thread: every method locks; the scheduler's worker drives leases, other threads look and steer. A lease belongs to one turn. Files are
// written by a background thread.
// Invariants (check_integrity): every page's hash fits its tokens; bytes counted = bytes held; a page in use is never dropped; only
// computed tokens are published.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/base/result.h"
#include "engine/cache/background_queue.h"
#include "engine/cache/cache_types.h"
#include "engine/cache/chat_record.h"
#include "engine/cache/page_key.h"
#include "engine/cache/page_memory.h"
#include "engine/cache/prefix_tree.h"
#include "engine/cache/snapshot_store.h"

namespace tg {

struct CacheRequest {
  std::string sequence, title;
  PageKey key;                      // opened before
  std::span<const TokenId> ids;     // the prompt
  std::vector<int> restart_points;  // token counts from which a later turn may want to continue, ascending
  bool use_cache = true;
  bool no_chat = false;             // pages of a draft model: found again by their prefix, shown as no chat's, never written to disk
  std::optional<KeepOnClose> keep_on_close;  // unset: as it is
};

// What the cache knows of why less was reused than could be; texts and segments are the scheduler's to fill.
struct CacheFinding {
  CacheReport report;
  std::vector<TokenId> was, is;     // from the first token that differs, a few
};

// One turn's hold on the cache: its page tables, and the pages it has not published yet.
class CacheLease {
 public:
  int cached() const { return cached_; }   // tokens that need not be computed
  int tokens() const { return static_cast<int>(ids_.size()); }  // with KV: cached ones and those committed since
  std::span<std::byte* const* const> pages() const { return tables_; }
  std::byte* state() const { return state_.get(); }
  const CacheFinding& finding() const { return finding_; }

 private:
  friend class KvCache;
  std::string sequence_, title_, key_id_;
  bool enabled_ = true;              // finds and publishes pages
  bool recorded_ = true;             // in the record of a chat
  bool ready_ = false, publishing_ = true;
  std::vector<TokenId> prompt_, ids_;
  int cached_ = 0;
  PrefixMatch plan_;                 // nodes to start from, held as users
  std::vector<Node*> nodes_;         // reused and published pages, held as users
  std::size_t created_from_ = 0;     // nodes_ from here on were published by this turn
  std::vector<int> restart_points_;
  std::vector<std::vector<std::shared_ptr<std::byte>>> memory_;  // [groups][pages]
  std::vector<std::vector<std::byte*>> rows_;                    // the same as bare pointers
  std::vector<std::byte* const*> tables_;                        // [groups]
  std::vector<int> released_;        // [groups] window pages below this index were looked at
  std::shared_ptr<std::byte> state_;
  std::map<int, std::shared_ptr<std::byte>> states_;             // not published yet
  std::vector<bool> from_disk_;      // by plan page
  CacheFinding finding_;
};

class KvCache {
 public:
  // FOLDER: snapshots; empty: none. A folder that another process uses is left alone.
  KvCache(const std::string& folder, const CacheBudget& budget, const KeepRules& rules = {});
  ~KvCache();  // drops what does not stay and writes what is left, at most 1 s

  // A model is there: its pages may be used and made. Opening one key several times is counted.
  void open(const PageKey& key, const CacheLayout& layout, std::shared_ptr<PageMemory> memory);
  void closing();                   // the program ends: what does not stay is not written any more
  void close(const PageKey& key);   // no lease of the key is open; pages go to disk or away, in the background

  // ---- the life of a turn
  std::unique_ptr<CacheLease> begin(const CacheRequest& request);
  // Brings at most about MAX_BYTES from disk; true: all is there and the lease may be used.
  bool restore(CacheLease& lease, std::size_t max_bytes);
  void reserve(CacheLease& lease, int n_tokens);  // pages for that many tokens in all
  // These tokens were computed and are final. Full pages become visible to other turns.
  void commit(CacheLease& lease, std::span<const TokenId> ids);
  void checkpoint(CacheLease& lease);             // keeps the recurrent state of tokens()
  void finish(std::unique_ptr<CacheLease> lease);

  // ---- looking and steering
  struct Outlook { int cached = 0, from_disk = 0; std::size_t disk_bytes = 0; Tier tier = Tier::none; };
  Outlook outlook(const PageKey& key, std::span<const TokenId> ids) const;
  std::vector<CacheState> states() const;
  std::optional<CacheState> state(const std::string& sequence) const;
  std::vector<CacheEvent> events(const std::string& sequence) const;
  CacheUse use() const;
  // LISTENER hears of every movement, from any thread and under the cache's lock: it may only pass the word on.
  void set_listener(std::function<void()> listener);
  Status keep(const std::string& sequence, Tier tier);
  // Reads what the chat has on disk in the background, as far as there is room without moving others; while no model of its key is there,
  // as soon as one is.
  void prefetch(const std::string& sequence);
  Status evict(const std::string& sequence);
  Status pin(const std::string& sequence, bool pinned);
  Status keep_on_close(const std::string& sequence, KeepOnClose keep);
  void set_rules(const KeepRules& rules);
  KeepRules rules() const;
  void leave_idle(std::int64_t now);            // NOW: Unix time, ms
  Status forget(const std::string& sequence);
  Status clear();
  void fork(const std::string& from, const std::string& to);
  void set_budget(const CacheBudget& budget);
  CacheBudget budget() const;
  std::uint64_t memory_bytes() const;
  std::uint64_t disk_bytes() const;
  std::uint64_t bytes_restored() const;         // from disk so far
  Result<std::string> check_integrity();
  bool flush(std::chrono::milliseconds limit);  // waits until the files are written

 private:
  struct Tree {
    PageKey key;
    std::string key_id, key_text;
    std::unique_ptr<PrefixTree> index;
    std::shared_ptr<PageMemory> memory;  // null: no model of this key is loaded
    int opened = 0;
  };
  struct Cause { std::string by, by_chat; };

  // kv_cache.cpp: turns
  Tree* tree(const std::string& key_id) const;
  ChatRecord& record_of(const std::string& sequence);
  void release_memory(const std::string& key_id);
  void plan(CacheLease& lease, Tree& tree);
  void unplan(CacheLease& lease);
  void attach(CacheLease& lease, Tree& tree);
  void set_page(CacheLease& lease, std::size_t group, std::size_t page, std::shared_ptr<std::byte> memory);
  bool publish(CacheLease& lease, Tree& tree, int n_tokens);
  void release_window(CacheLease& lease, Tree& tree);
  void absorb_partial_siblings(Tree& tree, Node& node);
  void thin_states(Tree& tree, ChatRecord& record);
  void update_record(CacheLease& lease, Tree& tree);

  // kv_cache_report.cpp
  std::string check_links() const;
  bool check_content(Tree& tree, Node& node, Blob& blob, int group, int position);
  void check_node(const std::string& key_id, const PageHash& hash, int& pages, int& bad);

  // kv_cache_use.cpp
  void changed() const;

  // kv_cache_findings.cpp: why
  void find_cause(CacheLease& lease, const Tree& tree) const;

  // kv_cache_policy.cpp: what stays where
  void set_path(ChatRecord& record, std::vector<Node*> path);
  void hold(Blob& blob, std::shared_ptr<std::byte> memory);
  void let_go(Blob& blob);
  bool pinned(const Node& node) const;
  void make_room(std::size_t bytes, const Cause& cause);
  bool shrink_memory(Tree& tree, Node& node, const Cause& cause);
  void make_disk_room(const Cause& cause);
  void forget_files(Tree& tree, Node& node);
  void forget_blob(Tree& tree, const Node& node, Blob& blob, int group, int position);
  void drop(Tree& tree, Node* leaf, const Loss& loss);
  void drop_subtree(Tree& tree, Node* node, const Loss& loss);
  void lose(ChatRecord& record, std::size_t kept_pages, const Loss& loss);
  void note(ChatRecord& record, std::string movement, std::string reason);
  bool evict_record(ChatRecord& record, const Loss& loss);
  void leave_memory(const std::string& sequence);
  void enter_memory(const std::string& sequence, bool only_free_room);

  // kv_cache_keep.cpp: what stays when the program closes, and idle chats
  bool stays_on_close(const ChatRecord& record) const;
  void drop_what_does_not_stay();
  void leave_with_model(const Tree& tree);
  bool is_idle(const Node& node, std::int64_t limit) const;
  void empty_idle(std::int64_t limit);
  static std::vector<Node*> tails_first(const Tree& tree);

  // kv_cache_snapshots.cpp: files
  void load_snapshots();
  void adopt(ChatRecord loaded, std::map<std::string, std::set<std::string>>& files);
  void remove_unlisted(const std::map<std::string, std::set<std::string>>& files);
  bool disk_on() const { return store_ && budget_.disk > 0; }
  // PAGES_TOO: also those of a chat that does not stay when the program closes.
  void post_write(const std::string& sequence, bool pages_too = false);
  void write_chat(const std::string& sequence, bool pages_too);
  bool write_next_blob(const std::string& sequence);
  void write_record(const std::string& sequence);
  BlobId blob_id(const Tree& tree, const Node& node, int group, int position) const;
  Refusal read_blob(Tree& tree, Node& node, int group, int position, std::unique_lock<std::mutex>& lock);

  mutable std::mutex mutex_;
  CacheBudget budget_;
  KeepRules rules_;
  bool closing_ = false;
  std::uint64_t bytes_restored_ = 0, memory_bytes_ = 0, disk_bytes_ = 0, private_bytes_ = 0;  // private: pages of running turns that are not published
  std::map<std::string, std::unique_ptr<Tree>> trees_;                   // by key id
  std::map<std::string, std::unique_ptr<ChatRecord>> records_;           // by sequence
  std::map<std::string, Refusal> refused_;                               // chat files that could not be read, by file name
  std::unique_ptr<SnapshotStore> store_;
  std::string wanted_;                                                   // sequence to prefetch when its model comes
  Cause waiting_;                                                        // who needs the room that pages are being written for
  std::function<void()> listener_;
  bool write_failed_ = false;                                            // the last write: what cannot be written may be dropped
  std::unique_ptr<BackgroundQueue> queue_;                               // dies first
};

}  // namespace tg
