// Models are described or refused by name: unknown architectures, missing or misshapen tensors, contradicting numbers.
#include <QtTest>
#include <cmath>
#include <limits>
#include <set>

#include "engine/model/description.h"
#include "engine/model/families/families.h"
#include "tests/support/tiny_model.h"

using namespace tg;
using namespace tg::test;

namespace {

Result<ModelDescription> describe(const TinyModel& model, int context = 0) {
  const std::string bytes = model.bytes();
  const auto file = GgufFile::parse(std::as_bytes(std::span(bytes)));
  if (!file) return file.error();
  return describe_model(**file, context);
}

QString refusal(const TinyModel& model) {
  const auto described = describe(model);
  return described ? QString() : QString::fromStdString(described.error().message);
}

std::vector<std::pair<QString, TinyModel>> samples() {
  return {{QStringLiteral("llama"), tiny_llama()},   {QStringLiteral("gemma3"), tiny_gemma3()},  {QStringLiteral("gpt-oss"), tiny_gpt_oss()},
          {QStringLiteral("qwen35"), tiny_qwen35()}, {QStringLiteral("lfm2"), tiny_lfm2()}, {QStringLiteral("deepseek2"), tiny_deepseek2()}};
}

}  // namespace

class TestFamilies : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void describes() {
    const auto d = describe(tiny_gemma3());
    QVERIFY2(d.ok(), d.ok() ? "" : d.error().message.c_str());
    QCOMPARE(d->n_layers, 3);
    QCOMPARE(d->vocab, 200);
    QVERIFY(d->n_parameters > 0);
    QVERIFY(d->layers[0].kind == LayerKind::window && d->layers[0].window == 37);
    QVERIFY(d->layers[2].kind == LayerKind::full && d->layers[2].window == 0);
    QCOMPARE(d->output.name, d->token_embedding.name);
    QCOMPARE(d->embedding_scale, 8.0F);
  }

  void windowLayersMayTurnByTheirOwnBase() {
    TinyModel m = tiny_gpt_oss();
    const auto plain = describe(m);
    QVERIFY(plain.ok());
    QVERIFY(plain->layers[0].window > 0 && plain->layers[1].window == 0);
    QCOMPARE(plain->layers[0].attention.rope.inv_freq, plain->layers[1].attention.rope.inv_freq);
    m.keys["rope.freq_base_swa"] = 300.0F;
    const auto own = describe(m);
    QVERIFY(own.ok());
    QCOMPARE(own->layers[1].attention.rope.inv_freq, plain->layers[1].attention.rope.inv_freq);
    QVERIFY(own->layers[0].attention.rope.inv_freq[1] > plain->layers[0].attention.rope.inv_freq[1]);
  }

  void stateIsCounted() {
    const auto d = describe(tiny_qwen35());
    QVERIFY(d.ok());
    // Two layers: convolution 3 x 128 channels, state 4 heads x 16 x 16, f32.
    QCOMPARE(d->state_bytes(), std::size_t{2 * (3 * 128 + 4 * 16 * 16) * 4});
    QVERIFY(!d->layers[0].has_own_kv() && d->layers[2].has_own_kv());
  }

  void namesAreUnique() {
    std::set<std::string_view> names;
    for (const Family& family : families()) QVERIFY(names.insert(family.architecture).second);
    QVERIFY(names.contains("llama"));
  }

  void unknownArchitecture() {
    TinyModel m = tiny_llama();
    m.architecture = "mamba9";
    QCOMPARE(refusal(m), QStringLiteral("The architecture mamba9 is not supported."));
  }

  void unknownArchitectureIsPrintable() {
    TinyModel m = tiny_llama();
    m.architecture = std::string("bad\x01\n\xff") + std::string(200, 'x');
    const QString said = refusal(m);
    QVERIFY(said.startsWith(QStringLiteral("The architecture bad???")) && said.size() < 120);
  }

  void missingTensor_data() { eachTensor(); }
  void missingTensor() {
    QFETCH(int, sample);
    QFETCH(QString, tensor);
    TinyModel m = samples()[static_cast<std::size_t>(sample)].second;
    m.drop(tensor.toStdString());
    const bool optional = tensor == QStringLiteral("output.weight") || tensor.endsWith(QStringLiteral("sinks.weight")) ||
                          tensor.endsWith(QStringLiteral("exps.bias"));
    const QString said = refusal(m);
    const QString named = tensor == QStringLiteral("output_norm.weight") ? QStringLiteral("norm") : tensor.section(QLatin1Char('.'), 0, 1);
    QVERIFY2(optional ? said.isEmpty() : said.contains(named), qPrintable(said));
  }

  void wrongShape_data() { eachTensor(); }
  void wrongShape() {
    QFETCH(int, sample);
    QFETCH(QString, tensor);
    TinyModel m = samples()[static_cast<std::size_t>(sample)].second;
    m.tensor(tensor.toStdString()).shape.back() += 32;
    const QString said = refusal(m);
    if (tensor == QStringLiteral("token_embd.weight") && said.isEmpty()) return;  // a tied model with more tokens
    QVERIFY2(said.endsWith(QStringLiteral("has the wrong shape.")), qPrintable(said));
  }

  void unknownTensor() {
    TinyModel m = tiny_llama();
    m.vector("blk.1.attn_q_norm.weight", 16);
    QVERIFY(refusal(m).contains(QStringLiteral("blk.1.attn_q_norm.weight")));
  }

  void moreBlocksThanCounted() {
    TinyModel m = tiny_llama();
    m.keys["block_count"] = 1;
    QVERIFY(refusal(m).contains(QStringLiteral("blk.1.")));
  }

  void predictionBlocksAreLeftOut() {
    TinyModel m = tiny_qwen35();
    m.keys["block_count"] = 4;
    m.keys["nextn_predict_layers"] = 1;
    m.vector("blk.3.attn_norm.weight", 64);
    m.matrix("blk.3.nextn.eh_proj.weight", 64, 128);
    const auto d = describe(m);
    QVERIFY2(d.ok(), d.ok() ? "" : d.error().message.c_str());
    QCOMPARE(d->n_layers, 3);
  }

  void contradictions_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<double>("value");
    QTest::addColumn<QString>("said");
    const auto row = [](const char* key, double value, const char* said) { QTest::newRow(key) << QString::fromUtf8(key) << value << QString::fromUtf8(said); };
    row("attention.head_count", 0, "head_count");
    row("attention.head_count_kv", 3, "multiple");
    row("block_count", 0, "layers");
    row("embedding_length", 0, "dimensions");
    row("context_length", 0, "tokens");
    row("feed_forward_length", 0, "feed_forward_length");
    row("block_count ", 100000, "layers");
    row("rope.dimension_count", 7, "rotary");
    row("rope.dimension_count ", 1000, "rotary");
    row("embedding_length ", 1 << 30, "out of range");
  }
  void contradictions() {
    QFETCH(QString, key);
    QFETCH(double, value);
    QFETCH(QString, said);
    TinyModel m = tiny_llama();
    m.keys[key.trimmed().toStdString()] = static_cast<int>(value);
    const QString message = refusal(m);
    QVERIFY2(message.contains(said), qPrintable(message));
  }

  void numbersMustBeNumbers() {
    TinyModel m = tiny_llama();
    m.keys["attention.layer_norm_rms_epsilon"] = std::numeric_limits<float>::quiet_NaN();
    QVERIFY(refusal(m).contains(QStringLiteral("not a number")));
    m = tiny_llama();
    m.keys["block_count"] = std::string("two");
    QVERIFY(refusal(m).contains(QStringLiteral("wrong type")));
    m = tiny_llama();
    m.keys.erase("embedding_length");
    QVERIFY(refusal(m).contains(QStringLiteral("llama.embedding_length")));
    m = tiny_llama();
    m.keys["rope.scaling.type"] = std::string("spiral");
    QVERIFY(refusal(m).contains(QStringLiteral("spiral")));
  }

  void quantisedNormIsRefused() {
    TinyModel m = tiny_llama();
    m.tensor("blk.0.attn_norm.weight").format = Format::Q8_0;
    QVERIFY(refusal(m).contains(QStringLiteral("blk.0.attn_norm.weight")));
  }

  void headCountsPerLayer() {
    TinyModel m = tiny_llama();
    m.keys["attention.head_count_kv"] = std::vector<std::int32_t>{2, 2};
    QVERIFY(describe(m).ok());
    m.keys["attention.head_count_kv"] = std::vector<std::int32_t>{2};
    QVERIFY(refusal(m).contains(QStringLiteral("every layer")));
  }

  void linearRopeScaling() {
    TinyModel m = tiny_llama();
    const auto plain = describe(m);
    m.keys["rope.scaling.type"] = std::string("linear");
    m.keys["rope.scaling.factor"] = 4.0F;
    const auto scaled = describe(m);
    QVERIFY(plain.ok() && scaled.ok());
    const auto& a = plain->layers[0].attention.rope.inv_freq;
    const auto& b = scaled->layers[0].attention.rope.inv_freq;
    QCOMPARE(a.size(), std::size_t{8});
    QCOMPARE(a[0], 1.0F);
    for (std::size_t i = 0; i < a.size(); ++i) QCOMPARE(b[i], a[i] / 4.0F);
  }

  void yarnKeepsFastDimensions() {
    TinyModel m = tiny_llama();
    const auto plain = describe(m);
    m.keys["rope.scaling.type"] = std::string("yarn");
    m.keys["rope.scaling.factor"] = 4.0F;
    m.keys["rope.scaling.original_context_length"] = 256;
    const auto yarn = describe(m);
    QVERIFY(plain.ok() && yarn.ok());
    const RopeDescription &a = plain->layers[0].attention.rope, &b = yarn->layers[0].attention.rope;
    QCOMPARE(b.inv_freq.front(), a.inv_freq.front());
    QCOMPARE(b.inv_freq.back(), a.inv_freq.back() / 4.0F);
    QCOMPARE(b.magnitude, static_cast<float>(0.1 * std::log(4.0) + 1.0));
  }

  void longFactorsByConfiguredContext() {
    TinyModel m = tiny_llama();
    m.keys["rope.scaling.original_context_length"] = 512;
    m.vector("rope_factors_long.weight", 8);
    m.vector("rope_factors_short.weight", 8);
    const auto longer = describe(m, 0), shorter = describe(m, 512), middle = describe(m, 513);
    QVERIFY(longer.ok() && shorter.ok() && middle.ok());
    const auto freq = [](const auto& d) { return d->layers[0].attention.rope.inv_freq; };
    QVERIFY(freq(longer) != freq(shorter));
    QVERIFY(freq(longer) == freq(middle));
  }

 private:
  static void eachTensor() {
    QTest::addColumn<int>("sample");
    QTest::addColumn<QString>("tensor");
    const auto all = samples();
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (const TinyTensor& t : all[i].second.tensors) {
        const QString name = QString::fromStdString(t.name);
        QTest::newRow(qPrintable(all[i].first + QLatin1Char(' ') + name)) << static_cast<int>(i) << name;
      }
    }
  }
};

QTEST_GUILESS_MAIN(TestFamilies)
#include "tst_families.moc"
