// What a user reads about a file that cannot be used: one printable line that names the kind of fault and the key or tensor it is in. The checks are
// those that a load makes: reader, description, vocabulary.
#include <QtTest>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <functional>

#include "engine/model/description.h"
#include "tests/support/tiny_model.h"
#include "tests/support/tiny_vocabulary.h"

using namespace tg;
using namespace tg::test;

namespace {

// The first error of a load; empty: the file is accepted.
std::string refusal(const Result<std::shared_ptr<const GgufFile>>& file) {
  if (!file) return file.error().message;
  if (const auto description = describe_model(**file, 0); !description) return description.error().message;
  if (const auto tokenizer = Tokenizer::load(*file); !tokenizer) return tokenizer.error().message;
  return {};
}
std::string refusal_of(const std::string& bytes) { return refusal(GgufFile::parse(std::as_bytes(std::span(bytes)))); }

void is_one_sentence(const std::string& message) {
  const QString text = QString::fromStdString(message);
  QVERIFY2(text.endsWith(u'.') && text.size() > 10 && text.size() <= 300, qPrintable(text));
  QVERIFY2(text.front().isUpper(), qPrintable(text));
  for (const QChar c : text) QVERIFY2(c.isPrint(), qPrintable(text));
}

void says(const std::string& message, const QStringList& words) {
  const QString text = QString::fromStdString(message);
  for (const QString& word : words) QVERIFY2(text.contains(word), qPrintable(QStringLiteral("\"%1\" does not say \"%2\"").arg(text, word)));
}

// The conformance data name kinds of faults; each must be told in these words.
QStringList words_for(const QString& reason) {
  static const QHash<QString, QStringList> known{
      {QStringLiteral("not a GGUF file"), {QStringLiteral("not a GGUF file")}},
      {QStringLiteral("metadata count larger than the file can hold"), {QStringLiteral("metadata count"), QStringLiteral("larger than the file")}},
      {QStringLiteral("tensor count larger than the file can hold"), {QStringLiteral("tensor count"), QStringLiteral("larger than the file")}},
      {QStringLiteral("string longer than the file"), {QStringLiteral("string of the key \""), QStringLiteral("longer than the file")}},
      {QStringLiteral("key longer than the file"), {QStringLiteral("key"), QStringLiteral("longer than the file")}},
      {QStringLiteral("array longer than the file"), {QStringLiteral("array of the key \""), QStringLiteral("longer than the file")}},
      {QStringLiteral("unknown value type"), {QStringLiteral("unknown value type"), QStringLiteral("key \"")}},
      {QStringLiteral("duplicate key"), {QStringLiteral("key \""), QStringLiteral("twice")}},
      {QStringLiteral("alignment is zero"), {QStringLiteral("general.alignment"), QStringLiteral("zero")}},
      {QStringLiteral("alignment is not a power of two"), {QStringLiteral("general.alignment"), QStringLiteral("power of two")}},
      {QStringLiteral("alignment has the wrong type"), {QStringLiteral("general.alignment"), QStringLiteral("wrong type")}},
      {QStringLiteral("tensor name too long"), {QStringLiteral("tensor's name"), QStringLiteral("too long")}},
      {QStringLiteral("too many dimensions"), {QStringLiteral("tensor \""), QStringLiteral("too many dimensions")}},
      {QStringLiteral("tensor size overflows"), {QStringLiteral("tensor \""), QStringLiteral("overflows")}},
      {QStringLiteral("row not a multiple of the block size"), {QStringLiteral("tensor \""), QStringLiteral("multiple of the block size")}},
      {QStringLiteral("tensors overlap"), {QStringLiteral("tensor \""), QStringLiteral("overlap")}},
      {QStringLiteral("removed tensor type"), {QStringLiteral("tensor \""), QStringLiteral("removed type")}},
      {QStringLiteral("unknown tensor type"), {QStringLiteral("tensor \""), QStringLiteral("unknown type")}},
      {QStringLiteral("file too short"), {QStringLiteral("too short")}},
      {QStringLiteral("metadata ends early"), {QStringLiteral("metadata ends early")}},
      {QStringLiteral("tensor list ends early"), {QStringLiteral("tensor list ends early")}},
      {QStringLiteral("tensor data past the end of the file"), {QStringLiteral("tensor \""), QStringLiteral("past the end of the file")}},
      {QStringLiteral("architecture not given"), {QStringLiteral("architecture"), QStringLiteral("general.architecture")}},
      {QStringLiteral("unknown architecture"), {QStringLiteral("architecture"), QStringLiteral("not supported")}},
      {QStringLiteral("head_count is zero"), {QStringLiteral("head_count"), QStringLiteral("zero")}},
      {QStringLiteral("head_count not a multiple of head_count_kv"), {QStringLiteral("attention.head_count"), QStringLiteral("attention.head_count_kv"), QStringLiteral("multiple")}},
      {QStringLiteral("missing tensor"), {QStringLiteral("tensor "), QStringLiteral(".weight is missing")}},
      {QStringLiteral("embedding_length missing"), {QStringLiteral("embedding_length"), QStringLiteral("not give")}},
      {QStringLiteral("key has the wrong type"), {QStringLiteral("wrong type")}},
      {QStringLiteral("epsilon is not a number"), {QStringLiteral("epsilon"), QStringLiteral("not a number")}},
      {QStringLiteral("tokenizer.ggml.tokens missing"), {QStringLiteral("tokenizer.ggml.tokens"), QStringLiteral("missing")}},
      {QStringLiteral("unknown tokenizer model"), {QStringLiteral("vocabulary"), QStringLiteral("not supported")}},
      {QStringLiteral("tensor has the wrong shape"), {QStringLiteral("tensor "), QStringLiteral("wrong shape")}},
  };
  static const QRegularExpression version(QStringLiteral("^version (\\d+) is not supported$")), part(QStringLiteral("^part (\\d+) of (\\d+) of a split model is missing$"));
  if (const auto m = version.match(reason); m.hasMatch()) return {QStringLiteral("version ") + m.captured(1)};
  if (const auto m = part.match(reason); m.hasMatch()) return {QStringLiteral("Part %1 of %2").arg(m.captured(1), m.captured(2)), QStringLiteral("missing")};
  return known.value(reason);
}

// A small model that a load accepts, as parts that a test may change before it asks for the bytes.
struct Parts {
  TinyVocabulary vocabulary = tiny_bpe("llama-bpe");
  TinyModel model = tiny_llama();
  Parts() { model.set_vocabulary(static_cast<int>(vocabulary.tokens.size())); }
  std::string bytes() const {
    GgufWriter writer;
    vocabulary.add_to(writer);
    return model.bytes(writer);
  }
};
using Change = std::function<void(Parts&)>;

// BYTES with the little-endian number behind the first place of AFTER replaced.
std::string patched(std::string bytes, const std::string& after, std::size_t at, std::uint64_t value, std::size_t size) {
  const std::size_t place = bytes.find(after) + after.size() + at;
  for (std::size_t i = 0; i < size; ++i) bytes[place + i] = static_cast<char>(value >> (8 * i) & 0xFF);
  return bytes;
}

}  // namespace
Q_DECLARE_METATYPE(Change)

