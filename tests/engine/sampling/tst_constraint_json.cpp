// Constrained output: what the automaton lets through is JSON of the schema, and all of that is let through.
#include <QtTest>
#include <cmath>
#include <random>

#include "engine/sampling/constraint_json.h"
#include "tests/engine/chat_template/fake_tokenizer.h"

using namespace tg;
using tg::test::FakeTokenizer;
using Json = nlohmann::ordered_json;

namespace {

const FakeTokenizer& tokenizer() {
  static const FakeTokenizer one({"<end>", "<other>"}, {"<end>"});
  return one;
}

std::shared_ptr<const ConstraintVocabulary> vocabulary() {
  static const auto one = make_constraint_vocabulary(tokenizer());
  return one;
}

std::unique_ptr<TokenConstraint> constraint(const Json& schema) {
  auto made = make_json_constraint(vocabulary(), schema);
  return made.ok() ? std::move(*made) : nullptr;
}

std::vector<float> masked(TokenConstraint& c) {
  std::vector<float> logits(static_cast<std::size_t>(tokenizer().vocab_size()), 1.0F);
  c.mask(logits);
  return logits;
}

bool allowed(const std::vector<float>& logits, TokenId id) { return !std::isinf(logits[static_cast<std::size_t>(id)]); }

// Byte by byte: how many bytes of TEXT fit, and whether the value may end there.
std::pair<std::size_t, bool> fits(const Json& schema, const std::string& text) {
  const auto c = constraint(schema);
  std::size_t n = 0;
  for (; n < text.size(); ++n) {
    const auto id = static_cast<TokenId>(static_cast<unsigned char>(text[n]));
    if (!allowed(masked(*c), id)) break;
    c->accept(id);
  }
  return {n, allowed(masked(*c), tokenizer().eos())};
}

// JSON written with single quotes, for reading's sake.
std::string quoted(std::string text) {
  std::replace(text.begin(), text.end(), '\'', '"');
  return text;
}

Json person() {
  const Json name{{"type", "string"}};
  const Json age{{"type", "integer"}};
  const Json tags{{"type", "array"}, {"items", {{"enum", Json::array({"a", "b c", 1})}}}, {"maxItems", 2}};
  const Json more{{"anyOf", Json::array({Json{{"type", "null"}}, Json{{"type", "number"}}})}};
  return Json{{"type", "object"},
              {"properties", {{"name", name}, {"age", age}, {"tags", tags}, {"more", more}}},
              {"required", Json::array({"name", "age"})}};
}

}  // namespace

