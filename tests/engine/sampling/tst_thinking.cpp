// Thinking and answer are told apart in every shape models write, whatever the token borders.
#include <QtTest>

#include "engine/sampling/text_filter.h"
#include "engine/sampling/thinking_stream.h"

using namespace tg;

namespace {

struct Split {
  std::string answer, thinking;
  int tokens = 0;
};

// A piece that begins with '\1' is a control token.
Split split(const std::vector<std::string>& pieces, bool starts_inside, std::string_view opener = {}) {
  ThinkingStream stream(starts_inside, opener);
  std::vector<TextRun> runs;
  for (const std::string& p : pieces) stream.feed(p[0] == '\1' ? p.substr(1) : p, p[0] == '\1', runs);
  stream.finish(runs);
  Split out;
  for (const TextRun& r : runs) {
    if (r.all_before_was_thinking) std::swap(out.answer, out.thinking);
    (r.thinking ? out.thinking : out.answer) += r.text;
  }
  out.tokens = stream.thinking_tokens();
  return out;
}

using Pieces = std::vector<std::string>;

}  // namespace
Q_DECLARE_METATYPE(Pieces)

class TestThinking : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void shapes_data() {
    QTest::addColumn<Pieces>("pieces");
    QTest::addColumn<bool>("inside");
    QTest::addColumn<QString>("answer");
    QTest::addColumn<QString>("thinking");
    QTest::addColumn<int>("tokens");
    const auto row = [](const char* name, Pieces pieces, bool inside, const char* answer, const char* thinking, int tokens) {
      QTest::newRow(name) << pieces << inside << QString::fromUtf8(answer) << QString::fromUtf8(thinking) << tokens;
    };
    row("no thinking", {"Hello", " world"}, false, "Hello world", "", 0);
    row("think as control tokens", {"\1<think>", "\n", "hm", "\n", "\1</think>", "\n\n", "Yes"}, false, "Yes", "hm", 5);
    row("think as text over many tokens", {"<", "thi", "nk>", "hm", "</", "think", ">", "Yes"}, false, "Yes", "hm", 7);
    row("thinking tags", {"<thinking>", "a", " b", "</thinking>", "\nYes"}, false, "Yes", "a b", 4);
    row("mistral", {"\1[THINK]", "why", "\1[/THINK]", "Because"}, false, "Because", "why", 3);
    row("harmony", {"\1<|channel|>", "analysis", "\1<|message|>", "let me", " see", "\1<|end|>", "\1<|start|>", "assistant", "\1<|channel|>", "final", "\1<|message|>", "4"},
        false, "4", "let me see", 6);
    row("harmony, final only", {"\1<|channel|>", "final", "\1<|message|>", "4"}, false, "4", "", 0);
    row("harmony without end", {"\1<|channel|>", "analysis", "\1<|message|>", "x", "\1<|start|>", "assistant", "\1<|channel|>", "final", "\1<|message|>", "4"}, false, "4", "x", 5);
    row("gemma", {"\1<|channel>", "thought", "\n", "hm", "\1<channel|>", "Four"}, false, "Four", "hm", 5);
    row("gemma, empty thought", {"\1<|channel>", "thought\n", "\1<channel|>", "Four"}, false, "Four", "", 3);
    row("opened by the prompt", {"hm", "\n", "\1</think>", "\n\nYes"}, true, "Yes", "hm", 3);
    row("opened by the prompt, closer as text", {"hm</th", "ink>Yes"}, true, "Yes", "hm", 2);
    row("no closer", {"\1<think>", "on and", " on"}, false, "", "on and on", 3);
    row("no opener", {"hm", " so\n", "</think>", "\nYes"}, false, "Yes", "hm so\n", 1);
    row("white space before the opener", {"\n", " ", "<think>", "a", "</think>", "b"}, false, "b", "a", 5);
    row("answer that mentions the tag", {"Use", " <think>", " here", " and </think>", " there"}, false, "Use <think> here and </think> there", "", 0);
    row("tag mentioned inside an answer after thinking", {"<think>", "a", "</think>", "The tag </think> ends it"}, false, "The tag </think> ends it", "a", 3);
    row("two blocks", {"\1<think>", "a", "\1</think>", "One.", "\1<think>", "b", "\1</think>", "Two."}, false, "One.Two.", "ab", 6);
    row("almost a marker", {"<thi", "s is html>"}, false, "<this is html>", "", 0);
    row("almost a closer", {"<think>", "a <", "/b>", "</think>", "ok"}, false, "ok", "a </b>", 4);
    row("cut inside a marker", {"Yes", " </"}, false, "Yes </", "", 0);
    row("cohere", {"\1<|START_THINKING|>", "a", "\1<|END_THINKING|>", "\1<|START_RESPONSE|>", "b"}, false, "b", "a", 3);
    row("empty block", {"\1<think>", "\n\n", "\1</think>", "\n\n", "Yes"}, false, "Yes", "", 3);
    row("other control tokens are not shown", {"a", "\1<|im_sep|>", "b"}, false, "ab", "", 0);
    row("one token holds all", {"<think>a</think>b"}, false, "b", "a", 1);
    row("nothing", {}, false, "", "", 0);
  }
  void shapes() {
    QFETCH(Pieces, pieces);
    QFETCH(bool, inside);
    QFETCH(QString, answer);
    QFETCH(QString, thinking);
    QFETCH(int, tokens);
    const Split s = split(pieces, inside);
    QCOMPARE(QString::fromStdString(s.answer), answer);
    QCOMPARE(QString::fromStdString(s.thinking), thinking);
    QCOMPARE(s.tokens, tokens);
  }

  void closingTexts_data() {
    QTest::addColumn<QString>("prompt");
    QTest::addColumn<QString>("opener");
    QTest::addColumn<QString>("closing");
    QTest::newRow("qwen") << "<|im_start|>assistant\n<think>\n" << "<think>" << "\n</think>\n\n";
    QTest::newRow("mistral") << "[/INST][THINK]" << "[THINK]" << "[/THINK]";
    QTest::newRow("gemma") << "<|turn>model\n<|channel>thought\n" << "<|channel>" << "<channel|>";
    QTest::newRow("harmony") << "assistant<|channel|>analysis<|message|>" << "<|channel|>" << "<|end|><|start|>assistant<|channel|>final<|message|>";
    QTest::newRow("closed again") << "<think>\n\n</think>\n\n" << "" << "";
  }
  void closingTexts() {
    QFETCH(QString, prompt);
    QFETCH(QString, opener);
    QFETCH(QString, closing);
    const std::string found = open_thinking_marker(prompt.toStdString());
    QCOMPARE(QString::fromStdString(found), opener);
    QCOMPARE(QString::fromStdString(ThinkingStream(!found.empty(), found).closing_text()), closing);
  }

  void templatesOfModelsThatThink_data() {
    QTest::addColumn<QByteArray>("source");
    QTest::addColumn<bool>("thinks");
    QTest::newRow("none") << QByteArray() << false;
    QTest::newRow("ChatML") << QByteArray("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>{% endfor %}") << false;
    QTest::newRow("a header of another family") << QByteArray("<|start|>{{ m.role }}<|end|>") << false;
    QTest::newRow("Qwen 3") << QByteArray("{%- if enable_thinking is defined and enable_thinking is false %}") << true;
    QTest::newRow("drops earlier thinking") << QByteArray("{{ content.split('</think>')[-1] }}") << true;
    QTest::newRow("harmony") << QByteArray("<|start|>assistant<|channel|>analysis<|message|>") << true;
    QTest::newRow("Gemma 4") << QByteArray("<|channel>thought\n<channel|>") << true;
    QTest::newRow("Magistral") << QByteArray("[THINK]{{ m.reasoning }}[/THINK]") << true;
  }
  void templatesOfModelsThatThink() {
    QFETCH(QByteArray, source);
    QFETCH(bool, thinks);
    QCOMPARE(template_thinks(source.toStdString()), thinks);
  }

  void everySplitOfTheTextGivesTheSame() {
    const std::string text = "  <think>\nWhat is 2 < 3? <b>\n</think>\n\nIt is <true>. A </p> ends.";
    const Split whole = split({text}, false);
    for (std::size_t a = 1; a < text.size(); ++a)
      for (std::size_t b = a + 1; b < text.size(); b += 3) {
        const Split s = split({text.substr(0, a), text.substr(a, b - a), text.substr(b)}, false);
        QCOMPARE(s.answer, whole.answer);
        QCOMPARE(s.thinking, whole.thinking);
      }
    QCOMPARE(whole.answer, std::string("It is <true>. A </p> ends."));
    QCOMPARE(whole.thinking, std::string("What is 2 < 3? <b>"));
  }

  void stopTextsAreNeverShown() {
    TextFilter filter({"</s>", "END"});
    QCOMPARE(filter.feed("abc E"), std::string("abc "));
    QCOMPARE(filter.feed("N"), std::string());
    QCOMPARE(filter.feed("x"), std::string("ENx"));
    QCOMPARE(filter.feed("y<"), std::string("y"));
    QCOMPARE(filter.feed("/s>z"), std::string());
    QVERIFY(filter.stopped());
    QCOMPARE(filter.text(), std::string("abc ENxy"));
    QCOMPARE(filter.finish(), std::string());
  }

  void onlyWholeCharactersAreShown() {
    TextFilter filter;
    QCOMPARE(filter.feed("a\xF0\x9F"), std::string("a"));
    QCOMPARE(filter.feed("\x98\x80"), std::string("\xF0\x9F\x98\x80"));
    QCOMPARE(filter.feed("\xC3"), std::string());
    QCOMPARE(filter.finish(), std::string("\xEF\xBF\xBD"));
  }
};

QTEST_GUILESS_MAIN(TestThinking)
#include "tst_thinking.moc"
