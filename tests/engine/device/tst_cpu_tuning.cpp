// What is measured about a machine: its file, what happens to a damaged one, and that no value changes a bit.
#include <QtTest>
#include <cstring>

#include "engine/device/cpu/cpu_device.h"
#include "engine/device/cpu/processor.h"
#include "engine/device/cpu/self_check.h"

using namespace tg;
using cpu::Tuning;

namespace {

const std::string kGood = "direct 1 2 3 4 ahead 4096 blocks 0 cache 1";

std::string path_in(const QTemporaryDir& dir) { return dir.filePath(QStringLiteral("tuning.txt")).toStdString(); }

void write(const std::string& path, const QByteArray& text) {
  QFile file(QString::fromStdString(path));
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(text);
}

Tuning random_tuning(cpu::Random& random) {
  Tuning tuning;
  for (int& rows : tuning.direct_rows) rows = 1 + static_cast<int>(random.next() % 24);
  tuning.weights_ahead = static_cast<int>(random.next() % 300) * 64;
  tuning.blocks_ahead = static_cast<int>(random.next() % 3) * 2048;
  tuning.prefetch_cache = 1 + static_cast<int>(random.next() % 2);
  return tuning;
}

// N rows times a matrix, with TUNING.
std::vector<float> product(cpu::CpuDevice& device, const Weight& weight, Mat x, const Tuning& tuning) {
  device.set_tuning(tuning);
  const auto activations = device.activations(x.rows, x.cols);
  device.prepare(x, *activations);
  std::shared_ptr<std::byte> storage;
  MatmulTask task;
  task.weight = &weight;
  task.out = device.matrix(storage, x.rows, weight.rows);
  device.matmul(*activations, {&task, 1});
  std::vector<float> values;
  for (int r = 0; r < x.rows; ++r) values.insert(values.end(), task.out.row(r), task.out.row(r) + weight.rows);
  return values;
}

}  // namespace

