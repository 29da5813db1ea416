// Writes the seeds of the fuzz targets: small sound inputs of every kind, from code and from the tests' own data.
//   fuzz_seeds JINJA_CASES.json FOLDER
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "engine/cache/chat_record.h"
#include "engine/chat_template/template_chooser.h"
#include "tests/support/tiny_model.h"
#include "tests/support/tiny_vocabulary.h"

namespace {

using namespace tg;
using namespace tg::test;
namespace fs = std::filesystem;

class Folder {
 public:
  explicit Folder(const fs::path& path) : path_(path) { fs::create_directories(path); }
  void add(std::string_view bytes) { std::ofstream(path_ / std::to_string(n_++), std::ios::binary) << bytes; }

 private:
  fs::path path_;
  int n_ = 0;
};

// Few bytes are many runs: a whole model is as narrow as can be, models of the other kinds have no vocabulary and eight rows for it.
void models(Folder folder) {
  for (const TinyVocabulary& vocabulary : {tiny_bpe("llama-bpe"), tiny_spm()}) {
    TinyModel model = tiny_llama(Format::F32, Format::F32, 16);
    model.set_vocabulary(static_cast<int>(vocabulary.tokens.size()));
    GgufWriter writer;
    vocabulary.add_to(writer);
    folder.add(model.bytes(writer));
    folder.add(vocabulary.writer().bytes());
  }
  for (TinyModel model : {tiny_gemma3(Format::Q8_0), tiny_gpt_oss(Format::Q4_0), tiny_qwen35(Format::Q8_0)}) {
    model.set_vocabulary(8);
    folder.add(model.bytes());
  }
}

void templates(Folder folder, const char* cases_file) {
  for (const BuiltinTemplate& known : builtin_templates()) folder.add(known.source);
  std::ifstream file(cases_file, std::ios::binary);
  const nlohmann::json cases = nlohmann::json::parse(file, nullptr, false);
  const auto walk = [&](const auto& self, const nlohmann::json& value) -> void {
    if (value.is_object() && value.contains("template") && value["template"].is_string()) folder.add(value["template"].get<std::string>());
    if (value.is_structured())
      for (const auto& part : value) self(self, part);
  };
  walk(walk, cases);
}

void texts(Folder folder) {
  for (char family = 0; family < 22; ++family) {
    for (const char* text : {"Hello World, don't! 12345 6.7", "  two  spaces\n\n\ttab <|im_start|>user", "\u00e9\u4e2d\u6587\U0001F600 \u0639\u0631\u0628\u064a", "\xff\xc3(\xe2\x82"})
      folder.add(family + std::string(text));
  }
}

void snapshots(Folder folder) {
  ChatRecord record;
  record.sequence = "a";
  record.title = "A chat";
  record.key = {"fuzz", "cpu", "scalar", KvType::f16, KvType::f16, {}};
  for (TokenId id = 0; id < 150; ++id) record.ids.push_back(id);
  record.stored = {{1, {}}, {3, {100}}};
  record.layout = {{{0, 256}, {70, 256}}, 96};
  for (const char how : {0, 1, 2}) folder.add(std::string{how, 3} + record.encode());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::cerr << "fuzz_seeds JINJA_CASES.json FOLDER\n", 2;
  const fs::path folder = argv[2];
  models(Folder(folder / "gguf"));
  templates(Folder(folder / "template"), argv[1]);
  texts(Folder(folder / "tokenizer"));
  snapshots(Folder(folder / "snapshot"));
  return 0;
}
