// Ministral 3, Devstral 2: Llama with an attention temperature that grows with the position.
#include "engine/model/families/builder.h"

namespace tg {

void describe_llama(FamilyBuilder& b);

void describe_mistral3(FamilyBuilder& b) {
  describe_llama(b);
  const double coefficient = b.number_or("attention.temperature_scale", 0.0);
  if (!b.ok() || coefficient == 0.0) {
    return;
  }
  const int base = b.integer("rope.scaling.original_context_length");
  if (base < 1) {
    b.fail(ErrorCode::bad_file, "The model's attention temperature has no original context length.");
    return;
  }
  for (LayerDescription& layer : b.model.layers) {
    layer.attention.temperature_coefficient = static_cast<float>(coefficient);
    layer.attention.temperature_base = base;
  }
}

}  // namespace tg
