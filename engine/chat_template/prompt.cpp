// build_prompt: messages to a context, to text, to ids, to segments.
#include <algorithm>

#include "engine/chat_template/chat_template.h"
#include "engine/chat_template/prompt_tokens.h"

namespace tg {
namespace {

Json message_json(const ChatMessage& message) {
  Json json{{"role", message.role}, {"content", message.content}};
  if (!message.reasoning.empty()) {  // templates look under either name
    json["reasoning_content"] = message.reasoning;
    json["thinking"] = message.reasoning;
  }
  return json;
}

std::string token_text(const Tokenizer& tokenizer, TokenId id) { return id < 0 ? std::string() : tokenizer.piece(id, true); }

Json context_of(const std::vector<ChatMessage>& messages, const PromptOptions& options, const Tokenizer& tokenizer) {
  Json list = Json::array();
  for (const ChatMessage& message : messages) list.push_back(message_json(message));
  Json context{{"messages", std::move(list)},
               {"tools", options.tools.is_array() && options.tools.empty() ? Json(nullptr) : options.tools},
               {"documents", nullptr},
               {"add_generation_prompt", options.add_generation_prompt},
               {"bos_token", token_text(tokenizer, tokenizer.bos())},
               {"eos_token", token_text(tokenizer, tokenizer.eos())}};
  if (options.thinking) {
    context["enable_thinking"] = *options.thinking;
    context["thinking"] = *options.thinking;
  }
  if (options.template_arguments.is_object()) {
    for (const auto& [name, value] : options.template_arguments.items()) context[name] = value;
  }
  if (!options.now.empty()) context[std::string(kNowVariable)] = options.now;
  return context;
}

// First byte of the generation prompt: what the template adds when it is asked for one.
std::size_t tail_begin(const ChatTemplate& chat_template, Json context, const RenderedText& rendered) {
  if (!context["add_generation_prompt"].get<bool>()) return rendered.text.size();
  context["add_generation_prompt"] = false;
  const auto without = chat_template.render(context);
  if (without && rendered.text.starts_with(without->text)) return without->text.size();
  std::size_t begin = rendered.text.size();
  for (auto s = rendered.segments.rbegin(); s != rendered.segments.rend() && s->message < 0; ++s) begin = s->begin;
  return begin;
}

bool vocabulary_adds_bos(const Tokenizer& tokenizer) {
  if (tokenizer.bos() < 0) return false;
  const std::vector<TokenId> ids = tokenizer.encode("", {.parse_special = false, .add_special = true});
  return !ids.empty() && ids.front() == tokenizer.bos();
}

// Says for bytes of the rendered text what they are to the user.
class Classifier {
 public:
  Classifier(const RenderedText& rendered, const std::vector<ChatMessage>& messages, std::size_t tail)
      : rendered_(rendered), messages_(messages), tail_(tail) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (messages[i].role == "assistant") last_answer_ = static_cast<int>(i);
    }
    for (const TextSegment& s : rendered.segments) {
      if (s.tools) tools_ = {std::min(tools_.first, s.begin), std::max(tools_.second, s.end)};
      if (s.message == 0 && s.user_content && first_content_ == std::string::npos) first_content_ = s.begin;
    }
  }

  // A whole turn that ends before the first message's own content is a system prompt the template brings.
  void note_end_of_turn(std::size_t token_begin, std::size_t token_end) {
    const bool system_first = !messages_.empty() && is_system(0);
    if (!system_first && first_content_ != std::string::npos && token_begin < first_content_) default_system_ = token_end;
  }

