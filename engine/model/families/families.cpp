#include "engine/model/families/families.h"

// One line per architecture: its name in the file and the function that describes it.
#define TG_FAMILIES(X)                 \
  X("cohere2", describe_cohere2)       \
  X("command-r", describe_command_r)   \
  X("deepseek2", describe_deepseek2)   \
  X("gemma2", describe_gemma2)         \
  X("gemma3", describe_gemma3)         \
  X("gemma4", describe_gemma4)         \
  X("glm4", describe_glm4)             \
  X("gpt-oss", describe_gpt_oss)       \
  X("granite", describe_granite)       \
  X("lfm2", describe_lfm2)             \
  X("llama", describe_llama)           \
  X("mistral3", describe_mistral3)     \
  X("olmo2", describe_olmo2)           \
  X("phi3", describe_phi3)             \
  X("qwen2", describe_qwen2)           \
  X("qwen3", describe_qwen3)           \
  X("qwen35", describe_qwen35)         \
  X("qwen35moe", describe_qwen35)      \
  X("qwen3moe", describe_qwen3)        \
  X("qwen3next", describe_qwen3next)   \
  X("smollm3", describe_smollm3)       \
  X("starcoder2", describe_starcoder2)

namespace tg {

#define TG_DECLARE(name, function) void function(FamilyBuilder& b);
TG_FAMILIES(TG_DECLARE)
#undef TG_DECLARE

std::span<const Family> families() {
#define TG_ENTRY(name, function) {name, function},
  static constexpr Family table[] = {TG_FAMILIES(TG_ENTRY)};
#undef TG_ENTRY
  return table;
}

}  // namespace tg
