// What stays where: budgets, eviction, pins, and the records of it.
#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <utility>

#include "engine/cache/cache_clock.h"
#include "engine/cache/kv_cache.h"

namespace tg {
namespace {

constexpr std::size_t kMaxEvents = 64;  // kept per chat

bool least_recent_last(const Node* a, const Node* b) {
  if (a->last_use != b->last_use) return a->last_use > b->last_use;
  return a->first < b->first;  // tail before head
}

std::string reason_of(const Loss& loss) {
  if (loss.cause == MissCause::snapshot_refused) return "dropped_check";
  if (loss.cause == MissCause::model_reloaded) return "dropped_unload";
  if (loss.by == "user" || loss.by == "idle" || loss.by == "close") return "dropped_" + loss.by;
  return loss.by_chat.empty() ? "dropped_budget" : "dropped_budget:" + loss.by_chat;
}

// Nodes from which room can be made, least recently used first; a parent follows when its last child has gone.
template <class Holds, class Free>
class Candidates {
 public:
  using Entry = Node*;
  Candidates(Holds holds, Free is_free) : holds_(holds), free_(is_free), heap_(least_recent_last) {}
  void consider(Node* node) {
    if (node->parent == nullptr || !holds_(*node) || !free_(*node)) return;
    for (const Node* child : node->children)
      if (holds_(*child)) return;
    heap_.push(node);
  }
  Node* next() {
    if (heap_.empty()) return nullptr;
    Node* node = heap_.top();
    heap_.pop();
    return node;
  }

