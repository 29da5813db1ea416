// The life of a turn: plan, restore, attach, commit, finish.
#include "engine/cache/kv_cache.h"

#include <xxhash.h>

#include <algorithm>
#include <set>
#include <utility>

#include "engine/cache/cache_clock.h"

namespace tg {
namespace {

constexpr std::size_t kMaxStates = 8;  // recurrent states kept along one chat: its ends, the rest evenly thinned

std::size_t zu(int v) { return static_cast<std::size_t>(v); }
int pages_of(int tokens) { return (tokens + kPageTokens - 1) / kPageTokens; }

bool starts_with(std::span<const TokenId> ids, std::span<const TokenId> beginning) {
  return ids.size() >= beginning.size() && std::equal(beginning.begin(), beginning.end(), ids.begin());
}

}  // namespace

KvCache::KvCache(const std::string& folder, const CacheBudget& budget, const KeepRules& rules)
    : budget_(budget), rules_(rules), store_(SnapshotStore::open(folder)), queue_(std::make_unique<BackgroundQueue>()) {
  if (!store_) return;
  load_snapshots();
  drop_what_does_not_stay();  // of a process that was killed
}

KvCache::~KvCache() {
  {
    const std::lock_guard lock(mutex_);
    listener_ = nullptr;
    drop_what_does_not_stay();
  }
  queue_->drain(std::chrono::milliseconds(1000));
}

KvCache::Tree* KvCache::tree(const std::string& key_id) const {
  const auto found = trees_.find(key_id);
  return found == trees_.end() ? nullptr : found->second.get();
}

// A chat may be pinned before it holds anything.
ChatRecord& KvCache::record_of(const std::string& sequence) {
  auto& record = records_[sequence];
  if (!record) {
    record = std::make_unique<ChatRecord>();
    record->sequence = record->title = sequence;
  }
  return *record;
}

void KvCache::open(const PageKey& key, const CacheLayout& layout, std::shared_ptr<PageMemory> memory) {
  const std::lock_guard lock(mutex_);
  const std::string id = key.id();
  Tree* known = tree(id);
  if (known != nullptr && !(known->index->layout() == layout)) {  // snapshots of an engine that laid pages out differently
    while (!known->index->root()->children.empty())
      drop_subtree(*known, known->index->root()->children.back(), {MissCause::snapshot_refused, {}, {}, "disk", "engine_version", now_ms()});
    known->index = std::make_unique<PrefixTree>(known->key_text, layout);  // the tree itself stays: a write may be on its way
  }
  if (known == nullptr) {
    auto fresh = std::make_unique<Tree>();
    fresh->key = key;
    fresh->key_id = id;
    fresh->key_text = key.text();
    fresh->index = std::make_unique<PrefixTree>(fresh->key_text, layout);
    known = trees_.emplace(id, std::move(fresh)).first->second.get();
  }
  known->memory = std::move(memory);
  ++known->opened;
  if (const auto found = records_.find(wanted_); found != records_.end() && found->second->key == key)
    queue_->post([this, sequence = std::exchange(wanted_, {})] { enter_memory(sequence, true); });
}

void KvCache::close(const PageKey& key) {
  const std::string id = key.id();
  {
    const std::lock_guard lock(mutex_);
    Tree* t = tree(id);
    if (t == nullptr || t->opened == 0 || --t->opened > 0) return;
    leave_with_model(*t);
  }
  queue_->post([this, id] { release_memory(id); });  // after the writes that are on their way
}

void KvCache::release_memory(const std::string& key_id) {
  const std::lock_guard lock(mutex_);
  Tree* t = tree(key_id);
  if (t == nullptr || t->opened > 0) return;
  std::vector<Node*> all;
  for (const auto& entry : t->index->nodes()) all.push_back(entry.second.get());
  std::sort(all.begin(), all.end(), [](const Node* a, const Node* b) { return a->first > b->first; });
  for (Node* node : all) {
    for (Blob& page : node->pages) let_go(page);
    for (auto& [position, state] : node->states) let_go(state);
    if (!node->on_disk() && node->children.empty()) drop(*t, node, {MissCause::model_reloaded, {}, {}, "ram", {}, now_ms()});
  }
  t->memory.reset();
  changed();
}

std::unique_ptr<CacheLease> KvCache::begin(const CacheRequest& request) {
  const std::lock_guard lock(mutex_);
  auto lease = std::make_unique<CacheLease>();
  lease->sequence_ = request.sequence;
  lease->title_ = request.title.empty() ? request.sequence : request.title;
  lease->key_id_ = request.key.id();
  lease->enabled_ = request.use_cache;
  lease->recorded_ = request.use_cache && !request.no_chat;
  lease->publishing_ = request.use_cache;
  lease->prompt_.assign(request.ids.begin(), request.ids.end());
  lease->restart_points_ = request.restart_points;
  Tree& t = *tree(lease->key_id_);
  lease->memory_.resize(t.index->layout().groups.size());
  lease->rows_.resize(lease->memory_.size());
  lease->tables_.resize(lease->memory_.size());
  lease->released_.assign(lease->memory_.size(), 0);
  lease->finding_.report.enabled = request.use_cache;
  if (request.use_cache) {
    plan(*lease, t);
    if (!lease->recorded_) return lease;
    find_cause(*lease, t);
    ChatRecord& record = record_of(request.sequence);
    record.title = lease->title_;
    record.keep = request.keep_on_close.value_or(record.keep);
    ++record.busy;
  } else {
    lease->finding_.report.outcome = "disabled";
  }
  return lease;
}

void KvCache::plan(CacheLease& lease, Tree& t) {
  unplan(lease);
  const std::span<const TokenId> prompt = lease.prompt_;
  lease.plan_ = t.index->match(prompt.first(prompt.size() - std::min<std::size_t>(prompt.size(), 1)));
  lease.cached_ = lease.plan_.usable;
  for (Node* node : lease.plan_.path) ++node->users;
  lease.from_disk_.assign(lease.plan_.path.size(), false);
}

void KvCache::unplan(CacheLease& lease) {
  for (Node* node : lease.plan_.path) --node->users;
  lease.plan_ = {};
  lease.cached_ = 0;
}

bool KvCache::restore(CacheLease& lease, std::size_t max_bytes) {
  std::unique_lock lock(mutex_);
  if (lease.ready_) return true;
  Tree& t = *tree(lease.key_id_);
  const CacheLayout& layout = t.index->layout();
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < lease.plan_.path.size();) {
    Node& node = *lease.plan_.path[i];
    int group = -2, position = 0;  // -2: nothing is missing, -1: the state
    for (std::size_t g = 0; g < layout.groups.size() && group == -2; ++g)
      if (!node.pages[g].memory && static_cast<int>(i) >= PrefixTree::first_needed_page(layout.groups[g].window, lease.cached_)) group = static_cast<int>(g);
    const auto state = node.states.find(lease.cached_);
    if (group == -2 && layout.state_bytes > 0 && state != node.states.end() && !state->second.memory) {
      group = -1;
      position = lease.cached_;
    }
    if (group == -2) {
      ++i;
      continue;
    }
    if (bytes >= max_bytes) return false;
    const Refusal refusal = read_blob(t, node, group, position, lock);
    if (refusal == Refusal::none) {
      lease.from_disk_[i] = true;
      bytes += group < 0 ? layout.state_bytes : layout.groups[static_cast<std::size_t>(group)].page_bytes;
      continue;
    }
    const Loss loss{MissCause::snapshot_refused, {}, {}, "disk", std::string(name_of(refusal)), now_ms()};
    unplan(lease);
    Blob& bad = group < 0 ? node.states.at(position) : node.pages[static_cast<std::size_t>(group)];
    forget_blob(t, node, bad, group, position);
    if (group < 0) node.states.erase(position);
    if (group >= 0 && layout.groups[static_cast<std::size_t>(group)].window == 0) {
      drop_subtree(t, &node, loss);
    } else if (const auto record = records_.find(lease.sequence_); record != records_.end()) {
      record->second->loss = loss;
      note(*record->second, "dropped", "dropped_check");
    }
    plan(lease, t);
    find_cause(lease, t);
    i = 0;
  }
  attach(lease, t);
  return true;
}

