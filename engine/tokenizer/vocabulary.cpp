#include "engine/tokenizer/vocabulary.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/base/text.h"

namespace tg {
namespace {

Error refuse(std::string sentence) {
  return make_error(ErrorCode::bad_file, std::move(sentence));
}

// A vocabulary has at most a few hundred thousand tokens; ids must fit TokenId with room to spare.
constexpr std::size_t kMaxTokens = std::size_t{1} << 24;

// Values of tokenizer.ggml.token_type.
TokenKind kind_of(std::int64_t type) {
  switch (type) {
    case 2:
      return TokenKind::unknown;
    case 3:
      return TokenKind::control;
    case 4:
      return TokenKind::user_defined;
    case 5:
      return TokenKind::unused;
    case 6:
      return TokenKind::byte;
    default:
      return TokenKind::normal;
  }
}

// clang-format off
// Texts that end a generation, whatever the file's eos_token_id says: chat fine-tunes often keep the base model's.
constexpr std::array<std::string_view, 21> kEndTexts{
    "<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>", "<end_of_turn>",
    "<|endoftext|>", "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<|end_of_text|>", "<end_of_utterance>",
    "<eos>", "<turn|>", "<|tool_response>", "<｜end▁of▁sentence｜>", "[e~["};
// Code models: padding, next repository and next file end an answer too. One of each group counts, the first present.
constexpr std::array<std::string_view, 5> kFimPad{"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"};
constexpr std::array<std::string_view, 5> kFimRepo{"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"};
constexpr std::array<std::string_view, 1> kFimFile{"<|file_sep|>"};
// Marks of fill-in-the-middle prompts.
constexpr std::array<std::string_view, 24> kFimMarks{
    "<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<｜fim▁begin｜>", "<PRE>", "▁<PRE>", "<|code_prefix|>", "<|prefix|>",
    "<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<｜fim▁hole｜>", "<SUF>", "▁<SUF>", "<|code_suffix|>", "<|suffix|>",
    "<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<｜fim▁end｜>", "<MID>", "▁<MID>", "<|code_middle|>", "<|middle|>"};
// clang-format on

}  // namespace

Result<Vocabulary> Vocabulary::load(std::shared_ptr<const GgufFile> file) {
  Vocabulary v;
  v.file_ = std::move(file);
  const GgufArray* tokens = v.file_->array("tokenizer.ggml.tokens");
  if (tokens == nullptr) return refuse("The vocabulary (tokenizer.ggml.tokens) is missing.");
  if (const Status done = v.load_texts(*tokens); !done) return done.error();
  if (const Status done = v.load_scores(); !done) return done.error();
  if (const Status done = v.load_kinds(); !done) return done.error();
  if (const Status done = v.load_special_ids(); !done) return done.error();
  v.collect_eog();
  v.correct_kinds();
  return v;
}

Status Vocabulary::load_texts(const GgufArray& tokens) {
  if (tokens.type != GgufType::string) return refuse("The vocabulary (tokenizer.ggml.tokens) has the wrong type.");
  if (tokens.strings.empty()) return refuse("The vocabulary (tokenizer.ggml.tokens) is empty.");
  if (tokens.strings.size() > kMaxTokens) return refuse("The vocabulary (tokenizer.ggml.tokens) is too large.");
  texts_ = &tokens.strings;
  ids_.reserve(texts_->size());
  for (TokenId id = 0; id < size(); ++id) {
    if ((*texts_)[static_cast<std::size_t>(id)].empty()) named_[id] = "[EMPTY_" + std::to_string(id) + "]";
    if (!ids_.insert(text(id), id, *this)) return refuse("The vocabulary holds the token \"" + printable(text(id), 40) + "\" twice.");
    longest_ = std::max(longest_, text(id).size());
  }
  return Ok{};
}

Status Vocabulary::load_scores() {
  if (file_->find("tokenizer.ggml.scores") == nullptr) return Ok{};
  const GgufArray* scores = file_->array("tokenizer.ggml.scores");
  if (scores == nullptr || scores->type == GgufType::string) {
    return refuse("The scores of the vocabulary (tokenizer.ggml.scores) have the wrong type.");
  }
  if (scores->size() < texts_->size()) return refuse("The vocabulary has fewer scores than tokens.");
  scores_.reserve(scores->size());
  for (std::size_t i = 0; i < scores->size(); ++i) {
    scores_.push_back(static_cast<float>(scores->number(i)));
    if (std::isnan(scores_.back())) return refuse("A score of the vocabulary is not a number.");
  }
  return Ok{};
}

Status Vocabulary::load_kinds() {
  kinds_.assign(texts_->size(), TokenKind::normal);
  if (file_->find("tokenizer.ggml.token_type") == nullptr) return Ok{};
  const GgufArray* types = file_->array("tokenizer.ggml.token_type");
  if (types == nullptr || types->type == GgufType::string || is_float(types->type)) {
    return refuse("The token types of the vocabulary (tokenizer.ggml.token_type) have the wrong type.");
  }
  if (types->size() < texts_->size()) return refuse("The vocabulary has fewer token types (tokenizer.ggml.token_type) than tokens.");
  for (std::size_t i = 0; i < kinds_.size(); ++i) kinds_[i] = kind_of(types->integer(i));
  return Ok{};
}

Result<TokenId> Vocabulary::special_id(std::string_view name) const {
  const std::string key = "tokenizer.ggml." + std::string(name) + "_token_id";
  if (file_->find(key) == nullptr) return -1;
  const auto id = file_->integer(key);
  if (!id) return refuse("The key \"" + key + "\" has the wrong type.");
  constexpr std::int64_t none = 0xFFFFFFFF;  // -1 as some converters wrote it
  if (*id == none || *id == -1) return -1;
  if (*id < 0 || *id >= size()) return refuse("The key \"" + key + "\" names a token outside the vocabulary.");
  return static_cast<TokenId>(*id);
}

Status Vocabulary::load_special_ids() {
  // SentencePiece files may leave out what has been the same since the first LLaMA.
  if (file_->string("tokenizer.ggml.model") == "llama" && size() > 2) {
    unknown = 0;
    bos = 1;
    eos = 2;
  }
  struct Target {
    std::string_view name;
    TokenId* id;
  };
  for (const Target& t : {Target{"bos", &bos}, Target{"eos", &eos}, Target{"eot", &eot_}, Target{"eom", &eom_},
                          Target{"unknown", &unknown}}) {
    const auto id = special_id(t.name);
    if (!id) return id.error();
    if (file_->find("tokenizer.ggml." + std::string(t.name) + "_token_id") != nullptr) *t.id = *id;
  }
  return Ok{};
}

// Some converters mark end tokens and other marks as plain text. Plain text would let a user's message end the turn.
void Vocabulary::correct_kinds() {
  const auto mark = [this](std::span<const std::string_view> texts) {
    for (const std::string_view text : texts) {
      if (const TokenId id = find(text); id >= 0) kinds_[static_cast<std::size_t>(id)] = TokenKind::control;
    }
  };
  mark(kEndTexts);
  mark(kFimMarks);
  mark(kFimPad);
  mark(kFimRepo);
  mark(kFimFile);
  // Gemma 4 keeps </s> as ordinary text.
  const TokenId end = find("</s>");
  if (end >= 0)
    kinds_[static_cast<std::size_t>(end)] = find("<|tool_response>") >= 0 ? TokenKind::normal : TokenKind::control;
}

void Vocabulary::collect_eog() {
  eog_.assign(texts_->size(), false);
  const auto set = [this](TokenId id, bool value) {
    if (has(id)) eog_[static_cast<std::size_t>(id)] = value;
  };
  const auto set_first = [this, &set](std::span<const std::string_view> texts) {
    for (const std::string_view text : texts) {
      if (find(text) >= 0) return set(find(text), true);
    }
  };
  for (const std::string_view text : kEndTexts) set(find(text), true);
  set_first(kFimPad);
  set_first(kFimRepo);
  set_first(kFimFile);
  // "</s>" is ordinary text (HTML) in vocabularies that do not mark it, Qwen's for one.
  const TokenId end = find("</s>");
  if (end >= 0 && kind(end) == TokenKind::control && find("<|tool_response>") < 0) set(end, true);
  for (const TokenId id : {eos, eot_, eom_}) set(id, true);
  // gpt-oss and Solar: <|end|> ends a message of the turn, not the turn.
  const bool has_call = find("<|call|>") >= 0 || find("<|calls|>") >= 0;
  if (has_call && (find("<|return|>") >= 0 || find("<|flush|>") >= 0)) set(find("<|end|>"), false);
}

TokenId Vocabulary::byte_token(unsigned char byte) const {
  static constexpr char digits[] = "0123456789ABCDEF";
  const char text[] = {'<', '0', 'x', digits[byte >> 4], digits[byte & 15], '>'};
  return find({text, sizeof text});
}

std::vector<TokenId> Vocabulary::eog() const {
  std::vector<TokenId> ids;
  for (TokenId id = 0; id < size(); ++id) {
    if (is_eog(id)) ids.push_back(id);
  }
  return ids;
}

}  // namespace tg
