// Turns held to a JSON schema, through the whole engine on a toy model that would write nonsense: answers that end are JSON of the schema, the same
// with speculation as without, and thinking stays free.
#include <QtTest>

#include "tests/support/fake_model.h"

using namespace tg;
using namespace tg::test;
using Json = nlohmann::ordered_json;

namespace {

const char* const kPerson = R"({"type":"object","properties":{"name":{"type":"string","minLength":1,"maxLength":6},"age":{"type":"integer","minimum":18,"maximum":99},
  "tags":{"type":"array","items":{"enum":["a","b c",1]},"maxItems":2},"more":{"anyOf":[{"type":"null"},{"type":"boolean"}]}},"required":["name","age"]})";

void is_person(const std::string& text) {
  const Json v = Json::parse(text, nullptr, false);
  QVERIFY2(v.is_object(), text.c_str());
  QVERIFY2(v.contains("name") && v["name"].is_string() && !v["name"].get<std::string>().empty(), text.c_str());
  QVERIFY2(v.contains("age") && v["age"].is_number_integer() && v["age"] >= 18 && v["age"] <= 99, text.c_str());
  if (v.contains("tags")) QVERIFY2(v["tags"].is_array() && v["tags"].size() <= 2, text.c_str());
  if (v.contains("more")) QVERIFY2(v["more"].is_null() || v["more"].is_boolean(), text.c_str());
}

// The toy vocabulary with its thinking tokens findable, and without an end where a test wants none.
class Vocabulary : public FakeTokenizer {
 public:
  explicit Vocabulary(bool ends) : ends_(ends) {}
  TokenId find(std::string_view text) const override { return text == "<think>" ? kThink : text == "</think>" ? kEndThink : -1; }
  bool is_eog(TokenId id) const override { return ends_ && id == kEos; }
  std::vector<TokenId> eog() const override { return ends_ ? std::vector<TokenId>{kEos} : std::vector<TokenId>{}; }

 private:
  bool ends_;
};

struct Toy {
  std::unique_ptr<Engine> engine;
  ModelHandle model;

  explicit Toy(bool ends = true, bool thinks = false, FakeOptions fake = {}) {
    const ModelLoader plain = fake_loader(fake);
    engine = make_engine({}, [=](const std::string& path, const LoadOptions& load, const auto& progress, const CancelToken& cancel) {
      auto runtime = plain(path, load, progress, cancel);
      (*runtime)->info->tokenizer = std::make_shared<Vocabulary>(ends);
      (*runtime)->info->thinks = thinks;
      return runtime;
    });
    model = *engine->load("model", {}, {}, {});
  }
  TurnRequest request(std::uint64_t seed, const std::string& schema) const {
    TurnRequest r;
    r.model = model;
    r.sequence = "a";
    r.prompt.ids = tokens(30, seed);
    r.max_tokens = 3000;
    r.sampling.temperature = seed % 2 == 0 ? 0.0F : 1.0F;
    r.sampling.seed = seed + 1;
    r.json_schema = schema;
    return r;
  }
  TurnReport run(TurnRequest r) const {
    auto waiter = std::make_shared<Waiter>();
    engine->submit(std::move(r), waiter);
    return waiter->wait();
  }
};

}  // namespace

