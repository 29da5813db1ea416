// Weight formats: geometry, exact values, and the promise of every traits struct.
#include <QtTest>
#include <cmath>
#include <random>

#include "engine/formats/traits.h"

using namespace tg;

namespace {

std::uint64_t fnv1a(std::span<const float> values) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::byte b : std::as_bytes(values)) hash = (hash ^ std::to_integer<std::uint64_t>(b)) * 0x100000001b3ULL;
  return hash;
}

std::vector<std::byte> random_bytes(std::size_t n, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(n);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random() & 0xFF);
  return bytes;
}

bool same_bits(float a, float b) { return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0; }

// scale * q + min of unpack() is dequantise(), and q stays in its stated range, whatever the bytes.
template <Format F>
bool keeps_promise(const std::vector<std::byte>& block) {
  using T = Traits<F>;
  std::int8_t q[T::elements];
  float scale[T::groups];
  float min[T::groups];
  float exact[T::elements];
  T::unpack(block.data(), q, scale, min);
  dequantise(F, block, exact, T::elements);
  for (int i = 0; i < T::elements; ++i) {
    if (q[i] < T::q_min || q[i] > T::q_max) return false;
    float value = scale[i / T::group] * static_cast<float>(q[i]);
    if constexpr (T::has_min) value += min[i / T::group];
    if (!same_bits(value, exact[i])) return false;
  }
  return true;
}

template <Format... F>
void check_all(FormatList<F...>) {
  const auto check = []<Format G>(std::integral_constant<Format, G>) {
    using T = Traits<G>;
    const FormatInfo* info = format_info(G);
    QCOMPARE(static_cast<std::size_t>(T::elements), info->block_elements);
    QCOMPARE(static_cast<std::size_t>(T::bytes), info->block_bytes);
    QVERIFY(T::group == 16 || T::group == 32);
    QVERIFY(!T::has_min || T::q_min == 0);
    for (std::uint32_t seed = 0; seed < 50; ++seed) {
      QVERIFY2(keeps_promise<G>(random_bytes(T::bytes, seed)), info->name.data());
    }
    for (const int fill : {0x00, 0xFF, 0x80, 0x7F}) {
      QVERIFY2(keeps_promise<G>(std::vector<std::byte>(T::bytes, static_cast<std::byte>(fill))), info->name.data());
    }
  };
  (check(std::integral_constant<Format, F>{}), ...);
}

}  // namespace

class TestFormats : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void removedAndUnknownIdsHaveNoFormat() {
    for (const std::uint32_t id : {4U, 5U, 31U, 32U, 33U, 36U, 37U, 38U, 43U, 250U, 0xFFFFFFFFU}) {
      QVERIFY(format_info(id) == nullptr);
    }
  }
  void namesLeadBackToFormats() {
    for (std::uint32_t id = 0; id < 64; ++id) {
      const FormatInfo* info = format_info(id);
      if (info != nullptr) QCOMPARE(format_by_name(info->name).value(), info->format);
    }
    QVERIFY(!format_by_name("Q4_2"));
  }
  void unpackMultipliesOutToTheExactValues() { check_all(QuantisedFormats{}); }

  void valuesAreThoseOfTheReference_data() {
    QTest::addColumn<QByteArray>("block");
    QTest::addColumn<QByteArray>("hash");
    QFile file(QStringLiteral(TG_SOURCE_DIR "/tests/data/formats/blocks.txt"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    int row = 0;
    while (!file.atEnd()) {
      const QList<QByteArray> parts = file.readLine().trimmed().split(' ');
      if (parts.size() != 3) continue;
      QTest::addRow("%s/%d", parts[0].constData(), row++) << QByteArray::fromHex(parts[1]) << parts[2];
    }
    QVERIFY(row > 50);
  }
  void valuesAreThoseOfTheReference() {
    QFETCH(QByteArray, block);
    QFETCH(QByteArray, hash);
    const QByteArray name = QByteArray(QTest::currentDataTag()).split('/').first();
    const auto format = format_by_name({name.constData(), static_cast<std::size_t>(name.size())});
    QVERIFY(format);
    const FormatInfo* info = format_info(*format);
    std::vector<float> values(static_cast<std::size_t>(block.size()) / info->block_bytes * info->block_elements);
    dequantise(*format, std::as_bytes(std::span(block.constData(), static_cast<std::size_t>(block.size()))), values.data(), values.size());
    QCOMPARE(QByteArray::number(static_cast<qulonglong>(fnv1a(values)), 16).rightJustified(16, '0'), hash);
  }

  void halvesAreExact() {
    QCOMPARE(f16_to_f32(0x3C00), 1.0F);
    QCOMPARE(f16_to_f32(0x7BFF), 65504.0F);
    QCOMPARE(f16_to_f32(0x0001), std::ldexp(1.0F, -24));
    QVERIFY(same_bits(f16_to_f32(0x8000), -0.0F));
    QVERIFY(std::isinf(f16_to_f32(0xFC00)));
    QVERIFY(std::isnan(f16_to_f32(0x7E00)));
    QCOMPARE(bf16_to_f32(0x3F80), 1.0F);
  }
};

QTEST_APPLESS_MAIN(TestFormats)
#include "tst_formats.moc"
