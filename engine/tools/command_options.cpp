#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "engine/device/cpu/processor.h"
#include "engine/tools/command.h"

namespace tg {
namespace {

KvType kv_type_by_name(const std::string& name) {
  for (const KvType type : {KvType::f32, KvType::bf16, KvType::q8_0}) {
    if (name_of(type) == name) return type;
  }
  return KvType::f16;  // names were checked when they were parsed
}

std::filesystem::path data_folder(const std::string& profile) {
  if (!profile.empty()) return profile;
  if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data != '\0') {
    return std::filesystem::path(data) / "turnglass";
  }
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home == nullptr ? "." : home) / ".local/share/turnglass";
}

}  // namespace

KvType CommonOptions::k_type() const {
  return kv_type_by_name(kv_type_k.empty() ? kv_type : kv_type_k);
}
KvType CommonOptions::v_type() const {
  return kv_type_by_name(kv_type_v.empty() ? kv_type : kv_type_v);
}

LoadOptions CommonOptions::load_options() const {
  LoadOptions load;
  load.backend = backend;
  load.kernels = kernels;
  load.threads = threads;
  load.context = context.value_or(load.context);
  load.k_type = k_type();
  load.v_type = v_type();
  load.chunk = chunk;
  load.tuning_file = (data_folder(profile) / "tuning.txt").string();
  return load;
}

void add_common_options(CLI::App& app, CommonOptions& o) {
  const CLI::IsMember kv_types({"f32", "f16", "bf16", "q8_0"});
  app.add_flag("--json", o.json, "Print exactly one JSON object (or one a line)");
  app.add_flag("--quiet", o.quiet, "No progress and no warnings on stderr");
  app.add_option("--backend", o.backend, "auto, cpu or cuda")->check(CLI::IsMember({"auto", "cpu", "cuda"}));
  app.add_option("--kernels", o.kernels, "Instruction set: auto, avx512, avxvnni, avx2, neondot, neon or scalar")->check(cpu::kernels_refusal);
  app.add_option("--threads", o.threads, "Threads; 0: physical cores")->check(CLI::Range(0, 1024));
  app.add_option("--context", o.context, "Context in tokens; 0: the model's")->check(CLI::Range(0, 1 << 30));
  app.add_option("--chunk", o.chunk, "Prompt tokens computed per step; 0: chosen")->check(CLI::Range(0, 1 << 20));
  app.add_option("--kv-type", o.kv_type, "Type of the KV cache: f32, f16, bf16 or q8_0")->check(kv_types);
  app.add_option("--kv-type-k", o.kv_type_k, "Type of the keys alone")->check(kv_types);
  app.add_option("--kv-type-v", o.kv_type_v, "Type of the values alone")->check(kv_types);
  app.add_option("--profile", o.profile, "Folder with all data of a user");
  app.add_option("--template", o.template_file, "Chat template file instead of the model's");
  app.add_option("--on-full", o.on_full, "When the context is full: stop, drop-oldest or head-tail")
      ->check(CLI::IsMember({"stop", "drop-oldest", "head-tail"}));
  app.add_option("--priced-as", o.priced_as, "PROVIDER/MODEL of the price list");
  app.add_flag("--no-cache", o.no_cache, "Compute every prompt afresh");
}

std::optional<int> parse_options(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return kExitDone;
  } catch (const CLI::ParseError& error) {
    const std::string message = error.what();
    return refuse_argument(message.ends_with('.') ? message : message + ".");
  }
}

std::string model_path(const std::string& model, const CommonOptions& options) {
  std::error_code ignored;
  if (std::filesystem::exists(model, ignored) || model.find('/') != std::string::npos) return model;
  const std::filesystem::path folder = data_folder(options.profile) / "models";
  for (const std::string& name : {model, model + ".gguf"}) {
    if (std::filesystem::exists(folder / name, ignored)) return (folder / name).string();
  }
  return model;
}

Result<std::shared_ptr<const Tokenizer>> load_tokenizer(const std::string& path) {
  auto file = GgufFile::open(path);
  if (!file) return file.error();
  return Tokenizer::load(std::move(*file));
}

}  // namespace tg
