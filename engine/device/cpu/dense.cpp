// Row-wise and matrix ops: embedding, norms, quantisation, products with their epilogues, element-wise ops.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/device/cpu/cpu_device.h"
#include "engine/device/cpu/math.h"
#include "engine/device/cpu/weight_tiles.h"

namespace tg::cpu {

namespace {

// Exact values of one row, also where the rows are in tiles.
void row_values(const CpuWeight& w, int row, float* out) {
  const std::size_t bytes = w.bytes / zu(w.rows);
  if (!w.interleaved) return dequantise(w.format, w.file.subspan(zu(row) * bytes, bytes), out, zu(w.cols));
  std::vector<std::byte> file_row(bytes);
  const std::byte* tile = w.tiles.get() + zu(row / kTileRows) * bytes * kTileRows;
  extract_row(w.format, w.cols, tile, row % kTileRows, file_row.data());
  dequantise(w.format, file_row, out, zu(w.cols));
}

}  // namespace

void CpuDevice::embed(const Weight& table, std::span<const TokenId> tokens, float scale, Mat out) {
  const auto& w = static_cast<const CpuWeight&>(table);
  const float factor = scale * w.scale;
  for_rows(static_cast<int>(tokens.size()), w.cols * 4, [&](int r) {
    const TokenId id = std::clamp(tokens[zu(r)], 0, w.rows - 1);
    row_values(w, id, out.row(r));
    if (factor != 1.0F) {
      for (int i = 0; i < w.cols; ++i) out.row(r)[i] *= factor;
    }
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
  for_rows(in.rows, in.cols, [&](int r) {
    std::memcpy(a.f32.row(r), in.row(r), zu(in.cols) * sizeof(float));
    finish_row(a.f32.row(r), a.blocks + zu(r) * a.block_stride, in.cols);
  });
}

void CpuDevice::norm_prepare(Mat in, const NormSpec& spec, Activations& out) {
  auto& a = static_cast<CpuActivations&>(out);
  a.rows = in.rows;
  a.cols = in.cols;
  for_rows(in.rows, in.cols, [&](int r) {
    k_.norm(in.row(r), spec, a.f32.row(r), in.cols);
    finish_row(a.f32.row(r), a.blocks + zu(r) * a.block_stride, in.cols);
  });
}

// Quantised weights always have a multiple of 32 columns; a row of another width is only ever multiplied by float weights.
void CpuDevice::finish_row(float* f32, ActBlock* blocks, int cols) const {
  if (cols % 32 == 0) k_.quantise(f32, cols, blocks);
}

void CpuDevice::matmul(const Activations& x, std::span<const MatmulTask> tasks) {
  const auto& a = static_cast<const CpuActivations&>(x);
  const ActView view = a.view();
  std::vector<int> first(tasks.size() + 1);  // pieces of all tasks, numbered through
  for (std::size_t t = 0; t < tasks.size(); ++t) first[t + 1] = first[t] + (tasks[t].weight->rows + kPieceRows - 1) / kPieceRows;
  run_units(first.back(), tasks.empty() ? 0 : tasks[0].weight->cols, view.n, [&](int piece, int thread) {
    const auto t = zu(static_cast<int>(std::upper_bound(first.begin(), first.end(), piece) - first.begin()) - 1);
    const MatmulTask& task = tasks[t];
    const auto& w = static_cast<const CpuWeight&>(*task.weight);
    const int row0 = (piece - first[t]) * kPieceRows, rows = std::min(kPieceRows, w.rows - row0);
    float* values = scratch(thread, zu(view.n) * kPieceRows + k_.matmul_scratch(w.cols));
    k_.matmul(w, task.expert, row0, rows, view, values, kPieceRows, values + zu(view.n) * kPieceRows);
    const Epilogue epilogue{task.scale * w.scale, task.bias != nullptr ? task.bias + row0 : nullptr, task.activation, task.add};
    k_.finish(epilogue, values, rows, view.n, task.out.data + row0, task.out.stride);
  });
}

void CpuDevice::glu(const Activations& x, const GluTask& task, Activations& out) {
  const auto& a = static_cast<const CpuActivations&>(x);
  auto& o = static_cast<CpuActivations&>(out);
  const auto& gate = static_cast<const CpuWeight&>(*task.gate);
  const auto& up = static_cast<const CpuWeight&>(*task.up);
  const ActView view = a.view();
  o.rows = a.rows;
  o.cols = gate.rows;
  const std::size_t part = zu(view.n) * kPieceRows;
  run_units((gate.rows + kPieceRows - 1) / kPieceRows, gate.cols, view.n, [&](int piece, int thread) {
    const int row0 = piece * kPieceRows, rows = std::min(kPieceRows, gate.rows - row0);
    float* g = scratch(thread, 2 * part + k_.matmul_scratch(gate.cols));
    float* u = g + part;
    k_.matmul(gate, 0, row0, rows, view, g, kPieceRows, u + part);
    k_.matmul(up, 0, row0, rows, view, u, kPieceRows, u + part);
    const Epilogue gate_end{gate.scale, task.gate_bias != nullptr ? task.gate_bias + row0 : nullptr, Activation::none, false};
    const Epilogue up_end{up.scale, task.up_bias != nullptr ? task.up_bias + row0 : nullptr, Activation::none, false};
    if (gate_end.scale != 1.0F || gate_end.bias != nullptr) k_.finish(gate_end, g, rows, view.n, g, kPieceRows);
    if (up_end.scale != 1.0F || up_end.bias != nullptr) k_.finish(up_end, u, rows, view.n, u, kPieceRows);
    k_.glu(g, u, rows, view.n, task.activation, {o.f32.data + row0, o.f32.stride, o.blocks + piece, o.block_stride});
  });
}

void CpuDevice::add(Mat x, Mat y, float y_scale) {
  for_rows(x.rows, x.cols, [&](int r) {
    for (int i = 0; i < x.cols; ++i) x.row(r)[i] += y.row(r)[i] * y_scale;
  });
}

void CpuDevice::scale(Mat x, float factor) {
  for_rows(x.rows, x.cols, [&](int r) {
    for (int i = 0; i < x.cols; ++i) x.row(r)[i] *= factor;
  });
}

void CpuDevice::multiply(Mat x, Mat y) {
  for_rows(x.rows, x.cols, [&](int r) {
    for (int i = 0; i < x.cols; ++i) x.row(r)[i] *= y.row(r)[i];
  });
}

void CpuDevice::activate(Mat x, Activation activation) {
  for_rows(x.rows, x.cols * 4, [&](int r) { k_.activate(x.row(r), x.cols, activation); });
}

void CpuDevice::gate_sigmoid(Mat x, Mat gate) {
  for_rows(x.rows, x.cols * 4, [&](int r) {
    for (int i = 0; i < x.cols; ++i) x.row(r)[i] *= sigmoid_f(gate.row(r)[gate.cols == 1 ? 0 : i]);
  });
}

void CpuDevice::gate_silu(Mat x, Mat gate) {
  for_rows(x.rows, x.cols * 4, [&](int r) {
    for (int i = 0; i < x.cols; ++i) x.row(r)[i] *= activate_f(gate.row(r)[i], Activation::silu);
  });
}

void CpuDevice::softcap(Mat x, float cap) {
  for_rows(x.rows, x.cols * 4, [&](int r) {
    for (int i = 0; i < x.cols; ++i) x.row(r)[i] = cap * tanh_f(x.row(r)[i] / cap);
  });
}

}  // namespace tg::cpu
