// Small vocabularies as GGUF bytes, for tests of tokenizers and of what stands on them.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/base/text.h"
#include "engine/gguf/writer.h"
#include "engine/tokenizer/byte_alphabet.h"
#include "engine/tokenizer/tokenizer.h"

namespace tg::test {

// Tokens with their kinds (values of tokenizer.ggml.token_type) and scores, in order of ids.
struct TinyVocabulary {
  std::vector<std::string> tokens;
  std::vector<std::int32_t> kinds;
  std::vector<float> scores;
  std::vector<std::string> merges;
  std::string model = "gpt2", pre = "gpt-2", name = "tiny";
  std::vector<std::pair<std::string, std::uint32_t>> ids;  // "bos" -> id
  std::vector<std::pair<std::string, bool>> flags;         // "add_bos_token" -> value

  TokenId add(const std::string& text, std::int32_t kind = 1, float score = 0) {
    tokens.push_back(text);
    kinds.push_back(kind);
    scores.push_back(score);
    return static_cast<TokenId>(tokens.size()) - 1;
  }
  // Adds the tokens that a merge list implies.
  void add_merge(const std::string& left, const std::string& right) {
    merges.push_back(left + " " + right);
    add(left + right);
  }
  GgufWriter writer() const {
    GgufWriter w;
    w.add_string("general.architecture", "llama");
    w.add_string("general.name", name);
    add_to(w);
    return w;
  }
  void add_to(GgufWriter& w) const {
    w.add_string("tokenizer.ggml.model", model);
    if (!pre.empty()) w.add_string("tokenizer.ggml.pre", pre);
    w.add_strings("tokenizer.ggml.tokens", tokens);
    w.add_i32s("tokenizer.ggml.token_type", kinds);
    if (model == "llama") w.add_f32s("tokenizer.ggml.scores", scores);
    if (model != "llama") w.add_strings("tokenizer.ggml.merges", merges);
    for (const auto& [key, id] : ids) w.add_u32("tokenizer.ggml." + key + "_token_id", id);
    for (const auto& [key, value] : flags) w.add_bool("tokenizer.ggml." + key, value);
  }
};

// Keeps the bytes alive as long as the tokenizer.
struct LoadedVocabulary {
  std::shared_ptr<std::string> bytes;
  Result<std::shared_ptr<const Tokenizer>> tokenizer;
  explicit LoadedVocabulary(const GgufWriter& writer)
      : bytes(std::make_shared<std::string>(writer.bytes())), tokenizer(load(*bytes)) {}
  static Result<std::shared_ptr<const Tokenizer>> load(const std::string& bytes) {
    auto file = GgufFile::parse(std::as_bytes(std::span(bytes)));
    if (!file) return file.error();
    return Tokenizer::load(*file);
  }
};

// Byte-level BPE: ids 0-255 are the bytes, then "in" "the" " the" " " x2, then ChatML marks and a user-defined token.
inline TinyVocabulary tiny_bpe(const std::string& pre = "gpt-2") {
  TinyVocabulary v;
  v.pre = pre;
  for (int b = 0; b < 256; ++b) {
    std::string text;
    append_utf8(text, byte_to_character(static_cast<unsigned char>(b)));
    v.add(text);
  }
  v.add_merge("i", "n");        // 256
  v.add_merge("t", "h");        // 257
  v.add_merge("th", "e");       // 258
  v.add_merge("\u0120", "the");  // 259: " the"
  v.add_merge("\u0120", "\u0120");  // 260
  v.add("<|im_start|>", 3);     // 261
  v.add("<|im_end|>", 3);       // 262
  v.add("<tool>", 4);           // 263
  v.ids = {{"bos", 261}, {"eos", 262}};
  return v;
}

// SentencePiece style: <unk> <s> </s>, bytes at 3-258, then a few pieces.
inline TinyVocabulary tiny_spm() {
  TinyVocabulary v;
  v.model = "llama";
  v.pre = "default";
  v.add("<unk>", 2);
  v.add("<s>", 3);
  v.add("</s>", 3);
  static constexpr char digits[] = "0123456789ABCDEF";
  for (int b = 0; b < 256; ++b) v.add(std::string("<0x") + digits[b >> 4] + digits[b & 15] + ">", 6);
  float score = -1;
  for (const char* piece : {"\u2581hello", "hello", "\u2581he", "llo", "he", "ll", "\u2581", "h", "e", "l", "o"}) {
    v.add(piece, 1, score);  // 259 ... 269
    score -= 1;
  }
  v.ids = {{"bos", 1}, {"eos", 2}, {"unknown", 0}};
  return v;
}

}  // namespace tg::test
