// A template comes from a file nobody vouches for: whatever it does, it ends soon, with a sentence.
#include <QtTest>
#include <random>

#include "engine/chat_template/chat_template.h"

using namespace tg;

namespace {

std::string repeated(std::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

Json context() {
  return Json{{"messages", Json::array({{{"role", "user"}, {"content", "hi {{ x }} <|im_end|> \xC3\xA9"}}})},
              {"tools", nullptr}, {"add_generation_prompt", true}, {"s", "abc"}};
}

}  // namespace

class TestTemplateLimits : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void ends_with_a_sentence_data() {
    QTest::addColumn<QString>("source");
    const auto row = [](const char* name, const std::string& source) { QTest::newRow(name) << QString::fromStdString(source); };
    row("brackets", "{{ " + repeated("(", 5000) + "1" + repeated(")", 5000) + " }}");
    row("lists", "{{ " + repeated("[", 5000) + repeated("]", 5000) + " }}");
    row("minus", "{{ " + repeated("-", 100000) + "1 }}");
    row("not", "{{ " + repeated("not ", 100000) + "1 }}");
    row("sum", "{{ 1" + repeated("+1", 100000) + " }}");
    row("filters", "{{ 1" + repeated("|string", 100000) + " }}");
    row("attributes", "{{ a" + repeated(".b", 100000) + " }}");
    row("conditions", "{{ 1" + repeated(" if 1 else 2", 100000) + " }}");
    row("blocks", repeated("{% if 1 %}", 20000));
    row("targets", "{% for " + repeated("(", 20000) + "a" + repeated(")", 20000) + " in b %}{% endfor %}");
    row("loops", repeated("{% for i in range(100000) %}", 5) + repeated("{% endfor %}", 5));
    row("macro", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}");
    row("caller", "{% macro f() %}{% call f() %}{% endcall %}{% endmacro %}{{ f() }}");
    row("recursive loop", "{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}");
    row("doubling", "{% set n = namespace(x='aaaaaaaa') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}");
    row("doubling list", "{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}");
    row("tree", "{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x }}");
    row("compare tree", "{% set n = namespace(x=[1], y=[1]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}"
                        "{% set n.y = [n.y, n.y] %}{% endfor %}{{ n.x == n.y }}");
    row("json tree", "{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x | tojson }}");
    row("deep", "{% set n = namespace(x=[]) %}{% for i in range(100000) %}{% set n.x = [n.x] %}{% endfor %}");
    row("deep dict", "{% set n = namespace(x={}) %}{% for i in range(100000) %}{% set n.x = {'a': n.x} %}{% endfor %}");
    row("deep calls", "{% set n = namespace(x=[]) %}{% for i in range(100000) %}{% set n.x = [n.x].index %}{% endfor %}");
    row("itself", "{% set n = namespace() %}{% set n.x = n %}{{ n }}");
    row("output", "{% for i in range(100000) %}{{ 'aaaaaaaaaa' * 100000 }}{% endfor %}");
    row("repeat", "{{ 'a' * 9000000000000 }}");
    row("repeat list", "{{ [1] * 9000000000000 }}");
    row("power", "{{ 2 ** 100000 }}");
    row("overflow", "{{ 9223372036854775807 + 1 }}");
    row("smallest", "{{ (-9223372036854775807 - 1) // -1 }}");
    row("range", "{{ range(0, 9223372036854775807, 1) | list }}");
    row("pad", "{{ '%999999999d' % 1 }}");
    row("pad by format", "{{ '{:>999999999}'.format(1) }}");
    for (const char* type : {"S", "s p", "m", "t", "n%", "c", "q"}) row(type, "{{ '{:" + std::string(type) + "}'.format(1.5) }}");
    row("center", "{{ 'a' | center(9999999999) }}");
    row("indent", "{{ 'a\\nb' | indent(9999999999) }}");
    row("indent many", "{{ ('a\\n' * 100000) | indent(10000) }}");
    row("replace", "{{ ('a' * 1000000) | replace('a', 'b' * 1000) }}");
    row("join", "{{ range(100000) | join('x' * 100000) }}");
    row("zero", "{{ 1 % 0 }}");
    row("slice", "{{ 'abc'[::0] }}");
    row("batch", "{{ [1] | batch(99999999999, 'x') | list }}");
    row("slices", "{{ [1] | slice(99999999999) | list }}");
  }
  void ends_with_a_sentence() {
    QFETCH(QString, source);
    QElapsedTimer clock;
    clock.start();
    const auto parsed = ChatTemplate::parse(source.toStdString());
    std::string message = parsed.ok() ? "" : parsed.error().message;
    if (parsed) {
      const auto got = (*parsed)->render(context());
      QVERIFY(!got.ok());
      message = got.error().message;
    }
    QVERIFY(!message.empty());
    QVERIFY2(message.size() < 300, message.c_str());
    QVERIFY2(clock.elapsed() < 15000, "too slow");
  }

  void many_messages_are_no_trouble() {
    Json messages = Json::array();
    for (int i = 0; i < 2000; ++i) messages.push_back({{"role", i % 2 == 0 ? "user" : "assistant"}, {"content", repeated("word ", 400)}});
    const auto parsed = ChatTemplate::parse(
        "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content | trim + '<|im_end|>' + '\n' }}{% endfor %}");
    const auto got = (*parsed)->render(Json{{"messages", messages}});
    QVERIFY(got.ok());
    QVERIFY(got->text.size() > 4'000'000);
  }

  void kept_scopes_and_loops_outlive_their_block() {
    const auto parsed = ChatTemplate::parse(
        "{% set n = namespace() %}{% for i in [7] %}{% set y = i %}{% macro m() %}{{ y }}{{ loop.index }}{% endmacro %}"
        "{% set n.m = m %}{% set n.loop = loop %}{% endfor %}{{ n.m() }}{{ n.loop.length }}");
    const auto got = (*parsed)->render(Json::object());
    QVERIFY2(got.ok(), got.ok() ? "" : got.error().message.c_str());
    QCOMPARE(got->text, std::string("711"));
  }

  // Pieces of templates in random order: nearly all are refused, none may crash.
  void survives_random_templates() {
    static constexpr const char* kPieces[] = {
        "{{", "}}", "{%", "%}", "{#", "#}", "-", "+", " if ", " else ", " for ", " in ", "endfor", "endif", " set ", "x", "messages",
        "[", "]", "(", ")", "{", "}", ".", "|", ":", ",", "=", "'a'", "\"", "'", "1", "2.5", " is ", " not ", " and ", "tojson", "join",
        "loop", "namespace", "macro ", "endmacro", "call ", "endcall", "raw", "endraw", "\n", " ", "**", "//", "~", "<", "==", "\\", "\xFF",
        "{% for m in messages %}", "{% endfor %}", "{{ m.content }}", "{{ x | ", "{% if x %}", "{% endif %}", "items", "split", "%", "*"};
    std::mt19937 random(7);
    for (int round = 0; round < 20000; ++round) {
      std::string source;
      const auto count = random() % 25;
      for (unsigned i = 0; i < count; ++i) source += kPieces[random() % std::size(kPieces)];
      const auto parsed = ChatTemplate::parse(source);
      if (parsed) static_cast<void>((*parsed)->render(context()));
    }
  }
};

QTEST_GUILESS_MAIN(TestTemplateLimits)
#include "tst_template_limits.moc"
