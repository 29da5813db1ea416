#include "engine/model/description.h"

#include "engine/model/families/families.h"

namespace tg {

std::size_t LayerDescription::conv_state_floats() const {
  if (delta_net) {
    return static_cast<std::size_t>(delta_net->conv_width - 1) * static_cast<std::size_t>(delta_net->channels());
  }
  return short_conv ? static_cast<std::size_t>(short_conv->width - 1) * static_cast<std::size_t>(short_conv->output.cols) : 0;
}

std::size_t LayerDescription::delta_state_floats() const {
  return delta_net ? static_cast<std::size_t>(delta_net->n_v_heads) * static_cast<std::size_t>(delta_net->head_k) *
                         static_cast<std::size_t>(delta_net->head_v)
                   : 0;
}

std::size_t ModelDescription::state_bytes() const {
  std::size_t floats = 0;
  for (const LayerDescription& layer : layers) {
    floats += layer.conv_state_floats() + layer.delta_state_floats();
  }
  return floats * sizeof(float);
}

Result<ModelDescription> describe_model(const GgufFile& file, int context) {
  const auto architecture = file.string("general.architecture");
  if (!architecture || architecture->empty()) {
    return make_error(ErrorCode::bad_file, "The file does not say which architecture its model has (general.architecture).");
  }
  FamilyBuilder builder(file, context);
  builder.model.architecture = *architecture;
  builder.model.name = file.string("general.name").value_or("");
  for (const Family& family : families()) {
    if (family.architecture != *architecture) {
      continue;
    }
    family.describe(builder);
    if (builder.ok()) {
      builder.check_all_used();
    }
    if (builder.error()) {
      return *builder.error();
    }
    for (const GgufTensor& tensor : file.tensors()) {
      builder.model.n_parameters += tensor.elements();
    }
    return std::move(builder.model);
  }
  std::string shown;
  for (const char c : architecture->substr(0, 64)) {
    shown += c >= 0x20 && c < 0x7f ? c : '?';
  }
  return make_error(ErrorCode::unsupported, "The architecture " + shown + " is not supported.");
}

}  // namespace tg
