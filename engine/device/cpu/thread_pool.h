// Threads that work on the pieces of one op. Every thread walks a range of its own from front to back, so that what it prefetches past a
// piece is what it needs next, and takes pieces from the back of the others' ranges when its own is done.
// Who computes a piece never matters to its result. Where another program has taken a core, the caller would spend its time waiting for
// the thread that lost it: then the pool works with the caller alone for a while and tries again later. Between ops workers spin for a
// moment (the next op of a step is microseconds away) and then sleep: an idle engine uses no processor time.
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
  using Clock = std::chrono::steady_clock;

  // Pieces [next, end) still to be taken, in one word: the owner takes from the front, others from the back.
  struct alignas(64) Range {
    std::atomic<std::uint64_t> word{0};
    void set(std::uint32_t next, std::uint32_t end) { word.store(std::uint64_t{end} << 32 | next, std::memory_order_release); }
    bool take(bool front, std::uint32_t& piece);
  };

  // Decides whether to work alone for a while: after an op that spent more time waiting for others than working.
  struct Stalls {
    Clock::time_point alone_until{};
    std::chrono::milliseconds pause{0};
    void add(Clock::time_point now, Clock::duration work, Clock::duration wait);
  };

  void run_pieces(int pieces, Call call, void* context);
  void run_alone(int pieces, Call call, void* context);
  void wait_for_others(int pieces, Clock::time_point start);
  bool take_piece(int thread);
  void work(int thread);

  Stalls stalls_;
  std::vector<std::thread> workers_;
  std::vector<Range> ranges_;    // of each thread; all empty between jobs
  const std::atomic<bool>* cancel_ = nullptr;
  Call call_ = nullptr;          // of the running job, read only by who took one of its pieces
  void* context_ = nullptr;
  alignas(64) std::atomic<std::uint32_t> finished_{0};
  alignas(64) std::atomic<std::uint32_t> epoch_{0};  // counts jobs; what sleeping workers wait on
  std::atomic<bool> stop_{false};
};

}  // namespace tg::cpu
