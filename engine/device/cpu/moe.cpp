// Mixture of experts: choose per row, then expert by expert over the rows that chose it, then sum per row in ascending order of expert.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/device/cpu/cpu_device.h"
#include "engine/device/cpu/math.h"

namespace tg::cpu {
namespace {

struct Choice {
  int expert;
  float weight;
};

void softmax(std::span<float> x) {
  const float top = *std::max_element(x.begin(), x.end());
  float sum = 0;
  for (float& v : x) sum += v = exp_f(v - top);
  for (float& v : x) v /= sum;
}

// Leaves only the experts of the best groups; a group is as good as its two best experts (DeepSeek-V3).
void limit_to_groups(const MoeArgs& args, std::vector<float>& score) {
  const std::size_t size = score.size() / zu(args.n_groups);
  std::vector<std::pair<float, int>> groups;
  for (int g = 0; g < args.n_groups; ++g) {
    std::vector<float> part(score.begin() + static_cast<std::ptrdiff_t>(zu(g) * size), score.begin() + static_cast<std::ptrdiff_t>(zu(g + 1) * size));
    const std::size_t best = std::min<std::size_t>(2, size);
    std::partial_sort(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(best), part.end(), std::greater<>());
    groups.emplace_back(-std::accumulate(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(best), 0.0F), g);
  }
  std::sort(groups.begin(), groups.end());
  for (std::size_t i = zu(args.n_groups_used); i < groups.size(); ++i) {
    std::fill_n(score.begin() + static_cast<std::ptrdiff_t>(zu(groups[i].second) * size), size, -INFINITY);
  }
}

std::vector<Choice> choose(const MoeArgs& args, const float* logits, int n_experts) {
  std::vector<float> value(logits, logits + n_experts);
  if (args.router == RouterKind::softmax_then_topk) softmax(value);
  if (args.router == RouterKind::sigmoid) {
    for (float& v : value) v = sigmoid_f(v);
  }
  std::vector<float> score = value;
  for (int e = 0; args.selection_bias != nullptr && e < n_experts; ++e) score[zu(e)] += args.selection_bias[e];
  if (args.n_groups > 1) limit_to_groups(args, score);
  std::vector<int> order(zu(n_experts));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return score[zu(a)] > score[zu(b)]; });
  order.resize(zu(std::min(args.n_used, n_experts)));
  std::vector<float> weights;
  for (int e : order) weights.push_back(value[zu(e)]);
  if (args.router == RouterKind::topk_then_softmax) {
    softmax(weights);
  } else if (args.renormalise) {
    const float sum = std::accumulate(weights.begin(), weights.end(), 0.0F);
    for (float& w : weights) w /= std::max(sum, 6.103515625e-5F);  // the peer's floor: smallest normal half
  }
  std::vector<Choice> chosen;
  for (std::size_t i = 0; i < order.size(); ++i) chosen.push_back({order[i], weights[i] * args.weight_scale});
  std::sort(chosen.begin(), chosen.end(), [](const Choice& a, const Choice& b) { return a.expert < b.expert; });
  return chosen;
}

}  // namespace

