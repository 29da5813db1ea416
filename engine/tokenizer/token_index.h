// Finds a token by its exact text: open addressing over ids, the texts stay where they are (texts.text(id) gives one). Loading a vocabulary asks
// this three times per merge, so it is what loading costs. Thread: reads are safe from any thread once it is built.
#pragma once
#include <xxhash.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/types.h"

namespace tg {

class TokenIndex {
 public:
  // Room for N texts.
  void reserve(std::size_t n) {
    std::size_t capacity = 16;
    while (capacity < n * 2) capacity *= 2;
    entries_.assign(capacity, Entry{});
  }
  // False where the text is there already. No more texts than reserved.
  template <class Texts>
  bool insert(std::string_view text, TokenId id, const Texts& texts) {
    const std::uint64_t hash = hash_of(text);
    std::size_t i = slot(hash);
    for (; entries_[i].id >= 0; i = slot(i + 1)) {
      if (matches(entries_[i], hash, text, texts)) return false;
    }
    entries_[i] = {static_cast<std::uint32_t>(hash >> 32), id};
    return true;
  }
  template <class Texts>
  TokenId find(std::string_view text, const Texts& texts) const {
    if (entries_.empty()) return -1;
    const std::uint64_t hash = hash_of(text);
    for (std::size_t i = slot(hash); entries_[i].id >= 0; i = slot(i + 1)) {
      if (matches(entries_[i], hash, text, texts)) return entries_[i].id;
    }
    return -1;
  }

 private:
  struct Entry {
    std::uint32_t hash = 0;  // upper half; the lower half chose the slot
    TokenId id = -1;
  };
  static std::uint64_t hash_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }
  std::size_t slot(std::uint64_t i) const { return static_cast<std::size_t>(i) & (entries_.size() - 1); }
  template <class Texts>
  static bool matches(const Entry& e, std::uint64_t hash, std::string_view text, const Texts& texts) {
    return e.hash == static_cast<std::uint32_t>(hash >> 32) && texts.text(e.id) == text;
  }
  std::vector<Entry> entries_;
};

}  // namespace tg
