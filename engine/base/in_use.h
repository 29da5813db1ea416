// What somebody in this process holds, found again by whoever asks for the same, so that it is made and kept once. Nothing is kept alive.
// Thread: any.
#pragma once
#include <map>
#include <memory>
#include <mutex>

namespace tg {

template <class Key, class Value>
class InUse {
 public:
  std::shared_ptr<const Value> find(const Key& key) {
    const std::scoped_lock lock(mutex_);
    const auto it = held_.find(key);
    return it == held_.end() ? nullptr : it->second.lock();
  }
  void add(const Key& key, const std::shared_ptr<const Value>& value) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(held_, [](const auto& entry) { return entry.second.expired(); });
    held_[key] = value;
  }

 private:
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<const Value>> held_;
};

}  // namespace tg
