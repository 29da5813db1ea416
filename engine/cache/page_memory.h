// Where pages live while a turn works on them: memory of the backend, which for the CPU is plain memory.
// Thread: any; the cache's background writer reads pages while the worker fills others.
#pragma once
#include <cstddef>
#include <memory>

namespace tg {

class PageMemory {
 public:
  virtual ~PageMemory() = default;
  // ZEROED unless all of it is overwritten at once: 0 * NaN of a stale page would be NaN.
  virtual std::shared_ptr<std::byte> allocate(std::size_t bytes, bool zeroed = true) = 0;
  virtual bool is_host() const = 0;  // the process may read and write it directly
  virtual void to_host(void* to, const std::byte* from, std::size_t bytes) = 0;
  virtual void from_host(std::byte* to, const void* from, std::size_t bytes) = 0;
  virtual void copy(std::byte* to, const std::byte* from, std::size_t bytes) = 0;
};

// Cache-line aligned memory of the process.
class HostPageMemory : public PageMemory {
 public:
  std::shared_ptr<std::byte> allocate(std::size_t bytes, bool zeroed = true) override;
  bool is_host() const override { return true; }
  void to_host(void* to, const std::byte* from, std::size_t bytes) override;
  void from_host(std::byte* to, const void* from, std::size_t bytes) override;
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) override;
};

}  // namespace tg
