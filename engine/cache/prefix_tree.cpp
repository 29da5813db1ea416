#include "engine/cache/prefix_tree.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace tg {
namespace {

PageHash of(XXH128_hash_t hash) { return {hash.high64, hash.low64}; }

std::size_t common_length(std::span<const TokenId> a, std::span<const TokenId> b) {
  const std::size_t n = std::min(a.size(), b.size());
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin()).first - a.begin());
}

template <class Predicate>
std::size_t sum_bytes(const Node& node, Predicate counts) {
  std::size_t sum = 0;
  for (const Blob& page : node.pages) sum += counts(page) ? page.bytes : 0;
  for (const auto& [position, state] : node.states) sum += counts(state) ? state.bytes : 0;
  return sum;
}

}  // namespace

std::string PageHash::text() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const std::uint64_t half : {high, low})
    for (int shift = 60; shift >= 0; shift -= 4) out += kDigits[(half >> static_cast<unsigned>(shift)) & 15U];
  return out;
}

PageHash chain(const PageHash& parent, std::span<const TokenId> ids) {
  std::array<std::byte, 16 + sizeof(TokenId) * kPageTokens> buffer;
  std::memcpy(buffer.data(), &parent.high, 8);
  std::memcpy(buffer.data() + 8, &parent.low, 8);
  std::memcpy(buffer.data() + 16, ids.data(), ids.size_bytes());
  return of(XXH3_128bits(buffer.data(), 16 + ids.size_bytes()));
}

bool Node::in_memory() const { return memory_bytes() > 0; }
bool Node::on_disk() const { return disk_bytes() > 0; }
std::size_t Node::memory_bytes() const {
  return sum_bytes(*this, [](const Blob& b) { return b.memory != nullptr; });
}
std::size_t Node::disk_bytes() const {
  return sum_bytes(*this, [](const Blob& b) { return b.on_disk || b.writing; });
}

PrefixTree::PrefixTree(const std::string& key_text, CacheLayout layout) : layout_(std::move(layout)) {
  root_.hash = of(XXH3_128bits(key_text.data(), key_text.size()));
}

Node* PrefixTree::find(const PageHash& hash) const {
  const auto found = nodes_.find(hash);
  return found == nodes_.end() ? nullptr : found->second.get();
}

int PrefixTree::first_needed_page(int window, int length) {
  return window <= 0 ? 0 : std::max(0, length - window + 1) / kPageTokens;
}

void PrefixTree::extend(Runs& runs, const Node& node) const {
  for (std::size_t g = 0; g < runs.size(); ++g)
    if (!node.pages[g].present()) runs[g] = node.first / kPageTokens + 1;
}

// The most tokens at which a turn can start inside NODE, of which the beginning up to KNOWN fits; RUNS includes the node. 0: none.
int PrefixTree::usable_in(const Runs& runs, const Node& node, int known) const {
  const auto fits = [&](int length) {
    for (std::size_t g = 0; g < runs.size(); ++g)
      if (runs[g] > first_needed_page(layout_.groups[g].window, length)) return false;
    return true;
  };
  const int longest = std::min(known, node.end());
  if (layout_.state_bytes == 0) return fits(longest) ? longest : 0;
  int best = 0;
  for (const auto& [length, state] : node.states)
    if (length <= longest && state.present() && fits(length)) best = length;
  return best;
}

PrefixMatch PrefixTree::match(std::span<const TokenId> ids) const {
  PrefixMatch match;
  std::vector<Node*> path;
  std::size_t n_usable_pages = 0;
  Node* last = nullptr;  // a page used in part
  Runs runs(layout_.groups.size(), 0);
  const Node* at = &root_;
  for (; ids.size() >= static_cast<std::size_t>(kPageTokens); ids = ids.subspan(kPageTokens)) {
    const auto page = ids.first(kPageTokens);
    Node* child = find(chain(at->hash, page));
    if (child == nullptr || child->parent != at || !std::equal(page.begin(), page.end(), child->ids.begin(), child->ids.end())) break;
    path.push_back(child);
    match.tokens = child->end();
    extend(runs, *child);
    if (const int usable = usable_in(runs, *child, match.tokens); usable > 0) {
      match.usable = usable;
      n_usable_pages = path.size();
    }
    at = child;
  }
  const int whole = match.tokens;
  for (Node* child : at->children) {
    const int known = whole + static_cast<int>(common_length(child->ids, ids));
    if (known == whole) continue;
    match.tokens = std::max(match.tokens, known);
    Runs with_child = runs;
    extend(with_child, *child);
    const int usable = usable_in(with_child, *child, known);
    if (usable < match.usable || usable == 0 || (usable == match.usable && (last == nullptr || child->last_use <= last->last_use))) continue;
    match.usable = usable;
    last = child;
  }
  if (last == nullptr) path.resize(n_usable_pages);
  else path.push_back(last);
  match.path = std::move(path);
  return match;
}

Node* PrefixTree::add(Node* parent, std::span<const TokenId> ids) {
  const PageHash hash = chain(parent->hash, ids);
  if (Node* known = find(hash)) {
    const bool same = known->parent == parent && std::equal(ids.begin(), ids.end(), known->ids.begin(), known->ids.end());
    return same ? known : nullptr;
  }
  auto node = std::make_unique<Node>();
  node->parent = parent;
  node->first = parent->end();
  node->ids.assign(ids.begin(), ids.end());
  node->hash = hash;
  node->pages.resize(layout_.groups.size());
  for (std::size_t g = 0; g < layout_.groups.size(); ++g) node->pages[g].bytes = layout_.groups[g].page_bytes;
  parent->children.push_back(node.get());
  return nodes_.emplace(hash, std::move(node)).first->second.get();
}

void PrefixTree::remove(Node* leaf) {
  std::erase(leaf->parent->children, leaf);
  nodes_.erase(leaf->hash);
}

std::string PrefixTree::check() const {
  for (const auto& [hash, node] : nodes_) {
    const Node* parent = node->parent;
    if (parent != &root_ && find(parent->hash) != parent) return "A page's parent is not in the index.";
    if (std::count(parent->children.begin(), parent->children.end(), node.get()) != 1) return "A page is not listed once by its parent.";
    if (!(chain(parent->hash, node->ids) == hash && node->hash == hash)) return "A page's hash does not fit its tokens.";
    if (node->ids.empty() || node->ids.size() > static_cast<std::size_t>(kPageTokens)) return "A page holds a wrong number of tokens.";
    if (node->first != parent->end() || node->first % kPageTokens != 0) return "A page does not continue its parent.";
    if (!node->full() && !node->children.empty()) return "A page that is not full has successors.";
    if (node->users < 0) return "A page is used less than never.";
    for (const auto& [position, state] : node->states)
      if (position <= node->first || position > node->end()) return "A state lies outside its page.";
  }
  return {};
}

}  // namespace tg
