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

PrefixMatch PrefixTree::match(std::span<const TokenId> ids) const {
  PrefixMatch match;
  const Node* at = &root_;
  while (ids.size() >= static_cast<std::size_t>(kPageTokens)) {
    const auto page = ids.first(kPageTokens);
    Node* child = find(chain(at->hash, page));
    if (child == nullptr || child->parent != at || !std::equal(page.begin(), page.end(), child->ids.begin(), child->ids.end())) break;
    match.path.push_back(child);
    match.tokens += kPageTokens;
    ids = ids.subspan(kPageTokens);
    at = child;
  }
  Node* best = nullptr;
  std::size_t best_length = 0;
  for (Node* child : at->children) {
    const std::size_t n = common_length(child->ids, ids);
    if (n > best_length || (n > 0 && n == best_length && child->last_use > best->last_use)) {
      best = child;
      best_length = n;
    }
  }
  if (best != nullptr) {
    match.path.push_back(best);
    match.tokens += static_cast<int>(best_length);
  }
  return match;
}

int PrefixTree::first_needed_page(int window, int length) {
  return window <= 0 ? 0 : std::max(0, length - window + 1) / kPageTokens;
}

int PrefixTree::usable(const PrefixMatch& match) const {
  const auto n_pages = static_cast<int>(match.path.size());
  // run[g]: first page of the unbroken run of present pages that ends at the page looked at
  std::vector<int> run(layout_.groups.size(), 0);
  int best = 0;
  for (int i = 0; i < n_pages; ++i) {
    const Node& node = *match.path[static_cast<std::size_t>(i)];
    for (std::size_t g = 0; g < layout_.groups.size(); ++g)
      if (!node.pages[g].present()) run[g] = i + 1;
    const auto fits = [&](int length) {
      for (std::size_t g = 0; g < layout_.groups.size(); ++g)
        if (run[g] > first_needed_page(layout_.groups[g].window, length)) return false;
      return true;
    };
    const int longest = std::min(match.tokens, node.end());
    if (layout_.state_bytes == 0) {
      if (fits(longest)) best = longest;
      continue;
    }
    for (const auto& [length, state] : node.states)
      if (length <= longest && state.present() && fits(length)) best = length;
  }
  return best;
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
