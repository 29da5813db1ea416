// Rendered text to token ids: special tokens of the template, none of the content; ids of earlier answers kept.
// Thread: pure functions.
#pragma once
#include <vector>

#include "engine/chat_template/chat_template.h"

namespace tg {

struct PromptToken {
  TokenId id = 0;
  std::size_t begin = 0;  // byte of the rendered text it starts at
};

// The reference is: cut the text at the special tokens that lie in template text, encode what is between without special
// tokens. RENDERED gives the origins; MESSAGES the generated ids, reused where they spell exactly what was rendered.
std::vector<PromptToken> tokenize_rendered(const RenderedText& rendered, const Tokenizer& tokenizer,
                                           const std::vector<ChatMessage>& messages);

// Byte at which each id starts, when the ids encode TEXT.
std::vector<std::size_t> token_offsets(const Tokenizer& tokenizer, const std::vector<TokenId>& ids, std::string_view text);

}  // namespace tg