class TestRefusals : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void the_sound_model_is_accepted() { QCOMPARE(QString::fromStdString(refusal_of(Parts().bytes())), QString()); }

  // Every file of the conformance set, where it is at hand: the sentence says what the set says is wrong.
  void conformance_files_are_told_by_their_kind() {
    const QDir folder(QStringLiteral(TG_SOURCE_DIR "/../shared/conformance/malformed"));
    QFile index(folder.filePath(QStringLiteral("index.json")));
    if (!index.open(QIODevice::ReadOnly)) {
      qInfo("No conformance data beside the project: the faults made here are checked alone.");
      return;
    }
    const QJsonArray entries = QJsonDocument::fromJson(index.readAll()).array();
    QVERIFY(!entries.isEmpty());
    for (const QJsonValue& entry : entries) {
      const QString file = entry[QStringLiteral("file")].toString(), answer = entry[QStringLiteral("answer")].toString();
      const std::string message = refusal(GgufFile::open(folder.filePath(file).toStdString()));
      if (answer == QLatin1String("accept")) {
        QVERIFY2(message.empty(), qPrintable(file + QLatin1String(": ") + QString::fromStdString(message)));
      } else if (answer.startsWith(QLatin1String("refuse: "))) {
        const QStringList words = words_for(answer.mid(8));
        QVERIFY2(!words.isEmpty(), qPrintable(QStringLiteral("no words are agreed for ") + answer));
        is_one_sentence(message);
        says(message, words);
      } else if (!message.empty()) {
        is_one_sentence(message);
      }
      if (QTest::currentTestFailed()) return qWarning("%s", qPrintable(file));
    }
  }

  void parts_that_do_not_fit_are_named_data() {
    QTest::addColumn<Change>("change");
    QTest::addColumn<QStringList>("words");
    const auto row = [](const char* tag, const Change& change, const QStringList& words) { QTest::newRow(tag) << change << words; };
    row("no embedding length", [](Parts& p) { p.model.keys.erase("embedding_length"); }, {QStringLiteral("llama.embedding_length"), QStringLiteral("not give")});
    row("no block count", [](Parts& p) { p.model.keys.erase("block_count"); }, {QStringLiteral("llama.block_count"), QStringLiteral("not give")});
    row("no head count", [](Parts& p) { p.model.keys.erase("attention.head_count"); }, {QStringLiteral("attention.head_count")});
    row("head count of zero", [](Parts& p) { p.model.keys["attention.head_count"] = 0; }, {QStringLiteral("attention.head_count"), QStringLiteral("zero")});
    row("heads that do not divide", [](Parts& p) { p.model.keys["attention.head_count_kv"] = 3; },
        {QStringLiteral("attention.head_count"), QStringLiteral("attention.head_count_kv"), QStringLiteral("multiple")});
    row("layers as text", [](Parts& p) { p.model.keys["block_count"] = std::string("two"); }, {QStringLiteral("llama.block_count"), QStringLiteral("wrong type")});
    row("more layers than there are", [](Parts& p) { p.model.keys["block_count"] = 3; }, {QStringLiteral("blk.2."), QStringLiteral("is missing")});
    row("epsilon is no number", [](Parts& p) { p.model.keys["attention.layer_norm_rms_epsilon"] = std::nanf(""); }, {QStringLiteral("epsilon"), QStringLiteral("not a number")});
    row("no output of a layer", [](Parts& p) { p.model.drop("blk.1.attn_output.weight"); }, {QStringLiteral("blk.1.attn_output.weight"), QStringLiteral("missing")});
    row("a matrix as a vector", [](Parts& p) { p.model.tensor("blk.0.attn_q.weight").shape = {64}; }, {QStringLiteral("blk.0.attn_q.weight"), QStringLiteral("wrong shape")});
    row("another architecture", [](Parts& p) { p.model.architecture = "llamma"; }, {QStringLiteral("architecture llamma"), QStringLiteral("not supported")});
    row("an unprintable architecture", [](Parts& p) { p.model.architecture = "ll\n\x1b[31m"; }, {QStringLiteral("architecture"), QStringLiteral("not supported")});
    row("another vocabulary", [](Parts& p) { p.vocabulary.model = "no-such"; }, {QStringLiteral("\"no-such\""), QStringLiteral("not supported")});
    row("another pre-tokenizer", [](Parts& p) { p.vocabulary.pre = "no-such"; }, {QStringLiteral("no-such"), QStringLiteral("not supported")});
    row("an end token that is none", [](Parts& p) { p.vocabulary.ids = {{"eos", 4'000'000}}; }, {QStringLiteral("tokenizer.ggml.eos_token_id")});
    row("fewer kinds than tokens", [](Parts& p) { p.vocabulary.kinds.pop_back(); }, {QStringLiteral("tokenizer.ggml.token_type")});
    row("no tokens", [](Parts& p) { p.vocabulary.tokens.clear(), p.vocabulary.kinds.clear(); }, {QStringLiteral("tokenizer.ggml.tokens")});
    row("fewer rows than tokens", [](Parts& p) { p.model.set_vocabulary(100); }, {QStringLiteral("token")});
  }
  void parts_that_do_not_fit_are_named() {
    QFETCH(Change, change);
    QFETCH(QStringList, words);
    Parts parts;
    change(parts);
    const std::string message = refusal_of(parts.bytes());
    is_one_sentence(message);
    says(message, words);
  }

  void damaged_bytes_are_named_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QStringList>("words");
    const std::string sound = Parts().bytes();
    const auto row = [](const char* tag, const std::string& bytes, const QStringList& words) { QTest::newRow(tag) << QByteArray::fromStdString(bytes) << words; };
    row("nothing", {}, {QStringLiteral("too short")});
    row("another file", "%PDF-1.7" + sound.substr(8), {QStringLiteral("not a GGUF file")});
    row("cut in the metadata", sound.substr(0, sound.find("tokenizer.ggml.tokens") + 2500), {QStringLiteral("metadata ends early")});
    row("cut in the list", sound.substr(0, sound.find("blk.0.attn_q.weight") + 8), {QStringLiteral("tensor list ends early")});
    row("cut in the data", sound.substr(0, sound.size() - 500), {QStringLiteral("tensor \""), QStringLiteral("past the end of the file")});
    row("unknown type", patched(sound, "blk.0.attn_q.weight", 20, 250, 4), {QStringLiteral("\"blk.0.attn_q.weight\""), QStringLiteral("unknown type 250")});
    row("absurd size", patched(sound, "blk.0.attn_q.weight", 4, std::uint64_t{1} << 60U, 8), {QStringLiteral("\"blk.0.attn_q.weight\"")});
    row("overlap", patched(sound, "blk.0.attn_k.weight", 24, 0, 8), {QStringLiteral("\"blk.0.attn_k.weight\""), QStringLiteral("overlap")});
  }
  void damaged_bytes_are_named() {
    QFETCH(QByteArray, bytes);
    QFETCH(QStringList, words);
    const std::string message = refusal_of(bytes.toStdString());
    is_one_sentence(message);
    says(message, words);
  }
};

QTEST_GUILESS_MAIN(TestRefusals)
#include "tst_refusals.moc"
