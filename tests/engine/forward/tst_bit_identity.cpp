// How a result was computed does not show in it: the logits of a position are the same bits over chunks, threads, batches and KV types.
#include <QtTest>

#include "tests/support/forward_runner.h"
#include "tests/support/tiny_model.h"

using namespace tg;
using namespace tg::test;

namespace {

std::vector<TokenId> tokens_of(int n, std::uint32_t seed) {
  std::vector<TokenId> out;
  for (int i = 0; i < n; ++i) {
    seed = seed * 1664525U + 1013904223U;
    out.push_back(static_cast<TokenId>((seed >> 16) % 200));
  }
  return out;
}

const std::map<std::string, TinyModel>& models() {
  static const std::map<std::string, TinyModel> all{
      {"full", tiny_llama()},
      {"full, k-quants", tiny_llama(Format::Q4_K, Format::Q6_K, 256)},
      {"full, Q4_0 and Q8_0", tiny_llama(Format::Q4_0, Format::Q8_0)},
      {"window", tiny_gemma3()},
      {"window, Q8_0", tiny_gemma3(Format::Q8_0)},
      {"experts, window, sinks", tiny_gpt_oss()},
      {"experts, Q4_0", tiny_gpt_oss(Format::Q4_0)},
      {"delta net", tiny_qwen35()},
      {"delta net, Q8_0", tiny_qwen35(Format::Q8_0)},
      {"short convolution", tiny_lfm2()},
      {"latent attention", tiny_deepseek2()},
  };
  return all;
}

std::size_t first_difference(const std::vector<float>& a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (std::memcmp(&a[i], &b[i], sizeof(float)) != 0) return i;
  }
  return std::min(a.size(), b.size());
}

}  // namespace

class TestBitIdentity : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void sameBits_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<int>("kv");
    QTest::addColumn<QString>("kernels");
    for (const auto& [name, model] : models()) {
      const QString label = QString::fromStdString(name);
      for (const KvType kv : {KvType::f32, KvType::f16, KvType::bf16, KvType::q8_0}) {
        QTest::newRow(qPrintable(label + QStringLiteral(" kv ") + QString::fromUtf8(name_of(kv).data())))
            << label << static_cast<int>(kv) << QStringLiteral("auto");
      }
      for (const char* kernels : {"avx2", "neon", "scalar"}) {
        QTest::newRow(qPrintable(label + QStringLiteral(" kernels ") + QString::fromUtf8(kernels)))
            << label << static_cast<int>(KvType::f16) << QString::fromUtf8(kernels);
      }
    }
  }

  void sameBits() {
    QFETCH(QString, model);
    QFETCH(int, kv);
    QFETCH(QString, kernels);
    if (!make_cpu_device({1, kernels.toStdString()})) {
      qInfo("This processor does not run %s.", qPrintable(kernels));
      return;
    }
    const std::string bytes = models().at(model.toStdString()).bytes();
    if (kernels != QStringLiteral("auto")) {
      compare(bytes, static_cast<KvType>(kv), kernels.toStdString(), 70, {{.chunk = 1}, {.chunk = 7, .threads = 2}});
      return;
    }
    compare(bytes, static_cast<KvType>(kv), "auto", 100,
            {{.chunk = 1}, {.chunk = 7, .threads = 2}, {.chunk = 32, .threads = 3}, {.threads = 5},
             {.chunk = 13, .threads = 2, .with = {tokens_of(90, 7), tokens_of(20, 9)}}, {.chunk = 1, .threads = 2, .with = {tokens_of(100, 11)}}});
  }

  // Several splits of the attention (kAttentionSplit keys each) and window pages that were let go.
  void sameBitsOverSplits_data() {
    QTest::addColumn<QString>("model");
    for (const char* name : {"full, Q4_0 and Q8_0", "window", "delta net"}) QTest::newRow(name) << QString::fromUtf8(name);
  }

  void sameBitsOverSplits() {
    QFETCH(QString, model);
    const std::string bytes = models().at(model.toStdString()).bytes();
    compare(bytes, KvType::f16, "auto", 600, {{.chunk = 1, .threads = 2}, {.chunk = 97, .threads = 3}});
  }

 private:
  static void compare(const std::string& bytes, KvType kv, const std::string& kernels, int n, std::vector<RunOptions> ways) {
    const auto file = GgufFile::parse(std::as_bytes(std::span(bytes)));
    QVERIFY2(file.ok(), file.ok() ? "" : file.error().message.c_str());
    const std::vector<TokenId> tokens = tokens_of(n, 1);
    RunOptions plain;
    plain.kv = kv;
    plain.kernels = kernels;
    const auto expected = all_logits(*file, tokens, plain);
    QVERIFY2(expected.ok(), expected.ok() ? "" : expected.error().message.c_str());
    for (const float x : *expected) QVERIFY(std::isfinite(x));
    for (RunOptions& way : ways) {
      way.kv = kv;
      way.kernels = kernels;
      const auto got = all_logits(*file, tokens, way);
      QVERIFY2(got.ok(), got.ok() ? "" : got.error().message.c_str());
      QCOMPARE(got->size(), expected->size());
      const std::size_t at = first_difference(*got, *expected);
      const QString what = QStringLiteral("chunk %1, %2 threads, %3 more sequences: position %4 differs")
                               .arg(way.chunk).arg(way.threads).arg(way.with.size()).arg(at / 200);
      QVERIFY2(at == expected->size(), qPrintable(what));
    }
  }
};

QTEST_GUILESS_MAIN(TestBitIdentity)
#include "tst_bit_identity.moc"
