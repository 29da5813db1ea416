#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

#include "engine/forward/walk.h"

namespace tg {

namespace {

constexpr int kHeadRows = 256;  // rows that the head takes at once

void widest(int& widest_cols, const MatrixRef& ref) { widest_cols = std::max(widest_cols, ref ? std::max(ref.cols, ref.rows) : 0); }

// Columns that rows ready to be multiplied may need.
int activation_cols(const ModelDescription& d) {
  int cols = d.dim;
  for (const LayerDescription& l : d.layers) {
    widest(cols, l.attention.output);
    widest(cols, l.per_layer_projection);
    if (l.mla) {
      widest(cols, l.mla->q_a);
      widest(cols, l.mla->k_b);
      widest(cols, l.mla->v_b);
    }
    if (l.delta_net) widest(cols, l.delta_net->output);
    if (l.feed_forward) widest(cols, l.feed_forward->down);
    if (l.experts && l.experts->shared) widest(cols, l.experts->shared->down);
  }
  return cols;
}

double uses_per_token(const ModelDescription& d, const std::string& key, const Weight& weight) {
  if (weight.experts == 1) return 1.0;
  for (const LayerDescription& l : d.layers) {
    if (!l.experts) continue;
    for (const MatrixRef* ref : {&l.experts->gate, &l.experts->up, &l.experts->gate_up, &l.experts->down}) {
      if (*ref && key.starts_with(ref->name + " ")) return l.experts->n_used;
    }
  }
  return weight.experts;  // one per attention head
}

}  // namespace

Result<std::unique_ptr<Forward>> Forward::load(std::shared_ptr<const GgufFile> file, const ModelDescription& description,
                                               std::shared_ptr<Device> device, KvType k_type, KvType v_type, int max_rows,
                                               const std::function<void(std::uint64_t, std::uint64_t)>& progress,
                                               const CancelToken& cancel) {
  Result<ModelWeights> weights = upload_weights(file, description, *device, progress, cancel);
  if (!weights) {
    return weights.error();
  }
  KvPlan plan = plan_kv(description, *device, k_type, v_type);
  return std::unique_ptr<Forward>(std::make_unique<Walk>(description, std::move(device), std::move(*weights), std::move(plan),
                                                         std::max(1, max_rows), std::move(file)));
}

Walk::Walk(ModelDescription description, std::shared_ptr<Device> device, ModelWeights weights, KvPlan plan, int max_rows,
           std::shared_ptr<const GgufFile> file)
    : description_(std::move(description)),
      device_(std::move(device)),
      file_(std::move(file)),
      weights_(std::move(weights)),
      settler_(weights_, *device_),
      plan_(std::move(plan)),
      max_rows_(max_rows) {
  const int cols = activation_cols(description_);
  input_ = device_->activations(max_rows_, cols);
  hidden_ = device_->activations(max_rows_, cols);
  extra_ = device_->activations(max_rows_, cols);
  for (const auto& [key, weight] : weights_.matrices) {
    if (weight.get() == weights_.per_layer_table || (weight.get() == weights_.token_embedding && weights_.output != weights_.token_embedding)) {
      continue;  // one row of it
    }
    const double uses = uses_per_token(description_, key, *weight);
    bytes_per_token_ += uses * static_cast<double>(weight->bytes);
    ops_per_token_ += uses * 2.0 * weight->rows * weight->cols;
  }
}

Status Walk::run(std::span<const SequenceStep> steps, float* logits, const CancelToken& cancel, StepCounters& counters) {
  const Status filled = batch_.fill(steps, max_rows_, description_.vocab, plan_.layout.groups.size(), plan_.layout.state_bytes > 0);
  if (!filled) {
    return filled;
  }
  steps_ = steps;
  counters_ = &counters;
  if (!file_->whole()) {
    return make_error(ErrorCode::io, "The model's file became shorter while it was in use.");
  }
  settle_some(cancel);
  const auto start = std::chrono::steady_clock::now();
  device_->set_cancel(&cancel.flag());
  embed();
  for (int i = 0; i < description_.n_layers && !cancel.cancelled(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    forward_layer({description_.layers[at], weights_.layers[at], plan_.layers[at], i, i + 1 == description_.n_layers});
  }
  if (!cancel.cancelled()) {
    output_logits(logits);
  }
  device_->set_cancel(nullptr);
  last_step_ = std::chrono::steady_clock::now() - start;
  if (cancel.cancelled()) {
    return make_error(ErrorCode::cancelled, "The step was cancelled.");
  }
  if (weights_.unreadable->load()) {
    return make_error(ErrorCode::io, "The model's file can no longer be read.");
  }
  return Ok{};
}

// Not before the first step, which somebody waits for; then soon, for a step that reads the file takes several times as long.
void Walk::settle_some(const CancelToken& cancel) {
  constexpr std::chrono::nanoseconds kMost = std::chrono::milliseconds(100);  // a stop is seen after 200
  if (settler_.done()) return;
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t cpu_start = std::clock();
  settler_.work(std::min(2 * last_step_, kMost), cancel);
  counters_->settle_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  counters_->settle_cpu_seconds += static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
}

void Walk::embed() {
  x_ = scratch(memory_.x, batch_.rows, description_.dim);
  device_->embed(*weights_.token_embedding, batch_.tokens, description_.embedding_scale, x_);
  if (!description_.per_layer) {
    return;
  }
  // Half from a table of its own, half projected from the embedding; both of unit size, so their sum is scaled by sqrt(1/2).
  const PerLayerEmbeddings& p = *description_.per_layer;
  const int cols = p.dim * description_.n_layers;
  per_layer_ = scratch(memory_.per_layer, batch_.rows, cols);
  const Mat projected = scratch(memory_.per_layer2, batch_.rows, cols);
  device_->embed(*weights_.per_layer_table, batch_.tokens, std::sqrt(static_cast<float>(p.dim)), per_layer_);
  device_->prepare(x_, *input_);
  const MatmulTask task{.weight = weights_.per_layer_projection,
                        .scale = 1.0F / std::sqrt(static_cast<float>(description_.dim)),
                        .out = projected};
  project(*input_, {&task, 1});
  device_->norm_heads(projected, p.dim, *weights_.per_layer_norm);
  device_->add(per_layer_, projected);
  device_->scale(per_layer_, std::sqrt(0.5F));
}

void Walk::forward_layer(const Layer& layer) {
  Mat mixed;
  switch (layer.d.kind) {
    case LayerKind::full:
    case LayerKind::window: mixed = attend(layer); break;
    case LayerKind::delta_net: mixed = delta_net(layer); break;
    case LayerKind::short_conv: mixed = short_conv(layer); break;
  }
  for (const RowRun run : layer.last ? batch_.wanted : batch_.all) {
    finish_layer(layer, run, rows_of(mixed, run));
  }
}

void Walk::finish_layer(const Layer& layer, RowRun run, Mat mixed) {
  const Mat x = rows_of(x_, run);
  const Weight* output = layer.d.delta_net ? layer.w.delta_net.output : layer.d.short_conv ? layer.w.short_conv.output : layer.w.attention.output;
  Mat beside;
  if (description_.parallel_residual) {
    beside = scratch(memory_.side, x.rows, description_.dim);
    feed_forward(layer, x, {.out = beside});
  }
  device_->prepare(mixed, *hidden_);
  const float* bias = layer.w.attention.output_bias;
  if (joins_residual(bias, layer.w.attention_post_norm)) {
    project(*hidden_, output, bias, residual(x));
  } else {
    const Mat out = scratch(memory_.side2, x.rows, description_.dim);
    project(*hidden_, output, bias, {.out = out});
    add_residual(x, out, layer.w.attention_post_norm);
  }
  const bool dense_only = !description_.parallel_residual && !layer.d.experts;
  if (dense_only && joins_residual(layer.w.feed_forward.down_bias, layer.w.feed_forward_post_norm)) {
    feed_forward(layer, x, residual(x));
  } else {
    if (!description_.parallel_residual) {
      beside = scratch(memory_.side, x.rows, description_.dim);
      feed_forward(layer, x, {.out = beside});
    }
    add_residual(x, beside, layer.w.feed_forward_post_norm);
  }
  if (layer.w.per_layer_gate != nullptr) {
    add_per_layer_embedding(layer, run, x);
  }
  if (layer.w.output_scale != 1.0F) {
    device_->scale(x, layer.w.output_scale);
  }
}

// Whether a product can be added to the residual stream as it is stored: its epilogue scales before it adds the bias.
bool Walk::joins_residual(const float* bias, const OptionalNorm& post_norm) const {
  return !post_norm && (bias == nullptr || description_.residual_scale == 1.0F);
}

Walk::Target Walk::residual(Mat x) const { return {.out = x, .scale = description_.residual_scale, .add = true}; }

void Walk::add_residual(Mat x, Mat y, const OptionalNorm& post_norm) {
  if (post_norm) {
    device_->add_norm(x, y, *post_norm, description_.residual_scale);
  } else {
    device_->add(x, y, description_.residual_scale);
  }
}

void Walk::add_per_layer_embedding(const Layer& layer, RowRun run, Mat x) {
  const int size = description_.per_layer->dim;
  const Mat gate = scratch(memory_.one, x.rows, size);
  device_->prepare(x, *input_);
  const MatmulTask task{.weight = layer.w.per_layer_gate, .activation = Activation::gelu_tanh, .out = gate};
  project(*input_, {&task, 1});
  device_->multiply(gate, cols_of(rows_of(per_layer_, run), layer.index * size, size));
  device_->prepare(gate, *hidden_);
  const Mat out = scratch(memory_.side, x.rows, description_.dim);
  project(*hidden_, layer.w.per_layer_projection, nullptr, {.out = out});
  if (layer.w.per_layer_post_norm) {
    device_->add_norm(x, out, *layer.w.per_layer_post_norm);
  } else {
    device_->add(x, out);
  }
}

void Walk::output_logits(float* logits) {
  head_rows_.clear();
  for (const SequenceStep& step : steps_) {
    for (std::size_t i = 0; i < step.logit_rows.size(); ++i) {
      if (step.wish.any()) {
        head_rows_.push_back({nullptr, &step.candidates[i], step.wish});
        continue;
      }
      head_rows_.push_back({logits, nullptr, {}});
      logits += description_.vocab;
    }
  }
  std::span<const HeadRow> rows = head_rows_;
  for (const RowRun run : batch_.wanted) {
    for (int done = 0; done < run.count; done += kHeadRows) {
      const int n = std::min(kHeadRows, run.count - done);
      prepare_input(rows_of(x_, {run.first + done, n}), weights_.output_norm);
      device_->head(*input_, {.weight = weights_.output, .bias = weights_.output_bias, .scale = description_.logit_scale,
                              .softcap = description_.final_softcap, .rows = rows.first(static_cast<std::size_t>(n))});
      count(weights_.output, n);
      rows = rows.subspan(static_cast<std::size_t>(n));
    }
  }
}

// ---- Shared steps ---------------------------------------------------------------------------------------------------------

void Walk::prepare_input(Mat x, const OptionalNorm& norm) {
  if (norm) {
    device_->norm_prepare(x, *norm, *input_);
  } else {
    device_->prepare(x, *input_);
  }
}

void Walk::project(const Activations& x, std::span<const MatmulTask> tasks) {
  device_->matmul(x, tasks);
  for (const MatmulTask& task : tasks) {
    count(task.weight, x.rows);
  }
}

void Walk::project(const Activations& x, const Weight* weight, const float* bias, const Target& to) {
  const MatmulTask task{.weight = weight, .bias = bias, .scale = to.scale, .add = to.add, .out = to.out};
  project(x, {&task, 1});
}

void Walk::count(const Weight* weight, int rows) {
  counters_->bytes += static_cast<double>(weight->bytes);
  counters_->ops += 2.0 * rows * weight->rows * weight->cols;
}

// Few tokens touch as many experts as they choose, many tokens all of them.
void Walk::count_experts(const Weight* weight, int rows, int n_used) {
  const double uses = static_cast<double>(rows) * n_used;
  counters_->bytes += std::min(uses, static_cast<double>(weight->experts)) * static_cast<double>(weight->bytes);
  counters_->ops += uses * 2.0 * weight->rows * weight->cols;
}

}  // namespace tg
