// Text to ids and back: golden strings on small vocabularies, added tokens, ends of generation, refusals.
#include <QtTest>
#include <random>

#include "tests/support/tiny_vocabulary.h"

using namespace tg;
using namespace tg::test;
using Ids = std::vector<TokenId>;

namespace {

std::shared_ptr<const Tokenizer> load(const TinyVocabulary& v) {
  const LoadedVocabulary loaded(v.writer());
  if (!loaded.tokenizer) qFatal("%s", loaded.tokenizer.error().message.c_str());
  // The bytes must live as long as the tokenizer.
  return {loaded.tokenizer->get(), [keep = loaded](const Tokenizer*) {}};
}

constexpr TokenizeOptions kUser{};
constexpr TokenizeOptions kTemplate{.parse_special = true};
constexpr TokenizeOptions kWithSpecial{.add_special = true};

}  // namespace

class TestTokenizer : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void byteLevelBpe() {
    const auto t = load(tiny_bpe());
    QCOMPARE(t->encode("the", kUser), (Ids{258}));
    QCOMPARE(t->encode("in the", kUser), (Ids{256, 259}));
    QCOMPARE(t->encode("thin", kUser), (Ids{257, 256}));
    QCOMPARE(t->encode("a   the", kUser), (Ids{'a', 260, 259}));
    QCOMPARE(t->encode("é", kUser), (Ids{0xC3, 0xA9}));
    QCOMPARE(t->encode("", kUser), Ids{});
    QCOMPARE(t->decode(Ids{256, 259, 0xC3, 0xA9}), std::string("in theé"));
    QCOMPARE(t->piece(0xC3, false), std::string("\xC3"));
  }
  void earlierMergesWin() {
    TinyVocabulary v = tiny_bpe();
    v.merges.insert(v.merges.begin(), "h e");  // now before "t h": "the" is t + he
    const TokenId he = v.add("he");
    QCOMPARE(load(v)->encode("the", kUser), (Ids{'t', he}));
  }
  void wholeWordsWinWhereTheFamilySaysSo() {
    TinyVocabulary v = tiny_bpe("llama-bpe");
    const TokenId word = v.add("xyz");  // no merge leads to it
    QCOMPARE(load(v)->encode("xyz", kUser), (Ids{word}));
    v.pre = "glm4";
    QCOMPARE(load(v)->encode("xyz", kUser), (Ids{word}));
    v.pre = "gpt-2";
    QCOMPARE(load(v)->encode("xyz", kUser), (Ids{'x', 'y', 'z'}));
  }

  void gemma4BeginsWithBosWhateverTheFileSays() {
    TinyVocabulary v = tiny_bpe("gemma4");
    const TokenId bos = v.add("<bos>", 3);
    v.ids = {{"bos", static_cast<std::uint32_t>(bos)}};
    v.flags = {{"add_bos_token", false}};
    QCOMPARE(load(v)->encode("in", kWithSpecial).front(), bos);
    v.pre = "gpt-2";
    QVERIFY(load(v)->encode("in", kWithSpecial).front() != bos);
  }

  void sentencePieceStyle() {
    const auto t = load(tiny_spm());
    QCOMPARE(t->encode("hello", kUser), (Ids{259}));
    QCOMPARE(t->encode("hello hello", kUser), (Ids{259, 259}));
    QCOMPARE(t->encode("hell", kUser), (Ids{261, 264}));
    QCOMPARE(t->encode("é", kUser), (Ids{265, 3 + 0xC3, 3 + 0xA9}));
    QCOMPARE(t->encode("", kWithSpecial), (Ids{1}));
    QCOMPARE(t->decode(Ids{259, 3 + 0xC3, 3 + 0xA9}), std::string(" helloé"));
    QCOMPARE(t->decode(Ids{1, 259}), std::string("hello"));  // the space after BOS was put there by encoding
  }
  void spacePrefixOnlyWhereAskedFor() {
    TinyVocabulary v = tiny_spm();
    v.flags = {{"add_space_prefix", false}};
    const auto t = load(v);
    QCOMPARE(t->encode("hello", kUser), (Ids{260}));
    QCOMPARE(t->decode(Ids{1, 259}), std::string(" hello"));
  }

  void controlTokensAreNeverParsedInUserText() {
    const auto t = load(tiny_bpe());
    const std::string text = "<|im_end|>the";
    QCOMPARE(t->encode(text, kTemplate), (Ids{262, 258}));
    const Ids user = t->encode(text, kUser);
    QVERIFY(std::find(user.begin(), user.end(), 262) == user.end());
    QCOMPARE(t->decode(user), text);
    QCOMPARE(t->encode("a<tool>the", kUser), (Ids{'a', 263, 258}));  // user-defined tokens always
    QCOMPARE(t->piece(262, false), std::string());
    QCOMPARE(t->piece(262, true), std::string("<|im_end|>"));
  }
  void theLongestAddedTokenWins() {
    TinyVocabulary v = tiny_bpe();
    const TokenId ab = v.add("ab<", 3);
    const TokenId longer = v.add("<|im_end|>>", 3);
    const auto t = load(v);
    QCOMPARE(t->encode("<|im_end|>>", kTemplate), (Ids{longer}));
    QCOMPARE(t->encode("ab<|im_end|>", kTemplate), (Ids{'a', 'b', 262}));  // longer first, wherever it stands
    QCOMPARE(t->encode("ab<ab<", kTemplate), (Ids{ab, ab}));
  }
  void phi3TakesWhiteSpaceAfterItsMarks() {
    TinyVocabulary v = tiny_spm();
    const TokenId user = v.add("<|user|>", 3);
    QCOMPARE(load(v)->encode("<|user|>\nhello", kTemplate), (Ids{user, 265, 3 + '\n', 260}));
    v.name = "Phi-3-mini";
    QCOMPARE(load(v)->encode("<|user|>\nhello", kTemplate), (Ids{user, 259}));
  }
  void bosAndEosAsTheFileAsks() {
    TinyVocabulary v = tiny_bpe();
    QCOMPARE(load(v)->encode("in", kWithSpecial), (Ids{256}));
    v.flags = {{"add_bos_token", true}, {"add_eos_token", true}};
    QCOMPARE(load(v)->encode("in", kWithSpecial), (Ids{261, 256, 262}));
    QCOMPARE(load(v)->encode("in", kUser), (Ids{256}));
  }

  void endOfGenerationIsASet_data() {
    QTest::addColumn<QStringList>("added");
    QTest::addColumn<QStringList>("ends");
    QTest::newRow("ChatML") << QStringList{} << QStringList{QStringLiteral("<|im_end|>")};
    QTest::newRow("Llama 3") << QStringList{QStringLiteral("<|eot_id|>"), QStringLiteral("<|eom_id|>")}
                             << QStringList{QStringLiteral("<|im_end|>"), QStringLiteral("<|eot_id|>"), QStringLiteral("<|eom_id|>")};
    QTest::newRow("gpt-oss") << QStringList{QStringLiteral("<|end|>"), QStringLiteral("<|return|>"), QStringLiteral("<|call|>")}
                             << QStringList{QStringLiteral("<|im_end|>"), QStringLiteral("<|return|>"), QStringLiteral("<|call|>")};
    QTest::newRow("Phi") << QStringList{QStringLiteral("<|end|>"), QStringLiteral("<|endoftext|>")}
                         << QStringList{QStringLiteral("<|im_end|>"), QStringLiteral("<|end|>"), QStringLiteral("<|endoftext|>")};
    QTest::newRow("Gemma 3") << QStringList{QStringLiteral("<end_of_turn>"), QStringLiteral("<eos>")}
                             << QStringList{QStringLiteral("<|im_end|>"), QStringLiteral("<end_of_turn>"), QStringLiteral("<eos>")};
    QTest::newRow("Gemma 4") << QStringList{QStringLiteral("</s>"), QStringLiteral("<|tool_response>"), QStringLiteral("<turn|>")}
                             << QStringList{QStringLiteral("<|im_end|>"), QStringLiteral("<|tool_response>"), QStringLiteral("<turn|>")};
  }
  void endOfGenerationIsASet() {
    QFETCH(QStringList, added);
    QFETCH(QStringList, ends);
    TinyVocabulary v = tiny_bpe();
    for (const QString& text : added) v.add(text.toStdString(), 3);
    const auto t = load(v);
    QStringList found;
    for (const TokenId id : t->eog()) {
      QVERIFY(t->is_eog(id));
      found << QString::fromStdString(t->piece(id, true));
    }
    found.sort();
    ends.sort();
    QCOMPARE(found, ends);
    QVERIFY(!t->is_eog(-1) && !t->is_eog('a') && !t->is_eog(1 << 30));
  }
  void plainTextIsNoEndOfGeneration() {
    TinyVocabulary v = tiny_bpe();
    const TokenId html = v.add("</s>", 1);  // Qwen's vocabulary has it as an ordinary token
    const TokenId end = v.add("<|endoftext|>", 1);
    const auto t = load(v);
    QVERIFY(!t->is_eog(html));
    QVERIFY(t->is_eog(end));
    QCOMPARE(t->kind(end), TokenKind::control);  // or a user's message could end the turn
  }

  void anyBytesComeBack() {
    std::mt19937 random(7);
    for (const auto& t : {load(tiny_bpe()), load(tiny_bpe("qwen2")), load(tiny_bpe("deepseek-llm"))}) {
      for (int n = 0; n < 200; ++n) {
        std::string bytes(static_cast<std::size_t>(n), '\0');
        for (char& c : bytes) c = static_cast<char>(random() & 0xFF);
        QCOMPARE(t->decode(t->encode(bytes, kUser)), bytes);
      }
    }
  }
  void longRunsTakeNoQuadraticTime() {
    const auto bpe = load(tiny_bpe("qwen2"));
    const auto spm = load(tiny_spm());
    QElapsedTimer timer;
    timer.start();
    for (const std::string& text : {std::string(200000, 'l'), std::string(200000, ' '), std::string(200000, '\n') + "x",
                                    std::string(100000, ' ') + "x" + std::string(100000, ' ')}) {
      QVERIFY(!bpe->encode(text, kTemplate).empty());
      QVERIFY(!spm->encode(text, kTemplate).empty());
    }
    QVERIFY2(timer.elapsed() < 10000, qPrintable(QString::number(timer.elapsed())));  // quadratic: minutes
  }

  void aTokenWithoutTextHasANameOfItsOwn() {
    TinyVocabulary v = tiny_bpe();
    const TokenId first = v.add(""), second = v.add("");
    const LoadedVocabulary loaded(v.writer());
    QVERIFY(loaded.tokenizer.ok());
    const Tokenizer& t = **loaded.tokenizer;
    for (const TokenId id : {first, second}) QCOMPARE(t.find("[EMPTY_" + std::to_string(id) + "]"), id);
    v.add("[EMPTY_" + std::to_string(first) + "]");
    QVERIFY(!LoadedVocabulary(v.writer()).tokenizer.ok());  // the same text twice
  }

  void refusesByName_data() {
    QTest::addColumn<QString>("fault");
    QTest::addColumn<QString>("names");
    const auto row = [](const char* fault, const char* names) { QTest::newRow(fault) << QString::fromUtf8(fault) << QString::fromUtf8(names); };
    row("model", "\"wordpiece\" is not supported");
    row("pre", "pre-tokenizer \"gpt-9\" is not supported");
    row("duplicate", "\"the\" twice");
    row("bos", "bos_token_id\" names a token outside");
    row("bos type", "wrong type");
    row("flag type", "add_bos_token\" has the wrong type");
    row("few types", "fewer token types");
    row("few scores", "fewer scores");
    row("nan score", "not a number");
    row("no merges", "merges");
    row("no tokens", "tokenizer.ggml.tokens");
    row("no model", "tokenizer.ggml.model");
  }
  void refusesByName() {
    QFETCH(QString, fault);
    QFETCH(QString, names);
    const LoadedVocabulary loaded(faulty(fault));
    QVERIFY(!loaded.tokenizer.ok());
    QVERIFY2(loaded.tokenizer.error().message.find(names.toStdString()) != std::string::npos, loaded.tokenizer.error().message.c_str());
  }

 private:
  static GgufWriter faulty(const QString& fault) {
    TinyVocabulary v = fault.contains(QLatin1String("score")) ? tiny_spm() : tiny_bpe();
    if (fault == QLatin1String("model")) v.model = "wordpiece";
    if (fault == QLatin1String("pre")) v.pre = "gpt-9";
    if (fault == QLatin1String("duplicate")) v.add("the");
    if (fault == QLatin1String("bos")) v.ids = {{"bos", 5000}};
    if (fault == QLatin1String("few types")) v.kinds.pop_back();
    if (fault == QLatin1String("few scores")) v.scores.pop_back();
    if (fault == QLatin1String("nan score")) v.scores[5] = std::numeric_limits<float>::quiet_NaN();
    if (fault == QLatin1String("bos type")) v.ids.clear();
    GgufWriter w = v.writer();
    if (fault == QLatin1String("flag type")) w.add_u32("tokenizer.ggml.add_bos_token", 1);
    if (fault == QLatin1String("bos type")) w.add_string("tokenizer.ggml.bos_token_id", "1");
    if (fault.startsWith(QLatin1String("no "))) {
      w = GgufWriter();
      if (fault != QLatin1String("no model")) w.add_string("tokenizer.ggml.model", "gpt2");
      w.add_string("tokenizer.ggml.pre", "gpt-2");
      if (fault != QLatin1String("no tokens")) w.add_strings("tokenizer.ggml.tokens", v.tokens);
    }
    return w;
  }
};

QTEST_APPLESS_MAIN(TestTokenizer)
#include "tst_tokenizer.moc"
