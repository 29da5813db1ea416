#include "engine/tokenizer/tokenizer.h"

#include <algorithm>
#include <cctype>

#include "engine/base/in_use.h"
#include "engine/base/text.h"
#include "engine/tokenizer/bpe.h"
#include "engine/tokenizer/byte_alphabet.h"
#include "engine/tokenizer/pre_tokenizer.h"
#include "engine/tokenizer/special_tokens.h"
#include "engine/tokenizer/spm.h"

namespace tg {
namespace {

constexpr std::string_view kSpaceMark = "\u2581";  // how SentencePiece vocabularies write a space

Error unsupported(std::string sentence) {
  return make_error(ErrorCode::unsupported, std::move(sentence));
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0;;) {
    const std::size_t hit = text.find(from, at);
    out += text.substr(at, hit - at);
    if (hit == text.npos) return out;
    out += to;
    at = hit + from.size();
  }
}

bool is_phi3(const GgufFile& file) {
  std::string name(file.string("general.name").value_or(""));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name.find("phi-3") != name.npos || name.find("phi3") != name.npos;
}

// Value of a <0xXX> token.
char byte_of(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; };
  return text.size() == 6 ? static_cast<char>(digit(text[3]) << 4 | digit(text[4])) : '?';
}

class GgufTokenizer : public Tokenizer {
 public:
  GgufTokenizer(Vocabulary vocabulary, std::string model, std::string pre, bool add_bos)
      : vocabulary_(std::move(vocabulary)),
        special_(vocabulary_, is_phi3(vocabulary_.file())),
        model_(std::move(model)),
        pre_(std::move(pre)),
        // Early conversions of Gemma 4 say false, but the model talks nonsense without it.
        add_bos_(pre_ == "gemma4" || vocabulary_.file().boolean("tokenizer.ggml.add_bos_token").value_or(add_bos)),
        add_eos_(vocabulary_.file().boolean("tokenizer.ggml.add_eos_token").value_or(false)) {}

  std::vector<TokenId> encode(std::string_view utf8, const TokenizeOptions& options) const override {
    std::vector<TokenId> out;
    if (options.add_special && add_bos_ && bos() >= 0) out.push_back(bos());
    bool after_special = true;
    for (const Fragment& fragment : special_.split(utf8, options.parse_special)) {
      if (fragment.id >= 0) {
        out.push_back(fragment.id);
      } else {
        encode_text(fragment.text, after_special, out);
      }
      after_special = fragment.id >= 0;
    }
    if (options.add_special && add_eos_ && eos() >= 0) out.push_back(eos());
    return out;
  }

  std::string piece(TokenId id, bool special) const override {
    if (!vocabulary_.has(id)) return {};
    switch (vocabulary_.kind(id)) {
      case TokenKind::control:
      case TokenKind::unknown:
        return special ? std::string(vocabulary_.text(id)) : std::string();
      case TokenKind::user_defined:
        return std::string(vocabulary_.text(id));
      case TokenKind::byte:
        return std::string(1, byte_of(vocabulary_.text(id)));
      case TokenKind::unused:
      case TokenKind::normal:
        break;
    }
    return text_of(vocabulary_.text(id));
  }

  std::string decode(std::span<const TokenId> ids, bool special) const override {
    std::string out;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      std::string text = piece(ids[i], special);
      // The space that encoding put after BOS is no part of the text.
      if (i == 1 && ids[0] == bos() && adds_space() && text.starts_with(' ')) text.erase(0, 1);
      out += text;
    }
    return out;
  }

  int vocab_size() const override { return vocabulary_.size(); }
  TokenKind kind(TokenId id) const override { return vocabulary_.has(id) ? vocabulary_.kind(id) : TokenKind::unused; }
  TokenId bos() const override { return vocabulary_.bos; }
  TokenId eos() const override { return vocabulary_.eos; }
  bool is_eog(TokenId id) const override { return vocabulary_.is_eog(id); }
  std::vector<TokenId> eog() const override { return vocabulary_.eog(); }
  TokenId find(std::string_view text) const override { return vocabulary_.find(text); }
  std::string_view model_name() const override { return model_; }
  std::string_view pre_name() const override { return pre_; }

 protected:
  // TEXT holds no special tokens; AFTER_SPECIAL: it follows one, or begins the input.
  virtual void encode_text(std::string_view text, bool after_special, std::vector<TokenId>& out) const = 0;
  virtual std::string text_of(std::string_view token) const = 0;  // of a normal token
  virtual bool adds_space() const { return false; }
  Vocabulary vocabulary_;

 private:
  SpecialTokens special_;
  std::string model_, pre_;
  bool add_bos_, add_eos_;
};

class SpmTokenizer final : public GgufTokenizer {
 public:
  SpmTokenizer(Vocabulary vocabulary, std::string pre)
      : GgufTokenizer(std::move(vocabulary), "llama", std::move(pre), true),
        adds_space_(vocabulary_.file().boolean("tokenizer.ggml.add_space_prefix").value_or(true)) {}

