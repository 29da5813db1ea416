// For a model whose file brings no chat template: a few plain ones to choose from, and which of them its vocabulary suggests.
// They are offered, never taken silently: a wrong template makes nonsense.
// Thread: pure functions; the templates are constants.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/chat_template/chat_template.h"

namespace tg {

struct BuiltinTemplate {
  std::string_view name;    // "chatml"; stable, stored in settings
  std::string_view title;   // "ChatML (Qwen, SmolLM, Yi, Hermes)"
  std::string_view source;  // Jinja
  std::vector<std::string_view> special_tokens;  // texts its markup uses; all must be tokens of the vocabulary for it to fit
};

std::span<const BuiltinTemplate> builtin_templates();
const BuiltinTemplate* find_builtin_template(std::string_view name);  // null: unknown

struct TemplateSuggestion {
  const BuiltinTemplate* chat_template = nullptr;
  bool fits = false;    // the vocabulary has all its markup
  std::string reason;   // "The vocabulary has <|im_start|> and <|im_end|>."
};

// All built-in templates, those that fit first, the more telling ones before the others.
std::vector<TemplateSuggestion> suggest_templates(const Tokenizer& tokenizer);
// What to tell who has a model without a template.
std::string no_template_sentence(const Tokenizer& tokenizer);

}  // namespace tg
