#include "engine/chat_template/template_chooser.h"

#include <algorithm>

namespace tg {
namespace {

bool has_markup(const Tokenizer& tokenizer, std::string_view text) {
  const TokenId id = tokenizer.find(text);
  return id >= 0 && (tokenizer.kind(id) == TokenKind::control || tokenizer.kind(id) == TokenKind::user_defined);
}

std::string listed(const std::vector<std::string_view>& texts) {
  std::string result;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) result += i + 1 == texts.size() ? " and " : ", ";
    result += texts[i];
  }
  return result;
}

TemplateSuggestion suggestion(const BuiltinTemplate& candidate, const Tokenizer& tokenizer) {
  std::vector<std::string_view> missing;
  for (const std::string_view text : candidate.special_tokens) {
    if (!has_markup(tokenizer, text)) missing.push_back(text);
  }
  TemplateSuggestion result{&candidate, !candidate.special_tokens.empty() && missing.empty(), {}};
  if (candidate.special_tokens.empty()) {
    result.reason = "It uses plain words only, so it works with any vocabulary, if not well.";
  } else if (result.fits) {
    result.reason = "The vocabulary has " + listed(candidate.special_tokens) + ".";
  } else {
    result.reason = "The vocabulary lacks " + listed(missing) + ".";
  }
  return result;
}

}  // namespace

const BuiltinTemplate* find_builtin_template(std::string_view name) {
  const auto all = builtin_templates();
  const auto found = std::find_if(all.begin(), all.end(), [name](const BuiltinTemplate& t) { return t.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<TemplateSuggestion> suggest_templates(const Tokenizer& tokenizer) {
  std::vector<TemplateSuggestion> result;
  for (const BuiltinTemplate& candidate : builtin_templates()) result.push_back(suggestion(candidate, tokenizer));
  std::stable_sort(result.begin(), result.end(), [](const TemplateSuggestion& a, const TemplateSuggestion& b) {
    const auto rank = [](const TemplateSuggestion& s) { return s.fits ? 0 : (s.chat_template->special_tokens.empty() ? 1 : 2); };
    return rank(a) < rank(b);
  });
  return result;
}

std::string no_template_sentence(const Tokenizer& tokenizer) {
  const std::string start = "The model brings no chat template: give one with --template FILE";
  const TemplateSuggestion best = suggest_templates(tokenizer).front();
  if (!best.fits) return start + ".";
  return start + ", or --template builtin:" + std::string(best.chat_template->name) + ", which its vocabulary suggests.";
}

}  // namespace tg
