// How long reading takes on this machine, learned from every step: ms = fixed + per_token * n + per_key * (keys looked at).
// Thread: not synchronised; the owner locks.
#pragma once
#include <array>
#include <optional>
#include <string>

namespace tg {

class PrefillCurve {
 public:
  // One step that read ROWS tokens at positions DEPTH.. took MS, with nothing else in it.
  void add(int rows, int depth, double ms);
  // Time of reading FRESH tokens after CACHED, in steps of CHUNK; unset: nothing measured yet.
  std::optional<double> predict(int fresh, int cached, int chunk) const;
  double relative_error() const;  // typical error of one step, 0.1 = 10 %
  int samples() const { return samples_; }
  // Most tokens that a step at DEPTH may read in MS; unset: not known yet.
  std::optional<int> rows_within(double ms, int depth) const;

  std::string to_text() const;
  static std::optional<PrefillCurve> from_text(const std::string& text);

 private:
  void solve();
  double step(int rows, int depth) const;
  // Normal equations of the relative least squares over (1, rows, rows * mean depth), old steps fading.
  std::array<double, 9> matrix_{};
  std::array<double, 3> vector_{};
  std::array<double, 3> fit_{};
  double error_ = 0;
  int samples_ = 0;
};

}  // namespace tg
