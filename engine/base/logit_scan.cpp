#include "engine/base/logit_scan.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tg {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity(), kLargest = std::numeric_limits<float>::max();

// Sixteen lanes that the compiler maps to the registers of each target below; no fused operations, so that all give the same bits.
// Passed by reference: a vector's way through a call is not the same for all targets.
using Lanes = float __attribute__((vector_size(64)));
using Ints = int __attribute__((vector_size(64)));
#define TG_SCAN_INLINE [[gnu::always_inline]] inline

TG_SCAN_INLINE void load(const float* from, Lanes& to) { __builtin_memcpy(&to, from, sizeof to); }

// x = exp(x) for x <= 0, relative error below 3e-7; 0 below -87.3.
TG_SCAN_INLINE void exp_lanes(Lanes& x) {
  constexpr float kLog2e = 1.44269504088896341F, kLn2High = 0.693359375F, kLn2Low = -2.12194440054690583e-4F, kRound = 12582912.0F;
  const Lanes none = {};
  const Ints tiny = x < -87.3F;
  const Lanes y = tiny ? none : x;
  const Lanes n = (y * kLog2e + kRound) - kRound;
  const Lanes r = (y - n * kLn2High) - n * kLn2Low;
  Lanes p = r * (1.0F / 5040) + 1.0F / 720;
  p = p * r + 1.0F / 120;
  p = p * r + 1.0F / 24;
  p = p * r + 1.0F / 6;
  p = p * r + 0.5F;
  const Lanes e = (p * r) * r + r + 1.0F;
  const Ints power = (__builtin_convertvector(n, Ints) + 127) << 23;
  Lanes two;
  __builtin_memcpy(&two, &power, sizeof two);
  x = tiny ? none : e * two;
}

// Lane i and i + 8, then i + 4, i + 2, i + 1: the one order of all sums here.
template <class F>
TG_SCAN_INLINE float fold(const Lanes& all, F&& join) {
  Lanes v = all;
  Lanes other = __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15);
  join(v, other);
  other = __builtin_shufflevector(v, v, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7);
  join(v, other);
  other = __builtin_shufflevector(v, v, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3);
  join(v, other);
  other = __builtin_shufflevector(v, v, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
  join(v, other);
  return v[0];
}

// A block without NaN and infinity: x[0..31] as it counts, its largest, and, where wanted, the sum of exp(x - largest).
struct Block {
  float x[CandidateScan::kBlock];
  float largest, sum;
};

TG_SCAN_INLINE void scan_block(const float* logits, bool with_sum, Block& out) {
  const Lanes lowest = Lanes{} + kMinusInfinity, highest = Lanes{} + kLargest;
  Lanes a, b;
  load(logits, a);
  load(logits + 16, b);
  a = a > lowest ? (a < highest ? a : highest) : lowest;
  b = b > lowest ? (b < highest ? b : highest) : lowest;
  __builtin_memcpy(out.x, &a, sizeof a);
  __builtin_memcpy(out.x + 16, &b, sizeof b);
  const Lanes top = a > b ? a : b;
  out.largest = fold(top, [](Lanes& x, const Lanes& y) __attribute__((always_inline)) { x = x > y ? x : y; });
  out.sum = 0;
  if (!with_sum || !(out.largest > kMinusInfinity)) return;
  a -= out.largest;
  b -= out.largest;
  exp_lanes(a);
  exp_lanes(b);
  const Lanes both = a + b;
  out.sum = fold(both, [](Lanes& x, const Lanes& y) __attribute__((always_inline)) { x += y; });
}

// sum[i] * exp(max[i] - largest), added up in the order of i.
TG_SCAN_INLINE double sum_blocks(const float* max, const float* sum, std::size_t n, float largest) {
  double all = 0;
  for (std::size_t i = 0; i < n; i += 16) {  // both arrays are padded
    Lanes m, s;
    load(max + i, m);
    load(sum + i, s);
    m -= largest;
    exp_lanes(m);
    m *= s;
    float part[16];
    __builtin_memcpy(part, &m, sizeof part);
    for (const float p : part) all += static_cast<double>(p);
  }
  return all;
}

struct Functions {
  void (*block)(const float* logits, bool with_sum, Block& out);
  double (*blocks)(const float* max, const float* sum, std::size_t n, float largest);
};

