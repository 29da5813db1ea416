// Row kernels over the 16-lane vocabulary of simd_*.h: norm, quantisation, activations, epilogue, merge of attention splits.
// Included by kernels_*.cpp after its simd header. Elementary functions follow math.h, sixteen at a time.
#pragma once
#include "engine/device/cpu/kernels.h"
#include "engine/device/cpu/math.h"

namespace tg::cpu {
namespace {

TG_INLINE VF vexp(VF x) {  // as exp_f: relative error below 2e-7, 0 below kExpMin
  const VMask tiny = vless(x, vset(kExpMin));
  const VF y = vmin(vmax(x, vset(kExpMin)), vset(kExpMax));
  const VI n = to_int(vmul(y, vset(kLog2e)));
  const VF nf = to_float(n);
  const VF r = vfma(nf, vset(-kLn2Low), vfma(nf, vset(-kLn2High), y));
  VF p = vset(kExpC[6]);
  for (int i = 5; i >= 0; --i) p = vfma(p, r, vset(kExpC[i]));
  const VF e = vadd(vfma(vmul(p, r), r, r), vset(1.0F));
  return vselect(tiny, vset(0.0F), vmul(e, vpow2(n)));
}

TG_INLINE VF vsigmoid(VF x) { return vdiv(vset(1.0F), vadd(vset(1.0F), vexp(vsub(vset(0.0F), x)))); }

TG_INLINE VF vtanh(VF x) {
  const VF a = vabs(x), z = vmul(x, x);
  VF p = vfma(z, vset(62.0F / 2835), vset(-17.0F / 315));
  p = vfma(z, vfma(z, p, vset(2.0F / 15)), vset(-1.0F / 3));
  const VF small = vfma(vmul(x, z), p, x);
  const VF t = vexp(vmul(a, vset(-2.0F)));
  const VF large = vdiv(vsub(vset(1.0F), t), vadd(vset(1.0F), t));
  return vselect(vless(a, vset(0.25F)), small, vcopysign(large, x));
}

TG_INLINE VF verf(VF x) {
  const VF a = vabs(x), t = vdiv(vset(1.0F), vfma(a, vset(0.3275911F), vset(1.0F)));
  VF p = vfma(t, vset(1.061405429F), vset(-1.453152027F));
  p = vfma(t, vfma(t, vfma(t, p, vset(1.421413741F)), vset(-0.284496736F)), vset(0.254829592F));
  const VF r = vsub(vset(1.0F), vmul(vmul(p, t), vexp(vsub(vset(0.0F), vmul(a, a)))));
  return vcopysign(r, x);
}

TG_INLINE VF vactivate(VF x, Activation activation) {
  switch (activation) {
    case Activation::silu: return vmul(x, vsigmoid(x));
    case Activation::gelu_tanh: {
      const VF inner = vmul(vmul(vset(0.797884560802865F), x), vfma(vmul(vset(0.044715F), x), x, vset(1.0F)));
      return vmul(vmul(vset(0.5F), x), vadd(vset(1.0F), vtanh(inner)));
    }
    case Activation::gelu_erf: return vmul(vmul(vset(0.5F), x), vadd(vset(1.0F), verf(vmul(x, vset(0.707106781186548F)))));
    case Activation::relu_squared: {
      const VF y = vmax(x, vset(0.0F));
      return vmul(y, y);
    }
    case Activation::none:
    case Activation::swiglu_clamped: break;
  }
  return x;
}

TG_INLINE VF vglu(VF gate, VF up, Activation activation) {
  if (activation != Activation::swiglu_clamped) return vmul(vactivate(gate, activation), up);
  const VF g = vmin(gate, vset(7.0F)), u = vmax(vmin(up, vset(7.0F)), vset(-7.0F));
  return vmul(vmul(g, vsigmoid(vmul(vset(1.702F), g))), vadd(u, vset(1.0F)));
}

// Calls f(i, load, store) over n floats; the tail goes through a padded copy, so that every element takes the same vector path.
template <class F>
TG_INLINE void for_lanes(int n, F&& f) {
  int i = 0;
  for (; i + 16 <= n; i += 16) f(i, 16);
  if (i < n) f(i, n - i);
}
TG_INLINE VF load_part(const float* p, int count) {
  if (count == 16) return vload(p);
  float lanes[16] = {};
  for (int i = 0; i < count; ++i) lanes[i] = p[i];
  return vload(lanes);
}
TG_INLINE void store_part(float* p, VF v, int count) {
  if (count == 16) return vstore(p, v);
  float lanes[16];
  vstore(lanes, v);
  for (int i = 0; i < count; ++i) p[i] = lanes[i];
}

void norm_row(const float* in, const NormSpec& spec, float* out, int n) {
  VF sum = vset(0.0F), squares = vset(0.0F);
  float mean = 0;
  if (spec.kind == NormKind::layer) {
    for_lanes(n, [&](int i, int count) { sum = vadd(sum, load_part(in + i, count)); });
    mean = vsum(sum) / static_cast<float>(n);
  }
  for_lanes(n, [&](int i, int count) {
    VF x = load_part(in + i, count);
    if (spec.kind == NormKind::layer) x = vselect(lanes_from_to(0, count), vsub(x, vset(mean)), vset(0.0F));
    squares = vfma(x, x, squares);
  });
  const float scale = 1.0F / __builtin_sqrtf(vsum(squares) / static_cast<float>(n) + spec.eps);
  for_lanes(n, [&](int i, int count) {
    VF x = vmul(vsub(load_part(in + i, count), vset(mean)), vset(scale));
    if (spec.weight != nullptr) x = vmul(x, load_part(spec.weight + i, count));
    if (spec.bias != nullptr) x = vadd(x, load_part(spec.bias + i, count));
    store_part(out + i, x, count);
  });
}

TG_INLINE void quantise_block(VF a, VF b, ActBlock& block) {
  const float largest = vtop(vmax(vabs(a), vabs(b)));
  // Below 1e-30 the inverse would leave the range of float: such a block counts as zero.
  const bool zero = !(largest > 1e-30F);
  block.d = zero ? 0.0F : largest / 127.0F;
  const VF inverse = vset(zero ? 0.0F : 127.0F / largest);
  const VI low = to_int(vmul(a, inverse)), high = to_int(vmul(b, inverse));
  store_i8(block.q, low);
  store_i8(block.q + 16, high);
  block.sum_low = isum(low);
  block.sum = isum(iadd(low, high));
  block.s = block.d * static_cast<float>(block.sum);
}

void quantise_row(const float* in, int n, ActBlock* out) {
  for (int i = 0; i + 32 <= n; i += 32) quantise_block(vload(in + i), vload(in + i + 16), out[i / 32]);
}

void activate_row(float* x, int n, Activation activation) {
  for_lanes(n, [&](int i, int count) { store_part(x + i, vactivate(load_part(x + i, count), activation), count); });
}

template <RowOp Op>
TG_INLINE void row_lanes(float* x, const float* y, float factor, int n) {
  for_lanes(n, [&](int i, int count) {
    const VF a = load_part(x + i, count);
    VF r = a;
    if constexpr (Op == RowOp::add) r = vadd(a, vmul(load_part(y + i, count), vset(factor)));
    if constexpr (Op == RowOp::multiply) r = vmul(a, load_part(y + i, count));
    if constexpr (Op == RowOp::scale) r = vmul(a, vset(factor));
    if constexpr (Op == RowOp::gate_sigmoid) r = vmul(a, vsigmoid(load_part(y + i, count)));
    if constexpr (Op == RowOp::gate_silu) r = vmul(a, vactivate(load_part(y + i, count), Activation::silu));
    if constexpr (Op == RowOp::softcap) r = vmul(vset(factor), vtanh(vdiv(a, vset(factor))));
    store_part(x + i, r, count);
  });
}

void row_op_lanes(RowOp op, float* x, const float* y, float factor, int n) {
  switch (op) {
    case RowOp::add: return row_lanes<RowOp::add>(x, y, factor, n);
    case RowOp::multiply: return row_lanes<RowOp::multiply>(x, y, factor, n);
    case RowOp::scale: return row_lanes<RowOp::scale>(x, y, factor, n);
    case RowOp::gate_sigmoid: return row_lanes<RowOp::gate_sigmoid>(x, y, factor, n);
    case RowOp::gate_silu: return row_lanes<RowOp::gate_silu>(x, y, factor, n);
    case RowOp::softcap: return row_lanes<RowOp::softcap>(x, y, factor, n);
  }
}

void glu_piece(const float* gate, const float* up, int rows, int n, Activation activation, const GluOut& out) {
  for (int c = 0; c < n; ++c, gate += kPieceRows, up += kPieceRows) {
    if (rows == kPieceRows) {
      const VF a = vglu(vload(gate), vload(up), activation), b = vglu(vload(gate + 16), vload(up + 16), activation);
      if (out.f32 != nullptr) {
        vstore(out.f32 + zu(c) * out.f32_stride, a);
        vstore(out.f32 + zu(c) * out.f32_stride + 16, b);
      }
      if (out.blocks != nullptr) quantise_block(a, b, out.blocks[zu(c) * out.block_stride]);
    } else if (out.f32 != nullptr) {
      for_lanes(rows, [&](int i, int count) {
        store_part(out.f32 + zu(c) * out.f32_stride + i, vglu(vload(gate + i), vload(up + i), activation), count);
      });
    }
  }
}

TG_INLINE VF finish_lanes(const Epilogue& e, VF y, int i, const float* out, int count) {
  y = vmul(y, vset(e.scale));
  if (e.bias != nullptr) y = vadd(y, load_part(e.bias + i, count));
  if (e.activation != Activation::none) y = vactivate(y, e.activation);
  return e.add ? vadd(load_part(out, count), y) : y;
}

void finish_piece(const Epilogue& e, const float* values, int rows, int n, float* out, std::size_t stride) {
  for (int c = 0; c < n; ++c, values += kPieceRows, out += stride) {
    if (rows == kPieceRows) {
      vstore(out, finish_lanes(e, vload(values), 0, out, 16));
      vstore(out + 16, finish_lanes(e, vload(values + 16), 16, out + 16, 16));
    } else {
      for_lanes(rows, [&](int i, int count) {
        store_part(out + i, finish_lanes(e, vload(values + i), i, out + i, count), count);
      });
    }
  }
}

void rotate_head(float* head, const float* cosine, const float* sine, int n_dims, RopeLayout layout) {
  const int half = n_dims / 2;
  if (layout == RopeLayout::neox) {
    for_lanes(half, [&](int i, int count) {
      const VF x = load_part(head + i, count), y = load_part(head + half + i, count);
      const VF c = load_part(cosine + i, count), s = load_part(sine + i, count);
      store_part(head + i, vsub(vmul(x, c), vmul(y, s)), count);
      store_part(head + half + i, vadd(vmul(x, s), vmul(y, c)), count);
    });
    return;
  }
  for (int i = 0; i < half; ++i) {
    const float x = head[2 * i], y = head[2 * i + 1];
    head[2 * i] = x * cosine[i] - y * sine[i];
    head[2 * i + 1] = x * sine[i] + y * cosine[i];
  }
}

constexpr float kNoKey = -__builtin_inff();

void merge_split(float& max, float& sum, float* acc, float max2, float sum2, const float* acc2, int n) {
  if (max2 == kNoKey) return;  // the split holds no visible key: exactly nothing
  const float top = max > max2 ? max : max2, a = exp_f(max - top), b = exp_f(max2 - top);
  for_lanes(n, [&](int i, int count) {
    store_part(acc + i, vfma(load_part(acc + i, count), vset(a), vmul(load_part(acc2 + i, count), vset(b))), count);
  });
  sum = sum * a + sum2 * b;
  max = top;
}

std::uint64_t read_words(const std::byte* data, std::size_t bytes) {
  VI a = iset(0), b = iset(0), c = iset(0), d = iset(0);
  for (std::size_t i = 0; i + 256 <= bytes; i += 256) {
    a = iadd(a, iload(data + i));
    b = iadd(b, iload(data + i + 64));
    c = iadd(c, iload(data + i + 128));
    d = iadd(d, iload(data + i + 192));
  }
  return static_cast<std::uint64_t>(isum(iadd(iadd(a, b), iadd(c, d))));
}

// 16 independent chains: enough to fill two multipliers of latency 5.
double int8_peak(int rounds) {
  VI acc[16];
  for (int i = 0; i < 16; ++i) acc[i] = iset(i);
  const VI u = iset8(rounds & 1), s = iset8(1);
  for (int r = 0; r < rounds; ++r) {
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) acc[i] = dot(acc[i], u, s);
  }
  VI sum = iset(0);
  for (int i = 0; i < 16; ++i) sum = iadd(sum, acc[i]);
  volatile int sink = isum(sum);
  static_cast<void>(sink);
  return 128.0 * 16 * rounds;
}

double f32_peak(int rounds) {
  VF acc[16];
  for (int i = 0; i < 16; ++i) acc[i] = vset(static_cast<float>(i));
  const VF x = vset(static_cast<float>(rounds)), y = vset(1e-9F);
  for (int r = 0; r < rounds; ++r) {
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) acc[i] = vfma(acc[i], y, x);
  }
  VF sum = vset(0.0F);
  for (int i = 0; i < 16; ++i) sum = vadd(sum, acc[i]);
  volatile float sink = vsum(sum);
  static_cast<void>(sink);
  return 32.0 * 16 * rounds;
}

}  // namespace
}  // namespace tg::cpu
