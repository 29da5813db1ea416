// The golden prompts of the conformance kit, where it lies beside the repository.
#include <QDir>
#include <QtTest>
#include <fstream>
#include <sstream>

#include "engine/chat_template/chat_template.h"

using namespace tg;

namespace {

const std::string kKit = TG_SOURCE_DIR "/../shared/conformance/templates/";

Json json_of(const std::string& path) {
  std::ifstream file(path);
  return Json::parse(file, nullptr, false);
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

class TestConformanceTemplates : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equal_or_raising_as_told_data() {
    QTest::addColumn<QString>("file");
    const QDir expected(QString::fromStdString(kKit + "expected"));
    for (const QString& name : expected.entryList({QStringLiteral("*.json")})) {
      QTest::newRow(qPrintable(name)) << expected.filePath(name);
    }
    if (!expected.exists()) {
      qInfo("The conformance kit is not beside the repository; nothing was compared.");
      QTest::newRow("none") << QString();
    }
  }
  void equal_or_raising_as_told() {
    QFETCH(QString, file);
    if (file.isEmpty()) return;
    const Json all = json_of(kKit + "contexts.json");
    const Json golden = json_of(file.toStdString());
    const auto parsed = ChatTemplate::parse(text_of(kKit + golden["template"].get<std::string>()));
    QVERIFY2(parsed.ok(), parsed.ok() ? "" : parsed.error().message.c_str());
    for (const Json& result : golden["results"]) {
      Json context = context_of(all, result["context"].get<std::string>());
      for (const auto& [name, value] : golden["extra"].items()) context[name] = value;
      context[std::string(kNowVariable)] = all["now"];
      const auto got = (*parsed)->render(context);
      if (result.contains("text")) {
        QVERIFY2(got.ok(), got.ok() ? "" : got.error().message.c_str());
        QCOMPARE(got->text, result["text"].get<std::string>());
      } else if (result.contains("raises")) {
        QVERIFY(!got.ok());
        QVERIFY(got.error().message.find(result["raises"].get<std::string>()) != std::string::npos);
      }
    }
  }

 private:
  static Json context_of(const Json& all, const std::string& id) {
    for (const Json& c : all["contexts"]) {
      if (c["id"] == id) return c["context"];
    }
    return Json::object();
  }
};

QTEST_GUILESS_MAIN(TestConformanceTemplates)
#include "tst_conformance_templates.moc"