 private:
  void encode_text(std::string_view text, bool after_special, std::vector<TokenId>& out) const override {
    std::string marked = replace_all(text, " ", kSpaceMark);
    if (adds_space_ && after_special) marked.insert(0, kSpaceMark);
    encode_spm(vocabulary_, marked, out);
  }
  std::string text_of(std::string_view token) const override { return replace_all(token, kSpaceMark, " "); }
  bool adds_space() const override { return adds_space_; }
  bool adds_space_;
};

class BpeTokenizer final : public GgufTokenizer {
 public:
  BpeTokenizer(Vocabulary vocabulary, Bpe bpe, const PreTokenizer& splitter, std::string model, std::string pre)
      : GgufTokenizer(std::move(vocabulary), std::move(model), std::move(pre), splitter.add_bos),
        bpe_(std::move(bpe)),
        splitter_(splitter) {}

 private:
  void encode_text(std::string_view text, bool, std::vector<TokenId>& out) const override {
    Bpe::Scratch scratch;
    const std::string marked = splitter_.byte_alphabet ? std::string() : replace_all(text, " ", kSpaceMark);
    for (const std::string_view word : split_words(splitter_, splitter_.byte_alphabet ? text : marked)) {
      if (splitter_.byte_alphabet) {
        bpe_.encode_word(vocabulary_, encode_byte_alphabet(word), scratch, out);
      } else {
        encode_raw_word(word, scratch, out);
      }
    }
  }
  // Gemma 4: a run of newlines that is a token is taken whole, whatever the merges would make of it.
  void encode_raw_word(std::string_view word, Bpe::Scratch& scratch, std::vector<TokenId>& out) const {
    const TokenId id = word[0] == '\n' ? vocabulary_.find(word) : -1;
    if (id >= 0) return out.push_back(id);
    bpe_.encode_word(vocabulary_, word, scratch, out);
  }
  std::string text_of(std::string_view token) const override {
    return splitter_.byte_alphabet ? decode_byte_alphabet(token) : replace_all(token, kSpaceMark, " ");
  }
  Bpe bpe_;
  const PreTokenizer& splitter_;
};

Status check_flags(const GgufFile& file) {
  for (const char* key :
       {"tokenizer.ggml.add_bos_token", "tokenizer.ggml.add_eos_token", "tokenizer.ggml.add_space_prefix"}) {
    if (file.find(key) == nullptr || file.boolean(key)) continue;
    return make_error(ErrorCode::bad_file, "The key \"" + std::string(key) + "\" has the wrong type.");
  }
  return Ok{};
}

Result<std::shared_ptr<const Tokenizer>> load_bpe(Vocabulary vocabulary, const std::string& model,
                                                  const std::string& pre) {
  const PreTokenizer* splitter = pre_tokenizer(pre);
  if (splitter == nullptr) return unsupported("The pre-tokenizer \"" + printable(pre, 40) + "\" is not supported.");
  auto bpe = Bpe::load(vocabulary, splitter->ignore_merges, !splitter->byte_alphabet);
  if (!bpe) return bpe.error();
  return std::shared_ptr<const Tokenizer>(
      std::make_shared<BpeTokenizer>(std::move(vocabulary), std::move(*bpe), *splitter, model, pre));
}

Result<std::shared_ptr<const Tokenizer>> load_tokenizer(std::shared_ptr<const GgufFile> file) {
  const auto model_key = file->string("tokenizer.ggml.model");
  if (!model_key) return make_error(ErrorCode::bad_file, "The kind of vocabulary (tokenizer.ggml.model) is missing.");
  const std::string model(*model_key);
  if (model != "llama" && model != "gpt2" && model != "gemma4") {
    return unsupported("The kind of vocabulary \"" + printable(model, 40) + "\" is not supported.");
  }
  if (const Status flags = check_flags(*file); !flags) return flags.error();
  const bool has_pre = file->find("tokenizer.ggml.pre") != nullptr;
  if (has_pre && !file->string("tokenizer.ggml.pre")) {
    return make_error(ErrorCode::bad_file, "The key \"tokenizer.ggml.pre\" has the wrong type.");
  }
  const std::string pre(model == "gemma4" ? "gemma4" : file->string("tokenizer.ggml.pre").value_or("default"));
  auto vocabulary = Vocabulary::load(std::move(file));
  if (!vocabulary) return vocabulary.error();
  if (model != "llama") return load_bpe(std::move(*vocabulary), model, pre);
  return std::shared_ptr<const Tokenizer>(std::make_shared<SpmTokenizer>(std::move(*vocabulary), pre));
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> Tokenizer::load(std::shared_ptr<const GgufFile> file) {
  static InUse<const GgufFile*, Tokenizer> in_use;  // a tokenizer holds its file: no other can have the same address
  const GgufFile* key = file.get();
  if (auto tokenizer = in_use.find(key)) return tokenizer;
  auto tokenizer = load_tokenizer(std::move(file));
  if (tokenizer) in_use.add(key, *tokenizer);
  return tokenizer;
}

}  // namespace tg
