#include <cmath>
#include <cstring>
#include <limits>

#include "engine/device/cpu/half.h"
#include "engine/device/cpu/kv_page.h"
#include "engine/device/cpu/self_check.h"

namespace tg::cpu {

std::uint64_t Random::next() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

float Random::uniform(float low, float high) { return low + (high - low) * static_cast<float>(next() >> 40) * 0x1p-24F; }

float Random::normal() {
  float sum = -6;
  for (int i = 0; i < 12; ++i) sum += uniform(0, 1);
  return sum;
}

namespace {

// Where the half-precision scales of a block stand.
std::vector<std::size_t> half_offsets(Format format) {
  switch (format) {
    case Format::Q4_1:
    case Format::Q5_1:
    case Format::Q4_K:
    case Format::Q5_K: return {0, 2};
    case Format::Q2_K: return {80, 82};
    case Format::Q3_K: return {108};
    case Format::Q6_K: return {208};
    case Format::TQ1_0: return {52};
    case Format::TQ2_0: return {64};
    case Format::MXFP4:
    case Format::NVFP4:
    case Format::IQ1_M: return {};
    default: return {0};
  }
}

std::uint16_t scale_bits(Payload payload, Random& random) {
  switch (payload) {
    case Payload::zero_scale: return 0;
    case Payload::negative_zero: return 0x8000;
    case Payload::largest_scale: return 0x7bff;  // 65504
    case Payload::subnormal_scale: return static_cast<std::uint16_t>(1 + random.next() % 1023);
    case Payload::all_ones:
    case Payload::random: break;
  }
  return float_to_half(random.uniform(-0.1F, 0.1F));
}

void set_scales(Format format, std::byte* block, Payload payload, Random& random) {
  for (const std::size_t at : half_offsets(format)) {
    const std::uint16_t bits = scale_bits(payload, random);
    std::memcpy(block + at, &bits, 2);
  }
  if (format == Format::MXFP4) block[0] = static_cast<std::byte>(payload == Payload::random ? 118 + random.next() % 8 : 120);
  if (format == Format::NVFP4) {
    for (int i = 0; i < 4; ++i) block[i] = static_cast<std::byte>(0x20 + random.next() % 0x30);
  }
  if (format == Format::IQ1_M) {  // the half is spread over the top nibbles of four 16-bit words
    const std::uint16_t bits = scale_bits(payload, random);
    for (unsigned i = 0; i < 4; ++i) {
      auto& top = block[48 + 2 * i + 1];
      top = static_cast<std::byte>((std::to_integer<unsigned>(top) & 15U) | ((bits >> (4 * i)) & 15U) << 4);
    }
  }
}

}  // namespace

std::vector<std::byte> make_weight(Format format, int rows, int cols, Payload payload, Random& random) {
  const FormatInfo& info = *format_info(format);
  const std::size_t row = row_bytes(info, zu(cols));
  std::vector<std::byte> bytes(row * zu(rows));
  if (info.block_elements == 1) {
    for (std::size_t i = 0; i < zu(rows) * zu(cols); ++i) {
      const float value = payload == Payload::zero_scale ? 0.0F : random.normal() * 0.1F;
      const std::uint16_t h = format == Format::F16 ? float_to_half(value) : float_to_bf16(value);
      std::memcpy(bytes.data() + i * info.block_bytes, format == Format::F32 ? static_cast<const void*>(&value) : &h, info.block_bytes);
    }
    return bytes;
  }
  for (std::byte& b : bytes) b = payload == Payload::all_ones ? std::byte{255} : static_cast<std::byte>(random.next() >> 56);
  for (std::size_t b = 0; b < bytes.size(); b += info.block_bytes) set_scales(format, bytes.data() + b, payload, random);
  return bytes;
}

double nmse(const std::vector<float>& value, const std::vector<float>& reference) {
  double error = 0, power = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double a = static_cast<double>(value[i]), b = static_cast<double>(reference[i]);
    if (!std::isfinite(a) || !std::isfinite(b)) return std::numeric_limits<double>::infinity();
    error += (a - b) * (a - b);
    power += b * b;
  }
  return power > 0 ? error / power : error;
}

}  // namespace tg::cpu
