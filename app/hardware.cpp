#include "app/hardware.h"

#include <QThread>

#include "engine/base/platform.h"
#include "engine/device/device.h"

namespace tg {
namespace {

constexpr double kBytesPerParameter = 4.5 / 8;
constexpr double kTokensOfAPaperPage = 600;
// Shares of the measured limits that whole models reach in practice (decode, prefill).
constexpr double kDecodeShare = 0.8, kPrefillShare = 0.4;
constexpr double kWorkingSpace = 1.0 * (1 << 30);  // caches and buffers beside the weights

}  // namespace

HardwareEstimate estimate(const HardwareReport& report, double parameters) {
  const double bytes = parameters * kBytesPerParameter;
  HardwareEstimate result;
  result.parameters = parameters;
  result.fits = bytes + kWorkingSpace < double(report.memoryFree);
  result.roomForLongChats = bytes + 4 * kWorkingSpace < double(report.memoryFree);
  if (report.readGbPerS) result.writeTokensPerSecond = kDecodeShare * *report.readGbPerS * 1e9 / bytes;
  if (report.int8GopPerS) result.readPageMs = 1e3 * 2 * parameters * kTokensOfAPaperPage / (kPrefillShare * *report.int8GopPerS * 1e9);
  return result;
}

Hardware::~Hardware() {
  if (thread_) thread_->wait();
}

void Hardware::look() {
  report_.cores = QThread::idealThreadCount();
  if (const auto memory = main_memory()) {
    report_.memoryTotal = static_cast<qint64>(memory->total);
    report_.memoryFree = static_cast<qint64>(memory->free);
  }
}

void Hardware::measure() {
  if (thread_) return;
  auto limits = std::make_shared<DeviceLimits>();
  thread_ = QThread::create([limits] {
    if (auto device = make_cpu_device(CpuOptions{})) *limits = (*device)->measure_limits();
  });
  connect(thread_, &QThread::finished, this, [this, limits] {
    if (limits->read_gb_per_s > 0) report_.readGbPerS = limits->read_gb_per_s;
    if (limits->int8_gop_per_s > 0) report_.int8GopPerS = limits->int8_gop_per_s;
    thread_->deleteLater();
    thread_ = nullptr;
    Q_EMIT measured();
  });
  thread_->start(QThread::LowPriority);
}

}  // namespace tg
