#include <iostream>
#include <sstream>

#include "engine/tools/command.h"

namespace tg {
namespace {

struct Input {
  std::string text;
  TokenizeOptions options;
};

Json ids_json(const std::vector<TokenId>& ids) {
  return Json(ids);
}

// One line of a batch; nullopt: not what the contract says.
std::optional<Input> parse_line(const std::string& line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("text_b64") || !json["text_b64"].is_string()) return std::nullopt;
  const auto text = decode_base64(json["text_b64"].get_ref<const std::string&>());
  if (!text) return std::nullopt;
  const auto flag = [&json](const char* key) {
    return json.contains(key) && json[key].is_boolean() && json[key].get<bool>();
  };
  return Input{*text, {flag("parse_special"), flag("add_special")}};
}

int run_batch(const Tokenizer& tokenizer, const std::string& path) {
  const auto content = read_file(path);
  if (!content) return fail(content.error());
  std::istringstream lines(*content);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    const auto input = parse_line(line);
    if (input) {
      print_json({{"ids", ids_json(tokenizer.encode(input->text, input->options))}});
    } else {
      print_json({{"id", nullptr}, {"error", "bad_line"}});
    }
  }
  return kExitDone;
}

void print_result(const Tokenizer& tokenizer, const Input& input, bool json) {
  const std::vector<TokenId> ids = tokenizer.encode(input.text, input.options);
  Json pieces = Json::array();
  for (const TokenId id : ids) pieces.push_back(tokenizer.piece(id, true));
  if (json) return print_json({{"ids", ids_json(ids)}, {"count", ids.size()}, {"pieces", pieces}});
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::cout << ids[i] << "\t" << pieces[i].dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
  }
}

}  // namespace

int run_tokenize(int argc, char** argv) {
  CLI::App app("Token ids of a text", "tokenize");
  CommonOptions common;
  Input input;
  std::string model, text, base64, file, batch;
  add_common_options(app, common);
  app.add_option("MODEL", model, "GGUF file; a vocabulary alone is enough")->required();
  CLI::Option_group* source = app.add_option_group("Input", "Where the text comes from");
  source->add_option("--text", text, "The text itself");
  source->add_option("--text-base64", base64, "The text in base64");
  source->add_option("--file", file, "A file with the text; - is standard input");
  source->add_option("--batch", batch, "JSON lines {\"text_b64\",\"parse_special\",\"add_special\"}");
  source->require_option(1);
  app.add_flag("--parse-special", input.options.parse_special, "Texts of control tokens become their tokens");
  app.add_flag("--add-special", input.options.add_special, "BOS and EOS as the vocabulary asks for");
  if (const auto code = parse_options(app, argc, argv)) return *code;

  const auto tokenizer = load_tokenizer(model_path(model, common));
  if (!tokenizer) return fail(tokenizer.error());
  if (!batch.empty()) return run_batch(**tokenizer, batch);
  input.text = text;
  if (!base64.empty()) {
    const auto bytes = decode_base64(base64);
    if (!bytes) return refuse_argument("The value of --text-base64 is not base64.");
    input.text = *bytes;
  }
  if (!file.empty()) {
    const auto content = read_file(file);
    if (!content) return fail(content.error());
    input.text = *content;
  }
  print_result(**tokenizer, input, common.json);
  return kExitDone;
}

}  // namespace tg
