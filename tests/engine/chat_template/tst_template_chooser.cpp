// Models without a chat template: what is offered, and that nothing is taken silently.
#include <QtTest>

#include "engine/chat_template/template_chooser.h"
#include "tests/engine/chat_template/fake_tokenizer.h"

using namespace tg;
using tg::test::FakeTokenizer;

class TestTemplateChooser : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void every_template_renders_a_chat() {
    const Json context{{"messages", Json::array({{{"role", "system"}, {"content", "SYS"}}, {{"role", "user"}, {"content", "ASK"}},
                                                 {{"role", "assistant"}, {"content", "SAY"}}, {{"role", "user"}, {"content", "NEXT"}}})},
                       {"add_generation_prompt", true}, {"bos_token", "<s>"}, {"eos_token", "</s>"}};
    QVERIFY(builtin_templates().size() >= 8);
    for (const BuiltinTemplate& builtin : builtin_templates()) {
      const auto parsed = ChatTemplate::parse(std::string(builtin.source));
      QVERIFY2(parsed.ok(), parsed.ok() ? "" : parsed.error().message.c_str());
      const auto got = (*parsed)->render(context);
      QVERIFY2(got.ok(), std::string(builtin.name).c_str());
      std::size_t at = 0;
      for (const char* part : {"SYS", "ASK", "SAY", "NEXT"}) {
        at = got->text.find(part, at);
        QVERIFY2(at != std::string::npos, std::string(builtin.name).c_str());
      }
      for (const std::string_view special : builtin.special_tokens) QVERIFY(got->text.find(special) != std::string::npos);
      QCOMPARE(find_builtin_template(builtin.name), &builtin);
    }
    QVERIFY(find_builtin_template("nothing") == nullptr);
  }

  void builtin_texts() {
    const auto text = [](std::string_view name) {
      const Json context{{"messages", Json::array({{{"role", "user"}, {"content", "hi"}}})},
                         {"add_generation_prompt", true}, {"bos_token", "<s>"}, {"eos_token", "</s>"}};
      return (*(*ChatTemplate::parse(std::string(find_builtin_template(name)->source)))->render(context)).text;
    };
    QCOMPARE(text("chatml"), "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n");
    QCOMPARE(text("llama-3"), "<s><|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n");
    QCOMPARE(text("gemma"), "<s><start_of_turn>user\nhi<end_of_turn>\n<start_of_turn>model\n");
    QCOMPARE(text("mistral"), "<s>[INST] hi [/INST]");
    QCOMPARE(text("plain"), "User: hi\nAssistant:");
  }

  void the_vocabulary_suggests_data() {
    QTest::addColumn<QStringList>("control");
    QTest::addColumn<QString>("first");
    QTest::addColumn<bool>("fits");
    QTest::newRow("chatml") << QStringList{QStringLiteral("<|im_start|>"), QStringLiteral("<|im_end|>")} << QStringLiteral("chatml") << true;
    QTest::newRow("half of chatml") << QStringList{QStringLiteral("<|im_end|>")} << QStringLiteral("alpaca") << false;
    QTest::newRow("llama 3") << QStringList{QStringLiteral("<|start_header_id|>"), QStringLiteral("<|end_header_id|>"), QStringLiteral("<|eot_id|>")} << QStringLiteral("llama-3") << true;
    QTest::newRow("gemma") << QStringList{QStringLiteral("<start_of_turn>"), QStringLiteral("<end_of_turn>")} << QStringLiteral("gemma") << true;
    QTest::newRow("phi before zephyr") << QStringList{QStringLiteral("<|user|>"), QStringLiteral("<|assistant|>"), QStringLiteral("<|end|>")} << QStringLiteral("phi") << true;
    QTest::newRow("zephyr") << QStringList{QStringLiteral("<|user|>"), QStringLiteral("<|assistant|>")} << QStringLiteral("zephyr") << true;
    QTest::newRow("none") << QStringList{QStringLiteral("<s>")} << QStringLiteral("alpaca") << false;
  }
  void the_vocabulary_suggests() {
    QFETCH(QStringList, control);
    QFETCH(QString, first);
    QFETCH(bool, fits);
    std::vector<std::string> tokens;
    for (const QString& token : control) tokens.push_back(token.toStdString());
    const FakeTokenizer tokenizer(tokens, {});
    const auto suggestions = suggest_templates(tokenizer);
    QCOMPARE(suggestions.size(), builtin_templates().size());
    QCOMPARE(QString::fromStdString(std::string(suggestions.front().chat_template->name)), first);
    QCOMPARE(suggestions.front().fits, fits);
    QVERIFY(!suggestions.front().reason.empty());
    const std::string sentence = no_template_sentence(tokenizer);
    QCOMPARE(sentence.find("builtin:") != std::string::npos, fits);
  }
};

QTEST_GUILESS_MAIN(TestTemplateChooser)
#include "tst_template_chooser.moc"
