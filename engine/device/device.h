// The op interface of a backend: few coarse ops on device buffers, so that a backend may fuse what it likes.
// Every op exists as an obvious scalar twin (device/cpu/scalar.cpp) that is the oracle of all others.
// Thread: one thread at a time drives a Device (the engine's worker); ops are synchronous on the CPU, ordered on a stream on CUDA.
// Bit-identity (CPU): each output element is one sum in one fixed order, whatever the number of rows, threads or sequences in the call.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/logit_scan.h"
#include "engine/base/op_kinds.h"
#include "engine/base/platform.h"
#include "engine/base/result.h"
#include "engine/base/types.h"
#include "engine/formats/format.h"

namespace tg {

// f32 matrix in device memory; a row is one token. Row r starts at data + r * stride (in floats).
struct Mat {
  float* data = nullptr;
  int rows = 0, cols = 0;
  std::size_t stride = 0;
  float* row(int r) const { return data + static_cast<std::size_t>(r) * stride; }
};

// One weight matrix as the backend keeps it (repacked or not): `experts` stacked matrices of [rows x cols], cols contiguous in the file.
class Weight {
 public:
  virtual ~Weight() = default;
  Format format{};
  int rows = 0, cols = 0, experts = 1;
  std::size_t bytes = 0;  // bytes read when all of one expert is used once; never more than the file's
};

// A matrix of the file on its way to the device. `release`, where set, may be called once the file's bytes are no longer needed.
// `read`, where set, copies bytes of `data` at any later time, from any thread, without mapping them: the device may then leave the rows
// in the file until settle(). It returns false when the file cannot be read any more.
struct WeightSource {
  std::string name;
  Format format{};
  int rows = 0, cols = 0, experts = 1;
  std::span<const std::byte> data;
  std::function<void()> release = {};
  std::function<bool(std::size_t offset, std::span<std::byte> to)> read = {};
  float scale = 1.0F;           // factor of the whole tensor (NVFP4 files carry one)
  bool row_lookup = false;      // also used as an embedding table
};

// Rows ready to be multiplied: f32 rows and, where any consumer needs it, int8 per 32 with scale and sum. Filled by prepare ops, reused step by step.
class Activations {
 public:
  virtual ~Activations() = default;
  int rows = 0, cols = 0;
};

struct NormSpec {
  NormKind kind = NormKind::rms;
  const float* weight = nullptr;  // [cols], null: ones
  const float* bias = nullptr;    // [cols], null: none
  float eps = 1e-5F;
};

// out = act * (x W^T * scale + bias) + residual, stored to `out`. One call may hold several tasks that share x (QKV in one pass).
struct MatmulTask {
  const Weight* weight = nullptr;
  int expert = 0;
  const float* bias = nullptr;  // [weight->rows]
  float scale = 1.0F;
  Activation activation = Activation::none;
  bool add = false;             // out += instead of out =
  Mat out;                      // [x.rows, weight->rows]
};

// out = act(x gate^T + gate_bias) * (x up^T + up_bias). swiglu_clamped is gpt-oss's: alpha 1.702, limit 7, (up + 1).
struct GluTask {
  const Weight* gate = nullptr;
  const Weight* up = nullptr;
  const float* gate_bias = nullptr;
  const float* up_bias = nullptr;
  Activation activation = Activation::silu;
};

// What becomes of one row of the head's product.
struct HeadRow {
  float* logits = nullptr;               // [weight->rows] in host memory; null: only candidates are wanted
  RowCandidates* candidates = nullptr;
  CandidateWish wish;
};

// Logits = softcap(x W^T * scale + bias). The vocabulary is large: what no one asks for is never stored.
struct HeadArgs {
  const Weight* weight = nullptr;
  const float* bias = nullptr;
  float scale = 1.0F;
  float softcap = 0.0F;                  // 0: none
  std::span<const HeadRow> rows;         // [x.rows]
};

// Shape of one layer's KV in a page of kPageTokens tokens.
struct KvLayerShape {
  int n_kv_heads = 0, head_dim_k = 0, head_dim_v = 0;
  KvType k_type = KvType::f16, v_type = KvType::f16;
};

// The rows of one sequence in a step: rows [first_row, first_row + n_rows) are positions first_position, first_position + 1, ...
// pages[i] holds positions [i * kPageTokens, (i + 1) * kPageTokens); null where a window layer has let go of it.
struct SequenceRows {
  int first_row = 0, n_rows = 0, first_position = 0;
  std::byte* const* pages = nullptr;
};

// cos/sin of one position are computed from inv_freq: angle = position * inv_freq[i]; values scaled by `magnitude` (YaRN, long rope).
struct RopeSpec {
  RopeLayout layout = RopeLayout::none;
  int n_dims = 0;                    // rotated leading dims of a head (even); the others pass
  const float* inv_freq = nullptr;   // [n_dims / 2], every factor and scaling already in it
  float magnitude = 1.0F;
};

// q, k, v rows come in as matmul results; q leaves normalised, rotated and scaled; k and v leave in the pages, in the stored type.
struct RopeStoreArgs {
  Mat q, k, v;                       // [rows, n_heads * head_dim_k], [rows, n_kv * head_dim_k], [rows, n_kv * head_dim_v]; k.data null: layer reuses another layer's KV
  int n_heads = 0;
  KvLayerShape kv;
  std::size_t layer_offset = 0;      // of this layer inside a page
  const NormSpec* q_norm = nullptr;  // per head before rope (or over the whole row where norm_whole_row)
  const NormSpec* k_norm = nullptr;
  const NormSpec* v_norm = nullptr;
  bool norm_whole_row = false;
  bool norm_after_rope = false;
  RopeSpec rope;
  float q_scale = 1.0F;              // attention scale, applied to q first, so that scores cannot overflow
  // attention temperature that grows with position (mistral3, llama4): 1 + coefficient * log(1 + floor(pos / base)); base 0: none
  float temperature_coefficient = 0.0F;
  int temperature_base = 0;
  std::span<const SequenceRows> sequences;
};

struct AttentionArgs {
  Mat q;                             // [rows, n_heads * head_dim_k], as RopeStore left it
  Mat out;                           // [rows, n_heads * head_dim_v]
  int n_heads = 0;
  KvLayerShape kv;
  std::size_t layer_offset = 0;
  int window = 0;                    // 0: all earlier keys; n: keys p with position - p < n
  float softcap = 0.0F;              // 0: none; scores = cap * tanh(score / cap)
  const float* sinks = nullptr;      // [n_heads], an extra logit in the denominator
  std::span<const SequenceRows> sequences;
};

// Mixture of experts: router, choice, experts, weighted sum in a fixed order per token.
struct MoeArgs {
  const Activations* x = nullptr;      // input of the experts
  Mat router_logits;                   // [rows, n_experts] (matmul done by the caller, which may feed the router another input)
  const Weight* gate = nullptr;        // experts stacked; null where gate_up is fused
  const Weight* up = nullptr;
  const Weight* gate_up = nullptr;     // [2 * width] rows, gate first
  const Weight* down = nullptr;
  const float* gate_bias = nullptr;    // [experts, width] each
  const float* up_bias = nullptr;
  const float* down_bias = nullptr;    // [experts, dim]
  const float* selection_bias = nullptr;   // [experts], for the choice only
  const float* expert_scale = nullptr;     // [experts], factor per expert's output
  RouterKind router = RouterKind::softmax_then_topk;
  int n_used = 0, n_groups = 1, n_groups_used = 1;
  bool renormalise = true;
  float weight_scale = 1.0F;
  Activation activation = Activation::silu;
  Mat out;                             // [rows, dim], overwritten
};

// Gated delta net (qwen3next, qwen35): causal conv over q,k,v channels, then the delta rule token by token. State per sequence, f32, in place.
struct DeltaNetArgs {
  Mat qkv;                             // [rows, 2 * n_k_heads * head_k + n_v_heads * head_v], before the convolution
  Mat beta, alpha;                     // [rows, n_v_heads] raw projections
  const float* conv_weight = nullptr;  // [channels, conv_width]
  const float* conv_bias = nullptr;
  const float* a = nullptr;            // [n_v_heads], -exp(A_log) as in the file
  const float* dt_bias = nullptr;      // [n_v_heads]
  int conv_width = 4, n_k_heads = 0, n_v_heads = 0, head_k = 0, head_v = 0;
  bool k_heads_interleaved = false;    // v head h uses k head h % n_k_heads (qwen35); true: h / (n_v_heads / n_k_heads) (qwen3next)
  float eps = 1e-6F;
  Mat out;                             // [rows, n_v_heads * head_v], before the gated norm
  std::span<const SequenceRows> sequences;   // pages unused
  std::span<float* const> conv_state;        // per sequence [(conv_width - 1) * channels]
  std::span<float* const> delta_state;       // per sequence [n_v_heads * head_k * head_v]
};

// Short gated convolution (lfm2): bcx = [b, c, x] each [dim]; out = c * conv(b * x). State [(conv_width - 1) * dim] per sequence.
struct ShortConvArgs {
  Mat bcx, out;
  const float* conv_weight = nullptr;  // [dim, conv_width]
  int conv_width = 3;
  std::span<const SequenceRows> sequences;
  std::span<float* const> state;
};

struct DeviceLimits {  // measured, not declared
  double read_gb_per_s = 0, int8_gop_per_s = 0, f32_gop_per_s = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;            // "CPU · AMD EPYC · AVX-512 VNNI · 2 threads"
  virtual std::string backend() const = 0;         // "cpu", "cuda"
  virtual std::string kernel_variant() const = 0;  // "avx512vnni.1": part of the key of every KV page
  virtual int threads() const = 0;
  virtual void set_cancel(const std::atomic<bool>* flag) = 0;  // read inside long ops, which then return early with undefined output

