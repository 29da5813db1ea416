#include "engine/cache/cache_types.h"

namespace tg {

std::string_view name_of(Tier tier) {
  switch (tier) {
    case Tier::gpu: return "gpu";
    case Tier::ram: return "ram";
    case Tier::disk: return "disk";
    case Tier::none: return "none";
  }
  return "none";
}

std::string_view name_of(KeepOnClose keep) {
  switch (keep) {
    case KeepOnClose::by_size: return "by-size";
    case KeepOnClose::always: return "always";
    case KeepOnClose::never: return "never";
  }
  return "by-size";
}

std::optional<KeepOnClose> keep_on_close_named(std::string_view name) {
  for (const KeepOnClose keep : {KeepOnClose::by_size, KeepOnClose::always, KeepOnClose::never})
    if (name == name_of(keep)) return keep;
  return std::nullopt;
}

std::string_view name_of(MissCause cause) {
  switch (cause) {
    case MissCause::none: return "";
    case MissCause::first_turn: return "first_turn";
    case MissCause::prefix_changed: return "prefix_changed";
    case MissCause::evicted: return "evicted";
    case MissCause::model_reloaded: return "model_reloaded";
    case MissCause::settings_changed: return "settings_changed";
    case MissCause::window_boundary: return "window_boundary";
    case MissCause::snapshot_refused: return "snapshot_refused";
    case MissCause::unknown: return "unknown";
  }
  return "unknown";
}

}  // namespace tg
