// What qwen35, qwen35moe and qwen3next share: gated delta net layers with a full attention layer every n-th.
#pragma once
#include "engine/model/families/builder.h"

namespace tg {

bool is_delta_net_layer(FamilyBuilder& b, int layer);
// All but beta and alpha, which qwen3next keeps in one matrix.
DeltaNetDescription describe_delta_net(FamilyBuilder& b, int layer);
void describe_gated_experts(FamilyBuilder& b, int layer);

}  // namespace tg
