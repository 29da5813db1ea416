// Any bytes as text, in every pre-tokenizer family: nothing is lost, nothing breaks. The first byte chooses family and options.
#include <cstdlib>
#include <map>

#include "tests/support/tiny_vocabulary.h"

namespace {

using namespace tg;

constexpr const char* kFamilies[] = {"",        "gpt-2",   "llama-bpe", "qwen2",   "qwen35",       "gpt-4o",         "tekken",
                                     "kimi-k2", "smollm",  "falcon",    "default", "deepseek-llm", "deepseek-coder", "deepseek-v3",
                                     "bloom",   "viking",  "minicpm5",  "seed-coder", "tiny_aya",   "superbpe",       "youtu",  "laguna"};

const Tokenizer& tokenizer_of(std::size_t family) {
  static std::map<std::size_t, test::LoadedVocabulary> loaded;
  auto it = loaded.find(family);
  if (it == loaded.end()) {
    const test::TinyVocabulary v = family == 0 ? test::tiny_spm() : test::tiny_bpe(kFamilies[family]);
    it = loaded.emplace(family, test::LoadedVocabulary(v.writer())).first;
  }
  return **it->second.tokenizer;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t family = data[0] % std::size(kFamilies);
  const Tokenizer& tokenizer = tokenizer_of(family);
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const TokenizeOptions options{.parse_special = (data[0] & 128) != 0, .add_special = false};
  const std::string back = tokenizer.decode(tokenizer.encode(text, options), true);
  if (family != 0 && back != text) std::abort();
  return 0;
}