 private:
  Holds holds_;
  Free free_;
  std::priority_queue<Node*, std::vector<Node*>, bool (*)(const Node*, const Node*)> heap_;
};

}  // namespace

void KvCache::hold(Blob& blob, std::shared_ptr<std::byte> memory) {
  memory_bytes_ += blob.bytes;
  blob.memory = std::move(memory);
}

void KvCache::let_go(Blob& blob) {
  if (!blob.memory) return;
  memory_bytes_ -= blob.bytes;
  blob.memory.reset();
}

bool KvCache::pinned(const Node& node) const {
  return std::any_of(node.owners.begin(), node.owners.end(), [](const ChatRecord* r) { return r->pinned; });
}

void KvCache::set_path(ChatRecord& record, std::vector<Node*> path) {
  std::size_t same = 0;
  while (same < path.size() && same < record.path.size() && path[same] == record.path[same]) ++same;
  for (std::size_t i = same; i < record.path.size(); ++i) std::erase(record.path[i]->owners, &record);
  for (std::size_t i = same; i < path.size(); ++i) path[i]->owners.push_back(&record);
  record.path = std::move(path);
}

void KvCache::note(ChatRecord& record, std::string movement, std::string reason) {
  record.reason = reason;
  changed();
  const std::int64_t now = now_ms();
  if (!record.events.empty() && record.events.back().movement == movement && record.events.back().reason == reason) {
    record.events.back().at_ms = now;  // one movement, page after page
    return;
  }
  record.events.push_back({now, record.sequence, std::move(movement), std::move(reason)});
  if (record.events.size() > kMaxEvents) record.events.pop_front();
}

void KvCache::lose(ChatRecord& record, std::size_t kept_pages, const Loss& loss) {
  if (kept_pages >= record.path.size()) return;
  for (std::size_t i = kept_pages; i < record.path.size(); ++i) std::erase(record.path[i]->owners, &record);
  record.path.resize(kept_pages);
  if (loss.cause == MissCause::none) return;
  record.loss = loss;
  note(record, "dropped", reason_of(loss));
}

void KvCache::drop(Tree& t, Node* leaf, const Loss& loss) {
  const std::vector<ChatRecord*> owners = leaf->owners;
  for (ChatRecord* owner : owners) lose(*owner, static_cast<std::size_t>(leaf->first / kPageTokens), loss);
  for (Blob& page : leaf->pages) let_go(page);
  for (auto& [position, state] : leaf->states) let_go(state);
  forget_files(t, *leaf);
  t.index->remove(leaf);
}

void KvCache::drop_subtree(Tree& t, Node* node, const Loss& loss) {
  const std::function<bool(const Node*)> used = [&](const Node* n) {
    return n->users > 0 || std::any_of(n->children.begin(), n->children.end(), used);
  };
  if (used(node)) return;  // stays, without the content that is gone; nobody can start behind it
  while (!node->children.empty()) drop_subtree(t, node->children.back(), loss);
  drop(t, node, loss);
}

void KvCache::make_room(std::size_t bytes, const Cause& cause) {
  const auto over = [&] { return memory_bytes_ + private_bytes_ + bytes > budget_.ram; };
  if (!over()) return;
  Candidates candidates([](const Node& n) { return n.in_memory(); }, [this](const Node& n) { return n.users == 0 && !pinned(n); });
  std::map<const Node*, Tree*> roots;
  for (const auto& entry : trees_) {
    roots[entry.second->index->root()] = entry.second.get();
    for (const auto& node : entry.second->index->nodes()) candidates.consider(node.second.get());
  }
  while (over()) {
    Node* node = candidates.next();
    if (node == nullptr) return;
    Node* parent = node->parent;
    const Node* root = parent;
    while (root->parent != nullptr) root = root->parent;
    if (shrink_memory(*roots.at(root), *node, cause)) candidates.consider(parent);
  }
}

// The node's pages leave memory: to disk where they are or can be, else away. False: they are being written first.
bool KvCache::shrink_memory(Tree& t, Node& node, const Cause& cause) {
  const auto safe = [](const Blob& b) { return !b.memory || b.on_disk; };
  bool stored = std::all_of(node.pages.begin(), node.pages.end(), safe);
  for (const auto& entry : node.states) stored = stored && safe(entry.second);
  if (!stored && disk_on() && !write_failed_ && !node.not_for_disk && !node.owners.empty()) {
    post_write(node.owners.front()->sequence, true);
    waiting_ = cause;
    return false;
  }
  if (!stored) {
    if (!node.children.empty()) return false;
    drop(t, &node, {MissCause::evicted, cause.by, cause.by_chat, "ram", {}, now_ms()});
    return true;
  }
  for (Blob& page : node.pages) let_go(page);
  for (auto& [position, state] : node.states) let_go(state);
  for (ChatRecord* owner : node.owners) note(*owner, "to_disk", cause.by_chat.empty() ? "moved_budget" : "moved_budget:" + cause.by_chat);
  return true;
}

void KvCache::make_disk_room(const Cause& cause) {
  if (disk_bytes_ <= budget_.disk) return;
  Candidates candidates([](const Node& n) { return n.on_disk(); }, [this](const Node& n) { return n.users == 0 && !pinned(n); });
  std::map<const Node*, Tree*> roots;
  for (const auto& entry : trees_) {
    roots[entry.second->index->root()] = entry.second.get();
    for (const auto& node : entry.second->index->nodes()) candidates.consider(node.second.get());
  }
  std::set<std::string> changed;
  while (disk_bytes_ > budget_.disk) {
    Node* node = candidates.next();
    if (node == nullptr) break;
    Node* parent = node->parent;
    const Node* root = parent;
    while (root->parent != nullptr) root = root->parent;
    Tree& t = *roots.at(root);
    for (const ChatRecord* owner : node->owners) changed.insert(owner->sequence);
    if (!node->in_memory() && node->children.empty()) {
      drop(t, node, {MissCause::evicted, cause.by, cause.by_chat, "disk", {}, now_ms()});
    } else {
      forget_files(t, *node);
      node->not_for_disk = true;
    }
    candidates.consider(parent);
  }
  for (const std::string& sequence : changed)
    queue_->post([this, sequence] { write_record(sequence); });
}

void KvCache::forget_files(Tree& t, Node& node) {
  for (std::size_t g = 0; g < node.pages.size(); ++g) forget_blob(t, node, node.pages[g], static_cast<int>(g), 0);
  for (auto& [position, state] : node.states) forget_blob(t, node, state, -1, position);
}

void KvCache::forget_blob(Tree& t, const Node& node, Blob& blob, int group, int position) {
  if (!blob.on_disk && !blob.writing) return;
  disk_bytes_ -= blob.bytes;
  blob.on_disk = blob.writing = false;
  const BlobId id = blob_id(t, node, group, position);
  queue_->post([this, id] {
    {
      const std::lock_guard lock(mutex_);
      if (const Tree* owner = tree(id.key_id)) {
        const Node* again = owner->index->find(id.node);  // written anew meanwhile?
        if (again != nullptr && id.group >= 0 && (again->pages[static_cast<std::size_t>(id.group)].on_disk)) return;
        if (again != nullptr && id.group < 0 && again->states.contains(id.state_position) && again->states.at(id.state_position).on_disk) return;
      }
    }
    store_->remove_blob(id);
  });
}

bool KvCache::evict_record(ChatRecord& record, const Loss& loss) {
  if (record.busy > 0) return false;
  Tree* t = tree(record.key.id());
  if (t == nullptr || record.path.empty()) return true;
  const std::function<bool(const Node*)> only_ours = [&](const Node* n) {
    return n->users == 0 && std::all_of(n->owners.begin(), n->owners.end(), [&](const ChatRecord* r) { return r == &record; }) &&
           std::all_of(n->children.begin(), n->children.end(), only_ours);
  };
  // From the tail up, as long as nothing of another chat hangs below.
  std::size_t first = record.path.size();
  while (first > 0) {
    const Node* node = record.path[first - 1];
    const Node* next = first < record.path.size() ? record.path[first] : nullptr;
    bool ours = node->users == 0 && std::all_of(node->owners.begin(), node->owners.end(), [&](const ChatRecord* r) { return r == &record; });
    for (const Node* child : node->children) ours = ours && (child == next || only_ours(child));
    if (!ours) break;
    --first;
  }
  if (first < record.path.size()) drop_subtree(*t, record.path[first], loss);
  changed();
  return true;
}

Status KvCache::evict(const std::string& sequence) {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(sequence);
  if (found == records_.end()) return Ok{};  // nothing is held: that is what was asked for
  ChatRecord& record = *found->second;
  const Tier tier = record.path.empty() ? Tier::none : record.path.back()->in_memory() ? Tier::ram : Tier::disk;
  if (!evict_record(record, {MissCause::evicted, "user", {}, std::string(name_of(tier)), {}, now_ms()}))
    return make_error(ErrorCode::bad_argument, "This chat is being written, so its cache cannot be dropped now.");
  queue_->post([this, sequence] { write_record(sequence); });
  return Ok{};
}

Status KvCache::pin(const std::string& sequence, bool pin_it) {
  const std::lock_guard lock(mutex_);
  ChatRecord& record = record_of(sequence);
  record.pinned = pin_it;
  note(record, pin_it ? "pinned" : "unpinned", pin_it ? "pinned" : "used");
  if (!pin_it) make_room(0, {"budget", {}});
  queue_->post([this, sequence] { write_record(sequence); });
  return Ok{};
}

Status KvCache::keep(const std::string& sequence, Tier tier) {
  if (tier == Tier::none) return evict(sequence);
  if (tier == Tier::gpu) return make_error(ErrorCode::bad_argument, "There is no GPU memory to keep it in.");
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(sequence);
  if (found == records_.end()) return make_error(ErrorCode::bad_argument, "This chat has no cache.");
  if (tier == Tier::disk && !disk_on()) return make_error(ErrorCode::bad_argument, "Nothing may be kept on disk: the budget is 0 or the folder cannot be written.");
  note(*found->second, tier == Tier::disk ? "to_disk" : "kept", "kept");
  found->second->last_use = now_ms();
  for (Node* node : found->second->path) {
    node->last_use = found->second->last_use;
    node->not_for_disk = false;
  }
  if (tier == Tier::disk) {
    post_write(sequence, true);
    queue_->post([this, sequence] { leave_memory(sequence); });
  } else {
    queue_->post([this, sequence] { enter_memory(sequence, false); });
  }
  return Ok{};
}

Status KvCache::forget(const std::string& sequence) {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(sequence);
  if (found == records_.end()) return Ok{};
  if (!evict_record(*found->second, {MissCause::evicted, "user", {}, "ram", {}, now_ms()}))
    return make_error(ErrorCode::bad_argument, "This chat is being written, so its cache cannot be dropped now.");
  set_path(*found->second, {});
  records_.erase(found);
  changed();
  if (store_) queue_->post([this, sequence] { store_->remove_chat(sequence); });
  return Ok{};
}

Status KvCache::clear() {
  const std::lock_guard lock(mutex_);
  bool all = true;
  for (auto& entry : records_) {
    all = evict_record(*entry.second, {MissCause::evicted, "user", {}, "ram", {}, now_ms()}) && all;
    queue_->post([this, sequence = entry.first] { write_record(sequence); });
  }
  // What no chat's current text goes through any more.
  for (auto& entry : trees_) {
    const std::vector<Node*> top = entry.second->index->root()->children;
    for (Node* node : top) drop_subtree(*entry.second, node, {MissCause::evicted, "user", {}, "ram", {}, now_ms()});
  }
  if (!all) return make_error(ErrorCode::bad_argument, "A chat is being written; its cache was left.");
  return Ok{};
}

void KvCache::fork(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(from);
  if (found == records_.end() || records_.contains(to)) return;
  const ChatRecord& parent = *found->second;
  auto child = std::make_unique<ChatRecord>();
  child->sequence = to;
  child->title = to;
  child->key = parent.key;
  child->ids = parent.ids;
  child->layout = parent.layout;
  child->loss = parent.loss;
  child->keep = parent.keep;
  child->last_use = now_ms();
  set_path(*child, parent.path);
  note(*child, "shared", "shares:" + std::to_string(parent.ids.size()) + ":" + parent.title);
  records_.emplace(to, std::move(child));
  queue_->post([this, to] { write_record(to); });
}

void KvCache::set_budget(const CacheBudget& budget) {
  const std::lock_guard lock(mutex_);
  budget_ = budget;
  write_failed_ = false;
  make_room(0, {"budget", {}});
  make_disk_room({"budget", {}});
  changed();
}

CacheBudget KvCache::budget() const {
  const std::lock_guard lock(mutex_);
  return budget_;
}

}  // namespace tg
