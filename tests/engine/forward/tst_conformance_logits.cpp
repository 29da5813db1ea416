// The golden logits of the conformance kit, where it lies beside the repository: every architecture and format, every KV type.
#include <QJsonDocument>
#include <QJsonObject>
#include <QJsonArray>
#include <QtTest>

#include "tests/support/forward_runner.h"

using namespace tg;
using namespace tg::test;

namespace {

QByteArray content(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

std::vector<float> floats(const QString& path) {
  const QByteArray bytes = content(path);
  std::vector<float> out(static_cast<std::size_t>(bytes.size()) / sizeof(float));
  std::memcpy(out.data(), bytes.constData(), out.size() * sizeof(float));
  return out;
}

std::vector<TokenId> token_list(const QString& path) {
  std::vector<TokenId> out;
  for (const QJsonValue& id : QJsonDocument::fromJson(content(path)).array()) out.push_back(id.toInt());
  return out;
}

// Normalised mean square error over the positions that GOLDEN holds.
double nmse(const std::vector<float>& logits, const std::vector<float>& golden, const std::vector<int>& positions, std::size_t vocab) {
  double error = 0, power = 0;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    for (std::size_t j = 0; j < vocab; ++j) {
      const double g = static_cast<double>(golden[i * vocab + j]);
      const double d = static_cast<double>(logits[static_cast<std::size_t>(positions[i]) * vocab + j]) - g;
      error += d * d;
      power += g * g;
    }
  }
  return error / power;
}

}  // namespace

class TestConformanceLogits : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void golden_data() {
    QTest::addColumn<QString>("folder");
    for (const QString& part : {QStringLiteral("logits"), QStringLiteral("formats")}) {
      const QDir dir(kit().filePath(part));
      for (const QString& name : dir.entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name)) {
        QTest::newRow(qPrintable(part + QLatin1Char('/') + name)) << dir.filePath(name);
      }
    }
    if (!kit().exists()) QTest::newRow("no kit") << QString();
  }

  void golden() {
    QFETCH(QString, folder);
    if (folder.isEmpty()) {
      qInfo("The conformance kit is not beside the repository; nothing was compared.");
      return;
    }
    const QDir dir(folder);
    const QJsonObject info = QJsonDocument::fromJson(content(dir.filePath(QStringLiteral("case.json")))).object();
    const auto file = GgufFile::open(dir.filePath(QStringLiteral("model.gguf")).toStdString());
    QVERIFY2(file.ok(), file.ok() ? "" : file.error().message.c_str());
    const std::vector<TokenId> tokens = token_list(dir.filePath(QStringLiteral("tokens.json")));
    const auto vocab = static_cast<std::size_t>(info[QStringLiteral("n_vocab")].toInt());
    const std::vector<float> theirs = floats(dir.filePath(QStringLiteral("logits.f32"))), exact = floats(dir.filePath(QStringLiteral("reference.f32")));
    std::vector<int> positions;
    for (const QJsonValue& p : info[QStringLiteral("positions")].toArray()) positions.push_back(p.toInt());
    for (int i = 0; positions.size() < theirs.size() / vocab; ++i) positions.push_back(i);
    const QJsonObject tolerances = info[QStringLiteral("tolerance_nmse")].toObject();
    for (const KvType kv : {KvType::f32, KvType::f16, KvType::q8_0}) {
      const QJsonValue tolerance = tolerances[QString::fromUtf8(name_of(kv).data())];
      if (!tolerance.isDouble()) continue;
      const auto logits = all_logits(*file, tokens, {.threads = 2, .kv = kv});
      QVERIFY2(logits.ok(), logits.ok() ? "" : logits.error().message.c_str());
      const double error = std::min(nmse(*logits, theirs, positions, vocab), nmse(*logits, exact, positions, vocab));
      QVERIFY2(error <= tolerance.toDouble(), qPrintable(QStringLiteral("kv %1: nmse %2").arg(QString::fromUtf8(name_of(kv).data())).arg(error)));
    }
  }

 private:
  static QDir kit() { return QDir(QStringLiteral(TG_SOURCE_DIR "/../shared/conformance")); }
};

QTEST_GUILESS_MAIN(TestConformanceLogits)
#include "tst_conformance_logits.moc"