  // Memory. Fresh memory is zeroed (0 * NaN of a stale page would be NaN).
  virtual std::shared_ptr<std::byte> allocate(std::size_t bytes) = 0;
  virtual void copy_to_host(void* to, const std::byte* from, std::size_t bytes) = 0;
  virtual void copy_from_host(std::byte* to, const void* from, std::size_t bytes) = 0;
  virtual Mat matrix(std::shared_ptr<std::byte>& storage, int rows, int cols) = 0;  // (re)allocates storage when too small

  virtual Result<std::unique_ptr<Weight>> upload(const WeightSource& source) = 0;
  // What upload left for later: brings about BYTES more of WEIGHT into the form that is read fastest. The bytes done; 0: nothing is left.
  virtual std::size_t settle(Weight& weight, std::size_t bytes) = 0;
  virtual std::unique_ptr<Activations> activations(int max_rows, int max_cols) = 0;
  virtual std::size_t kv_layer_bytes(const KvLayerShape& shape) const = 0;  // of one layer in one page

  virtual void embed(const Weight& table, std::span<const TokenId> tokens, float scale, Mat out) = 0;
  virtual void norm(Mat in, const NormSpec& spec, Mat out) = 0;              // over groups of spec'd cols = out.cols; in-place allowed
  virtual void norm_heads(Mat x, int head_dim, const NormSpec& spec) = 0;    // each run of head_dim in a row by itself, in place
  virtual void prepare(Mat in, Activations& out) = 0;                        // quantise; `in` must stay as it is until the products are done
  virtual void norm_prepare(Mat in, const NormSpec& spec, Activations& out) = 0;
  virtual void matmul(const Activations& x, std::span<const MatmulTask> tasks) = 0;
  virtual void glu(const Activations& x, const GluTask& task, Activations& out) = 0;  // out ready for the down projection
  virtual void head(const Activations& x, const HeadArgs& args) = 0;
  virtual void rope_store(const RopeStoreArgs& args) = 0;
  virtual void attention(const AttentionArgs& args) = 0;
  virtual void moe(const MoeArgs& args) = 0;
  virtual void delta_net(const DeltaNetArgs& args) = 0;
  virtual void short_conv(const ShortConvArgs& args) = 0;

