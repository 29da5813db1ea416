#include "engine/schedule/turn_types.h"

namespace tg {

std::string_view name_of(FinishReason reason) {
  switch (reason) {
    case FinishReason::stop: return "stop";
    case FinishReason::length: return "length";
    case FinishReason::cancelled: return "cancelled";
    case FinishReason::context_full: return "context_full";
    case FinishReason::error: return "error";
  }
  return "error";
}

}  // namespace tg
