// Open-addressing map from non-zero 64-bit keys to small values: built once while a vocabulary loads, then only read.
// Thread: reads are safe from any thread once it is built.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tg {

template <class Value>
class FlatMap {
 public:
  // Room for N entries; more are allowed and make it grow.
  explicit FlatMap(std::size_t n = 0) { rehash(n); }

  const Value* find(std::uint64_t key) const {
    for (std::size_t i = slot(key);; i = (i + 1) & mask_) {
      if (entries_[i].key == key) return &entries_[i].value;
      if (entries_[i].key == 0) return nullptr;
    }
  }
  // Keeps the value that is there already; returns the one that counts.
  Value& insert(std::uint64_t key, Value value) {
    if ((size_ + 1) * 2 > entries_.size()) rehash(size_ * 2);
    std::size_t i = slot(key);
    while (entries_[i].key != 0 && entries_[i].key != key) i = (i + 1) & mask_;
    if (entries_[i].key == 0) {
      entries_[i] = {key, value};
      ++size_;
    }
    return entries_[i].value;
  }

 private:
  struct Entry {
    std::uint64_t key = 0;
    Value value{};
  };
  // Fibonacci hashing: the golden ratio's bits spread neighbouring keys over the table.
  std::size_t slot(std::uint64_t key) const {
    std::uint64_t h = key * 0x9E3779B97F4A7C15ULL;
    return static_cast<std::size_t>(h ^ h >> 32) & mask_;
  }
  void rehash(std::size_t n) {
    std::size_t capacity = 16;
    while (capacity < n * 2 + 2) capacity *= 2;
    std::vector<Entry> old = std::move(entries_);
    entries_.assign(capacity, Entry{});
    mask_ = capacity - 1;
    size_ = 0;
    for (const Entry& e : old) {
      if (e.key != 0) insert(e.key, e.value);
    }
  }
  std::vector<Entry> entries_;
  std::size_t mask_ = 0, size_ = 0;
};

}  // namespace tg
