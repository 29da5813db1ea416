#include "engine/schedule/prefill_curve.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace tg {
namespace {

constexpr double kFading = 0.98;      // a step counts half after 34 more: the machine may have become slower or faster
constexpr double kRidge = 1e-6;       // keeps the equations solvable while all steps look alike
constexpr double kUnsure = 0.25;      // relative error assumed before it is measured

using Terms = std::array<double, 3>;
Terms terms(int rows, int depth) {
  const double n = rows;
  return {1.0, n, n * (depth + n / 2) / 1024.0};
}

// Least squares over the terms in USED (others 0), by Gaussian elimination.
Terms solved(const std::array<double, 9>& matrix, const Terms& vector, const std::array<bool, 3>& used) {
  double a[3][4] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) a[i][j] = used[i] && used[j] ? matrix[i * 3 + j] : 0.0;
    a[i][i] = used[i] ? a[i][i] * (1 + kRidge) + 1e-18 : 1.0;
    a[i][3] = used[i] ? vector[i] : 0.0;
  }
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      if (k == i) continue;
      const double f = a[k][i] / a[i][i];
      for (std::size_t j = i; j < 4; ++j) a[k][j] -= f * a[i][j];
    }
  return {a[0][3] / a[0][0], a[1][3] / a[1][1], a[2][3] / a[2][2]};
}

}  // namespace

void PrefillCurve::add(int rows, int depth, double ms) {
  if (rows < 1 || !(ms > 0)) return;
  if (samples_ > 0) {
    const double off = std::abs(step(rows, depth) - ms) / ms;
    error_ += (std::min(off, 1.0) - error_) / std::min(samples_ + 1, 16);
  } else {
    error_ = kUnsure;
  }
  const Terms t = terms(rows, depth);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) matrix_[i * 3 + j] = matrix_[i * 3 + j] * kFading + t[i] * t[j] / (ms * ms);
    vector_[i] = vector_[i] * kFading + t[i] / ms;
  }
  ++samples_;
  solve();
}

// No term can be negative: one that comes out so is left out, the least plausible first.
void PrefillCurve::solve() {
  std::array<bool, 3> used{true, true, true};
  for (int round = 0; round < 3; ++round) {
    fit_ = solved(matrix_, vector_, used);
    bool fine = true;
    for (const std::size_t i : {std::size_t{2}, std::size_t{0}, std::size_t{1}})
      if (used[i] && (fit_[i] < 0 || !std::isfinite(fit_[i]))) {
        used[i] = false;
        fine = false;
        break;
      }
    if (fine) return;
  }
}

double PrefillCurve::step(int rows, int depth) const {
  const Terms t = terms(rows, depth);
  return fit_[0] * t[0] + fit_[1] * t[1] + fit_[2] * t[2];
}

std::optional<double> PrefillCurve::predict(int fresh, int cached, int chunk) const {
  if (samples_ == 0) return std::nullopt;
  double ms = 0;
  for (int done = 0; done < fresh;) {
    const int rows = std::min(std::max(chunk, 1), fresh - done);
    ms += step(rows, cached + done);
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
    if (step(middle, depth) <= ms) low = middle;
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