void KvCache::attach(CacheLease& lease, Tree& t) {
  const CacheLayout& layout = t.index->layout();
  const std::size_t n_full = zu(lease.cached_ / kPageTokens);
  for (std::size_t g = 0; g < layout.groups.size(); ++g)
    for (std::size_t i = 0; i < n_full; ++i) {
      lease.memory_[g].push_back(lease.plan_.path[i]->pages[g].memory);
      lease.rows_[g].push_back(lease.memory_[g].back().get());
    }
  if (lease.cached_ % kPageTokens != 0) {  // the turn goes on inside this page: it works on a copy
    Node* source = lease.plan_.path[n_full];
    for (std::size_t g = 0; g < layout.groups.size(); ++g) {
      const std::size_t size = layout.groups[g].page_bytes;
      auto copy = t.memory->allocate(size, false);
      t.memory->copy(copy.get(), source->pages[g].memory.get(), size);
      private_bytes_ += size;
      lease.memory_[g].push_back(copy);
      lease.rows_[g].push_back(copy.get());
    }
    for (const auto& [position, state] : source->states) {  // a fork or an edit further up starts from these
      if (position > lease.cached_ || !state.memory || lease.states_.contains(position)) continue;
      lease.states_[position] = state.memory;
      private_bytes_ += layout.state_bytes;
    }
  }
  if (layout.state_bytes > 0) {
    lease.state_ = t.memory->allocate(layout.state_bytes, lease.cached_ == 0);
    if (lease.cached_ > 0) t.memory->copy(lease.state_.get(), lease.plan_.path.back()->states.at(lease.cached_).memory.get(), layout.state_bytes);
  }
  for (std::size_t g = 0; g < layout.groups.size(); ++g) lease.tables_[g] = lease.rows_[g].data();
  CacheReport& report = lease.finding_.report;
  const std::int64_t now = now_ms();
  for (std::size_t i = 0; i < lease.plan_.path.size(); ++i) {
    const Node& node = *lease.plan_.path[i];
    (lease.from_disk_[i] ? report.from_disk : report.from_ram) += std::min(node.end(), lease.cached_) - node.first;
    lease.plan_.path[i]->last_use = now;
    if (i >= n_full) --lease.plan_.path[i]->users;
  }
  lease.plan_.path.resize(n_full);
  lease.nodes_ = std::exchange(lease.plan_.path, {});
  lease.created_from_ = lease.nodes_.size();
  lease.ids_.assign(lease.prompt_.begin(), lease.prompt_.begin() + lease.cached_);
  lease.ready_ = true;
}