class TestConstrainedTurns : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void answers_keep_to_the_schema() {
    const Toy toy;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      TurnRequest r = toy.request(seed, kPerson);
      r.stop = {"\"", "a"};  // would cut the value
      r.ignore_eos = seed % 3 == 0;
      const TurnReport report = toy.run(r);
      QCOMPARE(report.finish_reason, FinishReason::stop);
      QCOMPARE(report.output_ids.back(), kEos);
      QCOMPARE(report.constraint, std::string("json_schema"));
      is_person(report.text);
    }
  }

  void any_json_without_a_schema() {
    const Toy toy;
    int ended = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const TurnReport report = toy.run(toy.request(seed, "{}"));
      if (report.finish_reason != FinishReason::stop) continue;
      QVERIFY2(!Json::parse(report.text, nullptr, false).is_discarded(), report.text.c_str());
      ++ended;
    }
    QVERIFY(ended > 10);
  }

  void a_free_turn_says_nothing_of_a_constraint() {
    const Toy toy;
    QVERIFY(toy.run(toy.request(1, {})).constraint.empty());
  }

  void speculation_writes_the_same_data() {
    QTest::addColumn<bool>("repeats");
    QTest::addColumn<bool>("recurrent");
    QTest::newRow("drafts are refused") << false << false;
    QTest::newRow("drafts are met") << true << false;
    QTest::newRow("recurrent") << true << true;
  }
  void speculation_writes_the_same() {
    QFETCH(bool, repeats);
    QFETCH(bool, recurrent);
    FakeOptions fake;
    fake.repeats = repeats;
    fake.recurrent = recurrent;
    const Toy toy(true, false, fake);
    // A list that a model running in circles never ends is fine: what it wrote must be the same.
    for (const char* schema : {kPerson, R"({"type":"array","items":{"type":"integer","minimum":0,"maximum":3}})"}) {
      int drafted = 0;
      for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        TurnRequest r = toy.request(seed, schema);
        r.max_tokens = 300;
        const TurnReport plain = toy.run(r);
        r.speculation.kind = SpeculationOptions::Kind::ngram;
        r.use_cache = false;
        const TurnReport fast = toy.run(r);
        QCOMPARE(fast.output_ids, plain.output_ids);
        QCOMPARE(fast.text, plain.text);
        drafted += fast.drafted;
        if (plain.finish_reason == FinishReason::stop && schema == kPerson) is_person(fast.text);
      }
      QVERIFY(drafted > 0 || schema == kPerson);
    }
  }

  // The model may think before the answer; what it thinks is free, and it cannot end meanwhile.
  void thinking_stays_free() {
    const Toy toy(true, true);
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      TurnRequest r = toy.request(seed, kPerson);
      r.thinking.starts_inside = true;
      r.thinking.budget = 40;
      const TurnReport report = toy.run(r);
      QCOMPARE(report.finish_reason, FinishReason::stop);
      QVERIFY(report.thinking > 0);
      is_person(report.text);
    }
  }

  void a_vocabulary_without_an_end_ends_with_the_value() {
    const Toy toy(false);
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const TurnReport report = toy.run(toy.request(seed, kPerson));
      QCOMPARE(report.finish_reason, FinishReason::stop);
      is_person(report.text);
    }
    QCOMPARE(QByteArray::fromStdString(toy.run(toy.request(3, R"({"const":7})")).text).trimmed(), QByteArray("7"));
  }

  void what_cannot_be_written_is_an_error() {
    const Toy toy;  // it has no bytes beyond ASCII
    const TurnReport report = toy.run(toy.request(1, R"({"const":"é"})"));
    QCOMPARE(report.finish_reason, FinishReason::error);
    QVERIFY2(report.error.message.find("schema") != std::string::npos, report.error.message.c_str());
  }

  void a_bad_schema_is_refused_data() {
    QTest::addColumn<QByteArray>("schema");
    QTest::addColumn<QByteArray>("word");
    QTest::newRow("no JSON") << QByteArray("{") << QByteArray("not JSON");
    QTest::newRow("unknown word") << QByteArray(R"({"allOf":[]})") << QByteArray("allOf");
    QTest::newRow("unknown type") << QByteArray(R"({"type":"date"})") << QByteArray("unknown type");
    QTest::newRow("deep") << QByteArray(100000, '[') << QByteArray("deep");
    QTest::newRow("minimum above maximum") << QByteArray(R"({"type":"integer","minimum":3,"maximum":2})") << QByteArray("minimum");
  }
  void a_bad_schema_is_refused() {
    QFETCH(QByteArray, schema);
    QFETCH(QByteArray, word);
    const Toy toy;
    const TurnReport report = toy.run(toy.request(1, schema.toStdString()));
    QCOMPARE(report.finish_reason, FinishReason::error);
    QCOMPARE(report.error.code, ErrorCode::bad_argument);
    QVERIFY2(report.error.message.find(word.toStdString()) != std::string::npos, report.error.message.c_str());
  }

  void words_that_are_not_enforced_are_told() {
    const Toy toy;
    const TurnReport report = toy.run(toy.request(1, R"({"type":"object","properties":{"a":{"type":"string","maxLength":3,"pattern":"x"},"pattern":{"type":"number","minimum":1}}})"));
    QCOMPARE(report.warnings, (std::vector<std::string>{"schema_not_enforced:pattern", "schema_not_enforced:minimum"}));
  }
};

QTEST_GUILESS_MAIN(TestConstrainedTurns)
#include "tst_constrained_turns.moc"
