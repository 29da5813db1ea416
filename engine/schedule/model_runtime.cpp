#include "engine/schedule/model_runtime.h"

namespace tg {

std::shared_ptr<const ConstraintVocabulary> ModelRuntime::constraint_vocabulary() {
  if (!constraint_vocabulary_) constraint_vocabulary_ = make_constraint_vocabulary(*info->tokenizer);
  return constraint_vocabulary_;
}

CacheLayout ModelRuntime::layout() const {
  CacheLayout out;
  for (const KvGroup& g : forward->kv_layout().groups) out.groups.push_back({g.window, g.page_bytes});
  out.state_bytes = forward->kv_layout().state_bytes;
  return out;
}

// F16 has 2 bytes a weight, the widest quantised format 1.0625.
bool ModelRuntime::int8() const {
  return static_cast<double>(forward->weights_bytes()) < 1.5 * static_cast<double>(info->description.n_parameters);
}

std::string ModelRuntime::curve_key() const { return key.text() + std::to_string(info->threads); }

}  // namespace tg
