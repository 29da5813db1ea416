#include "engine/cache/background_queue.h"

#include <utility>

namespace tg {

BackgroundQueue::BackgroundQueue() : thread_([this] { loop(); }) {}

BackgroundQueue::~BackgroundQueue() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void BackgroundQueue::post(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
}

bool BackgroundQueue::drain(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, limit, [this] { return jobs_.empty() && !busy_; });
}

bool BackgroundQueue::stopping() const {
  const std::lock_guard lock(mutex_);
  return stop_;
}

void BackgroundQueue::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
    if (stop_) return;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    busy_ = true;
    lock.unlock();
    job();
    lock.lock();
    busy_ = false;
    if (jobs_.empty()) idle_.notify_all();
  }
}

}  // namespace tg
