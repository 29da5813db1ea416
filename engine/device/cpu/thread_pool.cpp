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
constexpr auto kSpin = std::chrono::microseconds(60);

constexpr std::uint64_t kPieceMask = (1U << 20) - 1;
std::uint64_t count_of(std::uint64_t ticket) { return (ticket >> 20) & kPieceMask; }
std::uint64_t next_of(std::uint64_t ticket) { return ticket & kPieceMask; }

}  // namespace

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
}

ThreadPool::~ThreadPool() {
  stop_.store(true);
  epoch_.fetch_add(1);
  epoch_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

bool ThreadPool::take_piece(int thread) {
  std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
  do {
    if (next_of(ticket) >= count_of(ticket)) return false;
  } while (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel, std::memory_order_acquire));
  if (!cancelled()) call_(context_, static_cast<int>(next_of(ticket)), thread);
  finished_.fetch_add(1, std::memory_order_acq_rel);
  return true;
}

void ThreadPool::run_alone(int pieces, Call call, void* context) {
  for (int i = 0; i < pieces && !cancelled(); ++i) call(context, i, 0);
}

void ThreadPool::run_pieces(int pieces, Call call, void* context) {
  const bool countable = static_cast<std::uint64_t>(pieces) < kPieceMask;  // always, with the piece sizes in use
  if (pieces <= 1 || workers_.empty() || !countable) return run_alone(pieces, call, context);
  if (Clock::now() < stalls_.alone_until) return run_alone(pieces, call, context);
  call_ = call;
  context_ = context;
  finished_.store(0, std::memory_order_relaxed);
  const std::uint64_t job = (ticket_.load(std::memory_order_relaxed) >> 40) + 1;
  ticket_.store((job << 40) | (static_cast<std::uint64_t>(pieces) << 20), std::memory_order_release);
  epoch_.fetch_add(1, std::memory_order_release);
  epoch_.notify_all();
  while (take_piece(0)) {
  }
  wait_for_others(pieces);
}

void ThreadPool::wait_for_others(int pieces) {
  const auto start = Clock::now();
  for (int spins = 0; finished_.load(std::memory_order_acquire) != static_cast<std::uint32_t>(pieces);) {
    relax();
    if (++spins > 20000) std::this_thread::yield();  // the other thread's core may be taken: let the system place it
  }
  const auto now = Clock::now();
  stalls_.add(now, now - start);
}

void ThreadPool::Stalls::add(Clock::time_point now, Clock::duration wait) {
  constexpr auto kWindow = std::chrono::milliseconds(4);  // about a time slice of the system's scheduler
  constexpr auto kLongestPause = std::chrono::milliseconds(1280), kShortestPause = std::chrono::milliseconds(20);
  if (now - window_start > 8 * kWindow) {  // a pause between steps: nothing to conclude from it
    window_start = now - wait;
    waited = {};
  }
  waited += wait;
  const auto elapsed = now - window_start;
  if (elapsed < kWindow) return;
  if (waited > elapsed / 3) {
    alone_until = now + pause;
    pause = std::min(2 * pause, kLongestPause);
  } else {
    pause = kShortestPause;
  }
  window_start = now;
  waited = {};
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
