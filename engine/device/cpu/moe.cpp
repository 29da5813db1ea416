// Mixture of experts: choose per row, then the experts over the rows that chose them, then sum per row in ascending order of expert.
// Few rows: all experts in one go over the threads. Many: expert by expert, so that what stands between its matrices stays in the cache.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/device/cpu/cpu_device.h"
#include "engine/device/cpu/math.h"

namespace tg::cpu {
namespace {

constexpr int kFewRows = 8;

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

// The experts of one row in ascending order, and their weights, to OUT [n_used].
void choose(const MoeArgs& args, const float* logits, int n_experts, RouterRoom& room, ExpertChoice* out) {
  auto& [value, score, weights, order] = room;
  value.assign(logits, logits + n_experts);
  if (args.router == RouterKind::softmax_then_topk) softmax(value);
  if (args.router == RouterKind::sigmoid) {
    for (float& v : value) v = sigmoid_f(v);
  }
  score = value;
  for (int e = 0; args.selection_bias != nullptr && e < n_experts; ++e) score[zu(e)] += args.selection_bias[e];
  if (args.n_groups > 1) limit_to_groups(args, score);
  order.resize(zu(n_experts));
  std::iota(order.begin(), order.end(), 0);
  const int used = std::min(args.n_used, n_experts);
  std::partial_sort(order.begin(), order.begin() + used, order.end(), [&score = score](int a, int b) {
    return score[zu(a)] > score[zu(b)] || (score[zu(a)] == score[zu(b)] && a < b);
  });
  weights.clear();
  for (int i = 0; i < used; ++i) weights.push_back(value[zu(order[zu(i)])]);
  if (args.router == RouterKind::topk_then_softmax) {
    softmax(weights);
  } else if (args.renormalise) {
    const float sum = std::accumulate(weights.begin(), weights.end(), 0.0F);
    for (float& w : weights) w /= std::max(sum, 6.103515625e-5F);  // the peer's floor: smallest normal half
  }
  for (int i = 0; i < used; ++i) out[i] = {order[zu(i)], weights[zu(i)] * args.weight_scale};
  std::sort(out, out + used, [](const ExpertChoice& a, const ExpertChoice& b) { return a.expert < b.expert; });
}

}  // namespace

// The experts of RUNS, each for its rows; results go to the rows' targets.
void CpuDevice::run_experts(const MoeArgs& args, std::span<const ExpertRows> runs) {
  const auto& x = static_cast<const CpuActivations&>(*args.x);
  const auto& down = static_cast<const CpuWeight&>(*args.down);
  const auto& gate = static_cast<const CpuWeight&>(args.gate_up != nullptr ? *args.gate_up : *args.gate);
  const auto& up = static_cast<const CpuWeight&>(args.gate_up != nullptr ? *args.gate_up : *args.up);
  const int width = down.cols, up_row0 = args.gate_up != nullptr ? width : 0;
  const int first = runs.front().first, rows = runs.back().first + runs.back().n - first;
  if (!moe_middle_ || moe_rows_ < rows || moe_cols_ < width) {
    moe_rows_ = std::max(rows, moe_rows_);
    moe_cols_ = std::max(width, moe_cols_);
    moe_middle_ = activations(moe_rows_, moe_cols_);
  }
  auto& middle = static_cast<CpuActivations&>(*moe_middle_);
  middle.rows = rows;
  middle.cols = width;
  middle.f32 = middle.own;
  const auto multiply = [&](const CpuWeight& w, int expert, int row0, int count, const ActView& in, float* to, float* spare, const float* bias, int thread) {
    product(w, expert, row0, count, in, to, spare, thread);
    k_.finish({w.scale, bias, Activation::none, false}, to, count, in.n, to, kPieceRows);
  };
  const int wide_pieces = (width + kPieceRows - 1) / kPieceRows, down_pieces = (down.rows + kPieceRows - 1) / kPieceRows;
  pool_.run(static_cast<int>(runs.size()) * wide_pieces, [&](int unit, int thread) {
    const ExpertRows& run = runs[zu(unit / wide_pieces)];
    const int piece = unit % wide_pieces, row0 = piece * kPieceRows, count = std::min(kPieceRows, width - row0);
    const std::size_t part = zu(run.n) * kPieceRows, to = zu(run.first - first);
    ActView view = x.view();
    view.index = moe_inputs_.data() + run.first;
    view.n = run.n;
    float *g = scratch(thread, 2 * part + k_.matmul_scratch(gate.cols)), *u = g + part, *spare = u + part;
    const auto bias = [&](const float* all) { return all != nullptr ? all + zu(run.expert) * zu(width) + row0 : nullptr; };
    multiply(gate, run.expert, row0, count, view, g, spare, bias(args.gate_bias), thread);
    multiply(up, run.expert, up_row0 + row0, count, view, u, spare, bias(args.up_bias), thread);
    k_.glu(g, u, count, run.n, args.activation,
           {middle.f32.data + to * middle.f32.stride + zu(row0), middle.f32.stride, middle.blocks + to * middle.block_stride + zu(piece), middle.block_stride});
  });
  pool_.run(static_cast<int>(runs.size()) * down_pieces, [&](int unit, int thread) {
    const ExpertRows& run = runs[zu(unit / down_pieces)];
    const int row0 = unit % down_pieces * kPieceRows, count = std::min(kPieceRows, down.rows - row0);
    const std::size_t part = zu(run.n) * kPieceRows, from = zu(run.first - first);
    ActView in = middle.view();
    in.f32 += from * in.f32_stride;
    in.blocks += from * in.block_stride;
    in.n = run.n;
    float* y = scratch(thread, part + k_.matmul_scratch(down.cols));
    multiply(down, run.expert, row0, count, in, y, y + part, args.down_bias != nullptr ? args.down_bias + zu(run.expert) * zu(down.rows) + row0 : nullptr, thread);
    for (int c = 0; c < run.n; ++c) std::copy_n(y + zu(c) * kPieceRows, count, moe_targets_[zu(run.first + c)] + row0);
  });
}

void CpuDevice::moe(const MoeArgs& args) {
  const int n_rows = args.out.rows, n_experts = args.router_logits.cols, dim = args.out.cols;
  const int used = std::min(args.n_used, n_experts);
  const Mat results = matrix(moe_results_, n_rows * used, dim);
  moe_choices_.resize(zu(n_rows * used));
  moe_next_.assign(zu(n_experts), 0);
  for (int r = 0; r < n_rows; ++r) {
    choose(args, args.router_logits.row(r), n_experts, router_room_, moe_choices_.data() + r * used);
    for (int i = 0; i < used; ++i) ++moe_next_[zu(moe_choices_[zu(r * used + i)].expert)];
  }
  moe_runs_.clear();
  int place = 0;
  for (int e = 0; e < n_experts; ++e) {
    const int n = moe_next_[zu(e)];
    if (n > 0) moe_runs_.push_back({e, place, n});
    moe_next_[zu(e)] = place;  // where the expert's next row goes
    place += n;
  }
  moe_inputs_.resize(zu(n_rows * used));
  moe_targets_.resize(zu(n_rows * used));
  for (int i = 0; i < n_rows * used; ++i) {
    const auto to = zu(moe_next_[zu(moe_choices_[zu(i)].expert)]++);
    moe_inputs_[to] = i / used;
    moe_targets_[to] = results.row(i);
  }
  const std::size_t at_once = n_rows <= kFewRows ? moe_runs_.size() : 1;
  for (std::size_t i = 0; i < moe_runs_.size() && !pool_.cancelled(); i += at_once) run_experts(args, std::span(moe_runs_).subspan(i, at_once));
  for_rows(n_rows, dim * used, [&](int r) {
    float* out = args.out.row(r);
    std::fill_n(out, dim, 0.0F);
    for (int i = 0; i < used; ++i) {
      const ExpertChoice& c = moe_choices_[zu(r * used + i)];
      const float weight = c.weight * (args.expert_scale != nullptr ? args.expert_scale[c.expert] : 1.0F);
      k_.row_op(RowOp::add, out, results.row(r * used + i), weight, dim);
    }
  });
}

}  // namespace tg::cpu
