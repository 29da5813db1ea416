// Keys and values into their places in a page (kv_page.h).
#pragma once
#include "engine/device/cpu/half.h"
#include "engine/device/cpu/vector_rows.h"

namespace tg::cpu {
namespace {

template <KvType T>
TG_INLINE void store_kv(std::byte* p, VF v) {
  if constexpr (T == KvType::f32) vstore(reinterpret_cast<float*>(p), v);
  if constexpr (T == KvType::f16) store_half(p, v);
  if constexpr (T == KvType::bf16) {
    float lanes[16];
    vstore(lanes, v);
    auto* to = reinterpret_cast<std::uint16_t*>(p);
    for (int i = 0; i < 16; ++i) to[i] = float_to_bf16(lanes[i]);
  }
}

// 32 values as q8_0 keeps them: the scale is the half that is stored, so that reading back gives exactly d * q.
TG_INLINE void quantise_kv(const float* x, int n, std::byte* scale, std::int8_t* q) {
  const VF a = load_part(x, n < 16 ? n : 16), b = n > 16 ? load_part(x + 16, n < 32 ? n - 16 : 16) : vset(0.0F);
  const std::uint16_t d = float_to_half(vtop(vmax(vabs(a), vabs(b))) / 127.0F);
  __builtin_memcpy(scale, &d, 2);
  const float step = half_to_float(d);
  const VF inverse = vset(step > 0 ? 1.0F / step : 0.0F), most = vset(127.0F), least = vset(-127.0F);
  store_i8(q, to_int(vmax(vmin(vmul(a, inverse), most), least)));
  store_i8(q + 16, to_int(vmax(vmin(vmul(b, inverse), most), least)));
}

template <KvType T>
void store_key(const float* x, int head_dim, int token, std::byte* part) {
  constexpr int kBytes = element_bytes(T);
  std::byte* lane = part + (token / kKeyBlock * head_dim * kKeyBlock + token % kKeyBlock) * kBytes;
  for_lanes(head_dim, [&](int i, int count) {
    alignas(64) std::byte row[16 * kBytes];
    store_kv<T>(row, load_part(x + i, count));
    std::byte* to = lane + i * kKeyBlock * kBytes;
    for (int d = 0; d < count; ++d, to += kKeyBlock * kBytes) __builtin_memcpy(to, row + d * kBytes, kBytes);
  });
}

void store_key_bytes(const float* x, int head_dim, int token, std::byte* part) {
  const int groups = round_up(head_dim, 32) / 32;
  std::byte* to = part + groups * kPageTokens * 2 + token / kKeyBlock * groups * kKeyBlock * 32 + token % kKeyBlock * 4;
  for (int d = 0; d < head_dim; d += 32) {
    std::int8_t q[32];
    quantise_kv(x + d, head_dim - d, part + (d / 32 * kPageTokens + token) * 2, q);
    for (int i = 0; i < 32; i += 4, to += kKeyBlock * 4) {
      std::uint32_t four;
      __builtin_memcpy(&four, q + i, 4);
      four ^= 0x80808080U;  // offset by 128
      __builtin_memcpy(to, &four, 4);
    }
  }
}

void store_key_row(const StoreRow& row, std::byte* part) {
  switch (row.type) {
    case KvType::f32: return store_key<KvType::f32>(row.values, row.head_dim, row.token, part);
    case KvType::f16: return store_key<KvType::f16>(row.values, row.head_dim, row.token, part);
    case KvType::bf16: return store_key<KvType::bf16>(row.values, row.head_dim, row.token, part);
    case KvType::q8_0: return store_key_bytes(row.values, row.head_dim, row.token, part);
  }
}

template <KvType T>
void store_value(const StoreRow& row, std::byte* part, int padded) {
  std::byte* to = part + row.token * padded * element_bytes(T);
  for_lanes(row.head_dim, [&](int i, int count) { store_kv<T>(to + i * element_bytes(T), load_part(row.values + i, count)); });
}

void store_value_row(const StoreRow& row, std::byte* part, int padded) {
  switch (row.type) {
    case KvType::f32: return store_value<KvType::f32>(row, part, padded);
    case KvType::f16: return store_value<KvType::f16>(row, part, padded);
    case KvType::bf16: return store_value<KvType::bf16>(row, part, padded);
    case KvType::q8_0: break;
  }
  const int lane = row.token % kKeyBlock, place = row.token / kKeyBlock;  // byte `place` of the four of a lane
  std::byte* q = part + padded / 32 * kPageTokens * 2 + lane * 128 + place;
  for (int d = 0; d < row.head_dim; d += 32, q += kPageTokens * 32) {
    std::int8_t group[32];
    quantise_kv(row.values + d, row.head_dim - d, part + (d / 32 * kPageTokens + row.token) * 2, group);
    for (int i = 0; i < 32; ++i) q[i * 4] = static_cast<std::byte>(group[i]);
  }
}

}  // namespace
}  // namespace tg::cpu
