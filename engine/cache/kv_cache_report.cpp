// Looking at the cache: states of chats, what a prompt would find, and whether all is as it should be.
#include <xxhash.h>

#include <algorithm>

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
  }
  return out;
}

std::optional<CacheState> KvCache::state(const std::string& sequence) const {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(sequence);
  if (found == records_.end()) return std::nullopt;
  const Tree* t = tree(found->second->key.id());
  return state_of(*found->second, t == nullptr ? nullptr : t->index.get());
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
  out.cached = t->index->usable(match);
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

Result<std::string> KvCache::check_integrity() {
  flush(std::chrono::milliseconds(5000));
  const std::lock_guard lock(mutex_);
  std::uint64_t memory = 0, disk = 0;
  int pages = 0;
  const auto wrong = [](std::string what) { return make_error(ErrorCode::internal, std::move(what)); };
  for (const auto& entry : trees_) {
    const Tree& t = *entry.second;
    if (std::string problem = t.index->check(); !problem.empty()) return wrong(problem);
    for (const auto& [hash, node] : t.index->nodes()) {
      memory += node->memory_bytes();
      disk += node->disk_bytes();
      for (const ChatRecord* owner : node->owners) {
        const auto i = static_cast<std::size_t>(node->first / kPageTokens);
        if (i >= owner->path.size() || owner->path[i] != node.get()) return wrong("A page names a chat that does not go through it.");
      }
      const auto check = [&](const Blob& blob, int group, int position) -> std::string {
        if (!blob.present()) return {};
        ++pages;
        if (blob.memory && t.memory && t.memory->is_host() && XXH3_64bits(blob.memory.get(), blob.bytes) != blob.checksum)
          return "A page in memory does not agree with its checksum.";
        if (!blob.on_disk) return {};
        std::vector<std::byte> content(blob.bytes);
        std::uint64_t checksum = 0;
        const Refusal refusal = store_->read_blob(blob_id(t, *node, group, position), content, checksum);
        return refusal == Refusal::none ? std::string{} : "A page on disk was refused: " + std::string(name_of(refusal)) + ".";
      };
      for (std::size_t g = 0; g < node->pages.size(); ++g)
        if (std::string problem = check(node->pages[g], static_cast<int>(g), 0); !problem.empty()) return wrong(problem);
      for (const auto& [position, state] : node->states)
        if (std::string problem = check(state, -1, position); !problem.empty()) return wrong(problem);
    }
  }
  for (const auto& entry : records_) {
    const ChatRecord& record = *entry.second;
    for (const Node* node : record.path)
      if (std::count(node->owners.begin(), node->owners.end(), &record) != 1) return wrong("A chat goes through a page that does not name it.");
  }
  if (memory != memory_bytes_) return wrong("The bytes counted in memory are not the bytes held.");
  if (disk != disk_bytes_) return wrong("The bytes counted on disk are not the bytes held.");
  return "All " + std::to_string(pages) + " pages agree with their checksums.";
}

}  // namespace tg
