// How long reading takes on this machine, learned from every step: ms = fixed + per_token * n + per_key * (keys looked at), and what the
// first token costs on top in the step that ends the prompt.
// Thread: not synchronised; the owner locks.
#pragma once
#include <array>
#include <optional>
#include <string>

namespace tg {

class PrefillCurve {
 public:
  // One step that read ROWS tokens at positions DEPTH.. took MS, with nothing else in it. ENDS: it ended a prompt.
  void add(int rows, int depth, bool ends, double ms);
  // Time of reading FRESH tokens after CACHED, in steps of CHUNK, up to the first token; unset: nothing measured yet.
  std::optional<double> predict(int fresh, int cached, int chunk) const;
  double step_ms(int rows, int depth, bool ends) const;  // meaningful once there are samples
  double relative_error() const;  // typical error of one step, 0.1 = 10 %
  int samples() const { return samples_; }
  // Most tokens that a step at DEPTH may read in MS; unset: not known yet.
  std::optional<int> rows_within(double ms, int depth) const;

  std::string to_text() const;
  static std::optional<PrefillCurve> from_text(const std::string& text);

 private:
  static constexpr std::size_t kTerms = 4;
  using Terms = std::array<double, kTerms>;
  static Terms terms(int rows, int depth, bool ends);
  static Terms solved(const std::array<double, kTerms * kTerms>& matrix, const Terms& vector, const std::array<bool, kTerms>& used);
  void solve();
  // Normal equations of the relative least squares over (1, rows, rows * mean depth, ends), old steps fading.
  std::array<double, kTerms * kTerms> matrix_{};
  Terms vector_{};
  Terms fit_{};
  double error_ = 0;
  int samples_ = 0;
};

}  // namespace tg
