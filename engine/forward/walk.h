// The one forward pass: walks the layers of a description and calls device ops. What a model does not have is a null pointer or an
// empty optional here, so there is no pass per model. forward.cpp is the table of contents; each kind of layer part has its own file.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "engine/forward/batch.h"
#include "engine/forward/forward.h"
#include "engine/forward/kv_layout.h"
#include "engine/forward/weights.h"

namespace tg {

class Walk final : public Forward {
 public:
  Walk(ModelDescription description, std::shared_ptr<Device> device, ModelWeights weights, KvPlan plan, int max_rows,
       std::shared_ptr<const GgufFile> file);

  const KvLayout& kv_layout() const override { return plan_.layout; }
  int max_rows() const override { return max_rows_; }
  Status run(std::span<const SequenceStep> steps, float* logits, const CancelToken& cancel, StepCounters& counters) override;
  void settle(const CancelToken& cancel) override { settler_.work(std::chrono::hours(1), cancel); }
  bool settled() const override { return settler_.done(); }
  std::uint64_t weights_bytes() const override { return weights_.bytes; }
  double bytes_per_token() const override { return bytes_per_token_; }
  double ops_per_token() const override { return ops_per_token_; }

 private:
  // What one layer's functions work with.
  struct Layer {
    const LayerDescription& d;
    const LayerWeights& w;
    const LayerPlace& place;
    int index = 0;
    bool last = false;
  };

  // Where the product of a layer's last matrix goes: `out`, or times `scale` added to it.
  struct Target {
    Mat out;
    float scale = 1.0F;
    bool add = false;
  };

  // forward.cpp
  void embed();
  void forward_layer(const Layer& layer);
  void finish_layer(const Layer& layer, RowRun run, Mat mixed);
  void add_per_layer_embedding(const Layer& layer, RowRun run, Mat x);
  void output_logits(float* logits);

  // attention.cpp: [rows, heads * head_dim_v] of the layer's heads, before the output projection; with MLA in mla.cpp.
  Mat attend(const Layer& layer);
  Mat attend_heads(const Layer& layer);
  Mat attend_latent(const Layer& layer);
  void store_and_attend(const Layer& layer, Mat q, Mat k, Mat v, Mat out);

  // recurrent.cpp
  Mat delta_net(const Layer& layer);
  Mat short_conv(const Layer& layer);
  std::span<float* const> states(std::vector<float*>& to, std::size_t offset) const;  // of the step's sequences

  // feed_forward.cpp: the result before the post norm; x is the residual stream of the run. Experts overwrite.
  void feed_forward(const Layer& layer, Mat x, const Target& to);
  void dense(const FeedForwardDescription& d, const FeedForwardWeights& w, const Target& to);
  void experts(const Layer& layer, Mat out);
  void experts_beside_dense(const Layer& layer, Mat x, Mat out);

  // Shared steps. prepare_input leaves the normalised rows of x in input_.
  void prepare_input(Mat x, const OptionalNorm& norm);
  void project(const Activations& x, std::span<const MatmulTask> tasks);
  void project(const Activations& x, const Weight* weight, const float* bias, const Target& to);
  bool joins_residual(const float* bias, const OptionalNorm& post_norm) const;
  Target residual(Mat x) const;
  void settle_some(const CancelToken& cancel);
  void add_residual(Mat x, Mat y, const OptionalNorm& post_norm);
  Mat scratch(std::shared_ptr<std::byte>& storage, int rows, int cols) { return device_->matrix(storage, rows, cols); }
  void point_to_pages(const Layer& layer, std::vector<SequenceRows>& rows, std::span<const int> owners);
  void count(const Weight* weight, int rows);
  void count_experts(const Weight* weight, int rows, int n_used);
  void count_attention(const Layer& layer, std::span<const SequenceRows> sequences);

  const ModelDescription description_;
  const std::shared_ptr<Device> device_;
  const std::shared_ptr<const GgufFile> file_;   // a device may keep reading the mapping
  const ModelWeights weights_;
  Settler settler_;
  std::chrono::steady_clock::duration last_step_{};
  const KvPlan plan_;
  const int max_rows_;
  double bytes_per_token_ = 0, ops_per_token_ = 0;

  std::unique_ptr<Activations> input_, hidden_, extra_;
  struct {
    std::shared_ptr<std::byte> x, q, k, v, gate, mixed, side, side2, wide, router, beta, alpha, one, per_layer, per_layer2;
  } memory_;

  // Of the running step.
  Batch batch_;
  std::span<const SequenceStep> steps_;
  Mat x_, per_layer_;
  StepCounters* counters_ = nullptr;
  std::vector<HeadRow> head_rows_;
  std::vector<MatmulTask> queries_;   // of MLA
  std::vector<float*> conv_states_, delta_states_;
};

}  // namespace tg
