#include <iostream>

#include "engine/tools/command.h"

namespace tg {

int run_detokenize(int argc, char** argv) {
  CLI::App app("Text of token ids", "detokenize");
  CommonOptions common;
  std::string model;
  std::vector<TokenId> ids;
  bool special = false;
  add_common_options(app, common);
  app.add_option("MODEL", model, "GGUF file; a vocabulary alone is enough")->required();
  app.add_option("--ids", ids, "Ids, separated by commas")->delimiter(',')->required();
  app.add_flag("--special", special, "Show the texts of control tokens");
  if (const auto code = parse_options(app, argc, argv)) return *code;

  const auto tokenizer = load_tokenizer(model_path(model, common));
  if (!tokenizer) return fail(tokenizer.error());
  for (const TokenId id : ids) {
    if (id < 0 || id >= (*tokenizer)->vocab_size()) {
      return refuse_argument("There is no token " + std::to_string(id) + " in this vocabulary.");
    }
  }
  const std::string text = (*tokenizer)->decode(ids, special);
  if (common.json) {
    print_json({{"text", text}});
  } else {
    std::cout << text << "\n";
  }
  return kExitDone;
}

}  // namespace tg