void KvCache::set_page(CacheLease& lease, std::size_t group, std::size_t page, std::shared_ptr<std::byte> memory) {
  lease.rows_[group][page] = memory.get();
  lease.memory_[group][page] = std::move(memory);
}

void KvCache::reserve(CacheLease& lease, int n_tokens) {
  const std::lock_guard lock(mutex_);
  Tree& t = *tree(lease.key_id_);
  const CacheLayout& layout = t.index->layout();
  const std::size_t wanted = zu(pages_of(n_tokens));
  std::size_t bytes = 0;
  for (std::size_t g = 0; g < layout.groups.size(); ++g)
    bytes += (wanted - std::min(wanted, lease.rows_[g].size())) * layout.groups[g].page_bytes;
  if (bytes == 0) return;
  make_room(bytes, {"budget", lease.title_});
  private_bytes_ += bytes;
  for (std::size_t g = 0; g < layout.groups.size(); ++g) {
    while (lease.rows_[g].size() < wanted) {
      lease.memory_[g].push_back(t.memory->allocate(layout.groups[g].page_bytes));
      lease.rows_[g].push_back(lease.memory_[g].back().get());
    }
    lease.tables_[g] = lease.rows_[g].data();
  }
}

void KvCache::commit(CacheLease& lease, std::span<const TokenId> ids) {
  const std::lock_guard lock(mutex_);
  Tree& t = *tree(lease.key_id_);
  lease.ids_.insert(lease.ids_.end(), ids.begin(), ids.end());
  while (lease.publishing_ && lease.nodes_.size() < lease.ids_.size() / kPageTokens) publish(lease, t, kPageTokens);
  release_window(lease, t);
}

