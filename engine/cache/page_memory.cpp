#include "engine/cache/page_memory.h"

#include <cstring>
#include <new>

namespace tg {

std::shared_ptr<std::byte> HostPageMemory::allocate(std::size_t bytes, bool zeroed) {
  constexpr std::align_val_t kAlignment{64};
  auto* memory = static_cast<std::byte*>(::operator new(bytes, kAlignment));
  if (zeroed) std::memset(memory, 0, bytes);
  return {memory, [](std::byte* p) { ::operator delete(p, kAlignment); }};
}

void HostPageMemory::to_host(void* to, const std::byte* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
void HostPageMemory::from_host(std::byte* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
void HostPageMemory::copy(std::byte* to, const std::byte* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

}  // namespace tg
