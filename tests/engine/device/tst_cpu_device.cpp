// The CPU device: kernels against their scalar twin, memory, refusals, cancellation, idle threads.
#include <QtTest>
#include <chrono>
#include <ctime>
#include <thread>

#include "engine/device/cpu/processor.h"
#include "engine/device/cpu/self_check.h"
#include "engine/device/cpu/thread_pool.h"

using namespace tg;

class TestCpuDevice : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void every_op_agrees_with_its_scalar_twin_data() {
    QTest::addColumn<QString>("kernels");
    for (const std::string& kernels : cpu::available_kernels()) QTest::newRow(kernels.c_str()) << QString::fromStdString(kernels);
  }
  void every_op_agrees_with_its_scalar_twin() {
    QFETCH(QString, kernels);
    CpuOptions options;
    options.kernels = kernels.toStdString();
    const std::vector<SelfCheck> checks = self_check_cpu(options);
    QVERIFY(checks.size() > 200);
    for (const SelfCheck& c : checks) QVERIFY2(c.ok, qPrintable(QString::fromStdString(c.name) + QStringLiteral(": nmse %1").arg(c.nmse)));
  }

  void unknown_kernels_are_refused() {
    CpuOptions options;
    options.kernels = "mmx";
    const auto device = make_cpu_device(options);
    QVERIFY(!device.ok());
    QCOMPARE(device.error().code, ErrorCode::unsupported);
  }

  void short_matrix_is_refused() {
    const auto device = make_cpu_device({});
    const std::vector<std::byte> bytes(10);
    WeightSource source{.name = "short", .format = Format::Q4_0, .rows = 2, .cols = 32, .data = bytes};
    QVERIFY(!(*device)->upload(source).ok());
    source.cols = 33;  // no whole blocks
    QVERIFY(!(*device)->upload(source).ok());
  }

  void matrices_start_at_zero_and_grow() {
    const auto device = make_cpu_device({});
    std::shared_ptr<std::byte> storage;
    const Mat small = (*device)->matrix(storage, 2, 5);
    small.row(1)[4] = 3;
    const Mat again = (*device)->matrix(storage, 1, 5);
    QCOMPARE(again.data, small.data);
    const Mat large = (*device)->matrix(storage, 100, 50);
    QCOMPARE(large.row(99)[49], 0.0F);
  }

  void all_pieces_run_once_on_any_number_of_threads() {
    for (const int threads : {1, 2, 3, 5}) {
      cpu::ThreadPool pool(threads);
      for (int round = 0; round < 200; ++round) {
        std::vector<std::atomic<int>> counts(static_cast<std::size_t>(round % 17));
        pool.run(static_cast<int>(counts.size()), [&](int piece, int thread) {
          QVERIFY(thread >= 0 && thread < threads);
          counts[static_cast<std::size_t>(piece)].fetch_add(1);
        });
        for (const auto& c : counts) QCOMPARE(c.load(), 1);
      }
    }
  }

  void cancelled_ops_return_at_once() {
    cpu::ThreadPool pool(2);
    std::atomic<bool> cancel{false};
    pool.set_cancel(&cancel);
    std::atomic<int> done{0};
    pool.run(10000, [&](int, int) {
      if (done.fetch_add(1) == 20) cancel.store(true);
    });
    QVERIFY(done.load() < 30);
  }

  void idle_threads_use_no_processor_time() {
    cpu::ThreadPool pool(3);
    const auto busy_for = [](std::chrono::milliseconds time) {
      const auto start = std::chrono::steady_clock::now();
      while (std::chrono::steady_clock::now() - start < time) std::this_thread::yield();
    };
    pool.run(100, [](int, int) {});
    busy_for(std::chrono::milliseconds(5));  // the workers' short spin is over
    const std::clock_t before = std::clock();
    busy_for(std::chrono::milliseconds(200));
    const double used = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    QVERIFY2(used < 0.3, qPrintable(QString::number(used)));  // this thread's own 0.2 s; two busy workers would add up to 0.4 s
  }

  void limits_are_measured() {
    const auto device = make_cpu_device({});
    const DeviceLimits limits = (*device)->measure_limits();
    QVERIFY(limits.read_gb_per_s > 0.1);
    QVERIFY(limits.int8_gop_per_s > 0.1);
    QVERIFY(limits.f32_gop_per_s > 0.1);
  }
};

QTEST_APPLESS_MAIN(TestCpuDevice)
#include "tst_cpu_device.moc"