class TestConstraintJson : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void lets_through_data() {
    QTest::addColumn<QString>("schema");
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("whole");
    const auto row = [](const std::string& schema, const std::string& text, bool whole) {
      QTest::addRow("%s %s", schema.substr(0, 60).c_str(), text.c_str()) << QString::fromStdString(schema) << QString::fromStdString(text) << whole;
    };
    for (const char* text : {"{}", "[]", "[1, -2.5e+3, 0]", "\"a\\n\\u00e9\\\\ é\"", "true", "null", " {\"a\" : [ {} , \"\" ] }", "12", "-0.5"}) row("null", text, true);
    for (const char* text : {"01", "+1", "{a", "[1,]", "[,", "\"\n", "tru3", "\"\\x", "-", "1.", "{\"a\" 1", "nul", "1 2", ".5"}) row("null", text, false);
    const std::string p = person().dump();
    row(p, quoted("{'name':'x','age':3}"), true);
    row(p, quoted("{ 'age': -3, 'name': 'xy', 'tags': ['a', 1], 'more': null }"), true);
    row(p, quoted("{'age':3,'name':'x','more':1.5}"), true);
    row(p, quoted("{'name':'x'}"), false);
    row(p, quoted("{'name':1"), false);
    row(p, quoted("{'age':3.5"), false);
    row(p, quoted("{'other':1"), false);
    row(p, quoted("{'name':'x','name':'y'"), false);
    row(p, quoted("{'name':'x','age':3,'tags':['c'"), false);
    row(p, quoted("{'name':'x','age':3,'tags':['a',1,'a'"), false);
    row(p, "[1]", false);
    row(quoted("{'enum':[1,12,'a']}"), "12", true);
    row(quoted("{'enum':[1,12,'a']}"), "1", true);
    row(quoted("{'enum':[1,12,'a']}"), "2", false);
    row(quoted("{'const':{'a':[1,2]}}"), quoted("{'a':[1,2]}"), true);
    row(quoted("{'type':['string','null']}"), "null", true);
    row(quoted("{'type':['string','null']}"), "1", false);
    row(quoted("{'type':'boolean'}"), "false", true);
    row(quoted("{'type':'object'}"), quoted("{'any':[{'x':1}]}"), true);
    row(quoted("{'type':'object'}"), "[", false);
    row(quoted("{'type':'array','items':{'type':'number'},'minItems':1}"), "[1,2]", true);
    row(quoted("{'type':'array','items':{'type':'number'},'minItems':1}"), "[]", false);
    row(quoted("{'type':'object','properties':{'a':{'type':'null'}},'additionalProperties':{'type':'integer'}}"), quoted("{'b':1,'a':null}"), true);
    row(quoted("{'type':'object','properties':{'a':{'type':'null'}},'additionalProperties':{'type':'integer'}}"), quoted("{'a':1"), false);
    row(quoted("{'$ref':'#/$defs/n','$defs':{'n':{'type':'object','properties':{'v':{'type':'integer'},'next':{'anyOf':[{'$ref':'#/$defs/n'},{'type':'null'}]}},'required':['v']}}}"),
        quoted("{'v':1,'next':{'v':2,'next':null}}"), true);
    const std::string escapes = "{\"type\":\"string\",\"minLength\":1,\"maxLength\":2}";
    for (const char* text : {"\"\\ud83d\\ude00\"", "\"\\uD83D\\uDE00x\"", "\"é\"", "\"\\udfff\"", "\"\\ud83d\"", "\"\\ud83dx", "\"\\ud83d\\u0041", "\"\"", "\"abc\""}) {
      const std::string_view bytes(text);
      row(escapes, text, bytes.find("83d\\ude") != bytes.npos || bytes.find("83D\\uDE") != bytes.npos || bytes.find("é") != bytes.npos);
    }
    const std::string grade = quoted("{'type':'integer','minimum':-3,'exclusiveMaximum':120}");
    for (const char* text : {"-3", "0", "7", "119", "-0"}) row(grade, text, true);
    for (const char* text : {"-4", "-12", "120", "1190", "200"}) row(grade, text, false);
    row(quoted("{'type':'integer','minimum':18}"), "7", false);
    row(quoted("{'type':'integer','minimum':18}"), "70", true);
    row(quoted("{'type':'integer','minimum':0}"), "-", false);
    row(quoted("{'oneOf':[{'type':'integer'},{'type':'array','items':{'type':'integer'}}]}"), "[3]", true);
  }
  void lets_through() {
    QFETCH(QString, schema);
    QFETCH(QString, text);
    QFETCH(bool, whole);
    const std::string bytes = text.toStdString();
    const auto [count, end] = fits(Json::parse(schema.toStdString()), bytes);
    QCOMPARE(count == bytes.size() && end, whole);
  }

  void refuses_by_name_data() {
    QTest::addColumn<QString>("schema");
    QTest::addColumn<QString>("word");
    const auto row = [](const std::string& schema, const char* word) {
      QTest::newRow(schema.c_str()) << QString::fromStdString(schema) << QString::fromUtf8(word);
    };
    row(quoted("{'allOf':[{}]}"), "allOf");
    row(quoted("{'type':'object','properties':{'a':{'not':{}}}}"), "not");
    row(quoted("{'type':'date'}"), "unknown type");
    row(quoted("{'$ref':'#/$defs/x'}"), "#/$defs/x");
    row(quoted("{'$defs':{'a':{'$ref':'#/$defs/a'}},'$ref':'#/$defs/a'}"), "refers to itself");
    row(quoted("{'enum':[]}"), "enum");
    row("3", "no object");
    row("false", "no object");
  }
  void refuses_by_name() {
    QFETCH(QString, schema);
    QFETCH(QString, word);
    const auto made = make_json_constraint(vocabulary(), Json::parse(schema.toStdString()));
    QVERIFY(!made.ok());
    QVERIFY2(made.error().message.find(word.toStdString()) != std::string::npos, made.error().message.c_str());
  }

  // Any walk along allowed tokens that ends is JSON; with the schema, the required keys are there.
  void random_walks_are_json() {
    std::mt19937 random(5);
    int finished = 0;
    for (int round = 0; round < 400; ++round) {
      const bool with_schema = round % 2 == 0;
      const auto c = constraint(with_schema ? person() : Json());
      std::string text;
      for (int step = 0; step < 120; ++step) {
        const std::vector<float> logits = masked(*c);
        std::vector<TokenId> choices;
        for (TokenId id = 0; id < tokenizer().vocab_size(); ++id) {
          if (allowed(logits, id)) choices.push_back(id);
        }
        QVERIFY(!choices.empty());
        QVERIFY(!allowed(logits, tokenizer().find("<other>")));
        const bool may_end = allowed(logits, tokenizer().eos());
        const TokenId id = may_end ? tokenizer().eos() : preferred(choices, random);
        if (id == tokenizer().eos()) {
          const Json value = Json::parse(text, nullptr, false);
          QVERIFY2(!value.is_discarded(), text.c_str());
          if (with_schema) QVERIFY2(value["name"].is_string() && value["age"].is_number_integer(), text.c_str());
          ++finished;
          break;
        }
        text += tokenizer().piece(id, false);
        c->accept(id);
      }
    }
    QVERIFY(finished > 100);
  }

  void a_clone_goes_its_own_way() {
    const auto c = constraint(Json());
    c->accept('[');
    const auto other = c->clone();
    other->accept(']');
    QVERIFY(allowed(masked(*other), tokenizer().eos()));
    QVERIFY(!allowed(masked(*c), tokenizer().eos()));
  }

  void what_does_not_fit_changes_nothing() {
    const auto c = constraint(Json());
    c->accept('[');
    c->accept('x');
    c->accept(tokenizer().find("<other>"));
    c->accept(']');
    QVERIFY(allowed(masked(*c), tokenizer().eos()));
  }

  void white_space_comes_to_an_end() {
    const auto [count, end] = fits(Json(), std::string(1000, ' '));
    QVERIFY(count < 100);
    QVERIFY(!end);
  }

 private:
  // Closing marks more often, so that walks end.
  static TokenId preferred(const std::vector<TokenId>& choices, std::mt19937& random) {
    for (const char mark : {'"', '}', ']'}) {
      if (random() % 3 == 0 && std::ranges::find(choices, static_cast<TokenId>(mark)) != choices.end()) return mark;
    }
    return choices[random() % choices.size()];
  }
};

QTEST_GUILESS_MAIN(TestConstraintJson)
#include "tst_constraint_json.moc"
