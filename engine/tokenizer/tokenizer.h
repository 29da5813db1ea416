// Text <-> token ids, as the vocabulary of a GGUF file says (tokenizer.ggml.*).
// Thread: immutable after load(), every method callable from any thread, so counting never waits for a prefill.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/types.h"
#include "engine/gguf/reader.h"

namespace tg {

enum class TokenKind : std::uint8_t { normal, unknown, control, user_defined, unused, byte };

struct TokenizeOptions {
  bool parse_special = false;  // control tokens' texts become their tokens (template text: yes; user text: never)
  bool add_special = false;    // BOS/EOS as the vocabulary asks for
};

class Tokenizer {
 public:
  // Refuses an unknown model or pre-tokenizer by name. That of a file which has one already is shared.
  static Result<std::shared_ptr<const Tokenizer>> load(std::shared_ptr<const GgufFile> file);
  virtual ~Tokenizer() = default;

  virtual std::vector<TokenId> encode(std::string_view utf8, const TokenizeOptions& options) const = 0;
  // Bytes of one token as they appear in text; control tokens give their text only where `special` is true.
  virtual std::string piece(TokenId id, bool special) const = 0;
  // Text of ids as a reader sees it (may end within a UTF-8 character; see TextFilter).
  virtual std::string decode(std::span<const TokenId> ids, bool special = false) const = 0;

  virtual int vocab_size() const = 0;
  virtual TokenKind kind(TokenId id) const = 0;
  virtual TokenId bos() const = 0;  // -1: none
  virtual TokenId eos() const = 0;
  virtual bool is_eog(TokenId id) const = 0;              // end of generation is a set
  virtual std::vector<TokenId> eog() const = 0;
  virtual TokenId find(std::string_view piece) const = 0;  // id of a token by its exact text, -1: none
  virtual std::string_view model_name() const = 0;         // "gpt2", "llama", ...
  virtual std::string_view pre_name() const = 0;           // tokenizer.ggml.pre
};

}  // namespace tg
