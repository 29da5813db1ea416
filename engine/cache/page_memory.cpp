#include "engine/cache/page_memory.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace tg {

std::shared_ptr<std::byte> HostPageMemory::allocate(std::size_t bytes, bool zeroed) {
  // Aligned by hand: what an aligned allocation gives back fits no later one of the same size, so pages that window layers let go of would pile up.
  constexpr std::size_t kAlignment = 64;
  void* memory = zeroed ? std::calloc(1, bytes + kAlignment) : std::malloc(bytes + kAlignment);
  if (memory == nullptr) throw std::bad_alloc();
  const std::size_t skip = kAlignment - reinterpret_cast<std::uintptr_t>(memory) % kAlignment;
  return {static_cast<std::byte*>(memory) + skip, [memory](std::byte*) { std::free(memory); }};
}

void HostPageMemory::to_host(void* to, const std::byte* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
void HostPageMemory::from_host(std::byte* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
void HostPageMemory::copy(std::byte* to, const std::byte* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

}  // namespace tg
