#include "engine/device/cpu/codebooks.h"

namespace tg::cpu {
namespace {

template <int Levels>
int level_of(const std::int8_t (&levels)[Levels], int magnitude) {
  int i = 0;
  while (i < Levels - 1 && levels[i] != magnitude) ++i;
  return i;
}

// value(magnitude, minus): what a column is worth, before the offset.
template <int Entries, int Columns, int Levels, class Value>
PackedBook<Entries> pack(const std::int8_t (&rows)[Entries][Columns], const std::int8_t (&levels)[Levels], int offset, Value value) {
  constexpr int kBits = Columns == 8 ? 2 : 3;
  PackedBook<Entries> book;
  for (int e = 0; e < Entries; ++e) {
    int row = 0;
    for (int c = 0; c < Columns; ++c) row |= level_of(levels, rows[e][c]) << kBits * c;
    book.plane[0][e] = static_cast<std::uint8_t>(row & 255);
    book.plane[1][e] = static_cast<std::uint8_t>(row >> 8);
  }
  for (int i = 0; i < 64; ++i) {
    const int level = i & ((1 << kBits) - 1);
    book.value[i] = static_cast<std::uint8_t>(offset + value(levels[level < Levels ? level : 0], (i >> kBits & 1) != 0));
  }
  return book;
}

constexpr auto kSigned = [](int magnitude, bool minus) { return minus ? -magnitude : magnitude; };
constexpr auto kEighths = [](int sign, bool minus) { return 8 * sign + (minus ? -1 : 1); };
constexpr std::int8_t kLevels1[] = {-1, 0, 1};
constexpr std::int8_t kLevels2[] = {8, 25, 43};
constexpr std::int8_t kLevels3Xxs[] = {4, 12, 20, 28, 36, 44, 52, 62};
constexpr std::int8_t kLevels3S[] = {1, 3, 5, 7, 9, 11, 13, 15};

}  // namespace

const PackedBook<256> Codebook<Format::IQ2_XXS>::kPacked = pack(kRows, kLevels2, kOffset, kSigned);
const PackedBook<512> Codebook<Format::IQ2_XS>::kPacked = pack(kRows, kLevels2, kOffset, kSigned);
const PackedBook<1024> Codebook<Format::IQ2_S>::kPacked = pack(kRows, kLevels2, kOffset, kSigned);
const PackedBook<256> Codebook<Format::IQ3_XXS>::kPacked = pack(kRows, kLevels3Xxs, kOffset, kSigned);
const PackedBook<512> Codebook<Format::IQ3_S>::kPacked = pack(kRows, kLevels3S, kOffset, kSigned);
const PackedBook<2048> Codebook<Format::IQ1_S>::kPacked = pack(kRows, kLevels1, kOffset, kEighths);

}  // namespace tg::cpu
