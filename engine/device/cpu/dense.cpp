// Row-wise and matrix ops: embedding, norms, quantisation, products with their epilogues, element-wise ops.
#include <algorithm>

#include "engine/device/cpu/cpu_device.h"
#include "engine/device/cpu/math.h"
#include "engine/device/cpu/weight_tiles.h"

namespace tg::cpu {

namespace {

// Exact values of one row, also where the rows are in tiles; `spare` has room for the row as it stands in the file.
void row_values(const CpuWeight& w, int row, std::byte* spare, float* out) {
  const std::size_t bytes = w.bytes / zu(w.rows);
  if (!w.interleaved) return dequantise(w.format, w.file.subspan(zu(row) * bytes, bytes), out, zu(w.cols));
  const std::byte* tile = w.tiles.get() + zu(row / kTileRows * kTileRows) * tile_row_bytes(w.format, w.cols);
  extract_row(w.format, w.cols, tile, row % kTileRows, spare);
  dequantise(w.format, {spare, bytes}, out, zu(w.cols));
}

}  // namespace

void CpuDevice::embed(const Weight& table, std::span<const TokenId> tokens, float scale, Mat out) {
  const auto& w = static_cast<const CpuWeight&>(table);
  const float factor = scale * w.scale;
  pool_.run(static_cast<int>(tokens.size()), [&](int r, int thread) {
    const TokenId id = std::clamp(tokens[zu(r)], 0, w.rows - 1);
    row_values(w, id, reinterpret_cast<std::byte*>(scratch(thread, zu(w.cols))), out.row(r));
    if (factor != 1.0F) k_.row_op(RowOp::scale, out.row(r), nullptr, factor, w.cols);
  });
}

void CpuDevice::norm(Mat in, const NormSpec& spec, Mat out) {
  for_rows(in.rows, in.cols, [&](int r) { k_.norm(in.row(r), spec, out.row(r), out.cols); });
}

void CpuDevice::norm_heads(Mat x, int head_dim, const NormSpec& spec) {
  for_rows(x.rows, x.cols, [&](int r) {
    for (int h = 0; h < x.cols / head_dim; ++h) k_.norm(x.row(r) + h * head_dim, spec, x.row(r) + h * head_dim, head_dim);
  });
}

void CpuDevice::prepare(Mat in, Activations& out) {
  auto& a = static_cast<CpuActivations&>(out);
  a.rows = in.rows;
  a.cols = in.cols;
  a.f32 = in;
  for_rows(in.rows, in.cols, [&](int r) { finish_row(in.row(r), a.blocks + zu(r) * a.block_stride, in.cols); });
}

void CpuDevice::norm_prepare(Mat in, const NormSpec& spec, Activations& out) {
  auto& a = static_cast<CpuActivations&>(out);
  a.rows = in.rows;
  a.cols = in.cols;
  a.f32 = a.own;
  for_rows(in.rows, in.cols, [&](int r) {
    k_.norm(in.row(r), spec, a.f32.row(r), in.cols);
    finish_row(a.f32.row(r), a.blocks + zu(r) * a.block_stride, in.cols);
  });
}

// Quantised weights always have a multiple of 32 columns; a row of another width is only ever multiplied by float weights.
void CpuDevice::finish_row(const float* f32, ActBlock* blocks, int cols) const {
  if (cols % 32 == 0) k_.quantise(f32, cols, blocks);
}

void CpuDevice::matmul(const Activations& x, std::span<const MatmulTask> tasks) {
  const auto& a = static_cast<const CpuActivations&>(x);
  const ActView view = a.view();
  first_piece_.assign(1, 0);  // pieces of all tasks, numbered through
  for (const MatmulTask& task : tasks) first_piece_.push_back(first_piece_.back() + (task.weight->rows + kPieceRows - 1) / kPieceRows);
  run_units(first_piece_.back(), tasks.empty() ? 0 : tasks[0].weight->cols, view.n, [&](int piece, int thread) {
    std::size_t t = 0;
    if (tasks.size() > 1) t = zu(static_cast<int>(std::upper_bound(first_piece_.begin(), first_piece_.end(), piece) - first_piece_.begin()) - 1);
    const MatmulTask& task = tasks[t];
    const auto& w = static_cast<const CpuWeight&>(*task.weight);
    const int row0 = (piece - first_piece_[t]) * kPieceRows, rows = std::min(kPieceRows, w.rows - row0);
    float* values = scratch(thread, zu(view.n) * kPieceRows + k_.matmul_scratch(w.cols));
    product(w, task.expert, row0, rows, view, values, values + zu(view.n) * kPieceRows, thread);
    const Epilogue epilogue{task.scale * w.scale, task.bias != nullptr ? task.bias + row0 : nullptr, task.activation, task.add};
    k_.finish(epilogue, values, rows, view.n, task.out.data + row0, task.out.stride);
  });
}

void CpuDevice::head(const Activations& x, const HeadArgs& args) {
  const auto& w = static_cast<const CpuWeight&>(*args.weight);
  const ActView view = static_cast<const CpuActivations&>(x).view();
  if (scans_.size() < args.rows.size()) scans_.resize(args.rows.size());
  for (std::size_t r = 0; r < args.rows.size(); ++r) {
    if (args.rows[r].candidates != nullptr) scans_[r].start(args.rows[r].wish, w.rows, threads());
  }
  static_assert(kPieceRows == CandidateScan::kBlock);
  run_units((w.rows + kPieceRows - 1) / kPieceRows, w.cols, view.n, [&](int piece, int thread) {
    const int row0 = piece * kPieceRows, rows = std::min(kPieceRows, w.rows - row0);
    float* values = scratch(thread, zu(view.n) * kPieceRows + k_.matmul_scratch(w.cols));
    product(w, 0, row0, rows, view, values, values + zu(view.n) * kPieceRows, thread);
    const Epilogue epilogue{args.scale * w.scale, args.bias != nullptr ? args.bias + row0 : nullptr, Activation::none, false};
    k_.finish(epilogue, values, rows, view.n, values, kPieceRows);
    for (std::size_t r = 0; r < args.rows.size(); ++r, values += kPieceRows) {
      if (args.softcap > 0) k_.row_op(RowOp::softcap, values, nullptr, args.softcap, rows);
      if (args.rows[r].logits != nullptr) std::copy_n(values, rows, args.rows[r].logits + row0);
      if (args.rows[r].candidates != nullptr) scans_[r].block(thread, row0, values, rows);
    }
  });
  if (pool_.cancelled()) return;
  for (std::size_t r = 0; r < args.rows.size(); ++r) {
    if (args.rows[r].candidates != nullptr) scans_[r].finish(*args.rows[r].candidates);
  }
}

void CpuDevice::glu(const Activations& x, const GluTask& task, Activations& out) {
  const auto& a = static_cast<const CpuActivations&>(x);
  auto& o = static_cast<CpuActivations&>(out);
  const auto& gate = static_cast<const CpuWeight&>(*task.gate);
  const auto& up = static_cast<const CpuWeight&>(*task.up);
  const ActView view = a.view();
  o.rows = a.rows;
  o.cols = gate.rows;
  o.f32 = o.own;
  const std::size_t part = zu(view.n) * kPieceRows;
  run_units((gate.rows + kPieceRows - 1) / kPieceRows, gate.cols, view.n, [&](int piece, int thread) {
    const int row0 = piece * kPieceRows, rows = std::min(kPieceRows, gate.rows - row0);
    float* g = scratch(thread, 2 * part + k_.matmul_scratch(gate.cols));
    float* u = g + part;
    product(gate, 0, row0, rows, view, g, u + part, thread);
    product(up, 0, row0, rows, view, u, u + part, thread);
    const Epilogue gate_end{gate.scale, task.gate_bias != nullptr ? task.gate_bias + row0 : nullptr, Activation::none, false};
    const Epilogue up_end{up.scale, task.up_bias != nullptr ? task.up_bias + row0 : nullptr, Activation::none, false};
    if (gate_end.scale != 1.0F || gate_end.bias != nullptr) k_.finish(gate_end, g, rows, view.n, g, kPieceRows);
    if (up_end.scale != 1.0F || up_end.bias != nullptr) k_.finish(up_end, u, rows, view.n, u, kPieceRows);
    k_.glu(g, u, rows, view.n, task.activation, {o.f32.data + row0, o.f32.stride, o.blocks + piece, o.block_stride});
  });
}

void CpuDevice::row_op(RowOp op, Mat x, Mat y, float factor, int cost) {
  for_rows(x.rows, x.cols * cost, [&](int r) { k_.row_op(op, x.row(r), y.data != nullptr ? y.row(r) : nullptr, factor, x.cols); });
}

void CpuDevice::add(Mat x, Mat y, float y_scale) { row_op(RowOp::add, x, y, y_scale, 1); }
void CpuDevice::scale(Mat x, float factor) { row_op(RowOp::scale, x, {}, factor, 1); }
void CpuDevice::multiply(Mat x, Mat y) { row_op(RowOp::multiply, x, y, 1.0F, 1); }
void CpuDevice::gate_silu(Mat x, Mat gate) { row_op(RowOp::gate_silu, x, gate, 1.0F, 2); }
void CpuDevice::softcap(Mat x, float cap) { row_op(RowOp::softcap, x, {}, cap, 2); }

void CpuDevice::add_norm(Mat x, Mat y, const NormSpec& spec, float y_scale) {
  for_rows(x.rows, x.cols * 2, [&](int r) {
    k_.norm(y.row(r), spec, y.row(r), y.cols);
    k_.row_op(RowOp::add, x.row(r), y.row(r), y_scale, x.cols);
  });
}

void CpuDevice::gate_sigmoid(Mat x, Mat gate) {
  if (gate.cols != 1) return row_op(RowOp::gate_sigmoid, x, gate, 1.0F, 2);
  for_rows(x.rows, x.cols, [&](int r) { k_.row_op(RowOp::scale, x.row(r), nullptr, sigmoid_f(gate.row(r)[0]), x.cols); });
}

void CpuDevice::activate(Mat x, Activation activation) {
  for_rows(x.rows, x.cols * 2, [&](int r) { k_.activate(x.row(r), x.cols, activation); });
}

}  // namespace tg::cpu
