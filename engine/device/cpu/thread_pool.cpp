#include "engine/device/cpu/thread_pool.h"

#include <algorithm>
#include <chrono>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tg::cpu {
namespace {

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Long enough to bridge the serial parts of a step (norms, sampling), short against what a user sees in a processor meter.
constexpr auto kSpin = std::chrono::microseconds(150);

}  // namespace

ThreadPool::ThreadPool(int threads) : ranges_(static_cast<std::size_t>(std::max(1, threads))) {
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
}

ThreadPool::~ThreadPool() {
  stop_.store(true);
  epoch_.fetch_add(1);
  epoch_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

bool ThreadPool::Range::take(bool front, std::uint32_t& piece) {
  std::uint64_t seen = word.load(std::memory_order_acquire), left = 0;
  do {
    const auto next = static_cast<std::uint32_t>(seen), end = static_cast<std::uint32_t>(seen >> 32);
    if (next >= end) return false;
    piece = front ? next : end - 1;
    left = front ? seen + 1 : seen - (std::uint64_t{1} << 32);
  } while (!word.compare_exchange_weak(seen, left, std::memory_order_acq_rel, std::memory_order_acquire));
  return true;
}

// A late worker may still look for pieces of a job that is over: it finds none, or some of the next job, which is as good.
bool ThreadPool::take_piece(int thread) {
  const std::size_t own = static_cast<std::size_t>(thread), n = ranges_.size();
  std::uint32_t piece = 0;
  bool taken = ranges_[own].take(true, piece);
  for (std::size_t i = 1; !taken && i < n; ++i) taken = ranges_[(own + i) % n].take(false, piece);
  if (!taken) return false;
  if (!cancelled()) call_(context_, static_cast<int>(piece), thread);
  finished_.fetch_add(1, std::memory_order_acq_rel);
  return true;
}

void ThreadPool::run_alone(int pieces, Call call, void* context) {
  for (int i = 0; i < pieces && !cancelled(); ++i) call(context, i, 0);
}

void ThreadPool::run_pieces(int pieces, Call call, void* context) {
  if (pieces <= 1 || workers_.empty()) return run_alone(pieces, call, context);
  const auto start = Clock::now();
  if (start < stalls_.alone_until) return run_alone(pieces, call, context);
  call_ = call;
  context_ = context;
  finished_.store(0, std::memory_order_relaxed);
  const auto n = static_cast<std::uint64_t>(ranges_.size()), all = static_cast<std::uint64_t>(pieces);
  for (std::uint64_t t = 0; t < n; ++t) {
    ranges_[t].set(static_cast<std::uint32_t>(all * t / n), static_cast<std::uint32_t>(all * (t + 1) / n));
  }
  epoch_.fetch_add(1, std::memory_order_release);
  epoch_.notify_all();
  while (take_piece(0)) {
  }
  wait_for_others(pieces, start);
}

void ThreadPool::wait_for_others(int pieces, Clock::time_point start) {
  const auto begin = Clock::now();
  for (int spins = 0; finished_.load(std::memory_order_acquire) != static_cast<std::uint32_t>(pieces);) {
    relax();
    if (++spins > 20000) std::this_thread::yield();  // the other thread's core may be taken: let the system place it
  }
  const auto now = Clock::now();
  stalls_.add(now, begin - start, now - begin);
}

void ThreadPool::Stalls::add(Clock::time_point now, Clock::duration work, Clock::duration wait) {
  constexpr auto kStall = std::chrono::milliseconds(1);  // a part of the time slice that another program gets
  constexpr auto kLongestPause = std::chrono::milliseconds(1280), kShortestPause = std::chrono::milliseconds(20);
  if (wait < kStall || wait < work) return;
  const bool again = now - alone_until < 4 * pause;  // the core was lost again soon after the last pause
  pause = again ? std::min(2 * pause, kLongestPause) : kShortestPause;
  alone_until = now + pause;
}

void ThreadPool::work(int thread) {
  std::uint32_t seen = 0;
  while (!stop_.load(std::memory_order_relaxed)) {
    while (take_piece(thread)) {
    }
    const auto start = std::chrono::steady_clock::now();
    std::uint32_t now = epoch_.load(std::memory_order_acquire);
    for (int spins = 0; now == seen; now = epoch_.load(std::memory_order_acquire)) {
      relax();
      if ((++spins & 63) == 0 && std::chrono::steady_clock::now() - start > kSpin) epoch_.wait(seen, std::memory_order_acquire);
    }
    seen = now;
  }
}

}  // namespace tg::cpu
