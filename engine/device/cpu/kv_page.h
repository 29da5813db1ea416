// Where the keys and values of one layer stand in a page of kPageTokens tokens.
// Per kv head, keys then values. Keys in blocks of 16 tokens with the token as the innermost index, so that a vector holds one dimension of
// 16 keys and scores need no sums across lanes; values token by token, so that a vector holds 16 dimensions of one value.
//   k, f32/f16/bf16: [4 blocks][head_dim][16 tokens]
//   k, q8_0:         [4 blocks][head_dim / 32]{ f16 scale[16 tokens]; u8 q[8][16 tokens][4] }, q offset by 128, four dimensions side by side
//   v, f32/f16/bf16: [64 tokens][padded head_dim]
//   v, q8_0:         f16 scale[64 tokens][padded / 32], i8 q[64 tokens][padded]
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
  std::size_t k_block_bytes = 0, k_bytes = 0, v_bytes = 0, head_bytes = 0;

  TG_ALWAYS_INLINE explicit KvPage(const KvLayerShape& shape) {
    k_dim = round_up(shape.head_dim_k, shape.k_type == KvType::q8_0 ? 32 : 1);
    v_dim = round_up(shape.head_dim_v, shape.v_type == KvType::q8_0 ? 32 : 16);
    k_block_bytes = shape.k_type == KvType::q8_0 ? zu(k_dim / 32 * (kKeyBlock * 2 + kKeyBlock * 32))
                                                 : zu(k_dim * kKeyBlock * element_bytes(shape.k_type));
    k_bytes = round_up_bytes(k_block_bytes * kBlocksPerPage, 64);
    const int v_row = shape.v_type == KvType::q8_0 ? v_dim + v_dim / 32 * 2 : v_dim * element_bytes(shape.v_type);
    v_bytes = round_up_bytes(zu(v_row * kPageTokens), 64);
    head_bytes = k_bytes + v_bytes;
  }
  TG_ALWAYS_INLINE std::size_t k_block(int kv_head, int token) const { return zu(kv_head) * head_bytes + zu(token / kKeyBlock) * k_block_bytes; }
  TG_ALWAYS_INLINE std::size_t v_part(int kv_head) const { return zu(kv_head) * head_bytes + k_bytes; }
};

}  // namespace tg::cpu