void KvCache::checkpoint(CacheLease& lease) {
  const std::lock_guard lock(mutex_);
  Tree& t = *tree(lease.key_id_);
  const std::size_t size = t.index->layout().state_bytes;
  if (size == 0 || !lease.publishing_ || lease.ids_.empty()) return;
  const int position = static_cast<int>(lease.ids_.size());
  auto copy = t.memory->allocate(size, false);
  t.memory->copy(copy.get(), lease.state_.get(), size);
  if (!lease.nodes_.empty() && lease.nodes_.back()->end() == position) {  // its page is published already
    Blob& blob = lease.nodes_.back()->states[position];
    if (blob.present()) return;
    blob.bytes = size;
    if (t.memory->is_host()) blob.checksum = XXH3_64bits(copy.get(), size);
    hold(blob, std::move(copy));
    return;
  }
  if (!lease.states_.contains(position)) private_bytes_ += size;
  lease.states_[position] = std::move(copy);
}

// The next page of the turn, of which N_TOKENS are final, becomes visible to all.
bool KvCache::publish(CacheLease& lease, Tree& t, int n_tokens) {
  const std::size_t index = lease.nodes_.size();
  Node* parent = index == 0 ? t.index->root() : lease.nodes_.back();
  Node* node = t.index->add(parent, std::span(lease.ids_).subspan(index * kPageTokens, zu(n_tokens)));
  if (node == nullptr) {
    lease.publishing_ = false;
    return false;
  }
  for (std::size_t g = 0; g < node->pages.size(); ++g) {
    Blob& blob = node->pages[g];
    const auto& page = lease.memory_[g][index];
    if (!page) continue;
    private_bytes_ -= blob.bytes;
    if (blob.memory) {  // another chat was faster; the contents are equal
      set_page(lease, g, index, blob.memory);
      continue;
    }
    if (t.memory->is_host()) blob.checksum = XXH3_64bits(page.get(), blob.bytes);
    hold(blob, page);
  }
  const std::size_t size = t.index->layout().state_bytes;
  for (auto it = lease.states_.begin(); it != lease.states_.end() && it->first <= node->end(); it = lease.states_.erase(it)) {
    private_bytes_ -= size;
    Blob& blob = node->states[it->first];
    if (blob.present()) continue;
    blob.bytes = size;
    if (t.memory->is_host()) blob.checksum = XXH3_64bits(it->second.get(), size);
    hold(blob, it->second);
  }
  ++node->users;
  node->last_use = now_ms();
  lease.nodes_.push_back(node);
  return true;
}

// Window layers let go of what no later position and no restart point looks at.
void KvCache::release_window(CacheLease& lease, Tree& t) {
  const CacheLayout& layout = t.index->layout();
  const int length = static_cast<int>(lease.ids_.size());
  for (std::size_t g = 0; g < layout.groups.size(); ++g) {
    const int window = layout.groups[g].window;
    if (window == 0) continue;
    const int end = std::min(PrefixTree::first_needed_page(window, length), static_cast<int>(lease.rows_[g].size()));
    for (int i = lease.released_[g]; i < end; ++i) {
      const auto wants = [&](int point) { return point <= length && PrefixTree::first_needed_page(window, point) <= i && i <= (point - 1) / kPageTokens; };
      // The end of the answer before is where an edit or a fork of this turn goes on.
      if (wants(lease.cached_) || std::any_of(lease.restart_points_.begin(), lease.restart_points_.end(), wants)) continue;
      if (zu(i) < lease.nodes_.size()) {
        Node& node = *lease.nodes_[zu(i)];
        const bool ours = zu(i) >= lease.created_from_ && node.users == 1 && node.owners.empty();
        if (ours && !node.pages[g].on_disk && !node.pages[g].writing) let_go(node.pages[g]);
      } else if (lease.memory_[g][zu(i)]) {
        private_bytes_ -= layout.groups[g].page_bytes;
      }
      set_page(lease, g, zu(i), nullptr);
    }
    lease.released_[g] = std::max(lease.released_[g], end);
  }
}

