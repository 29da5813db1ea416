// Bit-identity of layers with a state and of mixtures of experts: chunks, threads and other sequences in the batch change nothing.
#include <QtTest>
#include <array>
#include <cmath>
#include <cstring>

#include "engine/device/cpu/processor.h"
#include "engine/device/cpu/self_check.h"

using namespace tg;

namespace {

using Values = std::vector<float>;

std::unique_ptr<Device> make_device(const std::string& kernels, int threads) {
  CpuOptions options;
  options.kernels = kernels;
  options.threads = threads;
  auto device = make_cpu_device(options);
  return device.ok() ? std::move(*device) : nullptr;
}

Values numbers(int n, int seed, float size = 1.0F) {
  cpu::Random random(static_cast<std::uint64_t>(seed));
  Values values(static_cast<std::size_t>(n));
  for (float& v : values) v = random.normal() * size;
  return values;
}

void fill(Mat m, int row, int seed) {
  const Values values = numbers(m.cols, seed);
  std::copy(values.begin(), values.end(), m.row(row));
}

// Some sequences with their states; run() makes one step of so many rows of each. A row's input depends on its sequence and position only.
class Layer {
 public:
  explicit Layer(Device& device) : device_(device) {}
  virtual ~Layer() = default;

  // Appends each row's result to results[sequence].
  void step(const std::vector<int>& sequences, int rows) {
    std::vector<SequenceRows> parts;
    for (const int s : sequences) parts.push_back({static_cast<int>(parts.size()) * rows, rows, position_[index(s)], nullptr});
    const Mat out = compute(sequences, parts);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Values& to = results[index(sequences[i])];
      for (int r = 0; r < rows; ++r) to.insert(to.end(), out.row(parts[i].first_row + r), out.row(parts[i].first_row + r) + out.cols);
      position_[index(sequences[i])] += rows;
    }
  }
  std::array<Values, 3> results;

 protected:
  static std::size_t index(int sequence) { return static_cast<std::size_t>(sequence); }
  virtual Mat compute(const std::vector<int>& sequences, std::span<const SequenceRows> parts) = 0;
  Mat input(std::shared_ptr<std::byte>& storage, std::span<const SequenceRows> parts, const std::vector<int>& sequences, int cols, int seed) {
    const Mat m = device_.matrix(storage, parts.back().first_row + parts.back().n_rows, cols);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (int r = 0; r < parts[i].n_rows; ++r) fill(m, parts[i].first_row + r, seed + 1000 * sequences[i] + parts[i].first_position + r);
    }
    return m;
  }
  Device& device_;
  std::array<int, 3> position_{};
  std::array<std::shared_ptr<std::byte>, 4> memory_;
};

class DeltaNet : public Layer {
 public:
  using Layer::Layer;

 private:
  static constexpr int kKHeads = 2, kVHeads = 4, kHead = 16, kChannels = 2 * kKHeads * kHead + kVHeads * kHead, kWidth = 4;
  Mat compute(const std::vector<int>& sequences, std::span<const SequenceRows> parts) override {
    DeltaNetArgs args;
    args.qkv = input(memory_[0], parts, sequences, kChannels, 1);
    args.beta = input(memory_[1], parts, sequences, kVHeads, 2);
    args.alpha = input(memory_[2], parts, sequences, kVHeads, 3);
    args.conv_weight = weight_.data();
    args.a = a_.data();
    args.conv_width = kWidth;
    args.n_k_heads = kKHeads;
    args.n_v_heads = kVHeads;
    args.head_k = args.head_v = kHead;
    args.out = device_.matrix(memory_[3], args.qkv.rows, kVHeads * kHead);
    args.sequences = parts;
    std::vector<float*> conv, delta;
    for (const int s : sequences) {
      conv.push_back(conv_state_[index(s)].data());
      delta.push_back(state_[index(s)].data());
    }
    args.conv_state = conv;
    args.delta_state = delta;
    device_.delta_net(args);
    return args.out;
  }
  Values weight_ = numbers(kChannels * kWidth, 7), a_ = Values(kVHeads, -0.3F);
  std::array<Values, 3> conv_state_{Values((kWidth - 1) * kChannels), Values((kWidth - 1) * kChannels), Values((kWidth - 1) * kChannels)};
  std::array<Values, 3> state_{Values(kVHeads * kHead * kHead), Values(kVHeads * kHead * kHead), Values(kVHeads * kHead * kHead)};
};

class ShortConv : public Layer {
 public:
  using Layer::Layer;

