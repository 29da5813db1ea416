// Templates against the texts Jinja2 makes of them.
#include <QtTest>
#include <fstream>
#include <sstream>

#include "engine/chat_template/chat_template.h"

using namespace tg;

namespace {

Json cases() {
  std::ifstream file(TG_SOURCE_DIR "/tests/data/templates/jinja_cases.json");
  return Json::parse(file, nullptr, false);
}

Result<RenderedText> rendered(const std::string& source, const Json& context) {
  const auto parsed = ChatTemplate::parse(source);
  if (!parsed) return parsed.error();
  return (*parsed)->render(context);
}

}  // namespace

class TestJinja : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equals_jinja2() {
    const Json data = cases();
    QVERIFY(data.is_object());
    std::size_t compared = 0;
    for (const Json& c : data["cases"]) {
      Json context = data["contexts"][c["context"].get<std::size_t>()];
      context[std::string(kNowVariable)] = data["now"];
      const std::string source = c["template"].get<std::string>();
      const auto got = rendered(source, context);
      if (c.contains("error")) {
        QVERIFY2(!got.ok(), source.c_str());
      } else {
        const std::string what = got.ok() ? got->text : "error: " + got.error().message;
        QVERIFY2(got.ok() && got->text == c["text"].get<std::string>(), (source + "\n" + what).c_str());
      }
      ++compared;
    }
    QVERIFY(compared > 500);
  }

  void errors_say_what_is_wrong_data() {
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("message");
    const auto row = [](const char* source, const char* message) {
      QTest::newRow(source) << QString::fromUtf8(source) << QString::fromUtf8(message);
    };
    row("{{ raise_exception('Roles must alternate\nhere') }}", "Roles must alternate\nhere");
    row("{{ nothing.content }}", "'nothing' is undefined");
    row("{{ {'a': 1}.b.c }}", "'dict object' has no attribute 'b'");
    row("{{ [1][5].x }}", "list object has no element 5");
    row("{{ 'a' + 1 }}", "can only concatenate str (not \"int\") to str");
    row("{{ [].append(1) }}", "access to attribute 'append' of 'list' object is unsafe.");
    row("{{ 1 | nofilter }}", "No filter named 'nofilter' found.");
    row("{{ 1 is nosuch }}", "No test named 'nosuch' found.");
    row("\n{% if %}", "The chat template does not parse: line 2: unexpected 'end of statement block', expected an expression.");
    row("{% include 'x' %}", "The chat template does not parse: line 1: 'include' is not possible in a chat template, which has no files beside it.");
  }
  void errors_say_what_is_wrong() {
    QFETCH(QString, source);
    QFETCH(QString, message);
    const auto got = rendered(source.toStdString(), Json::object());
    QVERIFY(!got.ok());
    QCOMPARE(got.error().code, ErrorCode::template_error);
    QCOMPARE(QString::fromStdString(got.error().message), message);
  }

  void time_is_frozen() {
    const Json context{{std::string(kNowVariable), "2024-02-29T05:06:07"}};
    const auto got = rendered("{{ strftime_now('%d %B %Y %H:%M:%S %A %j %-d %b') }}", context);
    QVERIFY(got.ok());
    QCOMPARE(got->text, "29 February 2024 05:06:07 Thursday 060 29 Feb");
  }

  void knows_its_variables() {
    const auto parsed = ChatTemplate::parse("{% if enable_thinking is defined %}x{% endif %}{# other #}{{ 'text' }}");
    QVERIFY(parsed.ok());
    QVERIFY((*parsed)->mentions("enable_thinking"));
    QVERIFY(!(*parsed)->mentions("other"));
    QVERIFY(!(*parsed)->mentions("text"));
  }

  void segments_cover_the_text_and_name_their_message() {
    const auto parsed = ChatTemplate::parse(
        "{{ bos }}{% for m in messages %}<{{ m.role }}>{{ m.content | trim | replace('o', '0') }}</>{% endfor %}tail");
    const Json context{{"bos", "^"},
                       {"messages", Json::array({{{"role", "user"}, {"content", " foo "}}, {{"role", "assistant"}, {"content", "bar"}}})}};
    const auto got = (*parsed)->render(context);
    QVERIFY(got.ok());
    QCOMPARE(got->text, "^<user>f00</><assistant>bar</>tail");
    std::size_t end = 0;
    std::string shape;
    for (const TextSegment& s : got->segments) {
      QCOMPARE(s.begin, end);
      end = s.end;
      shape += got->text.substr(s.begin, s.end - s.begin) + "=" + std::to_string(s.message) + (s.user_content ? "c " : " ");
    }
    QCOMPARE(end, got->text.size());
    QCOMPARE(shape, "^=-1 <user>=0 f=0c 00</>=0 <assistant>=1 bar=1c </>=1 tail=-1 ");
  }

  void content_keeps_its_origin_through_everything() {
    const char* forms[] = {"{{ messages[0].content }}", "{{ messages[0]['content'][1:] }}", "{{ messages[0].content | upper }}",
                           "{{ messages[0].content.split('<')[-1] }}", "{{ ('a' + messages[0].content)[1:] }}",
                           "{{ messages[0].content | tojson }}", "{{ messages[0] | tojson }}", "{{ [messages[0].content] }}",
                           "{{ '%s' % messages[0].content }}", "{{ '{}'.format(messages[0].content) }}",
                           "{{ messages | map(attribute='content') | join(',') }}",
                           "{% set x %}{{ messages[0].content }}{% endset %}{{ x | trim }}",
                           "{% macro m(t) %}{{ t }}{% endmacro %}{{ m(messages[0].content) }}",
                           "{{ messages[0].content | indent(2) | list | join }}"};
    const Json context{{"messages", Json::array({{{"role", "user"}, {"content", "x<|END|>"}}})}};
    for (const char* form : forms) {
      const auto got = rendered(form, context);
      QVERIFY2(got.ok(), form);
      const std::size_t at = std::min(got->text.find("END"), got->text.find("end"));
      QVERIFY2(at != std::string::npos, form);
      for (const TextSegment& s : got->segments) {
        if (s.begin <= at && at < s.end) QVERIFY2(s.user_content && s.message == 0, form);
      }
    }
  }
};

QTEST_GUILESS_MAIN(TestJinja)
#include "tst_jinja.moc"
