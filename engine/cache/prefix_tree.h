// The prefix index of one page key: a tree of pages, each naming its tokens and, by hash chain, all tokens before it.
// Chats, forks and branches with the same beginning share nodes. Node contents are immutable once published: whoever continues inside a
// page copies it. A hit is always proven by comparing token ids.
// Thread: not synchronised; KvCache locks.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/base/types.h"

namespace tg {

struct ChatRecord;

struct PageHash {
  std::uint64_t high = 0, low = 0;
  bool operator==(const PageHash&) const = default;
  std::string text() const;  // 32 hexadecimal digits
};
struct PageHashHasher {
  std::size_t operator()(const PageHash& h) const { return static_cast<std::size_t>(h.low); }
};
PageHash chain(const PageHash& parent, std::span<const TokenId> ids);

// Stored content: the page of one KV group, or a recurrent state.
struct Blob {
  std::shared_ptr<std::byte> memory;  // null: not in memory
  std::size_t bytes = 0;
  std::uint64_t checksum = 0;         // of the content, set when published
  bool on_disk = false, writing = false;
  bool present() const { return memory || on_disk; }
};

struct Node {
  Node* parent = nullptr;       // null: the root, which holds no tokens
  int first = 0;                // position of its first token
  std::vector<TokenId> ids;     // 1 .. kPageTokens; fewer only in a leaf's last page
  PageHash hash;
  std::vector<Blob> pages;      // [groups]; a window group's page may be absent
  std::map<int, Blob> states;   // by number of tokens processed, first < n <= end()
  std::vector<Node*> children;
  std::vector<ChatRecord*> owners;  // chats whose current path this is part of
  int users = 0;                // running turns
  std::int64_t last_use = 0;    // Unix time, ms
  bool not_for_disk = false;    // had to make room there; not written again before its next use

  int end() const { return first + static_cast<int>(ids.size()); }
  bool full() const { return static_cast<int>(ids.size()) == kPageTokens; }
  bool in_memory() const;       // any content is
  bool on_disk() const;         // any content is, or is being written
  std::size_t memory_bytes() const;
  std::size_t disk_bytes() const;
};

// What a group keeps. Pages of a window group further back than the window may be absent.
struct CacheGroup {
  int window = 0;  // tokens; 0: full attention
  std::size_t page_bytes = 0;
  bool operator==(const CacheGroup&) const = default;
};
struct CacheLayout {
  std::vector<CacheGroup> groups;
  std::size_t state_bytes = 0;
  bool operator==(const CacheLayout&) const = default;
};

// What is known of a prompt's beginning.
struct PrefixMatch {
  int tokens = 0;           // longest beginning that was computed
  int usable = 0;           // of it: what a turn can really start from
  std::vector<Node*> path;  // the pages that hold the usable tokens; the last may be used in part only
};

class PrefixTree {
 public:
  PrefixTree(const std::string& key_text, CacheLayout layout);

  // Full groups need every page, window groups those the window touches, recurrent layers a state at exactly the length.
  PrefixMatch match(std::span<const TokenId> ids) const;
  // First page index that a group with WINDOW needs to continue at LENGTH.
  static int first_needed_page(int window, int length);

  // The child of PARENT with exactly these ids; added without content if it is new. Null: hash collision, nothing may be stored.
  Node* add(Node* parent, std::span<const TokenId> ids);
  Node* find(const PageHash& hash) const;
  void remove(Node* leaf);  // a node without children

  Node* root() { return &root_; }
  const Node* root() const { return &root_; }
  const CacheLayout& layout() const { return layout_; }
  const auto& nodes() const { return nodes_; }
  std::string check() const;  // empty, or what is wrong with the links, hashes or sizes

 private:
  // Pages looked at so far: by group, the first of the unbroken run of present pages that ends at the last one.
  using Runs = std::vector<int>;
  void extend(Runs& runs, const Node& node) const;
  int usable_in(const Runs& runs, const Node& node, int known) const;
  CacheLayout layout_;
  Node root_;
  std::unordered_map<PageHash, std::unique_ptr<Node>, PageHashHasher> nodes_;
};

}  // namespace tg
