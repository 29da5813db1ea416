#include "engine/tokenizer/bpe.h"

#include "engine/base/text.h"

namespace tg {
namespace {

Error refuse(std::string sentence) {
  return make_error(ErrorCode::bad_file, std::move(sentence));
}

std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left) + 1) << 32 | static_cast<std::uint32_t>(right);
}

}  // namespace

Result<Bpe> Bpe::load(const Vocabulary& vocabulary, bool ignore_merges, bool byte_tokens) {
  if (vocabulary.file().find("tokenizer.ggml.merges") == nullptr) {
    return refuse("The merges of the vocabulary (tokenizer.ggml.merges) are missing.");
  }
  const GgufArray* merges = vocabulary.file().array("tokenizer.ggml.merges");
  if (merges == nullptr || merges->type != GgufType::string) {
    return refuse("The merges of the vocabulary (tokenizer.ggml.merges) have the wrong type.");
  }
  Bpe bpe;
  bpe.ignore_merges_ = ignore_merges;
  bpe.byte_tokens_ = byte_tokens;
  bpe.merges_ = FlatMap<Merge>(merges->strings.size());
  for (std::size_t rank = 0; rank < merges->strings.size(); ++rank) {
    const std::string_view merge = merges->strings[rank];
    const std::size_t space = merge.find(' ', 1);  // the first part may be a space itself
    if (space != merge.npos) bpe.add_merge(vocabulary, merge.substr(0, space), merge.substr(space + 1), static_cast<std::int32_t>(rank));
  }
  return bpe;
}

void Bpe::add_merge(const Vocabulary& vocabulary, std::string_view left, std::string_view right, std::int32_t rank) {
  const std::int32_t l = intern(vocabulary, left);
  const std::int32_t r = intern(vocabulary, right);
  std::string joined(left);
  joined += right;
  merges_.insert(pair_key(l, r), {rank, intern(vocabulary, joined)});
}

std::int32_t Bpe::intern(const Vocabulary& vocabulary, std::string_view text) {
  if (const TokenId id = vocabulary.find(text); id >= 0) return id;
  const auto fresh = vocabulary.size() + static_cast<std::int32_t>(extra_symbols_.size());
  return extra_symbols_.emplace(text, fresh).first->second;
}

std::int32_t Bpe::symbol_of(const Vocabulary& vocabulary, std::string_view text) const {
  if (const TokenId id = vocabulary.find(text); id >= 0) return id;
  if (extra_symbols_.empty()) return -1;
  const auto it = extra_symbols_.find(std::string(text));
  return it == extra_symbols_.end() ? -1 : it->second;
}

void Bpe::encode_word(const Vocabulary& vocabulary, std::string_view word, Scratch& scratch,
                      std::vector<TokenId>& out) const {
  if (ignore_merges_) {
    if (const TokenId id = vocabulary.find(word); id >= 0) return out.push_back(id);
  }
  scratch.clear();
  for (std::size_t at = 0; at < word.size();) {
    const std::uint32_t length = decode_utf8(word, at).length;
    scratch.append(static_cast<std::uint32_t>(at), length, symbol_of(vocabulary, word.substr(at, length)));
    at += length;
  }
  scratch.merge_all([&](std::int32_t left, std::int32_t right) {
    const MergeSymbol& l = scratch.at(left);
    const MergeSymbol& r = scratch.at(right);
    if (l.value < 0 || r.value < 0) return;
    if (const Merge* merge = merges_.find(pair_key(l.value, r.value))) {
      scratch.push({-merge->rank, left, l.length + r.length, merge->symbol});
    }
  });
  for (const MergeSymbol& symbol : scratch.symbols) {
    if (symbol.length == 0) continue;
    if (vocabulary.has(symbol.value)) {
      out.push_back(symbol.value);
    } else {
      append_unknown(vocabulary, word.substr(symbol.begin, symbol.length), out);
    }
  }
}

// Byte by byte; a byte without a token of its own is the unknown token, where the vocabulary has one.
void Bpe::append_unknown(const Vocabulary& vocabulary, std::string_view text, std::vector<TokenId>& out) const {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = byte_tokens_ ? 1 : decode_utf8(text, at).length;
    const TokenId id = byte_tokens_ ? vocabulary.byte_token(static_cast<unsigned char>(text[at]))
                                    : vocabulary.find(text.substr(at, length));
    if (id >= 0) {
      out.push_back(id);
    } else if (vocabulary.unknown >= 0) {
      out.push_back(vocabulary.unknown);
    }
    at += length;
  }
}

}  // namespace tg
