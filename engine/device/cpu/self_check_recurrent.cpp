// Layers with a state against formulas written out in double: these ops have no table of kernels, so the scalar table is no second opinion.
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/device/cpu/cpu_device.h"
#include "engine/device/cpu/self_check.h"

namespace tg::cpu {
namespace {

using Values = std::vector<float>;
using Doubles = std::vector<double>;

constexpr double kLimit = 1e-9;

Values random_values(int n, std::uint64_t seed, float size) {
  Random random(seed);
  Values values(zu(n));
  for (float& v : values) v = random.normal() * size;
  return values;
}

// x[r][c] convolved with weight[c][width], inputs before the first being `state` (oldest first).
Doubles convolved(const Doubles& x, int rows, int channels, int width, const Values& weight, const Values& state) {
  Doubles out(x.size());
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < channels; ++c) {
      for (int t = 0; t < width; ++t) {
        const int from = r - (width - 1) + t;
        const double input = from >= 0 ? x[zu(from * channels + c)] : static_cast<double>(state[zu((from + width - 1) * channels + c)]);
        out[zu(r * channels + c)] += static_cast<double>(weight[zu(c * width + t)]) * input;
      }
    }
  }
  return out;
}

struct DeltaShape {
  int k_heads, v_heads, dk, dv, rows;
  bool interleaved;
  int k_width() const { return k_heads * dk; }
  int channels() const { return 2 * k_width() + v_heads * dv; }
};

struct DeltaData {
  static constexpr int kWidth = 4;
  Values qkv, beta, alpha, weight, a, dt, conv_state, state;
  explicit DeltaData(const DeltaShape& s) {
    qkv = random_values(s.rows * s.channels(), 41, 1);
    beta = random_values(s.rows * s.v_heads, 42, 1);
    alpha = random_values(s.rows * s.v_heads, 43, 1);
    weight = random_values(s.channels() * kWidth, 44, 0.5F);
    a = random_values(s.v_heads, 45, 1);
    for (float& x : a) x = -std::fabs(x);
    dt = random_values(s.v_heads, 46, 1);
    conv_state = random_values((kWidth - 1) * s.channels(), 47, 1);
    state = random_values(s.v_heads * s.dk * s.dv, 48, 0.1F);
  }
};

void unit_length(double* x, int n, double factor) {
  double squares = 1e-6;
  for (int i = 0; i < n; ++i) squares += x[i] * x[i];
  for (int i = 0; i < n; ++i) x[i] *= factor / std::sqrt(squares);
}

// The delta rule as its paper states it: S = g S + beta k (v - (g S)^T k)^T, out = S^T q.
void delta_rule(const DeltaShape& s, const double* q, const double* k, const double* v, double decay, double beta, double* state, float* out) {
  for (int j = 0; j < s.dv; ++j) {
    double seen = 0, result = 0;
    for (int i = 0; i < s.dk; ++i) seen += k[i] * decay * state[i * s.dv + j];
    for (int i = 0; i < s.dk; ++i) {
      double& x = state[i * s.dv + j];
      x = decay * x + beta * k[i] * (v[j] - seen);
      result += q[i] * x;
    }
    out[j] = static_cast<float>(result);
  }
}

Values delta_reference(const DeltaShape& s, const DeltaData& d) {
  Doubles x = convolved(Doubles(d.qkv.begin(), d.qkv.end()), s.rows, s.channels(), DeltaData::kWidth, d.weight, d.conv_state);
  for (double& y : x) y /= 1 + std::exp(-y);
  Doubles state(d.state.begin(), d.state.end());
  Values out(zu(s.rows * s.v_heads * s.dv));
  for (int r = 0; r < s.rows; ++r) {
    double* row = x.data() + r * s.channels();
    for (int h = 0; h < s.k_heads; ++h) {
      unit_length(row + h * s.dk, s.dk, 1 / std::sqrt(s.dk));
      unit_length(row + s.k_width() + h * s.dk, s.dk, 1);
    }
    for (int h = 0; h < s.v_heads; ++h) {
      const int k_head = s.interleaved ? h / (s.v_heads / s.k_heads) : h % s.k_heads;
      const auto at = zu(r * s.v_heads + h);
      const double gate = std::log1p(std::exp(static_cast<double>(d.alpha[at]) + static_cast<double>(d.dt[zu(h)])));
      delta_rule(s, row + k_head * s.dk, row + s.k_width() + k_head * s.dk, row + 2 * s.k_width() + h * s.dv,
                 std::exp(static_cast<double>(d.a[zu(h)]) * gate), 1 / (1 + std::exp(-static_cast<double>(d.beta[at]))),
                 state.data() + h * s.dk * s.dv, out.data() + at * zu(s.dv));
    }
  }
  return out;
}