  PromptSegment classify(std::size_t byte) {
    while (at_ + 1 < rendered_.segments.size() && rendered_.segments[at_].end <= byte) ++at_;
    if (byte >= tail_) return {SegmentKind::prompt_tail, -1, {}, 0, 0};
    if (byte >= tools_.first && byte < tools_.second) return remember({SegmentKind::tools, -1, {}, 0, 0});
    if (byte < default_system_) return remember({SegmentKind::system, -1, {}, 0, 0});
    const int message = rendered_.segments.empty() ? -1 : rendered_.segments[at_].message;
    if (message < 0 || message >= static_cast<int>(messages_.size())) return last_;
    return remember({kind_of(message), message, messages_[static_cast<std::size_t>(message)].role, 0, 0});
  }

 private:
  bool is_system(int message) const {
    const std::string& role = messages_[static_cast<std::size_t>(message)].role;
    return role == "system" || role == "developer";
  }

  SegmentKind kind_of(int message) const {
    if (is_system(message)) return SegmentKind::system;
    if (messages_[static_cast<std::size_t>(message)].document) return SegmentKind::document;
    return message > last_answer_ ? SegmentKind::new_text : SegmentKind::history;
  }

  PromptSegment remember(PromptSegment segment) {
    last_ = segment;
    return segment;
  }

  const RenderedText& rendered_;
  const std::vector<ChatMessage>& messages_;
  std::size_t tail_ = 0, at_ = 0, first_content_ = std::string::npos, default_system_ = 0;
  std::pair<std::size_t, std::size_t> tools_{std::string::npos, 0};
  int last_answer_ = -1;
  PromptSegment last_{SegmentKind::system, -1, {}, 0, 0};  // text between messages goes with what was before it
};

std::vector<PromptSegment> segments_of(const std::vector<PromptToken>& tokens, Classifier& classifier, int shift) {
  std::vector<PromptSegment> segments;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    PromptSegment next = classifier.classify(tokens[i].begin);
    const int position = static_cast<int>(i) + shift;
    if (!segments.empty() && segments.back().kind == next.kind && segments.back().message == next.message) {
      segments.back().end = position + 1;
      continue;
    }
    next.begin = segments.empty() ? 0 : position;  // the BOS added in front belongs to the first
    next.end = position + 1;
    segments.push_back(std::move(next));
  }
  return segments;
}

}  // namespace

std::string_view name_of(SegmentKind kind) {
  switch (kind) {
    case SegmentKind::system: return "system";
    case SegmentKind::tools: return "tools";
    case SegmentKind::document: return "document";
    case SegmentKind::history: return "history";
    case SegmentKind::new_text: return "new";
    case SegmentKind::prompt_tail: return "template";
  }
  return "?";
}

Result<Prompt> build_prompt(const ChatTemplate& chat_template, const Tokenizer& tokenizer,
                            const std::vector<ChatMessage>& messages, const PromptOptions& options) {
  const Json context = context_of(messages, options, tokenizer);
  auto rendered = chat_template.render(context);
  if (!rendered) return rendered.error();
  const std::vector<PromptToken> tokens = tokenize_rendered(*rendered, tokenizer, messages);
  Classifier classifier(*rendered, messages, tail_begin(chat_template, context, *rendered));
  Prompt prompt;
  const bool add_bos = vocabulary_adds_bos(tokenizer) && (tokens.empty() || tokens.front().id != tokenizer.bos());
  if (add_bos) prompt.ids.push_back(tokenizer.bos());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    prompt.ids.push_back(tokens[i].id);
    if (tokenizer.is_eog(tokens[i].id)) {
      std::size_t next = i + 1;  // a line break behind it belongs to it
      while (next < tokens.size() && tokenizer.kind(tokens[next].id) != TokenKind::control) ++next;
      classifier.note_end_of_turn(tokens[i].begin, next < tokens.size() ? tokens[next].begin : rendered->text.size());
    }
  }
  prompt.segments = segments_of(tokens, classifier, add_bos ? 1 : 0);
  if (tokens.empty() && add_bos) prompt.segments.push_back({SegmentKind::prompt_tail, -1, {}, 0, 1});
  prompt.text = std::move(rendered->text);
  return prompt;
}

}  // namespace tg
