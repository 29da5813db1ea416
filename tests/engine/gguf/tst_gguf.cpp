// The GGUF reader: what it reads, and that it refuses every kind of fault with a sentence that names it.
#include <QtTest>
#include <functional>

#include "engine/gguf/reader.h"
#include "engine/gguf/writer.h"

using namespace tg;

namespace {

using Damage = std::function<std::string()>;

std::span<const std::byte> as_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

// A file with one key of each kind and two tensors, the second 40 floats long.
GgufWriter sound_writer() {
  GgufWriter w;
  w.add_string("general.architecture", "llama");
  w.add_u32("a.u32", 7);
  w.add_u64("a.u64", 8);
  w.add_i32("a.i32", -9);
  w.add_f32("a.f32", 0.5F);
  w.add_bool("a.bool", true);
  w.add_strings("a.strings", std::vector<std::string>{"x", "", "zzz"});
  w.add_i32s("a.i32s", std::vector<std::int32_t>{1, -2});
  w.add_f32s("a.f32s", std::vector<float>{1.5F});
  w.add_f32_tensor("one.weight", {4, 2}, std::vector<float>(8, 1.0F));
  w.add_f32_tensor("two.weight", {40}, std::vector<float>(40, 2.0F));
  return w;
}

std::string le64(std::uint64_t v) { return {reinterpret_cast<const char*>(&v), sizeof v}; }
std::string le32(std::uint32_t v) { return {reinterpret_cast<const char*>(&v), sizeof v}; }

// The sound file with BYTES written AT bytes behind the first place where AFTER stands.
std::string patched(const std::string& after, std::size_t at, const std::string& bytes) {
  std::string file = sound_writer().bytes();
  return file.replace(file.find(after) + after.size() + at, bytes.size(), bytes);
}
std::string patched_at(std::size_t at, const std::string& bytes) {
  std::string file = sound_writer().bytes();
  return file.replace(at, bytes.size(), bytes);
}
std::string with(const std::function<void(GgufWriter&)>& add) {
  GgufWriter w = sound_writer();
  add(w);
  return w.bytes();
}

}  // namespace
Q_DECLARE_METATYPE(Damage)

