// Code books of the IQ formats of two and three bits. The rows of engine/formats/iq_tables.h serve every instruction set; where bytes can
// be permuted over two whole registers, a book packed to two bytes a row is faster than loads of its rows.
#pragma once
#include <cstdint>

#include "engine/formats/format.h"
#include "engine/formats/iq_tables.h"

namespace tg::cpu {

// A row is a number of 2 bits (8 columns) or 3 bits (4 columns) per column, the first column lowest: an index of a magnitude.
template <int Entries>
struct PackedBook {
  static constexpr int kEntries = Entries;
  alignas(64) std::uint8_t plane[2][Entries];  // low and high byte of a row
  // Unsigned value of a column: by the index of its magnitude, then a bit for minus; further bits change nothing.
  alignas(64) std::uint8_t value[64];
};

// Columns of a row, what is added to signed values to make them unsigned, the rows and the packed rows.
template <Format F>
struct Codebook;

#define TG_CODEBOOK(format, entries, columns, offset, rows)      \
  template <>                                                    \
  struct Codebook<Format::format> {                              \
    static constexpr int kColumns = columns, kOffset = offset;   \
    static constexpr const std::int8_t (&kRows)[entries][columns] = iq::rows; \
    static const PackedBook<entries> kPacked;                    \
  };
TG_CODEBOOK(IQ2_XXS, 256, 8, 43, kGrid2Xxs)
TG_CODEBOOK(IQ2_XS, 512, 8, 43, kGrid2Xs)
TG_CODEBOOK(IQ2_S, 1024, 8, 43, kGrid2S)
TG_CODEBOOK(IQ3_XXS, 256, 4, 62, kGrid3Xxs)
TG_CODEBOOK(IQ3_S, 512, 4, 15, kGrid3S)
TG_CODEBOOK(IQ1_S, 2048, 8, 9, kGrid1)  // magnitudes -1, 0, 1 in eighths, an eighth more (minus: less)
#undef TG_CODEBOOK

}  // namespace tg::cpu