 private:
  static constexpr int kDim = 150, kWidth = 3;
  Mat compute(const std::vector<int>& sequences, std::span<const SequenceRows> parts) override {
    ShortConvArgs args;
    args.bcx = input(memory_[0], parts, sequences, 3 * kDim, 4);
    args.out = device_.matrix(memory_[1], args.bcx.rows, kDim);
    args.conv_weight = weight_.data();
    args.conv_width = kWidth;
    args.sequences = parts;
    std::vector<float*> states;
    for (const int s : sequences) states.push_back(state_[index(s)].data());
    args.state = states;
    device_.short_conv(args);
    return args.out;
  }
  Values weight_ = numbers(kDim * kWidth, 8);
  std::array<Values, 3> state_{Values((kWidth - 1) * kDim), Values((kWidth - 1) * kDim), Values((kWidth - 1) * kDim)};
};

class Experts : public Layer {
 public:
  explicit Experts(Device& device) : Layer(device) {
    gate_ = make(kWidth, kDim, 9);
    up_ = make(kWidth, kDim, 10);
    down_ = make(kDim, kWidth, 11);
  }

 private:
  static constexpr int kDim = 64, kWidth = 96, kExperts = 5;
  std::unique_ptr<Weight> make(int rows, int cols, int seed) {
    cpu::Random random(static_cast<std::uint64_t>(seed));
    bytes_.push_back(cpu::make_weight(Format::Q4_0, rows * kExperts, cols, cpu::Payload::random, random));
    return std::move(*device_.upload({.name = "experts", .format = Format::Q4_0, .rows = rows, .cols = cols, .experts = kExperts, .data = bytes_.back()}));
  }
  Mat compute(const std::vector<int>& sequences, std::span<const SequenceRows> parts) override {
    const Mat x = input(memory_[0], parts, sequences, kDim, 5);
    const auto activations = device_.activations(x.rows, kDim);
    device_.prepare(x, *activations);
    MoeArgs args;
    args.x = activations.get();
    args.router_logits = input(memory_[1], parts, sequences, kExperts, 6);
    args.gate = gate_.get();
    args.up = up_.get();
    args.down = down_.get();
    args.n_used = 2;
    args.out = device_.matrix(memory_[2], x.rows, kDim);
    device_.moe(args);
    return args.out;
  }
  std::vector<std::vector<std::byte>> bytes_;
  std::unique_ptr<Weight> gate_, up_, down_;
};

std::unique_ptr<Layer> make_layer(int kind, Device& device) {
  if (kind == 0) return std::make_unique<DeltaNet>(device);
  if (kind == 1) return std::make_unique<ShortConv>(device);
  return std::make_unique<Experts>(device);
}

bool same_bits(const Values& a, const Values& b) { return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0; }

void all_layers() {
  QTest::addColumn<QString>("kernels");
  QTest::addColumn<int>("layer");
  constexpr std::array<const char*, 3> kNames{"delta net", "short convolution", "experts"};
  for (const std::string& kernels : cpu::available_kernels()) {
    for (int layer = 0; layer < 3; ++layer) {
      QTest::newRow((kernels + " " + kNames[static_cast<std::size_t>(layer)]).c_str()) << QString::fromStdString(kernels) << layer;
    }
  }
}

}  // namespace

class TestCpuStates : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void chunks_and_threads_change_nothing_data() { all_layers(); }
  void chunks_and_threads_change_nothing() {
    QFETCH(QString, kernels);
    QFETCH(int, layer);
    Values reference;
    for (const int threads : {1, 2, 3}) {
      const auto device = make_device(kernels.toStdString(), threads);
      for (const std::vector<int>& chunks : {std::vector{40}, std::vector<int>(40, 1), std::vector{7, 1, 2, 30}, std::vector{33, 7}}) {
        const auto l = make_layer(layer, *device);
        for (const int n : chunks) l->step({0}, n);
        if (reference.empty()) reference = l->results[0];
        QVERIFY2(same_bits(l->results[0], reference), qPrintable(QStringLiteral("%1 threads, %2 chunks").arg(threads).arg(chunks.size())));
      }
    }
  }

  void other_sequences_change_nothing_data() { all_layers(); }
  void other_sequences_change_nothing() {
    QFETCH(QString, kernels);
    QFETCH(int, layer);
    const auto device = make_device(kernels.toStdString(), 2);
    const auto alone = make_layer(layer, *device), together = make_layer(layer, *device);
    for (const int sequence : {0, 1, 2}) {
      for (const int n : {5, 1, 12}) alone->step({sequence}, n);
    }
    together->step({2, 0, 1}, 5);
    together->step({0}, 1);
    together->step({1, 2}, 1);
    together->step({0, 1, 2}, 12);
    for (std::size_t s = 0; s < 3; ++s) QVERIFY(same_bits(alone->results[s], together->results[s]));
  }
};

QTEST_APPLESS_MAIN(TestCpuStates)
#include "tst_cpu_states.moc"
