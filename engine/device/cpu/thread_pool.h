// Threads that work on the pieces of one op. Pieces are handed out one by one, so a thread whose core was taken away delays only its piece.
// Who computes a piece never matters to its result. Where another program has taken a core, the caller would spend its time waiting for
// the thread that lost it: then the pool works with the caller alone for a while and tries again later. Between ops workers spin for a moment (the next op of a step is microseconds
// away) and then sleep: an idle engine uses no processor time.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace tg::cpu {

class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  // Pieces not yet started are skipped once *flag is true.
  void set_cancel(const std::atomic<bool>* flag) { cancel_ = flag; }
  bool cancelled() const { return cancel_ != nullptr && cancel_->load(std::memory_order_relaxed); }

  // Calls f(piece, thread) for every piece of [0, pieces) and returns when all are done. The caller works too, as thread 0.
  template <class F>
  void run(int pieces, F&& f) {
    using Function = std::remove_reference_t<F>;
    run_pieces(pieces, [](void* context, int piece, int thread) { (*static_cast<Function*>(context))(piece, thread); }, &f);
  }

 private:
  using Call = void (*)(void* context, int piece, int thread);
  void run_pieces(int pieces, Call call, void* context);
  void work(int thread);
  bool take_piece(int thread);
  void run_alone(int pieces, Call call, void* context);
  void wait_for_others(int pieces);

  using Clock = std::chrono::steady_clock;
  // Decides from the share of time spent waiting for others whether to work alone for a while.
  struct Stalls {
    Clock::time_point window_start{}, alone_until{};
    Clock::duration waited{};
    std::chrono::milliseconds pause{20};
    void add(Clock::time_point now, Clock::duration wait);
  };
  Stalls stalls_;

  std::vector<std::thread> workers_;
  const std::atomic<bool>* cancel_ = nullptr;
  Call call_ = nullptr;
  void* context_ = nullptr;
  // One word says which job it is, how many pieces it has and which is next, so that a late worker can never take a piece of another job.
  alignas(64) std::atomic<std::uint64_t> ticket_{0};
  alignas(64) std::atomic<std::uint32_t> finished_{0};
  alignas(64) std::atomic<std::uint32_t> epoch_{0};  // counts jobs; what sleeping workers wait on
  std::atomic<bool> stop_{false};
};

}  // namespace tg::cpu
