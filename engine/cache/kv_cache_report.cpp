// Looking at the cache: states of chats, what a prompt would find, and whether all is as it should be.
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "engine/cache/cache_clock.h"
#include "engine/cache/kv_cache.h"

namespace tg {
namespace {

// Every group that keeps all pages has this one.
bool complete(const Node& node, const CacheLayout& layout) {
  for (std::size_t g = 0; g < node.pages.size(); ++g)
    if (layout.groups[g].window == 0 && !node.pages[g].present()) return false;
  return node.in_memory() || node.on_disk();
}

bool all_in_memory(const Node& node) {
  return std::all_of(node.pages.begin(), node.pages.end(), [](const Blob& b) { return b.memory || !b.on_disk; });
}

CacheState state_of(const ChatRecord& record, const PrefixTree* index) {
  CacheState s;
  s.sequence = record.sequence;
  s.pinned = record.pinned;
  s.busy = record.busy > 0;
  s.fingerprint = record.key.fingerprint;
  s.reason = record.reason;
  s.last_use_ms = record.last_use;
  const int length = static_cast<int>(record.ids.size());
  for (const Node* node : record.path) {
    if (index == nullptr || !complete(*node, index->layout())) break;
    const int n = std::min(node->end(), length) - node->first;
    s.tokens += n;
    const bool memory = all_in_memory(*node) && node->in_memory();
    (memory ? s.tokens_ram : s.tokens_disk) += n;
    const std::size_t bytes = memory ? node->memory_bytes() : node->disk_bytes();
    s.bytes += bytes;
    if (node->owners.size() > 1) s.shared_bytes += bytes;
  }
  s.keep_on_close = record.keep;
  if (s.tokens > 0) s.tier = s.tokens_disk > 0 ? Tier::disk : Tier::ram;
  return s;
}

}  // namespace

std::vector<CacheState> KvCache::states() const {
  const std::lock_guard lock(mutex_);
  std::vector<CacheState> out;
  for (const auto& entry : records_) {
    const Tree* t = tree(entry.second->key.id());
    out.push_back(state_of(*entry.second, t == nullptr ? nullptr : t->index.get()));
    out.back().stays_on_close = stays_on_close(*entry.second);
  }
  return out;
}

std::optional<CacheState> KvCache::state(const std::string& sequence) const {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(sequence);
  if (found == records_.end()) return std::nullopt;
  const Tree* t = tree(found->second->key.id());
  CacheState out = state_of(*found->second, t == nullptr ? nullptr : t->index.get());
  out.stays_on_close = stays_on_close(*found->second);
  return out;
}

std::vector<CacheEvent> KvCache::events(const std::string& sequence) const {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(sequence);
  if (found == records_.end()) return {};
  return {found->second->events.begin(), found->second->events.end()};
}

KvCache::Outlook KvCache::outlook(const PageKey& key, std::span<const TokenId> ids) const {
  const std::lock_guard lock(mutex_);
  Outlook out;
  const Tree* t = tree(key.id());
  if (t == nullptr || ids.empty()) return out;
  const PrefixMatch match = t->index->match(ids.first(ids.size() - 1));
  out.cached = match.usable;
  for (const Node* node : match.path) {
    if (node->first >= out.cached) break;
    std::size_t missing = 0;
    for (const Blob& page : node->pages) missing += !page.memory && page.on_disk ? page.bytes : 0;
    if (missing > 0) out.from_disk += std::min(node->end(), out.cached) - node->first;
    out.disk_bytes += missing;
  }
  if (out.cached > 0) out.tier = out.from_disk > 0 ? Tier::disk : Tier::ram;
  return out;
}

std::uint64_t KvCache::memory_bytes() const {
  const std::lock_guard lock(mutex_);
  return memory_bytes_ + private_bytes_;
}

std::uint64_t KvCache::disk_bytes() const {
  const std::lock_guard lock(mutex_);
  return disk_bytes_;
}

std::uint64_t KvCache::bytes_restored() const {
  const std::lock_guard lock(mutex_);
  return bytes_restored_;
}

std::string KvCache::check_links() const {
  std::uint64_t memory = 0, disk = 0;
  for (const auto& entry : trees_) {
    const PrefixTree& index = *entry.second->index;
    if (std::string problem = index.check(); !problem.empty()) return problem;
    for (const auto& [hash, node] : index.nodes()) {
      memory += node->memory_bytes();
      disk += node->disk_bytes();
      for (const ChatRecord* owner : node->owners) {
        const auto i = static_cast<std::size_t>(node->first / kPageTokens);
        if (i >= owner->path.size() || owner->path[i] != node.get()) return "A page names a chat that does not go through it.";
      }
    }
  }
  for (const auto& entry : records_)
    for (const Node* node : entry.second->path)
      if (std::count(node->owners.begin(), node->owners.end(), entry.second.get()) != 1) return "A chat goes through a page that does not name it.";
  if (memory != memory_bytes_) return "The bytes counted in memory are not the bytes held.";
  if (disk != disk_bytes_) return "The bytes counted on disk are not the bytes held.";
  return {};
}

// Content that does not agree with its checksum is dropped, and what hangs on it.
bool KvCache::check_content(Tree& t, Node& node, Blob& blob, int group, int position) {
  bool sound = true;
  if (blob.memory && t.memory && t.memory->is_host() && XXH3_64bits(blob.memory.get(), blob.bytes) != blob.checksum) {
    if (node.users > 0) return false;
    let_go(blob);
    sound = false;
  }
  if (blob.on_disk) {
    const BlobId id = blob_id(t, node, group, position);
    std::vector<std::byte> content(store_->long_enough(id) ? blob.bytes : 0);
    std::uint64_t checksum = 0;
    if (content.size() == blob.bytes && store_->read_blob(id, content, checksum) == Refusal::none) return sound;
    forget_blob(t, node, blob, group, position);
    sound = false;
  }
  return sound;
}

// One page of one tree; the lock is held for it alone.
void KvCache::check_node(const std::string& key_id, const PageHash& hash, int& pages, int& bad) {
  const std::lock_guard lock(mutex_);
  Tree* t = tree(key_id);
  Node* node = t == nullptr ? nullptr : t->index->find(hash);
  if (node == nullptr) return;  // went with a bad one, or made room
  bool lost = false;
  for (std::size_t g = 0; g < node->pages.size(); ++g) {
    Blob& page = node->pages[g];
    pages += page.present() ? 1 : 0;
    if (check_content(*t, *node, page, static_cast<int>(g), 0)) continue;
    ++bad;
    lost = lost || (!page.present() && t->index->layout().groups[g].window == 0);
  }
  for (auto& [position, state] : node->states) {
    pages += state.present() ? 1 : 0;
    bad += check_content(*t, *node, state, -1, position) ? 0 : 1;
  }
  std::erase_if(node->states, [](const auto& state) { return !state.second.present(); });
  if (lost) drop_subtree(*t, node, {MissCause::snapshot_refused, {}, {}, "disk", std::string(name_of(Refusal::checksum)), now_ms()});
}

Result<std::string> KvCache::check_integrity() {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kTurn{2};       // of work between two pauses
  constexpr std::chrono::microseconds kPause{200};    // for those who wait for the lock: it goes to no one in particular when it is free
  flush(std::chrono::milliseconds(5000));
  const auto wrong = [](std::string what) { return make_error(ErrorCode::internal, std::move(what)); };
  std::vector<std::pair<std::string, PageHash>> order;
  {
    const std::lock_guard lock(mutex_);
    if (std::string problem = check_links(); !problem.empty()) return wrong(problem);
    for (const auto& entry : trees_)
      for (const auto& node : entry.second->index->nodes()) order.emplace_back(entry.first, node.first);
  }
  int pages = 0, bad = 0;
  Clock::time_point since = Clock::now();
  for (const auto& [key_id, hash] : order) {
    check_node(key_id, hash, pages, bad);
    if (Clock::now() - since < kTurn) continue;
    std::this_thread::sleep_for(kPause);
    since = Clock::now();
  }
  if (bad > 0) return wrong(std::to_string(bad) + " of " + std::to_string(pages) + " pages did not agree with their checksums and were dropped.");
  return "All " + std::to_string(pages) + " pages agree with their checksums.";
}

}  // namespace tg