Mat filled(CpuDevice& device, std::shared_ptr<std::byte>& storage, int rows, int cols, const Values& values) {
  const Mat m = device.matrix(storage, rows, cols);
  for (int r = 0; r < rows; ++r) std::copy_n(values.data() + zu(r * cols), cols, m.row(r));
  return m;
}
Values values_of(Mat m) {
  Values all;
  for (int r = 0; r < m.rows; ++r) all.insert(all.end(), m.row(r), m.row(r) + m.cols);
  return all;
}

Values delta_result(CpuDevice& device, const DeltaShape& s, DeltaData d) {
  std::array<std::shared_ptr<std::byte>, 4> memory;
  const SequenceRows rows{0, s.rows, 0, nullptr};
  float *conv_state = d.conv_state.data(), *state = d.state.data();
  DeltaNetArgs args;
  args.qkv = filled(device, memory[0], s.rows, s.channels(), d.qkv);
  args.beta = filled(device, memory[1], s.rows, s.v_heads, d.beta);
  args.alpha = filled(device, memory[2], s.rows, s.v_heads, d.alpha);
  args.conv_weight = d.weight.data();
  args.a = d.a.data();
  args.dt_bias = d.dt.data();
  args.conv_width = DeltaData::kWidth;
  args.n_k_heads = s.k_heads;
  args.n_v_heads = s.v_heads;
  args.head_k = s.dk;
  args.head_v = s.dv;
  args.k_heads_interleaved = s.interleaved;
  args.out = device.matrix(memory[3], s.rows, s.v_heads * s.dv);
  args.sequences = {&rows, 1};
  args.conv_state = {&conv_state, 1};
  args.delta_state = {&state, 1};
  device.delta_net(args);
  return values_of(args.out);
}

SelfCheck check_delta(CpuDevice& device, const DeltaShape& s) {
  const DeltaData data(s);
  const double error = nmse(delta_result(device, s, data), delta_reference(s, data));
  return {"delta net " + std::to_string(s.k_heads) + "/" + std::to_string(s.v_heads) + " heads of " + std::to_string(s.dk) + "x" +
              std::to_string(s.dv) + (s.interleaved ? " interleaved, " : ", ") + std::to_string(s.rows) + " rows",
          error, kLimit, error <= kLimit};
}

SelfCheck check_short_conv(CpuDevice& device, int dim, int width, int n) {
  const Values bcx = random_values(n * 3 * dim, 51, 1), weight = random_values(dim * width, 52, 0.5F);
  Values state = random_values(std::max(1, (width - 1) * dim), 53, 1);
  Doubles bx;
  for (int r = 0; r < n; ++r) {
    const float* row = bcx.data() + r * 3 * dim;
    for (int c = 0; c < dim; ++c) bx.push_back(static_cast<double>(row[c]) * static_cast<double>(row[2 * dim + c]));
  }
  const Doubles sums = convolved(bx, n, dim, width, weight, state);
  Values reference;
  for (int r = 0; r < n; ++r) {
    for (int c = 0; c < dim; ++c) reference.push_back(static_cast<float>(static_cast<double>(bcx[zu(r * 3 * dim + dim + c)]) * sums[zu(r * dim + c)]));
  }
  std::array<std::shared_ptr<std::byte>, 2> memory;
  const SequenceRows rows{0, n, 0, nullptr};
  float* states = state.data();
  ShortConvArgs args;
  args.bcx = filled(device, memory[0], n, 3 * dim, bcx);
  args.out = device.matrix(memory[1], n, dim);
  args.conv_weight = weight.data();
  args.conv_width = width;
  args.sequences = {&rows, 1};
  args.state = {&states, 1};
  device.short_conv(args);
  const double error = nmse(values_of(args.out), reference);
  return {"short convolution of " + std::to_string(width) + ", " + std::to_string(dim) + " channels, " + std::to_string(n) + " rows", error, kLimit,
          error <= kLimit};
}

}  // namespace

std::vector<SelfCheck> check_recurrent(CpuDevice& device) {
  std::vector<SelfCheck> checks;
  for (const int n : {1, 2, 35}) {
    checks.push_back(check_delta(device, {2, 4, 16, 24, n, false}));
    checks.push_back(check_delta(device, {2, 6, 32, 32, n, true}));
    checks.push_back(check_delta(device, {1, 1, 5, 7, n, false}));
    checks.push_back(check_short_conv(device, 100, 3, n));
    checks.push_back(check_short_conv(device, 64, 4, n));
  }
  return checks;
}

}  // namespace tg::cpu
