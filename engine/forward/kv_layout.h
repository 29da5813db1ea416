// Where each layer's keys, values and state lie: derived from the description and the device.
#pragma once
#include <vector>

#include "engine/forward/forward.h"

namespace tg {

// One layer's place in the cache. Layers that read another layer's KV share its group and offset.
struct LayerPlace {
  int group = -1;
  std::size_t offset = 0;          // bytes, inside a page of the group
  KvLayerShape shape;
  std::size_t conv_state = 0, delta_state = 0;  // bytes from the start of a sequence's state
};

struct KvPlan {
  KvLayout layout;
  std::vector<LayerPlace> layers;
};

KvPlan plan_kv(const ModelDescription& description, const Device& device, KvType k_type, KvType v_type);

}  // namespace tg
