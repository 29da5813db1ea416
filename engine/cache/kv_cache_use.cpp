// Who holds how many bytes where: every byte is counted once, so that what is told adds up to what is used.
#include <algorithm>

#include "engine/cache/kv_cache.h"

namespace tg {
namespace {

// Walks one tree. LAST_OWNED: the deepest node above (or the node itself) that some chat's current text goes through.
class Count {
 public:
  Count(CacheUse& use, TierUse& memory, std::map<const ChatRecord*, ChatUse>& chats, bool on_gpu) : use_(use), memory_(memory), chats_(chats), on_gpu_(on_gpu) {}

  void visit(const Node& node, const Node* last_owned) {
    if (!node.owners.empty()) last_owned = &node;
    const bool fixed = node.users > 0 || std::any_of(node.owners.begin(), node.owners.end(), [](const ChatRecord* r) { return r->pinned; });
    add(memory_, node.memory_bytes(), last_owned, fixed, on_gpu_ ? &ChatUse::gpu : &ChatUse::ram);
    add(use_.disk, node.disk_bytes(), last_owned, fixed, &ChatUse::disk);
    for (const Node* child : node.children) visit(*child, last_owned);
  }

 private:
  // What hangs below the pages of one chat alone (its other versions) leaves with them.
  void add(TierUse& tier, std::size_t bytes, const Node* last_owned, bool fixed, std::uint64_t ChatUse::*own) {
    tier.used += bytes;
    if (fixed) tier.fixed += bytes;
    if (last_owned == nullptr) tier.loose += bytes;
    else if (last_owned->owners.size() == 1) chats_[last_owned->owners.front()].*own += bytes;
    else tier.shared += bytes;
  }

  CacheUse& use_;
  TierUse& memory_;
  std::map<const ChatRecord*, ChatUse>& chats_;
  bool on_gpu_;
};

void count_pages(ChatUse& use, const ChatRecord& record) {
  for (const Node* node : record.path) {
    const int n = std::min(node->end(), static_cast<int>(record.ids.size())) - node->first;
    if (node->full() && n == kPageTokens) ++use.full_pages;
    else use.tail_tokens = n;
    if (node->owners.size() < 2) continue;
    ++use.shared_pages;
    use.shared_tokens = node->first + n;
    const auto other = std::find_if(node->owners.begin(), node->owners.end(), [&](const ChatRecord* r) { return r != &record; });
    use.shared_with = (*other)->sequence;
  }
}

// Where a turn can go on, for layers that keep only part of the past.
std::vector<TokenSpan> restart_points(const ChatRecord& record, const CacheLayout& layout) {
  std::vector<TokenSpan> out;
  const auto put = [&](int first, int last) {
    if (!out.empty() && out.back().last + 1 == first) out.back().last = last;
    else out.push_back({first, last});
  };
  std::vector<int> run_from(layout.groups.size(), 0);
  for (std::size_t i = 0; i < record.path.size(); ++i) {
    const Node& node = *record.path[i];
    for (std::size_t g = 0; g < layout.groups.size(); ++g)
      if (!node.pages[g].present()) run_from[g] = static_cast<int>(i) + 1;
    const auto held = [&](int length) {
      for (std::size_t g = 0; g < layout.groups.size(); ++g)
        if (layout.groups[g].window > 0 && PrefixTree::first_needed_page(layout.groups[g].window, length) < run_from[g]) return false;
      return true;
    };
    const int end = std::min(node.end(), static_cast<int>(record.ids.size()));
    if (layout.state_bytes > 0) {
      for (const auto& [position, state] : node.states)
        if (state.present() && position <= end && held(position)) put(position, position);
    } else if (held(end)) {
      put(node.first + 1, end);
    }
  }
  return out;
}

}  // namespace

CacheUse KvCache::use() const {
  const std::lock_guard lock(mutex_);
  CacheUse out;
  out.page_tokens = kPageTokens;
  std::map<const ChatRecord*, ChatUse> chats;
  for (const auto& entry : trees_) {
    const Tree& t = *entry.second;
    const bool on_gpu = t.memory && !t.memory->is_host();
    Count count(out, on_gpu ? out.gpu : out.ram, chats, on_gpu);
    for (const Node* top : t.index->root()->children) count.visit(*top, nullptr);
  }
  out.ram.used += private_bytes_;
  out.ram.loose += private_bytes_;
  out.ram.fixed += private_bytes_;
  for (const auto& entry : records_) {
    const ChatRecord& record = *entry.second;
    ChatUse& use = chats[&record];
    use.sequence = record.sequence;
    count_pages(use, record);
    const Tree* t = tree(record.key.id());
    if (t == nullptr) continue;
    const CacheLayout& layout = t->index->layout();
    use.keeps_part = layout.state_bytes > 0 || std::any_of(layout.groups.begin(), layout.groups.end(), [](const CacheGroup& g) { return g.window > 0; });
    if (use.keeps_part) use.restart = restart_points(record, layout);
  }
  for (auto& entry : chats) out.chats.push_back(std::move(entry.second));
  return out;
}

void KvCache::set_listener(std::function<void()> listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

void KvCache::changed() const {
  if (listener_) listener_();
}

}  // namespace tg
