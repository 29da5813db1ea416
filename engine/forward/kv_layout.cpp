#include "engine/forward/kv_layout.h"

#include <algorithm>

namespace tg {

KvPlan plan_kv(const ModelDescription& description, const Device& device, KvType k_type, KvType v_type) {
  KvPlan plan;
  std::vector<KvGroup>& groups = plan.layout.groups;
  for (int i = 0; i < description.n_layers; ++i) {
    const LayerDescription& layer = description.layers[static_cast<std::size_t>(i)];
    LayerPlace place;
    place.conv_state = plan.layout.state_bytes;
    place.delta_state = place.conv_state + layer.conv_state_floats() * sizeof(float);
    plan.layout.state_bytes = place.delta_state + layer.delta_state_floats() * sizeof(float);
    if (layer.has_own_kv()) {
      place.shape = {layer.n_kv_heads, layer.head_dim_k, layer.head_dim_v, k_type, v_type};
      auto group = std::find_if(groups.begin(), groups.end(), [&](const KvGroup& g) { return g.window == layer.window; });
      if (group == groups.end()) {
        group = groups.insert(groups.end(), KvGroup{layer.window, {}, 0, 0});
      }
      place.group = static_cast<int>(group - groups.begin());
      place.offset = group->page_bytes;
      group->layers.push_back(i);
      group->page_bytes += device.kv_layer_bytes(place.shape);
      group->bytes_per_token = static_cast<double>(group->page_bytes) / kPageTokens;
    } else if (layer.attention.kv_source >= 0) {
      const LayerPlace& source = plan.layers[static_cast<std::size_t>(layer.attention.kv_source)];
      place.group = source.group;
      place.offset = source.offset;
      place.shape = source.shape;
    }
    plan.layers.push_back(place);
  }
  return plan;
}

}  // namespace tg
