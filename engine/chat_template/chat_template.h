// Chat templates: the Jinja subset of real models, rendered with segments, and the prompt made of it.
// Thread: immutable after parse(), callable from any thread. Errors: ErrorCode::template_error with the template's own message.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/types.h"
#include "engine/chat_template/prompt_types.h"
#include "engine/tokenizer/tokenizer.h"

namespace tg {

using Json = nlohmann::ordered_json;  // key order of tools and arguments is part of the prompt

// A run of the rendered text and where it comes from. Runs cover the text without gaps, in order.
struct TextSegment {
  std::size_t begin = 0, end = 0;  // bytes of the rendered text
  int message = -1;                // index into `messages`; -1: text of the template itself, tools, generation prompt
  bool user_content = false;       // comes from message content (or tools, documents): special tokens in it must not be parsed
  bool tools = false;              // comes from the tool definitions
};

struct RenderedText {
  std::string text;
  std::vector<TextSegment> segments;
};

// Variable of a context that holds the time strftime_now gives (ISO 8601); templates do not see it.
inline constexpr std::string_view kNowVariable = "turnglass_now";

class ChatTemplate {
 public:
  static Result<std::shared_ptr<const ChatTemplate>> parse(std::string source);
  virtual ~ChatTemplate() = default;
  // CONTEXT: every variable the template sees (messages, tools, add_generation_prompt, bos_token, enable_thinking, ...).
  virtual Result<RenderedText> render(const Json& context) const = 0;
  virtual const std::string& source() const = 0;
  virtual bool mentions(std::string_view variable) const = 0;  // e.g. "enable_thinking": the model has a thinking switch
};

struct PromptOptions {
  bool add_generation_prompt = true;
  std::optional<bool> thinking;  // unset: the template's default
  Json tools;                    // null: none
  Json template_arguments = Json::object();  // further variables (reasoning_effort, ...)
  std::string now;               // ISO 8601 for strftime_now, frozen per chat; empty: the clock (or TURNGLASS_NOW)
};

// Renders MESSAGES and tokenises the result: template text with special tokens, message content without; the generated ids of
// earlier turns are taken over where they decode to exactly the rendered text. Adds BOS only where the template did not.
Result<Prompt> build_prompt(const ChatTemplate& chat_template, const Tokenizer& tokenizer,
                            const std::vector<ChatMessage>& messages, const PromptOptions& options);

}  // namespace tg
