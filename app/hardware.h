// What this computer is and what it was measured to do, for the first-run page and the planner.
// Thread: lives on the main thread; measure() works on a thread of its own and answers by signal.
#pragma once
#include <QObject>
#include <QString>
#include <optional>

namespace tg {

struct HardwareReport {
  int cores = 0;
  qint64 memoryTotal = 0, memoryFree = 0;              // bytes
  std::optional<double> readGbPerS, int8GopPerS;       // unset: not measured yet
};

// Estimate for a model of `parameters` in a file of about 4.5 bits each: bandwidth bounds writing, arithmetic bounds reading.
struct HardwareEstimate {
  double parameters = 0;
  bool fits = false, roomForLongChats = false;
  std::optional<double> writeTokensPerSecond, readPageMs;  // a page is taken as 600 tokens
};
HardwareEstimate estimate(const HardwareReport& report, double parameters);

class Hardware : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  ~Hardware() override;
  const HardwareReport& report() const { return report_; }
  void look();     // cores and memory, at once
  void measure();  // about a second of both cores -> measured()

 Q_SIGNALS:
  void measured();

 private:
  HardwareReport report_;
  class QThread* thread_ = nullptr;
};

}  // namespace tg
