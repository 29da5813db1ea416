// Weights that stay in their file until they are settled: the same bits before, halfway and after, for all formats that are made into tiles.
#include <QtTest>
#include <cstring>

#include "engine/device/cpu/self_check.h"
#include "engine/device/device.h"

using namespace tg;

namespace {

using Bytes = std::vector<std::byte>;
constexpr int kCols = 512, kExperts = 3;

struct Uploaded {
  std::unique_ptr<Device> device;
  std::unique_ptr<Weight> weight;
};

// LATER: the device may read the rows when it likes.
std::unique_ptr<Uploaded> upload(Format format, int rows, int experts, const Bytes& bytes, const Bytes* later, CpuOptions options = {}) {
  auto u = std::make_unique<Uploaded>();
  options.threads = 3;
  u->device = std::move(*make_cpu_device(options));
  WeightSource source{.name = "test", .format = format, .rows = rows, .cols = kCols, .experts = experts, .data = bytes};
  if (later != nullptr) source.read = [later](std::size_t offset, std::span<std::byte> to) { return std::memcpy(to.data(), later->data() + offset, to.size()), true; };
  u->weight = std::move(*u->device->upload(source));
  return u;
}

std::vector<float> products(Uploaded& u, int n) {
  Device& d = *u.device;
  std::shared_ptr<std::byte> memory, results;
  cpu::Random random(5);
  const Mat in = d.matrix(memory, n, kCols), out = d.matrix(results, n, u.weight->rows);
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < kCols; ++c) in.row(r)[c] = random.normal();
  const auto x = d.activations(n, kCols);
  d.prepare(in, *x);
  std::vector<float> all;
  for (int e = 0; e < u.weight->experts; ++e) {
    MatmulTask task;
    task.weight = u.weight.get();
    task.expert = e;
    task.out = out;
    d.matmul(*x, {&task, 1});
    for (int r = 0; r < n; ++r) all.insert(all.end(), out.row(r), out.row(r) + u.weight->rows);
  }
  return all;
}

bool same(const std::vector<float>& a, const std::vector<float>& b) { return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0; }

}  // namespace

class TestCpuWeights : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void sameBits_data() {
    QTest::addColumn<int>("format");
    QTest::addColumn<int>("rows");
    for (const Format f : {Format::Q4_0, Format::Q8_0, Format::Q4_K, Format::Q6_K, Format::Q5_1, Format::MXFP4, Format::F16, Format::BF16, Format::F32})
      for (const int rows : {16, 72, 200}) QTest::addRow("%s %d rows", std::string(format_info(f)->name).c_str(), rows) << static_cast<int>(f) << rows;
  }
  void sameBits() {
    QFETCH(int, format);
    QFETCH(int, rows);
    const auto f = static_cast<Format>(format);
    cpu::Random random(11);
    const Bytes bytes = cpu::make_weight(f, rows * kExperts, kCols, cpu::Payload::random, random);
    const auto at_once = upload(f, rows, kExperts, bytes, nullptr), later = upload(f, rows, kExperts, bytes, &bytes);
    QCOMPARE(at_once->device->settle(*at_once->weight, 1), std::size_t{0});
    for (const int n : {1, 5, 40}) QVERIFY2(same(products(*at_once, n), products(*later, n)), "before");
    int settled = 0;
    while (later->device->settle(*later->weight, 1) > 0) {
      ++settled;
      if (settled % 4 == 1) QVERIFY2(same(products(*at_once, 3), products(*later, 3)), "halfway");
    }
    QVERIFY(settled == 0 || settled == (rows + 31) / 32 * kExperts);
    for (const int n : {1, 5, 40}) QVERIFY2(same(products(*at_once, n), products(*later, n)), "after");
  }

  void withoutMemoryTheyStayInTheFile() {
    const Format f = Format::F16;
    cpu::Random random(2);
    const Bytes bytes = cpu::make_weight(f, 72, kCols, cpu::Payload::random, random);
    CpuOptions full, unknown;
    full.memory = [] { return std::optional(MainMemory{300 << 20, 1 << 30}); };
    unknown.memory = [] { return std::optional<MainMemory>(); };
    const auto stays = upload(f, 72, 1, bytes, &bytes, full), settles = upload(f, 72, 1, bytes, &bytes, unknown), at_once = upload(f, 72, 1, bytes, nullptr, full);
    QCOMPARE(stays->device->settle(*stays->weight, 1 << 20), std::size_t{0});
    QVERIFY(settles->device->settle(*settles->weight, 1 << 20) > 0);
    for (const int n : {1, 5}) {
      QVERIFY(same(products(*stays, n), products(*settles, n)));
      QVERIFY(same(products(*stays, n), products(*at_once, n)));
    }
  }

  void rowsOfATable_data() {
    QTest::addColumn<int>("format");
    for (const Format f : {Format::Q6_K, Format::F32, Format::F16}) QTest::addRow("%s", std::string(format_info(f)->name).c_str()) << static_cast<int>(f);
  }
  void rowsOfATable() {
    QFETCH(int, format);
    const auto f = static_cast<Format>(format);
    cpu::Random random(3);
    const int rows = 72;
    const Bytes bytes = cpu::make_weight(f, rows, kCols, cpu::Payload::random, random);
    const auto table = upload(f, rows, 1, bytes, &bytes);
    const std::vector<TokenId> tokens{0, 31, 32, 71};
    std::shared_ptr<std::byte> memory;
    const Mat out = table->device->matrix(memory, static_cast<int>(tokens.size()), kCols);
    const auto row = bytes.size() / static_cast<std::size_t>(rows);
    std::vector<float> exact(kCols);
    bool more = true;
    while (more) {
      table->device->embed(*table->weight, tokens, 1.0F, out);
      for (int i = 0; i < out.rows; ++i) {
        dequantise(f, std::span(bytes).subspan(static_cast<std::size_t>(tokens[static_cast<std::size_t>(i)]) * row, row), exact.data(), exact.size());
        QVERIFY(std::memcmp(out.row(i), exact.data(), exact.size() * sizeof(float)) == 0);
      }
      more = table->device->settle(*table->weight, 1) > 0;
    }
  }
};

QTEST_APPLESS_MAIN(TestCpuWeights)
#include "tst_cpu_weights.moc"
