// Small types that meet everywhere in the engine.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace tg {

using TokenId = std::int32_t;

// Storage type of the KV cache.
enum class KvType : std::uint8_t { f32, f16, bf16, q8_0 };
constexpr std::string_view name_of(KvType t) {
  switch (t) {
    case KvType::f32: return "f32";
    case KvType::f16: return "f16";
    case KvType::bf16: return "bf16";
    case KvType::q8_0: return "q8_0";
  }
  return "?";
}

// Cooperative cancellation: set from any thread, read inside long operations. Copies share the flag.
class CancelToken {
 public:
  void cancel() const { flag_->store(true, std::memory_order_relaxed); }
  bool cancelled() const { return flag_->load(std::memory_order_relaxed); }
  const std::atomic<bool>& flag() const { return *flag_; }

 private:
  std::shared_ptr<std::atomic<bool>> flag_ = std::make_shared<std::atomic<bool>>(false);
};

// Tokens per KV page. Divides the attention split length (512), so that a page never straddles a split point.
inline constexpr int kPageTokens = 64;
// Attention over keys is split at multiples of this absolute position, for prefill and decode alike (DESIGN invariant 2).
inline constexpr int kAttentionSplit = 512;

}  // namespace tg
