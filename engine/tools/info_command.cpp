// `info`: what a file holds, after all checks that a load makes.
#include <iostream>
#include <map>

#include "engine/base/text.h"
#include "engine/tools/command.h"

namespace tg {
namespace {

constexpr std::string_view kTemplateKey = "tokenizer.chat_template";

// A file checked as a load would check it. A vocabulary alone has no description.
struct CheckedFile {
  std::shared_ptr<const GgufFile> file;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::optional<ModelDescription> model;
};

Result<CheckedFile> check_file(const std::string& path, int context) {
  auto file = GgufFile::open(path);
  if (!file) return file.error();
  CheckedFile checked;
  checked.file = std::move(*file);
  if (!checked.file->tensors().empty()) {
    auto model = describe_model(*checked.file, context);
    if (!model) return model.error();
    checked.model = std::move(*model);
  }
  auto tokenizer = Tokenizer::load(checked.file);
  if (!tokenizer) return tokenizer.error();
  checked.tokenizer = std::move(*tokenizer);
  if (checked.file->find(kTemplateKey) != nullptr && !checked.file->string(kTemplateKey)) {
    return make_error(ErrorCode::bad_file, "The chat template (tokenizer.chat_template) has the wrong type.");
  }
  return checked;
}

double bytes_of(KvType type) {
  switch (type) {
    case KvType::f32:
      return 4;
    case KvType::f16:
    case KvType::bf16:
      return 2;
    case KvType::q8_0:
      return 34.0 / 32;  // 32 values and a half-precision scale
  }
  return 0;
}

double kv_bytes_per_token(const LayerDescription& layer, const CommonOptions& options) {
  if (!layer.has_own_kv()) return 0;
  return layer.n_kv_heads *
         (layer.head_dim_k * bytes_of(options.k_type()) + layer.head_dim_v * bytes_of(options.v_type()));
}

// Bytes held after TOKENS tokens: a window layer keeps only its window.
std::uint64_t kv_bytes_at(const ModelDescription& model, const CommonOptions& options, int tokens) {
  double bytes = 0;
  for (const LayerDescription& layer : model.layers) {
    bytes += kv_bytes_per_token(layer, options) * (layer.window > 0 ? std::min(layer.window, tokens) : tokens);
  }
  return static_cast<std::uint64_t>(bytes);
}

std::string_view name_of_kind(LayerKind kind) {
  switch (kind) {
    case LayerKind::full:
      return "full";
    case LayerKind::window:
      return "window";
    case LayerKind::delta_net:
      return "delta_net";
    case LayerKind::short_conv:
      return "short_conv";
  }
  return "?";
}

Json layers_json(const ModelDescription& model) {
  Json layers = Json::array();
  for (const LayerDescription& layer : model.layers) {
    layers.push_back({{"kind", name_of_kind(layer.kind)},
                      {"kv_heads", layer.has_own_kv() ? layer.n_kv_heads : 0},
                      {"head_dim", layer.head_dim_k},
                      {"window", layer.window}});
  }
  return layers;
}

void add_weights(Json& out, const GgufFile& file) {
  std::map<std::string_view, int> formats;
  std::uint64_t bytes = 0;
  for (const GgufTensor& tensor : file.tensors()) {
    ++formats[format_info(tensor.format)->name];
    bytes += tensor.data.size();
  }
  out["weights_bytes"] = bytes;
  out["formats"] = Json::object();
  for (const auto& [name, count] : formats) out["formats"][std::string(name)] = count;
}

void add_model(Json& out, const ModelDescription& model, const CommonOptions& options) {
  out["context_length"] = model.context_length;
  out["layers"] = layers_json(model);
  out["kv_bytes_per_token"] = kv_bytes_at(model, options, 1);
  out["kv_bytes_at"] = Json::object();
  for (int tokens = 1024; tokens < model.context_length && tokens <= 1 << 17; tokens *= 2) {
    out["kv_bytes_at"][std::to_string(tokens)] = kv_bytes_at(model, options, tokens);
  }
  out["kv_bytes_at"][std::to_string(model.context_length)] = kv_bytes_at(model, options, model.context_length);
  out["state_bytes"] = model.state_bytes();
}

Json tokenizer_json(const Tokenizer& tokenizer) {
  return {{"model", tokenizer.model_name()}, {"pre", tokenizer.pre_name()}, {"vocab", tokenizer.vocab_size()},
          {"bos", tokenizer.bos()},          {"eos", tokenizer.eos()},      {"eog", tokenizer.eog()}};
}

Json template_json(const GgufFile& file) {
  Json named = Json::array();
  const std::string prefix = std::string(kTemplateKey) + ".";
  for (const std::string_view key : file.keys()) {
    if (key.starts_with(prefix)) named.push_back(key.substr(prefix.size()));
  }
  return {{"present", file.find(kTemplateKey) != nullptr}, {"named", named}};
}

Json warnings_json(const CheckedFile& checked) {
  Json warnings = Json::array();
  if (checked.file->find(kTemplateKey) == nullptr) warnings.push_back("The file brings no chat template.");
  if (checked.tokenizer->eog().empty()) warnings.push_back("The vocabulary names no token that ends an answer.");
  if (!checked.model) warnings.push_back("The file holds a vocabulary only.");
  return warnings;
}

Json info_json(const CheckedFile& checked, const CommonOptions& options) {
  Json out;
  out["architecture"] = checked.file->string("general.architecture").value_or("");
  out["name"] = checked.file->string("general.name").value_or("");
  out["parameters"] = checked.model ? checked.model->n_parameters : 0;
  out["file_bytes"] = checked.file->file_bytes();
  add_weights(out, *checked.file);
  if (checked.model) add_model(out, *checked.model, options);
  out["tokenizer"] = tokenizer_json(*checked.tokenizer);
  out["template"] = template_json(*checked.file);
  out["fingerprint"] = checked.file->fingerprint();
  out["warnings"] = warnings_json(checked);
  return out;
}

// The same facts for a person, one a line.
void print_plain(const Json& info) {
  for (const auto& [key, value] : info.items()) {
    const std::string text =
        value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::cout << key << std::string(key.size() < 20 ? 20 - key.size() : 1, ' ') << printable(text, 400) << "\n";
  }
}

}  // namespace

int run_info(int argc, char** argv) {
  CLI::App app("What a model file holds, after all checks that a load makes", "info");
  CommonOptions common;
  std::string model;
  add_common_options(app, common);
  app.add_option("MODEL", model, "GGUF file, or a name from the model folder")->required();
  if (const auto code = parse_options(app, argc, argv)) return *code;

  const auto checked = check_file(model_path(model, common), common.context.value_or(0));
  if (!checked) return fail(checked.error());
  const Json info = info_json(*checked, common);
  if (common.json) {
    print_json(info);
  } else {
    print_plain(info);
  }
  return kExitDone;
}

}  // namespace tg
