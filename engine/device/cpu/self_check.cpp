// Every op of the chosen kernels against the scalar table, on random and adversarial inputs of awkward sizes.
#include "engine/device/cpu/self_check.h"

#include <array>
#include <cmath>
#include <iterator>
#include <numeric>

#include "engine/device/cpu/cpu_device.h"
#include "engine/device/cpu/processor.h"

namespace tg::cpu {
namespace {

using Values = std::vector<float>;

// Both tables get the same inputs; what differs is rounding: sums of f32 products in another order.
constexpr double kLimit = 1e-9;

class Checker {
 public:
  Checker(const Kernels& kernels, int threads) : fast_(kernels, threads), slow_(scalar_kernels(), threads) {}
  void add(std::vector<SelfCheck> checks) { std::move(checks.begin(), checks.end(), std::back_inserter(checks_)); }
  CpuDevice& device() { return fast_; }
  std::vector<SelfCheck> take() { return std::move(checks_); }

  // compute(device) returns the op's result; it is called once per table.
  template <class F>
  void check(std::string name, double limit, F&& compute) {
    const Values slow = compute(slow_), fast = compute(fast_);
    const double error = nmse(fast, slow);
    checks_.push_back({std::move(name), error, limit, error <= limit});
  }

 private:
  CpuDevice fast_, slow_;
  std::vector<SelfCheck> checks_;
};

struct Matrix {  // a device matrix with its storage
  std::shared_ptr<std::byte> storage;
  Mat mat;
  Matrix(CpuDevice& device, int rows, int cols) { mat = device.matrix(storage, rows, cols); }
  Matrix(CpuDevice& device, int rows, int cols, const Values& values) : Matrix(device, rows, cols) {
    for (int r = 0; r < rows; ++r) std::copy_n(values.data() + zu(r) * zu(cols), cols, mat.row(r));
  }
  Values values() const {
    Values all;
    for (int r = 0; r < mat.rows; ++r) all.insert(all.end(), mat.row(r), mat.row(r) + mat.cols);
    return all;
  }
};

Values random_values(int n, std::uint64_t seed, float size = 1.0F) {
  Random random(seed);
  Values values(zu(n));
  for (float& v : values) v = random.normal() * size;
  return values;
}

std::unique_ptr<Weight> upload(CpuDevice& device, Format format, int rows, int cols, int experts, const std::vector<std::byte>& bytes) {
  auto weight = device.upload({.name = "check", .format = format, .rows = rows, .cols = cols, .experts = experts, .data = bytes});
  return weight.ok() ? std::move(*weight) : nullptr;
}

void check_matmul(Checker& c, Format format, int rows, int cols, int n, Payload payload, const char* what) {
  Random random(static_cast<std::uint64_t>(rows * 7919 + cols * 31 + n));
  const auto bytes = make_weight(format, rows, cols, payload, random);
  const Values x = random_values(n * cols, 5), bias = random_values(rows, 6);
  const std::string name = "matmul " + std::string(format_info(format)->name) + " " + std::to_string(rows) + "x" + std::to_string(cols) + " by " +
                           std::to_string(n) + what;
  c.check(name, kLimit, [&](CpuDevice& device) {
    const auto weight = upload(device, format, rows, cols, 1, bytes);
    const auto activations = device.activations(n, cols);
    const Matrix in(device, n, cols, x);
    device.prepare(in.mat, *activations);
    Matrix out(device, n, rows, Values(zu(n * rows), 0.25F));
    MatmulTask task;
    task.weight = weight.get();
    task.out = out.mat;
    task.bias = payload == Payload::random ? bias.data() : nullptr;
    task.add = payload == Payload::random;
    device.matmul(*activations, {&task, 1});
    return out.values();
  });
}

void check_embed(Checker& c, Format format) {
  Random random(3);
  const int rows = 37, cols = 512;
  const auto bytes = make_weight(format, rows, cols, Payload::random, random);
  c.check("embed " + std::string(format_info(format)->name), 0, [&](CpuDevice& device) {
    const auto weight = upload(device, format, rows, cols, 1, bytes);
    const std::array<TokenId, 4> tokens{0, 15, 16, 36};
    Matrix out(device, 4, cols);
    device.embed(*weight, tokens, 2.0F, out.mat);
    return out.values();
  });
}

void check_formats(Checker& c) {
  for (std::uint32_t id = 0; id < 64; ++id) {
    const FormatInfo* info = format_info(id);
    if (info == nullptr || !info->weights) continue;
    for (const auto& [rows, cols, n] : {std::array{37, 512, 1}, std::array{48, 1280, 3}, std::array{95, 768, 13}, std::array{16, 512, 29}}) {
      check_matmul(c, info->format, rows, cols, n, Payload::random, "");
    }
    check_matmul(c, info->format, 33, 512, 2, Payload::all_ones, ", all bits set");
    check_matmul(c, info->format, 33, 512, 9, Payload::largest_scale, ", scale 65504");
    check_matmul(c, info->format, 33, 512, 1, Payload::zero_scale, ", scale 0");
    check_matmul(c, info->format, 33, 512, 9, Payload::subnormal_scale, ", subnormal scale");
    check_matmul(c, info->format, 33, 512, 1, Payload::negative_zero, ", scale -0");
    if (info->block_elements == 32) check_matmul(c, info->format, 50, 96, 5, Payload::random, "");
    if (info->block_elements == 1) check_matmul(c, info->format, 50, 77, 11, Payload::random, "");
    check_embed(c, info->format);
  }
}

void check_rows(Checker& c) {
  for (const int cols : {1, 7, 16, 40, 576}) {
    for (const NormKind kind : {NormKind::rms, NormKind::layer}) {
      const Values x = random_values(3 * cols, 11), w = random_values(cols, 12), b = random_values(cols, 13);
      c.check((kind == NormKind::rms ? "rms norm " : "layer norm ") + std::to_string(cols), kLimit, [&](CpuDevice& device) {
        Matrix m(device, 3, cols, x);
        device.norm(m.mat, {kind, w.data(), b.data(), 1e-5F}, m.mat);
        return m.values();
      });
    }
  }
  constexpr std::array<const char*, 6> kNames{"none", "silu", "gelu_tanh", "gelu_erf", "relu_squared", "swiglu_clamped"};
  for (std::size_t a = 0; a < kNames.size(); ++a) {
    const auto activation = static_cast<Activation>(a);
    const Values x = random_values(5 * 100, 17, 4.0F);
    c.check(std::string("activation ") + kNames[a], kLimit, [&](CpuDevice& device) {
      Matrix m(device, 5, 100, x);
      device.activate(m.mat, activation);
      return m.values();
    });
    Random random(19);
    const auto gate = make_weight(Format::F32, 70, 64, Payload::random, random), up = make_weight(Format::Q8_0, 70, 64, Payload::random, random);
    const auto down = make_weight(Format::F16, 9, 70, Payload::random, random);
    c.check(std::string("glu ") + kNames[a], kLimit, [&](CpuDevice& device) {
      const auto g = upload(device, Format::F32, 70, 64, 1, gate), u = upload(device, Format::Q8_0, 70, 64, 1, up);
      const auto d = upload(device, Format::F16, 9, 70, 1, down);
      const auto in = device.activations(5, 64), middle = device.activations(5, 70);
      const Matrix rows(device, 5, 64, Values(x.begin(), x.begin() + 320));
      device.prepare(rows.mat, *in);
      device.glu(*in, {g.get(), u.get(), nullptr, nullptr, activation}, *middle);
      Matrix out(device, 5, 9);
      MatmulTask task;
      task.weight = d.get();
      task.out = out.mat;
      device.matmul(*middle, {&task, 1});
      return out.values();
    });
  }
}

void check_element_wise(Checker& c) {
  using Op = void (*)(CpuDevice&, Mat, Mat);
  static constexpr NormSpec kNorm{NormKind::rms, nullptr, nullptr, 1e-5F};
  const std::pair<const char*, Op> ops[] = {
      {"add", [](CpuDevice& d, Mat x, Mat y) { d.add(x, y, 0.7F); }},
      {"add of a norm", [](CpuDevice& d, Mat x, Mat y) { d.add_norm(x, y, kNorm, 0.7F); }},
      {"multiply", [](CpuDevice& d, Mat x, Mat y) { d.multiply(x, y); }},
      {"scale", [](CpuDevice& d, Mat x, Mat) { d.scale(x, 1.3F); }},
      {"sigmoid gate", [](CpuDevice& d, Mat x, Mat y) { d.gate_sigmoid(x, y); }},
      {"sigmoid gate of a row", [](CpuDevice& d, Mat x, Mat y) { d.gate_sigmoid(x, {y.data, y.rows, 1, y.stride}); }},
      {"silu gate", [](CpuDevice& d, Mat x, Mat y) { d.gate_silu(x, y); }},
      {"softcap", [](CpuDevice& d, Mat x, Mat) { d.softcap(x, 3.0F); }}};
  for (const auto& [name, op] : ops) {
    c.check(name, kLimit, [&, run = op](CpuDevice& device) {
      Matrix x(device, 5, 100, random_values(500, 41, 4.0F)), y(device, 5, 100, random_values(500, 42, 4.0F));
      run(device, x.mat, y.mat);
      return x.values();
    });
  }
}

// The logits of all rows, and with them what a scan on the way found of the same rows.
void check_head(Checker& c) {
  const int vocab = 1003, dim = 64, rows = 3;
  Random random(43);
  const auto bytes = make_weight(Format::Q4_0, vocab, dim, Payload::random, random);
  c.check("head", kLimit, [&](CpuDevice& device) {
    const auto weight = upload(device, Format::Q4_0, vocab, dim, 1, bytes);
    const auto in = device.activations(rows, dim);
    const Matrix x(device, rows, dim, random_values(rows * dim, 44));
    device.prepare(x.mat, *in);
    Values out(zu(rows * vocab));
    std::array<RowCandidates, 3> found;
    std::array<HeadRow, 3> wanted;
    for (std::size_t r = 0; r < 3; ++r) wanted[r] = {out.data() + r * zu(vocab), &found[r], {0, 2.0F, true}};
    device.head(*in, {weight.get(), nullptr, 0.5F, 20.0F, wanted});
    for (RowCandidates& row : found) {
      std::sort(row.list.begin(), row.list.end(), more_likely);
      out.push_back(row.list.front().logit);
      out.push_back(static_cast<float>(row.mass));
    }
    return out;
  });
}

struct AttentionCase {
  int n_heads, n_kv, dim_k, dim_v, tokens, window;
  float softcap;
  bool sinks;
  KvType k, v;
};

// Stores `tokens` positions, then attends from the last `n_rows` of them.
Values attend(CpuDevice& device, const AttentionCase& a, int n_rows) {
  const int pages_needed = (a.tokens + kPageTokens - 1) / kPageTokens;
  const KvLayerShape shape{a.n_kv, a.dim_k, a.dim_v, a.k, a.v};
  std::vector<std::shared_ptr<std::byte>> memory;
  std::vector<std::byte*> pages;
  for (int i = 0; i < pages_needed; ++i) {
    memory.push_back(device.allocate(device.kv_layer_bytes(shape)));
    pages.push_back(memory.back().get());
  }
  Matrix q(device, a.tokens, a.n_heads * a.dim_k, random_values(a.tokens * a.n_heads * a.dim_k, 23));
  Matrix k(device, a.tokens, a.n_kv * a.dim_k, random_values(a.tokens * a.n_kv * a.dim_k, 24));
  Matrix v(device, a.tokens, a.n_kv * a.dim_v, random_values(a.tokens * a.n_kv * a.dim_v, 25));
  Values inv_freq;
  for (int i = 0; i < a.dim_k / 2; ++i) inv_freq.push_back(std::exp(-9.0F * static_cast<float>(2 * i) / static_cast<float>(a.dim_k)));
  SequenceRows all{0, a.tokens, 0, pages.data()};
  RopeStoreArgs store;
  store.q = q.mat;
  store.k = k.mat;
  store.v = v.mat;
  store.n_heads = a.n_heads;
  store.kv = shape;
  store.rope = {a.n_heads % 2 != 0 ? RopeLayout::norm : RopeLayout::neox, a.dim_k / 2 * 2, inv_freq.data(), 1.0F};
  store.q_scale = 1.0F / std::sqrt(static_cast<float>(a.dim_k));
  store.sequences = {&all, 1};
  device.rope_store(store);
  const Values sinks = random_values(a.n_heads, 26);
  Matrix out(device, n_rows, a.n_heads * a.dim_v);
  SequenceRows last{0, n_rows, a.tokens - n_rows, pages.data()};
  AttentionArgs args;
  args.q = {q.mat.row(a.tokens - n_rows), n_rows, q.mat.cols, q.mat.stride};
  args.out = out.mat;
  args.n_heads = a.n_heads;
  args.kv = shape;
  args.window = a.window;
  args.softcap = a.softcap;
  args.sinks = a.sinks ? sinks.data() : nullptr;
  args.sequences = {&last, 1};
  device.attention(args);
  return out.values();
}

void check_attention(Checker& c) {
  const std::array cases{
      AttentionCase{9, 3, 64, 64, 75, 0, 0, false, KvType::f16, KvType::f16},   AttentionCase{4, 4, 16, 16, 40, 0, 0, false, KvType::f32, KvType::f32},
      AttentionCase{4, 1, 256, 256, 90, 33, 0, false, KvType::f16, KvType::f16}, AttentionCase{6, 2, 80, 72, 70, 0, 20, false, KvType::f16, KvType::f16},
      AttentionCase{5, 1, 24, 40, 130, 17, 0, true, KvType::f32, KvType::f32},  AttentionCase{7, 1, 128, 128, 600, 0, 0, true, KvType::bf16, KvType::bf16},
      AttentionCase{9, 3, 64, 64, 1030, 0, 0, false, KvType::q8_0, KvType::q8_0}, AttentionCase{8, 8, 48, 48, 1030, 100, 0, false, KvType::q8_0, KvType::f16},
      AttentionCase{14, 2, 64, 64, 530, 20, 50, true, KvType::f16, KvType::q8_0}, AttentionCase{32, 1, 32, 32, 20, 0, 0, false, KvType::f16, KvType::f16}};
  for (const AttentionCase& a : cases) {
    for (const int n_rows : {1, 2, 19}) {
      const std::string name = "attention " + std::to_string(a.n_heads) + "/" + std::to_string(a.n_kv) + " heads of " + std::to_string(a.dim_k) + ", " +
                               std::string(name_of(a.k)) + "/" + std::string(name_of(a.v)) + ", " + std::to_string(a.tokens) + " keys, window " +
                               std::to_string(a.window) + ", " + std::to_string(n_rows) + " rows";
      // Rounding to 8 bits may fall to the other side where the input differs in its last bit.
      c.check(name, a.k == KvType::q8_0 || a.v == KvType::q8_0 ? 1e-5 : kLimit, [&](CpuDevice& device) { return attend(device, a, n_rows); });
    }
  }
}

void check_moe(Checker& c) {
  const int dim = 64, width = 96, experts = 5, rows = 7;
  for (const RouterKind router : {RouterKind::softmax_then_topk, RouterKind::topk_then_softmax, RouterKind::sigmoid}) {
    Random random(31);
    const auto gate = make_weight(Format::Q8_0, width * experts, dim, Payload::random, random);
    const auto up = make_weight(Format::F32, width * experts, dim, Payload::random, random);
    const auto down = make_weight(Format::Q4_0, dim * experts, width, Payload::random, random);
    c.check("experts, router " + std::to_string(static_cast<int>(router)), kLimit, [&](CpuDevice& device) {
      const auto g = upload(device, Format::Q8_0, width, dim, experts, gate), u = upload(device, Format::F32, width, dim, experts, up);
      const auto d = upload(device, Format::Q4_0, dim, width, experts, down);
      const auto in = device.activations(rows, dim);
      const Matrix x(device, rows, dim, random_values(rows * dim, 32));
      device.prepare(x.mat, *in);
      Matrix logits(device, rows, experts, random_values(rows * experts, 33)), out(device, rows, dim);
      MoeArgs args;
      args.x = in.get();
      args.router_logits = logits.mat;
      args.gate = g.get();
      args.up = u.get();
      args.down = d.get();
      args.router = router;
      args.n_used = 2;
      args.out = out.mat;
      device.moe(args);
      return out.values();
    });
  }
}

}  // namespace
}  // namespace tg::cpu

namespace tg {

std::vector<SelfCheck> self_check_cpu(const CpuOptions& options) {
  const cpu::Kernels* kernels = cpu::kernels_by_name(options.kernels);
  if (kernels == nullptr) return {{"kernels " + options.kernels + " run on this processor", 1, 0, false}};
  cpu::Checker checker(*kernels, options.threads > 0 ? options.threads : cpu::physical_cores());
  cpu::check_formats(checker);
  cpu::check_rows(checker);
  cpu::check_element_wise(checker);
  cpu::check_head(checker);
  cpu::check_attention(checker);
  cpu::check_moe(checker);
  checker.add(cpu::check_recurrent(checker.device()));
  return checker.take();
}

}  // namespace tg
