// What stays when the program closes, and what leaves memory because nobody uses it.
#include <algorithm>
#include <set>
#include <utility>

#include "engine/cache/cache_clock.h"
#include "engine/cache/kv_cache.h"

namespace tg {

bool KvCache::stays_on_close(const ChatRecord& record) const {
  if (!disk_on() || record.keep == KeepOnClose::never) return false;
  if (record.keep == KeepOnClose::always || record.pinned) return true;
  std::uint64_t bytes = 0;
  for (const Node* node : record.path) bytes += std::max(node->memory_bytes(), node->disk_bytes());
  return bytes <= rules_.max_bytes;
}

void KvCache::set_rules(const KeepRules& rules) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> stayed;
  for (const auto& [sequence, record] : records_)
    if (stays_on_close(*record)) stayed.push_back(sequence);
  rules_ = rules;
  for (const auto& [sequence, record] : records_)
    if (!std::binary_search(stayed.begin(), stayed.end(), sequence) && stays_on_close(*record)) post_write(sequence);
}

KeepRules KvCache::rules() const {
  const std::lock_guard lock(mutex_);
  return rules_;
}

Status KvCache::keep_on_close(const std::string& sequence, KeepOnClose keep) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(record_of(sequence).keep, keep) == keep) return Ok{};
  changed();
  post_write(sequence);
  return Ok{};
}

// The pages that only chats pass through which do not stay, and those of no chat: from the tails up.
void KvCache::drop_what_does_not_stay() {
  const std::int64_t now = now_ms();
  std::vector<std::string> leaving;
  for (const auto& [sequence, record] : records_)
    if (!record->path.empty() && !stays_on_close(*record)) leaving.push_back(sequence);
  if (leaving.empty() || !disk_on()) return;
  const auto stays = [&](const ChatRecord* owner) { return !std::binary_search(leaving.begin(), leaving.end(), owner->sequence); };
  for (auto& entry : trees_) {
    for (Node* node : tails_first(*entry.second)) {
      if (node->users > 0 || !node->children.empty() || std::any_of(node->owners.begin(), node->owners.end(), stays)) continue;
      drop(*entry.second, node, {MissCause::evicted, "close", {}, node->in_memory() ? "ram" : "disk", {}, now});
    }
  }
  for (const std::string& sequence : leaving) queue_->post([this, sequence] { write_record(sequence); });
}

void KvCache::closing() {
  const std::lock_guard lock(mutex_);
  closing_ = true;
}

// The model is on its way out: what its pages turn into. At the end of the program only what stays is written.
void KvCache::leave_with_model(const Tree& t) {
  if (closing_) drop_what_does_not_stay();
  for (auto& [sequence, record] : records_) {
    if (!(record->key == t.key) || std::none_of(record->path.begin(), record->path.end(), [](const Node* n) { return n->in_memory(); })) continue;
    if (closing_ && disk_on()) note(*record, "to_disk", "moved_close");
    post_write(sequence, !closing_);
  }
}

// After keep(disk): what is written and nobody else uses leaves memory.
void KvCache::leave_memory(const std::string& sequence) {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(sequence);
  if (found == records_.end() || found->second->busy > 0) return;
  for (Node* node : found->second->path) {
    if (node->users > 0 || node->owners.size() > 1) continue;
    for (Blob& page : node->pages)
      if (page.on_disk) let_go(page);
    for (auto& [position, state] : node->states)
      if (state.on_disk) let_go(state);
  }
  changed();
}

void KvCache::prefetch(const std::string& sequence) {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(sequence);
  if (found == records_.end()) return;
  const Tree* t = tree(found->second->key.id());
  wanted_.clear();
  if (t != nullptr && t->memory) queue_->post([this, sequence] { enter_memory(sequence, true); });
  else wanted_ = sequence;
}

