#include "engine/sampling/candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tg {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
// exp(-64) = 1.6e-28: even 2^18 such tokens do not reach the last bit of a double sum that starts at 1.
constexpr float kNegligible = -64.0F;

}  // namespace

void Candidates::assign(std::span<const float> logits) {
  list_.clear();
  sorted_ = 0;
  in_order_ = false;
  mass_ = 0;
  max_ = kMinusInfinity;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const float logit = logits[i];
    if (!(logit > kMinusInfinity)) continue;
    list_.push_back({std::min(logit, std::numeric_limits<float>::max()), static_cast<TokenId>(i)});
    max_ = std::max(max_, list_.back().logit);
  }
  if (list_.empty()) {
    list_.push_back({0.0F, 0});
    max_ = 0.0F;
  }
}

void Candidates::assign(RowCandidates& row) {
  list_.swap(row.list);
  sorted_ = 0;
  in_order_ = true;
  mass_ = row.mass;
  max_ = kMinusInfinity;
  for (const TokenCandidate& c : list_) max_ = std::max(max_, c.logit);
}

double Candidates::mass() {
  if (mass_ > 0) return mass_;
  if (in_order_) sort_prefix(list_.size());
  double total = 0;
  for (const TokenCandidate& c : list_) total += weight(c);
  return total;
}

double Candidates::weight(const TokenCandidate& c) const {
  const float d = c.logit - max_;
  return d < kNegligible ? 0.0 : std::exp(static_cast<double>(d));
}

void Candidates::sort_prefix(std::size_t n) {
  n = std::min(n, list_.size());
  if (n <= sorted_) return;
  n = std::min(list_.size(), std::max(n, std::max<std::size_t>(64, sorted_ * 4)));
  const auto from = list_.begin() + static_cast<std::ptrdiff_t>(sorted_);
  const auto to = list_.begin() + static_cast<std::ptrdiff_t>(n);
  if (to != list_.end()) std::nth_element(from, to, list_.end(), more_likely);
  std::sort(from, to, more_likely);
  sorted_ = n;
}

const TokenCandidate& Candidates::operator[](std::size_t i) {
  sort_prefix(i + 1);
  return list_[i];
}

void Candidates::keep_top_k(int k) {
  const auto n = static_cast<std::size_t>(std::max(k, 0));
  if (n == 0 || n >= list_.size()) return;
  sort_prefix(n);
  list_.resize(n);
  sorted_ = std::min(sorted_, n);
}

void Candidates::keep_typical(float mass) {
  if (mass >= 1.0F || list_.size() < 2) return;
  const double total = this->mass();
  double entropy = 0;
  for (const TokenCandidate& c : list_) {
    const double p = weight(c) / total;
    if (p > 0) entropy -= p * std::log(p);
  }
  const double log_total = std::log(total);
  const auto surprise = [&](const TokenCandidate& c) {
    return std::abs(-(static_cast<double>(c.logit - max_) - log_total) - entropy);
  };
  std::sort(list_.begin(), list_.end(), [&](const TokenCandidate& a, const TokenCandidate& b) {
    const double x = surprise(a), y = surprise(b);
    return x < y || (x == y && more_likely(a, b));
  });
  double sum = 0;
  std::size_t n = 0;
  while (n < list_.size() && sum < static_cast<double>(mass) * total) sum += weight(list_[n++]);
  list_.resize(std::max<std::size_t>(n, 1));
  sorted_ = 0;
  max_ = std::max_element(list_.begin(), list_.end(), [](const TokenCandidate& a, const TokenCandidate& b) { return more_likely(b, a); })->logit;
}

void Candidates::keep_top_p(float mass) {
  if (mass >= 1.0F) return;
  const double enough = static_cast<double>(mass) * this->mass();
  double sum = 0;
  std::size_t n = 0;
  while (n < list_.size()) {
    sum += weight((*this)[n++]);
    if (sum >= enough) break;
  }
  list_.resize(std::max<std::size_t>(n, 1));
  sorted_ = std::min(sorted_, list_.size());
}

void Candidates::keep_min_p(float fraction) {
  if (fraction <= 0.0F) return;
  const double least = std::log(static_cast<double>(std::min(fraction, 1.0F)));
  const auto unlikely = [&](const TokenCandidate& c) { return static_cast<double>(c.logit - max_) < least; };
  const auto sorted_end = list_.begin() + static_cast<std::ptrdiff_t>(sorted_);
  const auto kept_sorted = std::find_if(list_.begin(), sorted_end, unlikely) - list_.begin();
  list_.erase(std::remove_if(list_.begin(), list_.end(), unlikely), list_.end());
  sorted_ = static_cast<std::size_t>(kept_sorted);
}

TokenId Candidates::draw(float temperature, double uniform) {
  const auto scaled = [&](const TokenCandidate& c) { return std::exp(static_cast<double>(c.logit - max_) / static_cast<double>(temperature)); };
  if (in_order_) sort_prefix(list_.size());
  double total = 0;
  for (const TokenCandidate& c : list_) total += scaled(c);
  double left = uniform * total;
  for (std::size_t i = 0; i < list_.size(); ++i) {
    left -= scaled((*this)[i]);
    if (left < 0) return list_[i].id;
  }
  return (*this)[0].id;  // rounding used up the sum
}

}  // namespace tg
