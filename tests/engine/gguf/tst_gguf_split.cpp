// Models split over several files.
#include <QtTest>

#include "engine/gguf/reader.h"
#include "engine/gguf/writer.h"

using namespace tg;

namespace {

GgufWriter part(std::uint32_t index, std::uint32_t count, std::uint32_t n_tensors, const std::string& tensor) {
  GgufWriter w;
  if (index == 0) w.add_string("general.architecture", "llama");
  w.add_u32("split.no", index);
  w.add_u32("split.count", count);
  w.add_u32("split.tensors.count", n_tensors);
  w.add_f32_tensor(tensor, {2}, std::vector<float>{static_cast<float>(index), 1});
  return w;
}

}  // namespace

class TestGgufSplit : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void init() {
    dir_ = std::make_unique<QTemporaryDir>();
    for (std::uint32_t i = 0; i < 3; ++i) write(i, part(i, 3, 3, "t" + std::to_string(i)));
  }

  void partsBecomeOneModel() {
    const auto file = GgufFile::open(path(0));
    QVERIFY2(file.ok(), file.ok() ? "" : file.error().message.c_str());
    QCOMPARE((*file)->tensors().size(), std::size_t{3});
    QVERIFY((*file)->tensor("t2") != nullptr);
    QCOMPARE((*file)->string("general.architecture").value(), std::string_view("llama"));
  }
  void aFileInUseIsSharedUntilAPartIsReplaced() {
    auto first = GgufFile::open(path(0));
    QVERIFY(first.ok());
    const auto again = GgufFile::open(path(0));
    QVERIFY(again.ok());
    QCOMPARE((*again).get(), (*first).get());
    QVERIFY(QFile::remove(QString::fromStdString(path(1))));
    write(1, part(1, 3, 3, "another"));  // while both hold the old one
    const auto replaced = GgufFile::open(path(0));
    QVERIFY(replaced.ok());
    QVERIFY((*replaced)->tensor("another") != nullptr);
    QVERIFY((*first)->tensor("another") == nullptr);
    (*first)->let_go_of_metadata();
    QCOMPARE((*first)->string("general.architecture").value(), std::string_view("llama"));
  }
  void aMissingPartIsNamed() {
    QVERIFY(QFile::remove(QString::fromStdString(path(1))));
    refused(path(0), "Part 2 of 3");
  }
  void aDamagedPartIsNamed() {
    QFile file(QString::fromStdString(path(2)));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("GGUX");
    file.close();
    refused(path(0), "Part 3 of 3");
  }
  void aLaterPartAlone() { refused(path(1), "part 2 of 3"); }
  void aPartOfAnotherModel() {
    write(1, part(1, 4, 3, "t1"));
    refused(path(0), "does not belong");
  }
  void theSameTensorTwice() {
    write(1, part(1, 3, 3, "t0"));
    refused(path(0), "two parts");
  }
  void tensorsMissing() {
    write(0, part(0, 3, 9, "t0"));
    refused(path(0), "instead of 9");
  }
  void aNameThatIsNoPart() {
    const std::string renamed = dir_->filePath(QStringLiteral("model.gguf")).toStdString();
    QVERIFY(part(0, 3, 3, "t0").write(renamed).ok());
    refused(renamed, "does not end in");
  }
  void countsThatContradict() {
    write(0, part(0, 0xFFFFFFFF, 3, "t0"));
    refused(path(0), "contradict");
    GgufWriter only_number;
    only_number.add_u32("split.no", 5);
    write(0, only_number);
    refused(path(0), "contradict");
  }
  void aPartInMemory() {
    const std::string bytes = part(0, 3, 3, "t0").bytes();
    QVERIFY(!GgufFile::parse(std::as_bytes(std::span(bytes))).ok());
  }

 private:
  std::string path(std::uint32_t index) const {
    return dir_->filePath(QStringLiteral("m-%1-of-00003.gguf").arg(index + 1, 5, 10, QLatin1Char('0'))).toStdString();
  }
  void write(std::uint32_t index, const GgufWriter& writer) { QVERIFY(writer.write(path(index)).ok()); }
  static void refused(const std::string& file_path, const char* names) {
    const auto file = GgufFile::open(file_path);
    QVERIFY(!file.ok());
    QVERIFY2(file.error().message.find(names) != std::string::npos, file.error().message.c_str());
  }
  std::unique_ptr<QTemporaryDir> dir_;
};

QTEST_APPLESS_MAIN(TestGgufSplit)
#include "tst_gguf_split.moc"
