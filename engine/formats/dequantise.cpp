// Exact values of every format, and the one table that dispatches to them. Plain and slow: the oracle of the kernels.
#include <array>
#include <cassert>

#include "engine/formats/traits.h"

namespace tg {
namespace {

using DequantiseBlock = void (*)(const std::byte* block, float* out);

template <Format F>
void dequantise_block(const std::byte* block, float* out) {
  using T = Traits<F>;
  if constexpr (T::quantised) {
    std::int8_t q[T::elements];
    float scale[T::groups];
    float min[T::groups];
    T::unpack(block, q, scale, min);
    for (int i = 0; i < T::elements; ++i) {
      const float product = scale[i / T::group] * static_cast<float>(q[i]);
      if constexpr (T::has_min) {
        out[i] = product + min[i / T::group];
      } else {
        out[i] = product;
      }
    }
  } else {
    *out = T::value(block);
  }
}

// Indexed by ggml type id; null where a format has no traits.
using Table = std::array<DequantiseBlock, 64>;

template <Format... F>
constexpr void enter(Table& table, FormatList<F...>) {
  ((table[static_cast<std::size_t>(F)] = &dequantise_block<F>), ...);
}

constexpr Table make_table() {
  Table table{};
  enter(table, PlainFormats{});
  enter(table, QuantisedFormats{});
  return table;
}

constexpr Table kDequantise = make_table();

}  // namespace

void dequantise(Format format, std::span<const std::byte> blocks, float* out, std::size_t n_elements) {
  const FormatInfo* info = format_info(format);
  assert(info != nullptr && info->weights && n_elements % info->block_elements == 0);
  assert(blocks.size() >= row_bytes(*info, n_elements));
  const DequantiseBlock one = kDequantise[static_cast<std::size_t>(format)];
  const std::size_t n_blocks = n_elements / info->block_elements;
  for (std::size_t i = 0; i < n_blocks; ++i) {
    one(blocks.data() + i * info->block_bytes, out + i * info->block_elements);
  }
}

}  // namespace tg
