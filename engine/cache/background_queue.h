// One thread that does jobs in order: files are written and removed behind the worker's back, never in a different order than asked.
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace tg {

class BackgroundQueue {
 public:
  BackgroundQueue();
  ~BackgroundQueue();  // does not start jobs that are left
  void post(std::function<void()> job);
  // Waits until nothing is left or LIMIT has passed; true: nothing is left.
  bool drain(std::chrono::milliseconds limit);
  bool stopping() const;  // jobs that loop look at it

 private:
  void loop();
  mutable std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::deque<std::function<void()>> jobs_;
  bool busy_ = false, stop_ = false;
  std::thread thread_;
};

}  // namespace tg
