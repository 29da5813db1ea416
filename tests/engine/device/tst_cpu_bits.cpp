// Bit-identity: a row's result is the same alone or among others, in one chunk or many, with any number of threads.
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

std::unique_ptr<Weight> upload(Device& device, Format format, int rows, int cols, int experts, const std::vector<std::byte>& bytes) {
  auto weight = device.upload({.name = "test", .format = format, .rows = rows, .cols = cols, .experts = experts, .data = bytes});
  return weight.ok() ? std::move(*weight) : nullptr;
}

bool same_bits(const float* a, const float* b, int n) { return std::memcmp(a, b, sizeof(float) * static_cast<std::size_t>(n)) == 0; }

// A small transformer layer with its own cache, to run one prompt in chunks.
class Layer {
 public:
  static constexpr int kDim = 96, kHeads = 6, kKv = 2, kHead = 32, kWidth = 160;
  Layer(Device& device, Format format, KvType kv, int window) : device_(device), window_(window) {
    shape_ = {kKv, kHead, kHead, kv, kv};
    cpu::Random random(42);
    const auto make = [&](int rows, int cols) {
      bytes_.push_back(cpu::make_weight(format, rows, cols, cpu::Payload::random, random));
      return upload(device, format, rows, cols, 1, bytes_.back());
    };
    q_ = make(kHeads * kHead, kDim);
    k_ = make(kKv * kHead, kDim);
    v_ = make(kKv * kHead, kDim);
    o_ = make(kDim, kHeads * kHead);
    gate_ = make(kWidth, kDim);
    up_ = make(kWidth, kDim);
    down_ = make(kDim, kWidth);
    for (int i = 0; i < kHead / 2; ++i) inv_freq_.push_back(std::pow(10000.0F, -2.0F * static_cast<float>(i) / kHead));
  }

  // Rows of the prompt [0, tokens) after the layer, computed in chunks of the given sizes (repeated).
  Values run(int tokens, const std::vector<int>& chunks) {
    std::vector<std::shared_ptr<std::byte>> memory;
    std::vector<std::byte*> pages;
    for (int i = 0; i <= tokens / kPageTokens; ++i) {
      memory.push_back(device_.allocate(device_.kv_layer_bytes(shape_)));
      pages.push_back(memory.back().get());
    }
    Values all;
    std::size_t next = 0;
    for (int first = 0; first < tokens; ++next) {
      const int n = std::min(chunks[next % chunks.size()], tokens - first);
      const SequenceRows rows{0, n, first, pages.data()};
      const Mat x = step({&rows, 1}, n);
      for (int r = 0; r < n; ++r) all.insert(all.end(), x.row(r), x.row(r) + kDim);
      first += n;
    }
    return all;
  }

  // One step over several sequences; a row's input depends on its position only.
  Mat step(std::span<const SequenceRows> sequences, int n) {
    Mat x = device_.matrix(sx_, n, kDim), q = device_.matrix(sq_, n, kHeads * kHead), a = device_.matrix(sa_, n, kHeads * kHead);
    Mat k = device_.matrix(sk_, n, kKv * kHead), v = device_.matrix(sv_, n, kKv * kHead);
    for (const SequenceRows& s : sequences) {
      for (int r = 0; r < s.n_rows; ++r) {
        cpu::Random random(static_cast<std::uint64_t>(s.first_position + r + 1000));
        for (int i = 0; i < kDim; ++i) x.row(s.first_row + r)[i] = random.normal();
      }
    }
    const auto in = device_.activations(n, kHeads * kHead), middle = device_.activations(n, kWidth);
    device_.norm_prepare(x, {}, *in);
    std::array<MatmulTask, 3> tasks;
    tasks[0].weight = q_.get();
    tasks[0].out = q;
    tasks[1].weight = k_.get();
    tasks[1].out = k;
    tasks[2].weight = v_.get();
    tasks[2].out = v;
    device_.matmul(*in, tasks);
    RopeStoreArgs store;
    store.q = q;
    store.k = k;
    store.v = v;
    store.n_heads = kHeads;
    store.kv = shape_;
    store.rope = {RopeLayout::neox, kHead, inv_freq_.data(), 1.0F};
    store.q_scale = 0.2F;
    store.sequences = sequences;
    device_.rope_store(store);
    AttentionArgs attention;
    attention.q = q;
    attention.out = a;
    attention.n_heads = kHeads;
    attention.kv = shape_;
    attention.window = window_;
    attention.sequences = sequences;
    device_.attention(attention);
    device_.prepare(a, *in);
    MatmulTask out;
    out.weight = o_.get();
    out.out = x;
    out.add = true;
    device_.matmul(*in, {&out, 1});
    device_.norm_prepare(x, {}, *in);
    device_.glu(*in, {gate_.get(), up_.get(), nullptr, nullptr, Activation::silu}, *middle);
    out.weight = down_.get();
    device_.matmul(*middle, {&out, 1});
    return x;
  }
  const KvLayerShape& shape() const { return shape_; }

 private:
  Device& device_;
  int window_;
  KvLayerShape shape_;
  std::vector<std::vector<std::byte>> bytes_;
  std::unique_ptr<Weight> q_, k_, v_, o_, gate_, up_, down_;
  Values inv_freq_;
  std::shared_ptr<std::byte> sx_, sq_, sa_, sk_, sv_;
};

}  // namespace

