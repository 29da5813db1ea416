// The obvious twin of every kernel: plain loops, one element after the other. It is the oracle of the tests and `selfcheck`,
// and what runs on a processor that none of the fast tables fits.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "engine/device/cpu/half.h"
#include "engine/device/cpu/kernels.h"
#include "engine/device/cpu/math.h"

namespace tg::cpu {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

void norm(const float* in, const NormSpec& spec, float* out, int n) {
  double mean = 0, squares = 0;
  if (spec.kind == NormKind::layer) {
    for (int i = 0; i < n; ++i) mean += static_cast<double>(in[i]);
    mean /= n;
  }
  for (int i = 0; i < n; ++i) {
    const double x = static_cast<double>(in[i]) - mean;
    squares += x * x;
  }
  const auto scale = static_cast<float>(1.0 / std::sqrt(squares / n + static_cast<double>(spec.eps)));
  const auto shift = static_cast<float>(mean);
  for (int i = 0; i < n; ++i) {
    float x = (in[i] - shift) * scale;
    if (spec.weight != nullptr) x *= spec.weight[i];
    if (spec.bias != nullptr) x += spec.bias[i];
    out[i] = x;
  }
}

int nearest(float x) {  // ties to even; NaN counts as 0
  return x == x ? static_cast<int>(std::nearbyint(std::clamp(x, -127.0F, 127.0F))) : 0;
}

void quantise(const float* in, int n, ActBlock* out) {
  for (int b = 0; b < n / 32; ++b) {
    const float* x = in + b * 32;
    float largest = 0;
    for (int i = 0; i < 32; ++i) largest = std::max(largest, std::fabs(x[i]));
    const bool zero = !(largest > 1e-30F);  // the inverse would leave the range of float
    const float d = zero ? 0.0F : largest / 127.0F, inverse = zero ? 0.0F : 127.0F / largest;
    ActBlock& block = out[b];
    block.d = d;
    block.sum = block.sum_low = 0;
    for (int i = 0; i < 32; ++i) {
      const int q = nearest(x[i] * inverse);
      block.q[i] = static_cast<std::int8_t>(q);
      block.sum += q;
      if (i < 16) block.sum_low += q;
    }
    block.s = d * static_cast<float>(block.sum);
  }
}

void file_row(const CpuWeight& w, int expert, int row, float* out) {
  const std::size_t bytes = row_bytes(*format_info(w.format), zu(w.cols));
  dequantise(w.format, {w.file.data() + zu(expert) * w.expert_bytes + zu(row) * bytes, bytes}, out, zu(w.cols));
}

double dot(const float* w, const ActView& x, int c, int cols, bool exact) {
  double sum = 0;
  if (exact) {
    const float* a = x.f32 + zu(x.at(c)) * x.f32_stride;
    for (int k = 0; k < cols; ++k) sum += static_cast<double>(w[k]) * static_cast<double>(a[k]);
    return sum;
  }
  const ActBlock* a = x.blocks + zu(x.at(c)) * x.block_stride;
  for (int b = 0; b < cols / 32; ++b) {
    double part = 0;
    for (int i = 0; i < 32; ++i) part += static_cast<double>(w[b * 32 + i]) * a[b].q[i];
    sum += part * static_cast<double>(a[b].d);
  }
  return sum;
}

void matmul(const CpuWeight& w, int expert, int row0, int rows, const ActView& x, float* out, std::size_t stride, float* scratch) {
  for (int r = 0; r < rows; ++r) {
    file_row(w, expert, row0 + r, scratch);
    for (int c = 0; c < x.n; ++c) out[zu(c) * stride + zu(r)] = static_cast<float>(dot(scratch, x, c, w.cols, is_float(w.format)));
  }
}

std::size_t matmul_scratch(int cols) { return zu(cols); }

void finish(const Epilogue& e, const float* values, int rows, int n, float* out, std::size_t stride) {
  for (int c = 0; c < n; ++c, values += kPieceRows, out += stride) {
    for (int r = 0; r < rows; ++r) {
      float y = values[r] * e.scale;
      if (e.bias != nullptr) y += e.bias[r];
      y = activate_f(y, e.activation);
      out[r] = e.add ? out[r] + y : y;
    }
  }
}

void activate(float* x, int n, Activation activation) {
  for (int i = 0; i < n; ++i) x[i] = activate_f(x[i], activation);
}

void row_op(RowOp op, float* x, const float* y, float factor, int n) {
  for (int i = 0; i < n; ++i) {
    switch (op) {
      case RowOp::add: x[i] += y[i] * factor; break;
      case RowOp::multiply: x[i] *= y[i]; break;
      case RowOp::scale: x[i] *= factor; break;
      case RowOp::gate_sigmoid: x[i] *= sigmoid_f(y[i]); break;
      case RowOp::gate_silu: x[i] *= activate_f(y[i], Activation::silu); break;
      case RowOp::softcap: x[i] = factor * tanh_f(x[i] / factor); break;
    }
  }
}

void glu(const float* gate, const float* up, int rows, int n, Activation activation, const GluOut& out) {
  for (int c = 0; c < n; ++c, gate += kPieceRows, up += kPieceRows) {
    float y[kPieceRows];
    for (int r = 0; r < rows; ++r) y[r] = glu_f(gate[r], up[r], activation);
    if (out.f32 != nullptr) std::copy_n(y, rows, out.f32 + zu(c) * out.f32_stride);
    if (out.blocks != nullptr && rows == kPieceRows) quantise(y, kPieceRows, out.blocks + zu(c) * out.block_stride);
  }
}

void rotate(float* head, const float* cosine, const float* sine, int n_dims, RopeLayout layout) {
  const int half = n_dims / 2;
  for (int i = 0; i < half; ++i) {
    float& a = layout == RopeLayout::norm ? head[2 * i] : head[i];
    float& b = layout == RopeLayout::norm ? head[2 * i + 1] : head[i + half];
    const float x = a, y = b;
    a = x * cosine[i] - y * sine[i];
    b = x * sine[i] + y * cosine[i];
  }
}

// ---- Keys and values in pages -------------------------------------------------------------------------------------------
void put(std::byte* at, KvType type, float value) {
  if (type == KvType::f32) {
    std::memcpy(at, &value, 4);
    return;
  }
  const std::uint16_t h = type == KvType::f16 ? float_to_half(value) : float_to_bf16(value);
  std::memcpy(at, &h, 2);
}

float get(const std::byte* at, KvType type) {
  if (type == KvType::f32) {
    float f;
    std::memcpy(&f, at, 4);
    return f;
  }
  std::uint16_t h;
  std::memcpy(&h, at, 2);
  return type == KvType::f16 ? half_to_float(h) : bf16_to_float(h);
}

// q8_0 of 32 values (missing ones are 0): d is the half that is stored, so reading back gives exactly d * q.
struct Quant32 {
  std::uint16_t d = 0;
  std::int8_t q[32] = {};
};
Quant32 quantise32(const float* x, int n) {
  Quant32 out;
  float largest = 0;
  for (int i = 0; i < n; ++i) largest = std::max(largest, std::fabs(x[i]));
  out.d = float_to_half(largest / 127.0F);
  const float d = half_to_float(out.d), inverse = d > 0 ? 1.0F / d : 0.0F;
  for (int i = 0; i < n; ++i) out.q[i] = static_cast<std::int8_t>(nearest(x[i] * inverse));
  return out;
}

// Scale and byte of one element of a q8_0 part: [padded / 32] groups of kPageTokens.
std::byte* scale_at(std::byte* part, int token, int dim) { return part + (dim / 32 * kPageTokens + token) * 2; }
std::byte* key_byte(std::byte* part, int padded, int token, int dim) {
  const int block = token / kKeyBlock, lane = token % kKeyBlock;
  return part + padded / 32 * kPageTokens * 2 + ((block * padded / 4 + dim / 4) * kKeyBlock + lane) * 4 + dim % 4;
}
std::byte* value_byte(std::byte* part, int padded, int token, int dim) {
  return part + padded / 32 * kPageTokens * 2 + ((dim / 32 * kKeyBlock + token % kKeyBlock) * 32 + dim % 32) * 4 + token / kKeyBlock;
}

void store_k(const StoreRow& row, std::byte* part) {
  if (row.type != KvType::q8_0) {
    const int bytes = element_bytes(row.type), block = row.token / kKeyBlock, lane = row.token % kKeyBlock;
    for (int i = 0; i < row.head_dim; ++i) put(part + zu(((block * row.head_dim + i) * kKeyBlock + lane) * bytes), row.type, row.values[i]);
    return;
  }
  const int padded = round_up(row.head_dim, 32);
  for (int d = 0; d < row.head_dim; d += 32) {
    const Quant32 quant = quantise32(row.values + d, std::min(32, row.head_dim - d));
    std::memcpy(scale_at(part, row.token, d), &quant.d, 2);
    for (int i = 0; i < 32; ++i) *key_byte(part, padded, row.token, d + i) = static_cast<std::byte>(quant.q[i] + 128);
  }
}

float key_value(std::byte* part, const AttentionTile& t, const KvPage& layout, int token, int dim) {
  if (t.kv.k_type != KvType::q8_0) {
    return get(part + layout.k_block(token) + zu((dim * kKeyBlock + token % kKeyBlock) * element_bytes(t.kv.k_type)), t.kv.k_type);
  }
  const int q = std::to_integer<int>(*key_byte(part, layout.k_dim, token, dim)) - 128;
  return get(scale_at(part, token, dim), KvType::f16) * static_cast<float>(q);
}

void store_v(const StoreRow& row, std::byte* part, int padded) {
  if (row.type != KvType::q8_0) {
    const int bytes = element_bytes(row.type);
    for (int i = 0; i < row.head_dim; ++i) put(part + zu((row.token * padded + i) * bytes), row.type, row.values[i]);
    return;
  }
  for (int d = 0; d < row.head_dim; d += 32) {
    const Quant32 quant = quantise32(row.values + d, std::min(32, row.head_dim - d));
    std::memcpy(scale_at(part, row.token, d), &quant.d, 2);
    for (int i = 0; i < 32; ++i) *value_byte(part, padded, row.token, d + i) = static_cast<std::byte>(quant.q[i]);
  }
}

float value_of(std::byte* part, KvType type, int padded, int token, int dim) {
  if (type != KvType::q8_0) return get(part + zu((token * padded + dim) * element_bytes(type)), type);
  return get(scale_at(part, token, dim), KvType::f16) * static_cast<float>(std::to_integer<std::int8_t>(*value_byte(part, padded, token, dim)));
}

// Keys of 8 bits are multiplied with a query of 8 bits.
std::vector<float> query(const AttentionTile& t, int m, const KvPage& layout) {
  std::vector<float> q(zu(layout.k_dim));
  std::copy_n(t.q[m], t.kv.head_dim_k, q.begin());
  if (t.kv.k_type != KvType::q8_0) return q;
  std::vector<ActBlock> blocks(q.size() / 32);
  quantise(q.data(), layout.k_dim, blocks.data());
  for (std::size_t i = 0; i < q.size(); ++i) q[i] = blocks[i / 32].d * static_cast<float>(blocks[i / 32].q[i % 32]);
  return q;
}

void attend_one(const AttentionTile& t, int m, const KvPage& layout) {
  const std::vector<float> q = query(t, m, layout);
  const int begin = std::max(t.first_key[m], t.split_begin), end = std::min(t.end_key[m], t.split_end);
  float* scores = t.scores + zu(m) * kAttentionSplit;
  float* out = t.out + zu(m) * t.out_stride;
  std::fill_n(out, layout.v_dim, 0.0F);
  t.max[m] = kMinusInfinity;
  t.sum[m] = 0;
  for (int key = begin; key < end; ++key) {
    const int token = key % kPageTokens;
    std::byte* part = t.pages[key / kPageTokens] + t.layer_offset + layout.k_part(t.kv_head);
    float score = 0;
    for (int i = 0; i < t.kv.head_dim_k; ++i) score += q[zu(i)] * key_value(part, t, layout, token, i);
    if (t.softcap > 0) score = t.softcap * tanh_f(score / t.softcap);
    scores[key - begin] = score;
    t.max[m] = std::max(t.max[m], score);
  }
  for (int key = begin; key < end; ++key) {
    const float p = exp_f(scores[key - begin] - t.max[m]);
    std::byte* part = t.pages[key / kPageTokens] + t.layer_offset + layout.v_part(t.kv_head);
    t.sum[m] += p;
    for (int i = 0; i < t.kv.head_dim_v; ++i) out[i] += p * value_of(part, t.kv.v_type, layout.v_dim, key % kPageTokens, i);
  }
}

void attention(const AttentionTile& tile) {
  const KvPage layout(tile.kv);
  for (int m = 0; m < tile.n; ++m) attend_one(tile, m, layout);
}

void merge(float& max, float& sum, float* acc, float max2, float sum2, const float* acc2, int n) {
  if (max2 == kMinusInfinity) return;  // the split holds no visible key: exactly nothing
  const float top = std::max(max, max2), a = exp_f(max - top), b = exp_f(max2 - top);
  for (int i = 0; i < n; ++i) acc[i] = acc[i] * a + acc2[i] * b;
  sum = sum * a + sum2 * b;
  max = top;
}

std::uint64_t read_bytes(const std::byte* data, std::size_t bytes) {
  std::uint64_t sum = 0, word = 0;
  for (std::size_t i = 0; i + 8 <= bytes; i += 8) {
    std::memcpy(&word, data + i, 8);
    sum += word;
  }
  return sum;
}

// The scalar table multiplies in double, whatever the format: both probes are the same loop.
double multiply_work(int rounds) {
  volatile double factor = 0.999;
  double acc[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const double f = factor;
  for (int i = 0; i < rounds; ++i) {
    for (double& a : acc) a = a * f + 0.5;
  }
  double sum = 0;
  for (double a : acc) sum += a;
  factor = sum;
  return 16.0 * rounds;
}

}  // namespace

const Kernels& scalar_kernels() {
  static const Kernels table = [] {
    Kernels k;
    k.variant = "scalar.2";
    k.label = "scalar";
    k.norm = norm;
    k.quantise = quantise;
    k.matmul = matmul;
    k.matmul_scratch = matmul_scratch;
    k.finish = finish;
    k.activate = activate;
    k.row_op = row_op;
    k.glu = glu;
    k.rotate = rotate;
    k.store_k = store_k;
    k.store_v = store_v;
    k.attention = attention;
    k.merge = merge;
    k.read_bytes = read_bytes;
    k.int8_work = multiply_work;
    k.f32_work = multiply_work;
    return k;
  }();
  return table;
}

}  // namespace tg::cpu