class TestGguf : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void readsWhatWasWritten() {
    const std::string bytes = sound_writer().bytes();
    const auto file = GgufFile::parse(as_bytes(bytes));
    QVERIFY(file.ok());
    const GgufFile& f = **file;
    QCOMPARE(f.string("general.architecture").value(), std::string_view("llama"));
    QCOMPARE(f.integer("a.u32").value(), 7);
    QCOMPARE(f.integer("a.u64").value(), 8);
    QCOMPARE(f.integer("a.i32").value(), -9);
    QCOMPARE(f.number("a.f32").value(), 0.5);
    QCOMPARE(f.number("a.i32").value(), -9.0);
    QCOMPARE(f.boolean("a.bool").value(), true);
    QCOMPARE(f.array("a.strings")->size(), std::size_t{3});
    QCOMPARE(f.array("a.strings")->strings[0], std::string_view("x"));
    QCOMPARE(f.array("a.strings")->strings[1], std::string_view());
    QCOMPARE(f.array("a.strings")->strings[2], std::string_view("zzz"));
    QCOMPARE(f.array("a.i32s")->size(), std::size_t{2});
    QCOMPARE(f.array("a.i32s")->integer(0), std::int64_t{1});
    QCOMPARE(f.array("a.i32s")->integer(1), std::int64_t{-2});
    QCOMPARE(f.array("a.f32s")->number(0), 1.5);
    QCOMPARE(f.array("a.i32s")->number(1), -2.0);
    QVERIFY(!f.integer("a.f32"));
    QVERIFY(!f.integer("absent"));
    QCOMPARE(f.tensors().size(), std::size_t{2});
    QCOMPARE(f.tensor("one.weight")->rows(), std::uint64_t{2});
    QCOMPARE(f.tensor("two.weight")->elements(), std::uint64_t{40});
    QCOMPARE(f.tensor("two.weight")->data.size(), std::size_t{160});
    QVERIFY(f.tensor("three.weight") == nullptr);
    QCOMPARE(f.keys().front(), std::string_view("general.architecture"));
  }

  void acceptsOtherSoundFiles() {
    GgufWriter v2(2);
    v2.add_u32("a", 1);
    QVERIFY(GgufFile::parse(as_bytes(v2.bytes())).ok());
    GgufWriter aligned;
    aligned.set_alignment(64);
    aligned.add_f32_tensor("a", {3}, std::vector<float>(3));
    aligned.add_f32_tensor("b", {3}, std::vector<float>(3));
    QVERIFY(GgufFile::parse(as_bytes(aligned.bytes())).ok());
    QVERIFY(GgufFile::parse(as_bytes(sound_writer().bytes() + "behind the last tensor")).ok());
  }

  void refusesEachFaultByName_data() {
    QTest::addColumn<Damage>("damage");
    QTest::addColumn<QString>("names");
    const auto row = [](const char* tag, Damage damage, const char* names) {
      QTest::newRow(tag) << damage << QString::fromUtf8(names);
    };
    row("empty", [] { return std::string(); }, "too short");
    row("cut in the magic", [] { return std::string("GGU"); }, "too short");
    row("cut in the header", [] { return sound_writer().bytes().substr(0, 17); }, "too short");
    row("wrong magic", [] { return patched_at(0, "FUGG"); }, "not a GGUF");
    row("version 0", [] { return patched_at(4, le32(0)); }, "version 0");
    row("version 1", [] { return patched_at(4, le32(1)); }, "version 1");
    row("version 4", [] { return patched_at(4, le32(4)); }, "version 4");
    row("other byte order", [] { return patched_at(4, le32(0x03000000)); }, "byte order");
    row("tensor count", [] { return patched_at(8, le64(~0ULL)); }, "tensor count");
    row("metadata count", [] { return patched_at(16, le64(1ULL << 40)); }, "metadata count");
    row("one tensor too many", [] { return patched_at(8, le64(3)); }, "");
    row("no tensor, but data", [] { return patched_at(8, le64(0)); }, "no tensors");
    row("key longer than the file", [] { return patched_at(24, le64(1ULL << 62)); }, "key 1 is longer");
    row("empty key", [] { return with([](GgufWriter& w) { w.add_u32("", 1); }); }, "is empty");
    row("duplicate key", [] { return with([](GgufWriter& w) { w.add_u32("a.u32", 1); }); }, "\"a.u32\" twice");
    row("value type", [] { return patched("a.u32", 0, le32(13)); }, "unknown value type 13");
    row("truth value", [] { return patched("a.bool", 4, "\2"); }, "neither 0 nor 1");
    row("string length", [] { return patched("general.architecture", 4, le64(1ULL << 63)); }, "longer than the file");
    row("array length", [] { return patched("a.i32s", 8, le64(~0ULL)); }, "longer than the file");
    row("array of arrays", [] { return patched("a.i32s", 4, le32(9)); }, "array of arrays");
    row("array of unknown", [] { return patched("a.i32s", 4, le32(99)); }, "unknown value type 99");
    row("integer beyond 2^63", [] { return patched("a.u64", 4, le64(~0ULL)); }, "too large");
    row("alignment 0", [] { return with([](GgufWriter& w) { w.add_u32("general.alignment", 0); }); }, "zero");
    row("alignment 48", [] { return with([](GgufWriter& w) { w.add_u32("general.alignment", 48); }); }, "power of two");
    row("alignment's type", [] { return with([](GgufWriter& w) { w.add_u64("general.alignment", 32); }); }, "wrong type");
    row("metadata cut", [] { return sound_writer().bytes().substr(0, 90); }, "");
    row("long tensor name", [] { return with([](GgufWriter& w) { w.add_f32_tensor(std::string(64, 'n'), {1}, {}); }); },
        "too long");
    row("empty tensor name", [] { return with([](GgufWriter& w) { w.add_f32_tensor("", {1}, {}); }); }, "empty name");
    row("duplicate tensor", [] {
      return with([](GgufWriter& w) { w.add_f32_tensor("one.weight", {1}, std::vector<float>(1)); });
    }, "listed twice");
    row("five dimensions", [] { return patched("one.weight", 0, le32(5)); }, "too many dimensions");
    row("four billion dimensions", [] { return patched("one.weight", 0, le32(~0U)); }, "too many dimensions");
    row("dimension of zero", [] { return patched("one.weight", 4, le64(0)); }, "dimension of zero");
    row("product overflows", [] { return patched("one.weight", 4, le64(1ULL << 62)); }, "overflows");
    row("negative dimension", [] { return patched("one.weight", 4, le64(~0ULL)); }, "overflows");
    row("bytes overflow", [] { return patched("two.weight", 4, le64(1ULL << 62)); }, "overflows");
    row("removed type", [] { return patched("two.weight", 12, le32(4)); }, "removed type 4");
    row("unknown type", [] { return patched("two.weight", 12, le32(77)); }, "unknown type 77");
    row("row no whole blocks", [] { return patched("two.weight", 12, le32(2)); }, "not a multiple of the block size of Q4_0");
    row("offset unaligned", [] { return patched("two.weight", 16, le64(33)); }, "not aligned");
    row("offset overlaps", [] { return patched("two.weight", 16, le64(0)); }, "overlap");
    row("offset leaves a gap", [] { return patched("two.weight", 16, le64(64)); }, "not where they should be");
    row("offset near 2^64", [] { return patched("two.weight", 16, le64(~31ULL)); }, "not where they should be");
    row("data cut", [] {
      const std::string file = sound_writer().bytes();
      return file.substr(0, file.size() - 33);
    }, "past the end of the file");
    row("raw bytes in a name", [] { return with([](GgufWriter& w) {
      w.add_u32("k\n\xFF", 1);
      w.add_u32("k\n\xFF", 1);
    }); }, "k\\x0A\\xFF");
  }
  void refusesEachFaultByName() {
    QFETCH(Damage, damage);
    QFETCH(QString, names);
    const std::string bytes = damage();
    const auto file = GgufFile::parse(as_bytes(bytes));
    QVERIFY(!file.ok());
    QCOMPARE(file.error().code, ErrorCode::bad_file);
    const QString message = QString::fromStdString(file.error().message);
    QVERIFY2(message.contains(names) && message.endsWith(u'.') && !message.contains(u'\n'), qPrintable(message));
  }

  // Every prefix and every single damaged byte of a small file: read or refused, never anything else (run under ASan).
  void survivesEveryCutAndByte() {
    const std::string sound = sound_writer().bytes();
    for (std::size_t n = 0; n < sound.size(); ++n) static_cast<void>(GgufFile::parse(as_bytes(sound.substr(0, n))));
    for (std::size_t i = 0; i < sound.size(); ++i) {
      for (const char value : {'\0', '\1', '\x7F', '\xFF'}) {
        std::string bytes = sound;
        bytes[i] = value;
        static_cast<void>(GgufFile::parse(as_bytes(bytes)));
      }
    }
  }

  void opensPathsOfAnyAlphabet() {
    const QTemporaryDir dir;
    const QString folder = dir.filePath(QStringLiteral("Zoë 测试"));
    QVERIFY(QDir().mkpath(folder));
    const std::string path = folder.toStdString() + "/é 空 👍.gguf";
    QVERIFY(sound_writer().write(path).ok());
    const auto file = GgufFile::open(path);
    QVERIFY(file.ok());
    QCOMPARE((*file)->path(), path);
    QCOMPARE((*file)->file_bytes(), static_cast<std::uint64_t>(QFileInfo(QString::fromStdString(path)).size()));
    QCOMPARE(static_cast<int>((*file)->tensor("two.weight")->data[3]), 0x40);  // 2.0F
  }
  void readsWithoutTheMapping() {
    const QTemporaryDir dir;
    const std::string path = dir.filePath(QStringLiteral("a.gguf")).toStdString();
    QVERIFY(sound_writer().write(path).ok());
    const auto file = GgufFile::open(path);
    const std::span<const std::byte> data = (*file)->tensor("two.weight")->data;
    (*file)->bring(data);
    std::vector<std::byte> copy(data.size());
    QVERIFY((*file)->read(data, copy.data()));
    QVERIFY(std::equal(copy.begin(), copy.end(), data.begin()));
    QVERIFY((*file)->read(data.subspan(3, 1), copy.data()));
    QCOMPARE(static_cast<int>(copy[0]), 0x40);
    QVERIFY(QFile::resize(QString::fromStdString(path), 16));
    (*file)->bring(data);
    QVERIFY(!(*file)->read(data, copy.data()));  // refused, where the mapping would end the program
  }
  void saysWhatIsWrongWithAPath() {
    const QTemporaryDir dir;
    QVERIFY(GgufFile::open(dir.path().toStdString()).error().message.find("is not a file") != std::string::npos);
    const auto absent = GgufFile::open(dir.filePath(QStringLiteral("absent.gguf")).toStdString());
    QCOMPARE(absent.error().code, ErrorCode::io);
    QVERIFY(absent.error().message.find("does not exist") != std::string::npos);
  }

  void fingerprintIsOfTheContent() {
    const QTemporaryDir dir;
    const std::string a = dir.filePath(QStringLiteral("a.gguf")).toStdString();
    const std::string b = dir.filePath(QStringLiteral("b.gguf")).toStdString();
    const std::string c = dir.filePath(QStringLiteral("c.gguf")).toStdString();
    QVERIFY(sound_writer().write(a).ok() && sound_writer().write(b).ok());
    GgufWriter other = sound_writer();
    other.add_f32_tensor("three", {1}, std::vector<float>{3});
    QVERIFY(other.write(c).ok());
    QCOMPARE((*GgufFile::open(a))->fingerprint(), (*GgufFile::open(b))->fingerprint());
    QVERIFY((*GgufFile::open(a))->fingerprint() != (*GgufFile::open(c))->fingerprint());
  }
};

QTEST_APPLESS_MAIN(TestGguf)
#include "tst_gguf.moc"