class TestCpuBits : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void matmul_is_the_same_for_any_number_of_rows_data() {
    QTest::addColumn<QString>("kernels");
    QTest::addColumn<int>("format");
    for (const std::string& kernels : cpu::available_kernels()) {
      for (std::uint32_t id = 0; id < 64; ++id) {
        const FormatInfo* info = format_info(id);
        if (info == nullptr || !info->weights) continue;
        const QString name = QString::fromStdString(kernels) + QLatin1Char(' ') + QString::fromStdString(std::string(info->name));
        QTest::newRow(qPrintable(name)) << QString::fromStdString(kernels) << static_cast<int>(id);
      }
    }
  }
  void matmul_is_the_same_for_any_number_of_rows() {
    QFETCH(QString, kernels);
    QFETCH(int, format);
    const auto device = make_device(kernels.toStdString(), 2);
    const int rows = 51, cols = 1280, n = 21;
    cpu::Random random(9);
    const auto bytes = cpu::make_weight(static_cast<Format>(format), rows, cols, cpu::Payload::random, random);
    const auto weight = upload(*device, static_cast<Format>(format), rows, cols, 1, bytes);
    std::shared_ptr<std::byte> sx, so;
    const Mat x = device->matrix(sx, n, cols);
    for (int r = 0; r < n; ++r) {
      for (int i = 0; i < cols; ++i) x.row(r)[i] = random.normal();
    }
    const auto run = [&](int first, int count) {
      const auto activations = device->activations(count, cols);
      device->prepare({x.row(first), count, cols, x.stride}, *activations);
      MatmulTask task;
      task.weight = weight.get();
      task.out = device->matrix(so, count, rows);
      device->matmul(*activations, {&task, 1});
      Values values;
      for (int r = 0; r < count; ++r) values.insert(values.end(), task.out.row(r), task.out.row(r) + rows);
      return values;
    };
    const Values whole = run(0, n);
    for (const int count : {1, 2, 3, 4, 5, 8, 9, 17}) {
      for (int first = 0; first + count <= n; first += count) {
        QVERIFY2(same_bits(run(first, count).data(), whole.data() + first * rows, count * rows), qPrintable(QString::number(count)));
      }
    }
  }

  void layer_is_the_same_for_any_chunks_and_threads_data() {
    QTest::addColumn<QString>("kernels");
    QTest::addColumn<int>("format");
    QTest::addColumn<int>("kv");
    QTest::addColumn<int>("window");
    for (const std::string& kernels : cpu::available_kernels()) {
      for (const Format format : {Format::F32, Format::Q4_1, Format::Q8_0}) {
        for (const KvType kv : {KvType::f32, KvType::f16, KvType::bf16, KvType::q8_0}) {
          for (const int window : {0, 37}) {
            const QString name = QString::fromStdString(kernels + " " + std::string(format_info(format)->name) + " " + std::string(name_of(kv))) +
                                 QStringLiteral(" window ") + QString::number(window);
            QTest::newRow(qPrintable(name)) << QString::fromStdString(kernels) << static_cast<int>(format) << static_cast<int>(kv) << window;
          }
        }
      }
    }
  }
  void layer_is_the_same_for_any_chunks_and_threads() {
    QFETCH(QString, kernels);
    QFETCH(int, format);
    QFETCH(int, kv);
    QFETCH(int, window);
    const int tokens = kernels == QLatin1String("scalar") ? 90 : 580;  // over page and split borders
    Values reference;
    for (const int threads : {1, 2, 3, 5}) {
      const auto device = make_device(kernels.toStdString(), threads);
      Layer layer(*device, static_cast<Format>(format), static_cast<KvType>(kv), window);
      for (const std::vector<int>& chunks : {std::vector{tokens}, std::vector{1}, std::vector{7, 64, 1, 3}, std::vector{33, 500}}) {
        if (chunks.size() == 1 && chunks[0] == 1 && threads > 2) continue;  // slow, and shown by two threads
        const Values values = layer.run(tokens, chunks);
        if (reference.empty()) reference = values;
        for (int t = 0; t < tokens; ++t) {
          QVERIFY2(same_bits(values.data() + t * Layer::kDim, reference.data() + t * Layer::kDim, Layer::kDim),
                   qPrintable(QStringLiteral("token %1, %2 threads, chunk %3").arg(t).arg(threads).arg(chunks[0])));
        }
      }
    }
  }

  void batches_of_sequences_change_nothing() {
    for (const std::string& kernels : cpu::available_kernels()) {
      const auto device = make_device(kernels, 2);
      Layer layer(*device, Format::Q4_1, KvType::f16, 0);
      const auto alone = [&](int n, std::byte** pages) {
        const SequenceRows rows{0, n, 0, pages};
        const Mat x = layer.step({&rows, 1}, n);
        return Values(x.row(n - 1), x.row(n - 1) + Layer::kDim);
      };
      std::vector<std::shared_ptr<std::byte>> memory;
      for (int i = 0; i < 3; ++i) memory.push_back(device->allocate(device->kv_layer_bytes(layer.shape())));
      std::array<std::byte*, 3> pages{memory[0].get(), memory[1].get(), memory[2].get()};
      const Values a = alone(5, &pages[0]), b = alone(1, &pages[1]), c = alone(30, &pages[2]);
      const std::array sequences{SequenceRows{0, 5, 0, &pages[0]}, SequenceRows{5, 1, 0, &pages[1]}, SequenceRows{6, 30, 0, &pages[2]}};
      const Mat x = layer.step(sequences, 36);
      QVERIFY(same_bits(x.row(4), a.data(), Layer::kDim));
      QVERIFY(same_bits(x.row(5), b.data(), Layer::kDim));
      QVERIFY(same_bits(x.row(35), c.data(), Layer::kDim));
    }
  }
};

QTEST_APPLESS_MAIN(TestCpuBits)
#include "tst_cpu_bits.moc"