// One expert for `rows` of the input; row i's result goes to targets[i] ([dim]).
void CpuDevice::expert_rows(const MoeArgs& args, int expert, std::span<const int> rows, std::span<float* const> targets) {
  const auto& x = static_cast<const CpuActivations&>(*args.x);
  const auto& down = static_cast<const CpuWeight&>(*args.down);
  const auto& gate = static_cast<const CpuWeight&>(args.gate_up != nullptr ? *args.gate_up : *args.gate);
  const auto& up = static_cast<const CpuWeight&>(args.gate_up != nullptr ? *args.gate_up : *args.up);
  const int n = static_cast<int>(rows.size()), width = down.cols, up_row0 = args.gate_up != nullptr ? width : 0;
  ActView view = x.view();
  view.index = rows.data();
  view.n = n;
  if (!moe_middle_ || moe_rows_ < n || moe_cols_ < width) {
    moe_middle_ = activations(std::max(n, moe_rows_), std::max(width, moe_cols_));
    moe_rows_ = std::max(n, moe_rows_);
    moe_cols_ = std::max(width, moe_cols_);
  }
  auto& middle = static_cast<CpuActivations&>(*moe_middle_);
  middle.rows = n;
  middle.cols = width;
  middle.f32 = middle.own;
  const auto multiply = [&](const CpuWeight& w, int row0, int count, const ActView& in, float* to, float* spare, const float* bias) {
    k_.matmul(w, expert, row0, count, in, to, kPieceRows, spare);
    k_.finish({w.scale, bias, Activation::none, false}, to, count, in.n, to, kPieceRows);
  };
  const std::size_t part = zu(n) * kPieceRows;
  pool_.run((width + kPieceRows - 1) / kPieceRows, [&](int piece, int thread) {
    const int row0 = piece * kPieceRows, count = std::min(kPieceRows, width - row0);
    float *g = scratch(thread, 2 * part + k_.matmul_scratch(gate.cols)), *u = g + part, *spare = u + part;
    const auto bias = [&](const float* all) { return all != nullptr ? all + zu(expert) * zu(width) + row0 : nullptr; };
    multiply(gate, row0, count, view, g, spare, bias(args.gate_bias));
    multiply(up, up_row0 + row0, count, view, u, spare, bias(args.up_bias));
    k_.glu(g, u, count, n, args.activation, {middle.f32.data + row0, middle.f32.stride, middle.blocks + piece, middle.block_stride});
  });
  const ActView in = middle.view();
  pool_.run((down.rows + kPieceRows - 1) / kPieceRows, [&](int piece, int thread) {
    const int row0 = piece * kPieceRows, count = std::min(kPieceRows, down.rows - row0);
    float* y = scratch(thread, part + k_.matmul_scratch(down.cols));
    multiply(down, row0, count, in, y, y + part, args.down_bias != nullptr ? args.down_bias + zu(expert) * zu(down.rows) + row0 : nullptr);
    for (int c = 0; c < n; ++c) std::copy_n(y + zu(c) * kPieceRows, count, targets[zu(c)] + row0);
  });
}

void CpuDevice::moe(const MoeArgs& args) {
  const int n_rows = args.out.rows, n_experts = args.router_logits.cols, dim = args.out.cols;
  std::vector<std::vector<Choice>> chosen;
  std::vector<std::vector<int>> rows_of(zu(n_experts));
  std::vector<std::vector<float*>> targets_of(zu(n_experts));
  const int used = std::min(args.n_used, n_experts);
  const Mat results = matrix(moe_results_, n_rows * used, dim);
  for (int r = 0; r < n_rows; ++r) {
    chosen.push_back(choose(args, args.router_logits.row(r), n_experts));
    for (int i = 0; i < used; ++i) {
      const auto e = zu(chosen.back()[zu(i)].expert);
      rows_of[e].push_back(r);
      targets_of[e].push_back(results.row(r * used + i));
    }
  }
  for (int e = 0; e < n_experts && !pool_.cancelled(); ++e) {
    if (!rows_of[zu(e)].empty()) expert_rows(args, e, rows_of[zu(e)], targets_of[zu(e)]);
  }
  for_rows(n_rows, dim * used, [&](int r) {
    float* out = args.out.row(r);
    std::fill_n(out, dim, 0.0F);
    for (int i = 0; i < used; ++i) {
      const Choice& c = chosen[zu(r)][zu(i)];
      const float weight = c.weight * (args.expert_scale != nullptr ? args.expert_scale[c.expert] : 1.0F);
      const float* y = results.row(r * used + i);
      for (int j = 0; j < dim; ++j) out[j] += weight * y[j];
    }
  });
}

}  // namespace tg::cpu