void KvCache::finish(std::unique_ptr<CacheLease> lease) {
  const std::lock_guard lock(mutex_);
  Tree& t = *tree(lease->key_id_);
  if (!lease->ready_) unplan(*lease);
  const int rest = static_cast<int>(lease->ids_.size()) % kPageTokens;
  if (lease->ready_ && lease->publishing_ && rest > 0) publish(*lease, t, rest);
  for (std::size_t g = 0; g < lease->memory_.size(); ++g)
    for (std::size_t i = lease->nodes_.size(); i < lease->memory_[g].size(); ++i)
      if (lease->memory_[g][i]) private_bytes_ -= t.index->layout().groups[g].page_bytes;
  private_bytes_ -= lease->states_.size() * t.index->layout().state_bytes;
  if (lease->recorded_) update_record(*lease, t);
  for (Node* node : lease->nodes_) --node->users;
  for (std::size_t i = std::min(lease->created_from_, lease->nodes_.size()); i < lease->nodes_.size(); ++i) absorb_partial_siblings(t, *lease->nodes_[i]);
  if (!lease->enabled_) return;
  make_room(0, {"budget", lease->title_});
  if (lease->recorded_) post_write(lease->sequence_);
}

void KvCache::update_record(CacheLease& lease, Tree& t) {
  ChatRecord& record = *records_.at(lease.sequence_);
  --record.busy;
  if (!lease.ready_) return;
  // Stopped before anything new was computed: what is known of the longer request stays true.
  const bool known = record.key == t.key && starts_with(record.ids, lease.ids_) && record.path.size() * kPageTokens >= lease.ids_.size();
  if (!known || lease.ids_.empty()) {
    record.key = t.key;
    record.ids = lease.ids_;
    set_path(record, lease.nodes_);
  }
  if (record.path.size() * kPageTokens >= record.ids.size()) record.loss = {};
  record.layout = t.index->layout();
  record.last_use = now_ms();
  record.reason = record.pinned ? "pinned" : "used";
  for (Node* node : record.path) {
    node->last_use = record.last_use;
    node->not_for_disk = false;
  }
  refused_.erase(SnapshotStore::chat_name(record.sequence));
  thin_states(t, record);
  changed();
}

// A page that was continued is held whole by its continuation.
void KvCache::absorb_partial_siblings(Tree& t, Node& node) {
  const std::vector<Node*> siblings = node.parent->children;
  for (Node* other : siblings) {
    if (other == &node || other->full() || other->users > 0 || !other->owners.empty() || !starts_with(node.ids, other->ids)) continue;
    for (auto& [position, state] : other->states) {
      Blob& mine = node.states[position];
      if (mine.present() || !state.memory) continue;
      mine.bytes = state.bytes;
      mine.checksum = state.checksum;
      hold(mine, state.memory);
    }
    std::erase_if(node.states, [](const auto& entry) { return !entry.second.present(); });
    drop(t, other, {});
  }
}

// The last states of another chat that shares the path are where that chat goes on or answers again: they are not ours to thin.
void KvCache::thin_states(Tree& t, ChatRecord& record) {
  constexpr std::size_t kEnds = 2;
  std::vector<std::pair<Node*, int>> states;
  std::set<const ChatRecord*> others;
  for (Node* node : record.path) {
    others.insert(node->owners.begin(), node->owners.end());
    for (const auto& entry : node->states) states.emplace_back(node, entry.first);
  }
  others.erase(&record);
  std::set<std::pair<const Node*, int>> kept;
  for (const ChatRecord* other : others) {
    std::size_t n = 0;
    for (auto node = other->path.rbegin(); node != other->path.rend() && n < kEnds; ++node)
      for (auto state = (*node)->states.rbegin(); state != (*node)->states.rend() && n < kEnds; ++state)
        if (state->first <= static_cast<int>(other->ids.size())) kept.emplace(*node, state->first), ++n;
  }
  while (states.size() > kMaxStates) {
    std::size_t victim = 0;
    const auto gap = [&](std::size_t i) { return states[i + 1].second - states[i - 1].second; };
    for (std::size_t i = 1; i + kEnds < states.size(); ++i)
      if (!kept.contains(states[i]) && (victim == 0 || gap(i) < gap(victim))) victim = i;
    if (victim == 0) return;
    const auto [node, position] = states[victim];
    forget_blob(t, *node, node->states.at(position), -1, position);
    let_go(node->states.at(position));
    node->states.erase(position);
    states.erase(states.begin() + static_cast<std::ptrdiff_t>(victim));
  }
}

bool KvCache::flush(std::chrono::milliseconds limit) { return queue_->drain(limit); }

}  // namespace tg