class TestCpuTuning : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void text_is_read_as_written() {
    cpu::Random random(5);
    for (int i = 0; i < 100; ++i) {
      const Tuning tuning = random_tuning(random);
      QVERIFY(cpu::tuning_from_text(cpu::to_text(tuning)) == tuning);
    }
    QVERIFY(cpu::tuning_from_text(cpu::to_text(cpu::kUsualTuning)) == cpu::kUsualTuning);
  }

  void other_texts_are_none_data() {
    QTest::addColumn<QByteArray>("text");
    for (const char* text : {"", "direct", "direct ", "direct 1 2 3 4", "direct 1 2 3 4 ahead", "direct 1 2 3 4 ahead 4096", "direct 1 2 3 4 ahead 4096 cache 1",
                             "direct 1 2 3 4 5 ahead 4096 cache 1", "direct 1 2 3 4 ahead 4096 blocks cache 1", "direct 1 2 3 4 ahead 4096 blocks 1 cache 1",
                             "direct 1 2 3 4 ahead 4096 blocks 0 cache", "direct 1 2 3 4 ahead 4096 blocks 0 cache 1 ", "direct 1 2 3 4 ahead 4096 blocks 0 cache 1 1",
                             "direct 1 2 3 4 ahead 4096 blocks 0 cache 0", "direct 1 2 3 4 ahead 4096 blocks 0 cache 3", "direct 1 2 3 4 5 ahead 4096 blocks 0 cache 1",
                             "direct 0 2 3 4 ahead 4096 blocks 0 cache 1", "direct 65 2 3 4 ahead 4096 blocks 0 cache 1", "direct 1 2 3 -4 ahead 4096 blocks 0 cache 1",
                             "direct 1 2 3 4 ahead 4095 blocks 0 cache 1", "direct 1 2 3 4 ahead 655360 blocks 0 cache 1", "direct 1 2 3 4 ahead -64 blocks 0 cache 1",
                             "direct 1 2 3 99999999999 ahead 4096 blocks 0 cache 1", "direct 1  2 3 4 ahead 4096 blocks 0 cache 1", "direct a b c d ahead f cache g",
                             "Direct 1 2 3 4 ahead 4096 blocks 0 cache 1"}) {
      QTest::newRow(text) << QByteArray(text);
    }
  }
  void other_texts_are_none() {
    QFETCH(QByteArray, text);
    QVERIFY(!cpu::tuning_from_text(text.toStdString()));
  }

  void machines_share_a_file() {
    const QTemporaryDir dir;
    const std::string path = path_in(dir);
    QVERIFY(!cpu::read_tuning(path, "a"));
    Tuning first, second;
    first.weights_ahead = 2048;
    second.direct_rows = {1, 2, 3, 4};
    QVERIFY(cpu::write_tuning(path, "a\nb\tc", first));
    QVERIFY(cpu::write_tuning(path, "other", second));
    QVERIFY(cpu::read_tuning(path, "a\nb\tc") == first);
    QVERIFY(cpu::read_tuning(path, "other") == second);
    QVERIFY(cpu::write_tuning(path, "other", first));
    QVERIFY(cpu::read_tuning(path, "other") == first);
    QVERIFY(cpu::read_tuning(path, "a b c") == first);
    QCOMPARE(QDir(dir.path()).entryList(QDir::Files).size(), 1);
    QVERIFY(!cpu::write_tuning(path_in(dir) + "/x/tuning.txt", "a", first));  // below a file
    const std::string below = dir.filePath(QStringLiteral("new/folder/tuning.txt")).toStdString();
    QVERIFY(cpu::write_tuning(below, "a", first));
    QVERIFY(cpu::read_tuning(below, "a") == first);
  }

  void damaged_files_hold_nothing_data() {
    QTest::addColumn<QByteArray>("text");
    const QByteArray line = "a\t" + QByteArray::fromStdString(kGood);
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("no version") << line + '\n';
    QTest::newRow("other version") << "turnglass-tuning 2\n" + line + '\n';
    QTest::newRow("cut off") << "turnglass-tuning 1\n" + line;
    QTest::newRow("no tab") << "turnglass-tuning 1\na " + QByteArray::fromStdString(kGood) + '\n';
    QTest::newRow("value out of range") << QByteArray("turnglass-tuning 1\na\tdirect 1 2 3 400 ahead 4096 blocks 0 cache 1\n");
    QTest::newRow("zeros") << QByteArray(1000, '\0');
    QTest::newRow("too long") << "turnglass-tuning 1\n" + QByteArray(1 << 17, 'x') + '\n' + line + '\n';
  }
  void damaged_files_hold_nothing() {
    QFETCH(QByteArray, text);
    const QTemporaryDir dir;
    const std::string path = path_in(dir);
    write(path, text);
    QVERIFY(!cpu::read_tuning(path, "a"));
    QVERIFY(cpu::write_tuning(path, "a", cpu::kUsualTuning));  // and are made good
    QVERIFY(cpu::read_tuning(path, "a") == cpu::kUsualTuning);
  }

  void bad_lines_do_not_hide_good_ones() {
    const QTemporaryDir dir;
    write(path_in(dir), "turnglass-tuning 1\nnonsense\n\n\ta\nb\tdirect\na\t" + QByteArray::fromStdString(kGood) + "\nhalf");
    QVERIFY(cpu::read_tuning(path_in(dir), "a") == cpu::tuning_from_text(kGood));
  }

  void without_a_file_nothing_is_measured() {
    const auto device = make_cpu_device({});
    QVERIFY((*device)->tuned());
    QCOMPARE((*device)->tuning(), cpu::to_text(cpu::kUsualTuning));
  }

  void measured_once_and_kept() {
    const QTemporaryDir dir;
    const CpuOptions options{2, "auto", path_in(dir)};
    auto device = make_cpu_device(options);
    QVERIFY(!(*device)->tuned());
    QCOMPARE((*device)->tuning(), cpu::to_text(cpu::kUsualTuning));
    std::atomic<bool> cancel{true};
    (*device)->set_cancel(&cancel);
    (*device)->tune();
    (*device)->set_cancel(nullptr);
    QVERIFY(!(*device)->tuned());  // cancelled
    QCOMPARE((*device)->tuning(), cpu::to_text(cpu::kUsualTuning));
    QElapsedTimer timer;
    timer.start();
    (*device)->tune();
    qInfo("%s in %lld ms", (*device)->tuning().c_str(), static_cast<long long>(timer.elapsed()));
    QVERIFY((*device)->tuned());
    const auto again = make_cpu_device(options);
    QVERIFY((*again)->tuned());
    QCOMPARE((*again)->tuning(), (*device)->tuning());
    QVERIFY(!(*make_cpu_device({1, "auto", path_in(dir)}))->tuned());  // another number of threads is another machine
  }

  void no_value_changes_a_bit_data() {
    QTest::addColumn<QString>("kernels");
    QTest::addColumn<int>("format");
    for (const std::string& kernels : cpu::available_kernels()) {
      for (const Format format : {Format::F16, Format::BF16, Format::Q8_0, Format::Q4_0, Format::Q4_1, Format::Q4_K, Format::Q5_K, Format::Q6_K, Format::Q2_K, Format::IQ4_XS}) {
        const std::string name = kernels + " " + std::string(format_info(format)->name);
        QTest::newRow(name.c_str()) << QString::fromStdString(kernels) << static_cast<int>(format);
      }
    }
  }
  void no_value_changes_a_bit() {
    QFETCH(QString, kernels);
    QFETCH(int, format);
    cpu::CpuDevice device(*cpu::kernels_by_name(kernels.toStdString()), 2);
    constexpr int kRows = 83, kCols = 768, kMost = 30;
    cpu::Random random(11);
    const auto bytes = cpu::make_weight(static_cast<Format>(format), kRows, kCols, cpu::Payload::random, random);
    const auto weight = device.upload({.name = "test", .format = static_cast<Format>(format), .rows = kRows, .cols = kCols, .data = bytes});
    QVERIFY(weight.ok());
    std::shared_ptr<std::byte> storage;
    const Mat x = device.matrix(storage, kMost, kCols);
    for (int r = 0; r < kMost; ++r) {
      for (int i = 0; i < kCols; ++i) x.row(r)[i] = random.normal();
    }
    const std::vector<float> usual = product(device, **weight, x, cpu::kUsualTuning);
    for (int i = 0; i < 20; ++i) {
      const int n = 1 + static_cast<int>(random.next() % kMost);
      const std::vector<float> values = product(device, **weight, {x.data, n, kCols, x.stride}, random_tuning(random));
      QVERIFY(std::memcmp(values.data(), usual.data(), values.size() * sizeof(float)) == 0);
    }
  }
};

QTEST_APPLESS_MAIN(TestCpuTuning)
#include "tst_cpu_tuning.moc"
