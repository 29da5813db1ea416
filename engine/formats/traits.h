// One traits struct per weight format: its layout, unpacked to small integers with scales. All kernels and the exact
// dequantisation are templates over these structs.
//
// Traits<F> of a quantised format offers
//   elements, bytes   of a block
//   group             16 or 32: consecutive elements that share a scale
//   has_min           a group also has an offset; q is then unsigned (q_min == 0)
//   q_min, q_max      range of q
//   unpack(block, q, scale, min)   q[elements], scale[elements / group], min[elements / group] (left alone without
//   has_min)
// so that value = scale * q (+ min), computed in float in that order, is bit for bit what the format defines.
// F32, F16 and BF16 are no quantised formats: Traits<F> offers elements, bytes and value(at).
#pragma once
#include "engine/formats/format.h"
#include "engine/formats/half.h"

namespace tg {

template <Format F>
struct Traits;

// What every quantised format states.
template <int Elements, int Bytes, int Group, bool HasMin, int QMin, int QMax>
struct BlockTraits {
  static constexpr int elements = Elements;
  static constexpr int bytes = Bytes;
  static constexpr int group = Group;
  static constexpr int groups = Elements / Group;
  static constexpr bool has_min = HasMin;
  static constexpr int q_min = QMin, q_max = QMax;
  static constexpr bool quantised = true;
};

template <int Bytes>
struct PlainTraits {
  static constexpr int elements = 1;
  static constexpr int bytes = Bytes;
  static constexpr bool quantised = false;
};

template <>
struct Traits<Format::F32> : PlainTraits<4> {
  TG_FORMAT_INLINE float value(const std::byte* at) { return load<float>(at); }
};
template <>
struct Traits<Format::F16> : PlainTraits<2> {
  TG_FORMAT_INLINE float value(const std::byte* at) { return load_f16(at); }
};
template <>
struct Traits<Format::BF16> : PlainTraits<2> {
  TG_FORMAT_INLINE float value(const std::byte* at) { return bf16_to_f32(load<std::uint16_t>(at)); }
};

// Small readers shared by the layouts.
TG_FORMAT_INLINE int byte_at(const std::byte* bytes, int i) {
  return std::to_integer<int>(bytes[i]);
}
TG_FORMAT_INLINE int low_nibble(const std::byte* bytes, int i) {
  return byte_at(bytes, i) & 15;
}
TG_FORMAT_INLINE int high_nibble(const std::byte* bytes, int i) {
  return byte_at(bytes, i) >> 4;
}
TG_FORMAT_INLINE int nibble_at(const std::byte* bytes, int i) {
  return byte_at(bytes, i / 2) >> 4 * (i % 2) & 15;
}
TG_FORMAT_INLINE std::int8_t as_q(int value) {
  return static_cast<std::int8_t>(value);
}

}  // namespace tg

#include "engine/formats/fp4.h"
#include "engine/formats/iq_quants.h"
#include "engine/formats/k_quants.h"
#include "engine/formats/small_blocks.h"
#include "engine/formats/ternary.h"

namespace tg {

template <Format... F>
struct FormatList {};
// Every format with Traits.
using PlainFormats = FormatList<Format::F32, Format::F16, Format::BF16>;
using QuantisedFormats =
    FormatList<Format::Q4_0, Format::Q4_1, Format::Q5_0, Format::Q5_1, Format::Q8_0, Format::Q2_K, Format::Q3_K,
               Format::Q4_K, Format::Q5_K, Format::Q6_K, Format::IQ2_XXS, Format::IQ2_XS, Format::IQ2_S,
               Format::IQ3_XXS, Format::IQ3_S, Format::IQ1_S, Format::IQ1_M, Format::IQ4_NL, Format::IQ4_XS,
               Format::TQ1_0, Format::TQ2_0, Format::MXFP4, Format::NVFP4, Format::Q1_0, Format::Q2_0>;

}  // namespace tg
