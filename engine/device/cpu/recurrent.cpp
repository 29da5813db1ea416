// Layers with a state of fixed size: gated delta net and short convolution. Token by token, so that chunking cannot matter;
// the threads share out heads and channels, which are independent of each other.
#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/device/cpu/cpu_device.h"
#include "engine/device/cpu/math.h"

namespace tg::cpu {
namespace {

// Causal convolution of channels [begin, end) of one sequence; the state holds the last width - 1 inputs, oldest first.
// input(row, channel) is the new input, output(row, channel, value) takes the result.
template <class In, class Out>
void convolve(int begin, int end, int n_rows, int width, int channels, const float* weight, float* state, In&& input, Out&& output) {
  for (int c = begin; c < end; ++c) {
    const float* w = weight + zu(c) * zu(width);
    for (int r = 0; r < n_rows; ++r) {
      const float x = input(r, c);
      float sum = 0;
      for (int t = 0; t < width - 1; ++t) sum += w[t] * state[zu(t) * zu(channels) + zu(c)];
      sum += w[width - 1] * x;
      for (int t = 0; t + 1 < width - 1; ++t) state[zu(t) * zu(channels) + zu(c)] = state[zu(t + 1) * zu(channels) + zu(c)];
      if (width > 1) state[zu(width - 2) * zu(channels) + zu(c)] = x;
      output(r, c, sum);
    }
  }
}

constexpr int kChannelsPerPiece = 64;

void l2_normalise(float* x, int n, float eps, float factor) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i] * x[i];
  const float scale = factor / std::sqrt(sum + eps);
  for (int i = 0; i < n; ++i) x[i] *= scale;
}

// S = decay * S; S += k (beta * (v - S^T k))^T; out = S^T q. S is [head_k][head_v].
void delta_step(float* state, const float* q, const float* k, const float* v, float decay, float beta, int dk, int dv, float* out, float* tmp) {
  std::fill_n(tmp, dv, 0.0F);
  for (int i = 0; i < dk; ++i) {
    float* row = state + zu(i) * zu(dv);
    for (int j = 0; j < dv; ++j) {
      row[j] *= decay;
      tmp[j] += k[i] * row[j];
    }
  }
  for (int j = 0; j < dv; ++j) tmp[j] = (v[j] - tmp[j]) * beta;
  std::fill_n(out, dv, 0.0F);
  for (int i = 0; i < dk; ++i) {
    float* row = state + zu(i) * zu(dv);
    for (int j = 0; j < dv; ++j) {
      row[j] += k[i] * tmp[j];
      out[j] += q[i] * row[j];
    }
  }
}

}  // namespace

void CpuDevice::delta_net(const DeltaNetArgs& args) {
  const int channels = args.qkv.cols, dk = args.head_k, dv = args.head_v, k_width = args.n_k_heads * dk;
  const int blocks = (channels + kChannelsPerPiece - 1) / kChannelsPerPiece;
  const auto n_sequences = static_cast<int>(args.sequences.size());
  pool_.run(n_sequences * blocks, [&](int piece, int) {
    const SequenceRows& s = args.sequences[zu(piece / blocks)];
    const int begin = piece % blocks * kChannelsPerPiece, end = std::min(channels, begin + kChannelsPerPiece);
    convolve(begin, end, s.n_rows, args.conv_width, channels, args.conv_weight, args.conv_state[zu(piece / blocks)],
             [&](int r, int c) { return args.qkv.row(s.first_row + r)[c]; },
             [&](int r, int c, float y) {
               if (args.conv_bias != nullptr) y += args.conv_bias[c];
               args.qkv.row(s.first_row + r)[c] = activate_f(y, Activation::silu);
             });
  });
  for_rows(args.qkv.rows, k_width * 2, [&](int r) {
    float* row = args.qkv.row(r);
    const auto q_factor = static_cast<float>(1.0 / std::sqrt(static_cast<double>(dk)));
    for (int h = 0; h < args.n_k_heads; ++h) l2_normalise(row + h * dk, dk, args.eps, q_factor);
    for (int h = 0; h < args.n_k_heads; ++h) l2_normalise(row + k_width + h * dk, dk, args.eps, 1.0F);
  });
  pool_.run(n_sequences * args.n_v_heads, [&](int piece, int thread) {
    const auto sequence = zu(piece / args.n_v_heads);
    const SequenceRows& s = args.sequences[sequence];
    const int h = piece % args.n_v_heads;
    const int k_head = args.k_heads_interleaved ? h / (args.n_v_heads / args.n_k_heads) : h % args.n_k_heads;
    float* state = args.delta_state[sequence] + zu(h) * zu(dk) * zu(dv);
    float* tmp = scratch(thread, zu(dv));
    for (int i = 0; i < s.n_rows && !pool_.cancelled(); ++i) {
      const int r = s.first_row + i;
      const float* row = args.qkv.row(r);
      const double gate = static_cast<double>(args.alpha.row(r)[h]) + static_cast<double>(args.dt_bias != nullptr ? args.dt_bias[h] : 0.0F);
      const auto decay = static_cast<float>(exp_d(static_cast<double>(args.a[h]) * softplus_d(gate)));
      delta_step(state, row + k_head * dk, row + k_width + k_head * dk, row + 2 * k_width + h * dv, decay,
                 sigmoid_f(args.beta.row(r)[h]), dk, dv, args.out.row(r) + h * dv, tmp);
    }
  });
}

void CpuDevice::short_conv(const ShortConvArgs& args) {
  const int dim = args.out.cols, blocks = (dim + kChannelsPerPiece - 1) / kChannelsPerPiece;
  pool_.run(static_cast<int>(args.sequences.size()) * blocks, [&](int piece, int) {
    const SequenceRows& s = args.sequences[zu(piece / blocks)];
    const int begin = piece % blocks * kChannelsPerPiece, end = std::min(dim, begin + kChannelsPerPiece);
    convolve(begin, end, s.n_rows, args.conv_width, dim, args.conv_weight, args.state[zu(piece / blocks)],
             [&](int r, int c) {
               const float* bcx = args.bcx.row(s.first_row + r);
               return bcx[c] * bcx[2 * dim + c];
             },
             [&](int r, int c, float y) { args.out.row(s.first_row + r)[c] = args.bcx.row(s.first_row + r)[dim + c] * y; });
  });
}

}  // namespace tg::cpu