  // Element-wise, all in place on x.
  virtual void add(Mat x, Mat y, float y_scale = 1.0F) = 0;
  virtual void add_norm(Mat x, Mat y, const NormSpec& spec, float y_scale = 1.0F) = 0;  // x += norm(y) * y_scale; y is changed
  virtual void scale(Mat x, float factor) = 0;
  virtual void multiply(Mat x, Mat y) = 0;
  virtual void activate(Mat x, Activation activation) = 0;
  virtual void gate_sigmoid(Mat x, Mat gate) = 0;          // x *= sigmoid(gate); gate.cols == x.cols or 1
  virtual void gate_silu(Mat x, Mat gate) = 0;             // x *= silu(gate)
  virtual void softcap(Mat x, float cap) = 0;

  virtual DeviceLimits measure_limits() = 0;               // takes about a second

  // What is tuned changes speed, never a bit. tune() measures it, about 0.2 s, and keeps it for later starts; nothing to do: tuned().
  virtual bool tuned() const { return true; }
  virtual void tune() {}
  virtual std::string tuning() const { return {}; }        // for people
};

struct CpuOptions {
  int threads = 0;               // 0: physical cores
  std::string kernels = "auto";  // auto avx512 avx2 neon scalar
  std::string tuning_file = {};  // where what was measured is kept; empty: nothing is measured
  std::optional<MainMemory> (*memory)() = main_memory;  // weights stay in their file where there is none left for them
};
Result<std::unique_ptr<Device>> make_cpu_device(const CpuOptions& options);

// Random and adversarial inputs of every op against its scalar twin, for `selfcheck`.
struct SelfCheck {
  std::string name;
  double nmse = 0, limit = 0;
  bool ok = false;
};
std::vector<SelfCheck> self_check_cpu(const CpuOptions& options);

}  // namespace tg
