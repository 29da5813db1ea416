// Where the keys and values of one layer stand in a page of kPageTokens tokens.
// Per kv head, keys then values. Keys in blocks of 16 tokens with the token as the innermost index, so that a vector holds one dimension of
// 16 keys and scores need no sums across lanes; values token by token, so that a vector holds 16 dimensions of one value.
//   k, f32/f16/bf16: [4 blocks][head_dim][16 tokens]
//   k, q8_0:         f16 scale[padded / 32][64 tokens], u8 q[4 blocks][padded / 4][16 tokens][4]; q offset by 128, four dimensions side by side
//   v, f32/f16/bf16: [64 tokens][padded head_dim]
//   v, q8_0:         f16 scale[padded / 32][64 tokens], i8 q[padded / 32][16][32][4]; tokens i, i + 16, i + 32 and i + 48 side by side
#pragma once
#include "engine/device/device.h"

// Functions that files of several instruction sets share must never exist out of line: the linker would keep one copy for all.
#define TG_ALWAYS_INLINE [[gnu::always_inline]] inline

namespace tg::cpu {

inline constexpr int kKeyBlock = 16;
inline constexpr int kBlocksPerPage = kPageTokens / kKeyBlock;

TG_ALWAYS_INLINE constexpr std::size_t zu(int n) { return static_cast<std::size_t>(n); }
TG_ALWAYS_INLINE constexpr int round_up(int n, int to) { return (n + to - 1) / to * to; }
TG_ALWAYS_INLINE constexpr std::size_t round_up_bytes(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

TG_ALWAYS_INLINE constexpr int element_bytes(KvType type) { return type == KvType::f32 ? 4 : type == KvType::q8_0 ? 1 : 2; }

struct KvPage {
  int k_dim = 0, v_dim = 0;  // padded
  std::size_t k_scale_bytes = 0, v_scale_bytes = 0;  // before the first block, before the first value
  std::size_t k_block_bytes = 0, k_bytes = 0, v_bytes = 0, head_bytes = 0;

  TG_ALWAYS_INLINE explicit KvPage(const KvLayerShape& shape) {
    k_dim = round_up(shape.head_dim_k, shape.k_type == KvType::q8_0 ? 32 : 1);
    v_dim = round_up(shape.head_dim_v, shape.v_type == KvType::q8_0 ? 32 : 16);
    k_scale_bytes = shape.k_type == KvType::q8_0 ? zu(k_dim / 32 * kPageTokens * 2) : 0;
    v_scale_bytes = shape.v_type == KvType::q8_0 ? zu(v_dim / 32 * kPageTokens * 2) : 0;
    k_block_bytes = zu(k_dim * kKeyBlock * element_bytes(shape.k_type));
    k_bytes = round_up_bytes(k_scale_bytes + k_block_bytes * kBlocksPerPage, 64);
    v_bytes = round_up_bytes(v_scale_bytes + zu(v_dim * kPageTokens * element_bytes(shape.v_type)), 64);
    head_bytes = k_bytes + v_bytes;
  }
  TG_ALWAYS_INLINE std::size_t k_part(int kv_head) const { return zu(kv_head) * head_bytes; }
  TG_ALWAYS_INLINE std::size_t k_block(int token) const { return k_scale_bytes + zu(token / kKeyBlock) * k_block_bytes; }  // in a k part
  TG_ALWAYS_INLINE std::size_t v_part(int kv_head) const { return zu(kv_head) * head_bytes + k_bytes; }
};

}  // namespace tg::cpu
