// Messages in, prompt out: the plain data of chat templates, apart from the machinery (and its JSON), because every turn carries them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/types.h"

namespace tg {

// One message of a chat as the program holds it.
struct ChatMessage {
  std::string role;       // system, user, assistant, tool
  std::string content;
  std::string reasoning;  // thinking text of an assistant turn; empty: none
  std::vector<TokenId> generated_ids;  // assistant: ids as sampled (thinking and end token included); reused where they decode to the rendered text
  bool document = false;  // user message that carries an attached document (segment kind)
};

enum class SegmentKind : std::uint8_t { system, tools, document, history, new_text, prompt_tail };
std::string_view name_of(SegmentKind kind);  // "system" "tools" "document" "history" "new" "template"

// A run of prompt tokens. Runs cover the prompt without gaps; their sizes add up to input_total.
struct PromptSegment {
  SegmentKind kind{};
  int message = -1;  // index into the messages given; -1: none
  std::string role;
  int begin = 0, end = 0;  // token positions
};

struct Prompt {
  std::string text;
  std::vector<TokenId> ids;
  std::vector<PromptSegment> segments;
};

}  // namespace tg