#if defined(__x86_64__)
[[gnu::target("avx512f")]] void block_512(const float* logits, bool with_sum, Block& out) { scan_block(logits, with_sum, out); }
[[gnu::target("avx512f")]] double blocks_512(const float* max, const float* sum, std::size_t n, float largest) { return sum_blocks(max, sum, n, largest); }
[[gnu::target("avx2")]] void block_256(const float* logits, bool with_sum, Block& out) { scan_block(logits, with_sum, out); }
[[gnu::target("avx2")]] double blocks_256(const float* max, const float* sum, std::size_t n, float largest) { return sum_blocks(max, sum, n, largest); }
#endif
void block_plain(const float* logits, bool with_sum, Block& out) { scan_block(logits, with_sum, out); }
double blocks_plain(const float* max, const float* sum, std::size_t n, float largest) { return sum_blocks(max, sum, n, largest); }

Functions choose_functions() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {block_512, blocks_512};
  if (__builtin_cpu_supports("avx2")) return {block_256, blocks_256};
#endif
  return {block_plain, blocks_plain};
}

const Functions kFunctions = choose_functions();

}  // namespace

void CandidateScan::start(const CandidateWish& wish, int vocab, int parts) {
  wish_ = wish;
  n_parts_ = static_cast<std::size_t>(parts);
  if (parts_.size() < n_parts_) parts_.resize(n_parts_);
  for (Part& part : std::span(parts_).first(n_parts_)) {
    part.list.clear();
    part.list.reserve(4 * kBlock + 2 * static_cast<std::size_t>(wish.best));  // as a rule enough: no allocation while a row is scanned
    part.largest = kMinusInfinity;
    part.floor = -kLargest;
  }
  n_blocks_ = static_cast<std::size_t>((vocab + kBlock - 1) / kBlock);
  if (!wish.mass) return;
  block_max_.resize((n_blocks_ + 15) / 16 * 16);
  block_sum_.resize(block_max_.size());
  std::fill(block_max_.begin() + static_cast<std::ptrdiff_t>(n_blocks_), block_max_.end(), kMinusInfinity);
  std::fill(block_sum_.begin() + static_cast<std::ptrdiff_t>(n_blocks_), block_sum_.end(), 0.0F);
}

void CandidateScan::block(int part_index, int first, const float* logits, int n) {
  Part& part = parts_[static_cast<std::size_t>(part_index)];
  float padded[kBlock];
  if (n < kBlock) {
    std::fill(std::copy_n(logits, n, padded), padded + kBlock, kMinusInfinity);
    logits = padded;
  }
  Block block;
  kFunctions.block(logits, wish_.mass, block);
  if (wish_.mass) {
    block_max_[static_cast<std::size_t>(first / kBlock)] = block.largest;
    block_sum_[static_cast<std::size_t>(first / kBlock)] = block.sum;
  }
  if (block.largest < part.floor) return;
  if (block.largest > part.largest) {
    part.largest = block.largest;
    // A little lower than asked for, so that no rounding of a difference of two logits matters.
    if (wish_.best == 0) part.floor = std::max(part.floor, part.largest - wish_.margin - std::fabs(part.largest) * 1e-6F);
  }
  for (int i = 0; i < kBlock; ++i) {
    if (block.x[i] >= part.floor) part.list.push_back({block.x[i], first + i});
  }
  if (wish_.best == 0 || part.list.size() < 2 * static_cast<std::size_t>(wish_.best) + kBlock) return;
  shorten(part.list);
  part.floor = part.list.back().logit;
}

// To the most likely ones; the last of them stands last.
void CandidateScan::shorten(std::vector<TokenCandidate>& list) const {
  const auto best = static_cast<std::size_t>(wish_.best);
  if (list.size() <= best) return;
  std::nth_element(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(best - 1), list.end(), more_likely);
  list.resize(best);
}

void CandidateScan::finish(RowCandidates& out) {
  float largest = kMinusInfinity, floor = -kLargest;
  for (const Part& part : std::span(parts_).first(n_parts_)) {
    largest = std::max(largest, part.largest);
    floor = std::max(floor, part.floor);
  }
  out.list.clear();
  out.list.reserve(kBlock);
  for (const Part& part : std::span(parts_).first(n_parts_)) {
    std::copy_if(part.list.begin(), part.list.end(), std::back_inserter(out.list), [&](const TokenCandidate& c) { return c.logit >= floor; });
  }
  if (wish_.best > 0) shorten(out.list);
  out.mass = wish_.mass ? total(largest) : 0;
  if (!out.list.empty()) return;
  out.list.push_back({0.0F, 0});
  out.mass = 1;
}

double CandidateScan::total(float largest) const { return kFunctions.blocks(block_max_.data(), block_sum_.data(), n_blocks_, largest); }

void CandidateScan::row(const CandidateWish& wish, std::span<const float> logits, RowCandidates& out) {
  const int n = static_cast<int>(logits.size());
  start(wish, n, 1);
  for (int i = 0; i < n; i += kBlock) block(0, i, logits.data() + i, std::min(kBlock, n - i));
  finish(out);
}

}  // namespace tg
