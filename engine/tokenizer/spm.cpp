#include "engine/tokenizer/spm.h"

#include "engine/base/text.h"
#include "engine/tokenizer/merge_list.h"

namespace tg {
namespace {

void append_bytes(const Vocabulary& vocabulary, std::string_view text, std::vector<TokenId>& out) {
  for (const char c : text) {
    TokenId id = vocabulary.byte_token(static_cast<unsigned char>(c));
    if (id < 0) id = vocabulary.unknown;
    if (id >= 0) out.push_back(id);
  }
}

}  // namespace

void encode_spm(const Vocabulary& vocabulary, std::string_view text, std::vector<TokenId>& out) {
  MergeList<float> list;
  list.symbols.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::uint32_t length = decode_utf8(text, at).length;
    list.append(static_cast<std::uint32_t>(at), length, vocabulary.find(text.substr(at, length)));
    at += length;
  }
  list.merge_all([&](std::int32_t left, std::int32_t right) {
    const MergeSymbol& l = list.at(left);
    const std::uint32_t length = l.length + list.at(right).length;
    if (length > vocabulary.longest()) return;
    const TokenId id = vocabulary.find(text.substr(l.begin, length));
    if (id >= 0) list.push({vocabulary.score(id), left, length, id});
  });
  for (const MergeSymbol& symbol : list.symbols) {
    if (symbol.length == 0) continue;
    if (symbol.value >= 0) {
      out.push_back(symbol.value);
    } else {
      append_bytes(vocabulary, text.substr(symbol.begin, symbol.length), out);
    }
  }
}

}  // namespace tg
