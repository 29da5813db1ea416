// SentencePiece-style tokenisation (LLaMA, Gemma): neighbours merge into the token with the best score; characters
// without a token become their bytes. Thread: pure function over an immutable vocabulary.
#pragma once
#include "engine/tokenizer/vocabulary.h"

namespace tg {

// TEXT with spaces already written as U+2581.
void encode_spm(const Vocabulary& vocabulary, std::string_view text, std::vector<TokenId>& out);

}  // namespace tg
