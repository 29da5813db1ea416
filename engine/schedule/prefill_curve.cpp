#include "engine/schedule/prefill_curve.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace tg {
namespace {

constexpr double kFading = 0.98;      // a step counts half after 34 more: the machine may have become slower or faster
constexpr double kRidge = 1e-6;       // keeps the equations solvable while all steps look alike
constexpr double kUnsure = 0.25;      // relative error assumed before it is measured

}  // namespace

PrefillCurve::Terms PrefillCurve::terms(int rows, int depth, bool ends) {
  const double n = rows;
  return {1.0, n, n * (depth + n / 2) / 1024.0, ends ? 1.0 : 0.0};
}

// Least squares over the terms in USED (others 0), by Gaussian elimination.
PrefillCurve::Terms PrefillCurve::solved(const std::array<double, kTerms * kTerms>& matrix, const Terms& vector, const std::array<bool, kTerms>& used) {
  double a[kTerms][kTerms + 1] = {};
  for (std::size_t i = 0; i < kTerms; ++i) {
    for (std::size_t j = 0; j < kTerms; ++j) a[i][j] = used[i] && used[j] ? matrix[i * kTerms + j] : 0.0;
    a[i][i] = used[i] ? a[i][i] * (1 + kRidge) + 1e-18 : 1.0;
    a[i][kTerms] = used[i] ? vector[i] : 0.0;
  }
  for (std::size_t i = 0; i < kTerms; ++i)
    for (std::size_t k = 0; k < kTerms; ++k) {
      if (k == i) continue;
      const double f = a[k][i] / a[i][i];
      for (std::size_t j = i; j <= kTerms; ++j) a[k][j] -= f * a[i][j];
    }
  Terms out{};
  for (std::size_t i = 0; i < kTerms; ++i) out[i] = a[i][kTerms] / a[i][i];
  return out;
}

void PrefillCurve::add(int rows, int depth, bool ends, double ms) {
  if (rows < 1 || !(ms > 0)) return;
  if (samples_ > 0) {
    const double off = std::abs(step_ms(rows, depth, ends) - ms) / ms;
    error_ += (std::min(off, 1.0) - error_) / std::min(samples_ + 1, 16);
  } else {
    error_ = kUnsure;
  }
  const Terms t = terms(rows, depth, ends);
  for (std::size_t i = 0; i < kTerms; ++i) {
    for (std::size_t j = 0; j < kTerms; ++j) matrix_[i * kTerms + j] = matrix_[i * kTerms + j] * kFading + t[i] * t[j] / (ms * ms);
    vector_[i] = vector_[i] * kFading + t[i] / ms;
  }
  ++samples_;
  solve();
}

// No term can be negative: one that comes out so is left out, the least plausible first.
void PrefillCurve::solve() {
  std::array<bool, kTerms> used{true, true, true, true};
  for (std::size_t round = 0; round < kTerms; ++round) {
    fit_ = solved(matrix_, vector_, used);
    bool fine = true;
    for (const std::size_t i : {std::size_t{3}, std::size_t{2}, std::size_t{0}, std::size_t{1}})
      if (used[i] && (fit_[i] < 0 || !std::isfinite(fit_[i]))) {
        used[i] = false;
        fine = false;
        break;
      }
    if (fine) return;
  }
}

double PrefillCurve::step_ms(int rows, int depth, bool ends) const {
  const Terms t = terms(rows, depth, ends);
  double ms = 0;
  for (std::size_t i = 0; i < kTerms; ++i) ms += fit_[i] * t[i];
  return ms;
}

std::optional<double> PrefillCurve::predict(int fresh, int cached, int chunk) const {
  if (samples_ == 0) return std::nullopt;
  double ms = 0;
  for (int done = 0; done < fresh;) {
    const int rows = std::min(std::max(chunk, 1), fresh - done);
    ms += step_ms(rows, cached + done, done + rows == fresh);
    done += rows;
  }
  return ms;
}

double PrefillCurve::relative_error() const { return samples_ < 3 ? kUnsure : std::max(error_, 0.03); }

std::optional<int> PrefillCurve::rows_within(double ms, int depth) const {
  if (samples_ == 0) return std::nullopt;
  int low = 1, high = 1 << 16;
  while (low < high) {
    const int middle = low + (high - low + 1) / 2;
    if (step_ms(middle, depth, false) <= ms) low = middle;
    else high = middle - 1;
  }
  return low;
}

std::string PrefillCurve::to_text() const {
  std::ostringstream out;
  out.precision(17);
  out << samples_ << ' ' << error_;
  for (const double v : matrix_) out << ' ' << v;
  for (const double v : vector_) out << ' ' << v;
  return out.str();
}

std::optional<PrefillCurve> PrefillCurve::from_text(const std::string& text) {
  std::istringstream in(text);
  PrefillCurve curve;
  in >> curve.samples_ >> curve.error_;
  for (double& v : curve.matrix_) in >> v;
  for (double& v : curve.vector_) in >> v;
  if (!in || curve.samples_ < 1 || curve.samples_ > (1 << 30) || !(curve.error_ >= 0)) return std::nullopt;
  for (const double v : curve.matrix_)
    if (!std::isfinite(v)) return std::nullopt;
  curve.solve();
  return curve;
}

}  // namespace tg
