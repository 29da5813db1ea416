// How a result was computed does not show in it: the logits of a position are the same bits over chunks, threads, batches and KV types.
#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
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

  // A bf16 cache keeps 8 bits of each number: the logits are near those of an f32 cache, and not the same.
  void bf16CacheIsCloseToF32_data() {
    QTest::addColumn<QString>("model");
    for (const auto& [name, model] : models()) QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }
  void bf16CacheIsCloseToF32() {
    QFETCH(QString, model);
    const std::string bytes = models().at(model.toStdString()).bytes();
    const auto file = GgufFile::parse(std::as_bytes(std::span(bytes)));
    QVERIFY(file.ok());
    const auto exact = all_logits(*file, tokens_of(64, 1), {.kv = KvType::f32}), near = all_logits(*file, tokens_of(64, 1), {.kv = KvType::bf16});
    QVERIFY(exact.ok() && near.ok());
    double error = 0, power = 0;
    for (std::size_t i = 0; i < exact->size(); ++i) {
      const double e = static_cast<double>((*exact)[i]), d = static_cast<double>((*near)[i]) - e;
      error += d * d;
      power += e * e;
    }
    QVERIFY2(error > 0 && error < 1e-3 * power, qPrintable(QString::number(error / power)));
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

  // Every golden model, where the conformance kit is beside the repository: all its architectures and weight formats, over all KV types.
  void goldenModelsSameBits_data() {
    QTest::addColumn<QString>("folder");
    const QDir kit(QStringLiteral(TG_SOURCE_DIR "/../shared/conformance"));
    for (const QString& part : {QStringLiteral("logits"), QStringLiteral("formats")}) {
      const QDir dir(kit.filePath(part));
      for (const QString& name : dir.entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name)) QTest::newRow(qPrintable(part + QLatin1Char('/') + name)) << dir.filePath(name);
    }
    if (!kit.exists()) QTest::newRow("no kit") << QString();
  }

  void goldenModelsSameBits() {
    QFETCH(QString, folder);
    if (folder.isEmpty()) {
      qInfo("The conformance kit is not beside the repository; the models made here were compared alone.");
      return;
    }
    const auto file = GgufFile::open(QDir(folder).filePath(QStringLiteral("model.gguf")).toStdString());
    QVERIFY2(file.ok(), file.ok() ? "" : file.error().message.c_str());
    const std::vector<TokenId> tokens = tokens_in(QDir(folder).filePath(QStringLiteral("tokens.json")));
    QVERIFY(!tokens.empty());
    const std::vector<TokenId> other(tokens.rbegin(), tokens.rbegin() + std::min<std::ptrdiff_t>(std::ssize(tokens), 60));
    for (const KvType kv : {KvType::f32, KvType::f16, KvType::bf16, KvType::q8_0}) {
      std::vector<RunOptions> ways{{.chunk = 1, .threads = 2}, {.chunk = 7, .threads = 3}, {.chunk = 32, .threads = 5}, {.chunk = 13, .with = {other}}};
      compare(*file, tokens, kv, "auto", ways);
      if (QTest::currentTestFailed()) return;
    }
  }

 private:
  static std::vector<TokenId> tokens_in(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) return {};
    const QJsonDocument json = QJsonDocument::fromJson(file.readAll());
    std::vector<TokenId> out;
    for (const QJsonValue& id : json.isArray() ? json.array() : json[QStringLiteral("tokens")].toArray()) out.push_back(id.toInt());
    return out;
  }

  static void compare(const std::string& bytes, KvType kv, const std::string& kernels, int n, const std::vector<RunOptions>& ways) {
    const auto file = GgufFile::parse(std::as_bytes(std::span(bytes)));
    QVERIFY2(file.ok(), file.ok() ? "" : file.error().message.c_str());
    compare(*file, tokens_of(n, 1), kv, kernels, ways);
  }

  // All tokens in one step on one thread against each of WAYS.
  static void compare(const std::shared_ptr<const GgufFile>& file, const std::vector<TokenId>& tokens, KvType kv, const std::string& kernels, std::vector<RunOptions> ways) {
    RunOptions plain;
    plain.kv = kv;
    plain.kernels = kernels;
    const auto expected = all_logits(file, tokens, plain);
    QVERIFY2(expected.ok(), expected.ok() ? "" : expected.error().message.c_str());
    for (const float x : *expected) QVERIFY(std::isfinite(x));
    for (RunOptions& way : ways) {
      way.kv = kv;
      way.kernels = kernels;
      const auto got = all_logits(file, tokens, way);
      QVERIFY2(got.ok(), got.ok() ? "" : got.error().message.c_str());
      QCOMPARE(got->size(), expected->size());
      const std::size_t at = first_difference(*got, *expected);
      const QString what = QStringLiteral("chunk %1, %2 threads, %3 more sequences: position %4 differs")
                               .arg(way.chunk).arg(way.threads).arg(way.with.size()).arg(at / (expected->size() / tokens.size()));
      QVERIFY2(at == expected->size(), qPrintable(what));
    }
  }
};

QTEST_GUILESS_MAIN(TestBitIdentity)
#include "tst_bit_identity.moc"
