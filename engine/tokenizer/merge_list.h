// The symbols of one word while neighbours are being merged: a doubly linked list in an array, and a heap of candidate
// pairs. Merging n symbols costs O(n log n); a stale candidate is recognised by the length it was made for.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace tg {

struct MergeSymbol {
  std::int32_t previous = -1, next = -1;
  std::uint32_t begin = 0, length = 0;  // bytes of the word; length 0: merged away
  std::int32_t value = -1;              // what the owner keeps per symbol
};

// Better candidates compare greater; equal ones are taken from the left.
template <class Priority>
struct MergeCandidate {
  Priority priority{};
  std::int32_t left = 0;
  std::uint32_t length = 0;  // of both together
  std::int32_t value = -1;   // of the merged symbol
};

template <class Priority>
class MergeList {
 public:
  using Candidate = MergeCandidate<Priority>;
  std::vector<MergeSymbol> symbols;

  void clear() {
    symbols.clear();
    heap_.clear();
  }
  void append(std::uint32_t begin, std::uint32_t length, std::int32_t value) {
    const auto index = static_cast<std::int32_t>(symbols.size());
    if (index > 0) symbols.back().next = index;
    symbols.push_back({index - 1, -1, begin, length, value});
  }
  void push(const Candidate& candidate) {
    heap_.push_back(candidate);
    std::push_heap(heap_.begin(), heap_.end(), worse);
  }
  // Merges until no candidate is left. OFFER(left, right) pushes a candidate where the pair may merge.
  template <class Offer>
  void merge_all(Offer offer) {
    for (std::int32_t i = 1; i < static_cast<std::int32_t>(symbols.size()); ++i) offer(i - 1, i);
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), worse);
      const Candidate best = heap_.back();
      heap_.pop_back();
      MergeSymbol& left = at(best.left);
      if (left.length == 0 || left.next < 0) continue;
      MergeSymbol& right = at(left.next);
      if (left.length + right.length != best.length) continue;
      left.length = best.length;
      left.value = best.value;
      right.length = 0;
      left.next = right.next;
      if (left.next >= 0) at(left.next).previous = best.left;
      if (left.previous >= 0) offer(left.previous, best.left);
      if (left.next >= 0) offer(best.left, left.next);
    }
  }
  MergeSymbol& at(std::int32_t i) { return symbols[static_cast<std::size_t>(i)]; }

 private:
  static bool worse(const Candidate& a, const Candidate& b) {
    return a.priority < b.priority || (a.priority == b.priority && a.left > b.left);
  }
  std::vector<Candidate> heap_;
};

}  // namespace tg
