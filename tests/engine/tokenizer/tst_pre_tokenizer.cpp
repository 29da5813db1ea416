// Words that the pre-tokenizers cut, family by family. Expected cuts follow from the patterns in the tokenizers' tokenizer.json.
#include <QtTest>

#include "engine/tokenizer/pre_tokenizer.h"

using namespace tg;

namespace {

QStringList words(const char* pre, const QString& text) {
  const PreTokenizer* splitter = pre_tokenizer(pre);
  if (splitter == nullptr) return {QStringLiteral("unknown")};
  const std::string utf8 = text.toStdString();
  QStringList out;
  for (const std::string_view word : split_words(*splitter, utf8)) {
    out << QString::fromUtf8(word.data(), static_cast<qsizetype>(word.size()));
  }
  return out;
}

}  // namespace

class TestPreTokenizer : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void cutsAsTheFamilyDoes_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("expected");  // words joined by |
    const auto row = [](const char* pre, const char* text, const char* expected) {
      QTest::addRow("%s: %s", pre, text) << QString::fromUtf8(text) << QString::fromUtf8(expected);
    };
    row("gpt-2", "I'm here, 1234  x", "I|'m| here|,| 1234| | x");
    row("gpt-2", "I'M", "I|'|M");
    row("gpt-2", "a\n\n b", "a|\n\n| b");
    row("gpt-2", "end  ", "end|  ");
    row("llama-bpe", "I'M 12345 (a)\n\nb", "I|'M| |123|45| (|a|)\n\n|b");
    row("llama-bpe", "x  \n y", "x|  \n| y");
    row("llama-bpe", "foo_bar", "foo|_bar");
    row("qwen2", "12345 été", "1|2|3|4|5| été");
    row("qwen2", "漢字かな", "漢字かな");
    row("qwen35", "नमस्ते 12", "नमस्ते| |1|2");
    row("qwen2", "नमस्ते", "नमस|्त|े");
    row("gpt-4o", "fooBar HTMLPage's", "foo|Bar| HTMLPage's");
    row("gpt-4o", "a/\n/b 1234", "a|/\n/|b| |123|4");
    row("tekken", "fooBar's 12", "foo|Bar|'s| |1|2");
    row("kimi-k2", "abc漢字 1234", "abc|漢字| |123|4");
    row("smollm", "x12 y", "x|1|2| y");
    row("falcon", "a+b 12345", "a|+|b| |123|45");
    row("falcon", "12345678", "123|456|78");
    row("default", "a+b 12", "a|+|b| |12");
    row("deepseek-llm", "Hello world\n12 漢字", "Hello| world|\n|12| |漢字");
    row("deepseek-coder", "x = 12\n", "x| = |1|2|\n");
    row("deepseek-v3", "x.foo", "x|.foo");
    row("deepseek-v3", "x=.foo 1234 漢字", "x|=.|foo| |123|4| |漢字");
    row("bloom", "Hi, you (there)", "Hi|,| you| (|there|)");
    row("minicpm5", "a1234", "a|123|4");
    row("seed-coder", "a!\n", "a|!|\n");
    row("gemma4", "a b\n\nc", "a b|\n\n|c");
    row("tiny_aya", "a 1234567, x12", "a| |1|234|567|,| x|12");
    row("tiny_aya", "1234abc fooBar", "123|4|abc| foo|Bar");
    row("superbpe", "by the way 1234567 or 10² of 999", "by the way |1|234|567| or |10²| of |999");
    row("youtu", "fooBar's 12 漢字、가나x", "foo|Bar's| |1|2| |漢字|、|가나|x");
    row("laguna", "a  \n\n b12", "a|  |\n\n| b|1|2");
  }
  void cutsAsTheFamilyDoes() {
    QFETCH(QString, text);
    QFETCH(QString, expected);
    const QByteArray pre = QByteArray(QTest::currentDataTag()).split(':').first();
    QCOMPARE(words(pre.constData(), text).join(QLatin1Char('|')), expected);
  }

  void losesNoByte() {
    const QString text = QStringLiteral(" \u00A0\u3000 x\r\n\t12\u0301 'll '' \u200B漢😀 \n\n  ");
    for (const char* pre : {"gpt-2", "llama-bpe", "qwen2", "qwen35", "gpt-4o", "tekken", "kimi-k2", "smollm", "falcon", "default",
                            "deepseek-llm", "deepseek-coder", "deepseek-v3", "bloom", "viking", "gemma4", "minicpm5"}) {
      QCOMPARE(words(pre, text).join(QString()), text);
    }
  }
  void doesNotGuessUnknownNames() {
    QVERIFY(pre_tokenizer("gpt-5000") == nullptr);
    QVERIFY(pre_tokenizer("") == nullptr);
  }
};

QTEST_APPLESS_MAIN(TestPreTokenizer)
#include "tst_pre_tokenizer.moc"