// What is on disk only is read: all that a turn which goes on at the end of the text needs. A bad page is told by the turn that meets it.
void KvCache::enter_memory(const std::string& sequence, bool only_free_room) {
  std::unique_lock lock(mutex_);
  for (std::size_t i = 0;; ++i) {
    const auto found = records_.find(sequence);
    // A turn that has begun reads by itself.
    if (found == records_.end() || i >= found->second->path.size() || found->second->busy > 0) return;
    Tree* t = tree(found->second->key.id());
    if (t == nullptr || !t->memory) return;
    const CacheLayout& layout = t->index->layout();
    const int length = static_cast<int>(found->second->ids.size());
    Node* node = found->second->path[i];
    const bool last = i + 1 == found->second->path.size();
    if (only_free_room && memory_bytes_ + private_bytes_ + node->disk_bytes() > budget_.ram) return;
    ++node->users;
    Refusal refusal = Refusal::none;
    for (std::size_t g = 0; g < node->pages.size() && refusal == Refusal::none; ++g)
      if (!node->pages[g].memory && node->pages[g].on_disk && static_cast<int>(i) >= PrefixTree::first_needed_page(layout.groups[g].window, length))
        refusal = read_blob(*t, *node, static_cast<int>(g), 0, lock);
    std::vector<int> states;
    for (const auto& [position, state] : node->states)
      if (last && !state.memory && state.on_disk) states.push_back(position);
    for (const int position : states)
      if (refusal == Refusal::none && node->states.contains(position)) refusal = read_blob(*t, *node, -1, position, lock);
    --node->users;
    changed();
    if (refusal != Refusal::none) return;
  }
}

void KvCache::leave_idle(std::int64_t now) {
  const std::lock_guard lock(mutex_);
  if (rules_.idle_ms <= 0) return;
  const std::int64_t limit = now - rules_.idle_ms;
  bool any = false;
  for (const auto& entry : trees_)
    for (const auto& node : entry.second->index->nodes()) any = any || (node.second->in_memory() && is_idle(*node.second, limit));
  if (!any) return;
  for (const auto& [sequence, record] : records_)
    if (disk_on() && std::any_of(record->path.begin(), record->path.end(), [&](const Node* n) { return n->in_memory() && is_idle(*n, limit); })) post_write(sequence, true);
  queue_->post([this, limit] { empty_idle(limit); });
}

bool KvCache::is_idle(const Node& node, std::int64_t limit) const { return node.last_use <= limit && node.users == 0 && !pinned(node); }

// What is on disk leaves memory; what could not be written is dropped, from the tails up.
void KvCache::empty_idle(std::int64_t limit) {
  const std::lock_guard lock(mutex_);
  const auto stored = [](const Blob& b) { return !b.memory || b.on_disk; };
  std::set<ChatRecord*> moved;
  for (auto& entry : trees_) {
    for (Node* node : tails_first(*entry.second)) {
      if (!node->in_memory() || !is_idle(*node, limit)) continue;
      const bool safe = std::all_of(node->pages.begin(), node->pages.end(), stored) &&
                        std::all_of(node->states.begin(), node->states.end(), [&](const auto& state) { return stored(state.second); });
      if (!safe && node->children.empty()) {
        drop(*entry.second, node, {MissCause::evicted, "idle", {}, "ram", {}, now_ms()});
      } else if (safe) {
        for (Blob& page : node->pages) let_go(page);
        for (auto& state : node->states) let_go(state.second);
        moved.insert(node->owners.begin(), node->owners.end());
      }
    }
  }
  for (ChatRecord* record : moved) note(*record, "to_disk", "moved_idle");
  changed();
}

std::vector<Node*> KvCache::tails_first(const Tree& t) {
  std::vector<Node*> all;
  for (const auto& entry : t.index->nodes()) all.push_back(entry.second.get());
  std::sort(all.begin(), all.end(), [](const Node* a, const Node* b) { return a->first > b->first; });
  return all;
}

}  // namespace tg
