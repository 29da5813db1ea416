// What was measured on this machine, kept in one small file: prefill curves per model, limits per device, speed of reading snapshots.
// Thread: not synchronised; the scheduler locks.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "engine/measure/phase_work.h"
#include "engine/schedule/prefill_curve.h"

namespace tg {

class CurveStore {
 public:
  explicit CurveStore(std::string file);  // empty: nothing is kept
  bool kept() const { return !file_.empty(); }

  std::optional<PrefillCurve> curve(const std::string& key) const;
  // The best known curve of this model, with whatever kernels and threads; BACKEND empty: any.
  std::optional<PrefillCurve> curve_of(const std::string& fingerprint, const std::string& backend) const;
  void set_curve(const std::string& key, const PrefillCurve& curve);
  std::optional<MeasuredLimits> limits(const std::string& device) const;
  void set_limits(const std::string& device, const MeasuredLimits& limits);
  std::optional<double> load_ms(const std::string& fingerprint) const;  // of the last load
  void set_load_ms(const std::string& fingerprint, double ms);
  void add_restore(double bytes, double ms);
  std::optional<double> restore_ms(double bytes) const;
  // The file's new content, when something changed since the last call.
  std::optional<std::string> changed_text();
  const std::string& file() const { return file_; }

 private:
  void parse(const std::string& text);
  std::string file_;
  std::map<std::string, PrefillCurve> curves_;
  std::map<std::string, MeasuredLimits> limits_;
  std::map<std::string, double> loads_;
  double restore_bytes_ = 0, restore_time_ = 0;  // fading sums
  bool changed_ = false;
};

}  // namespace tg
