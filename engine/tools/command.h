// Commands of turnglass-engine and what they share: options, files, output, exit codes. turnglass-cli forwards to the
// same table. Thread: main thread only. Errors: one sentence on stderr and an exit code, never a trace.
#pragma once
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/base/types.h"
#include "engine/chat_template/chat_template.h"
#include "engine/engine.h"

namespace tg {

// Exit codes of every command.
inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;      // at run time
inline constexpr int kExitRefused = 2;     // bad file, bad argument
inline constexpr int kExitTemplate = 3;    // a chat template raised
inline constexpr int kExitDoesNotFit = 4;  // context, memory
inline constexpr int kExitInterrupted = 130;

struct Command {
  std::string_view name, help;
  int (*run)(int argc, char** argv);  // argv[0] is the command's name
};

std::span<const Command> engine_commands();
bool is_engine_command(std::string_view name);
// argv[0] is the program, argv[1] the command. Nothing thrown leaves it.
int run_engine_command(int argc, char** argv);

int run_info(int argc, char** argv);
int run_tokenize(int argc, char** argv);
int run_detokenize(int argc, char** argv);
int run_render(int argc, char** argv);
int run_logits(int argc, char** argv);
int run_dequantize(int argc, char** argv);
int run_generate(int argc, char** argv);
int run_bench(int argc, char** argv);
int run_selfcheck(int argc, char** argv);

// ---- Options
// ------------------------------------------------------------------------------------------------------------

// Options that every command accepts where they make sense.
struct CommonOptions {
  bool json = false, quiet = false, no_cache = false;
  std::string backend = "auto", kernels = "auto";
  int threads = 0, chunk = 0;
  std::optional<int> context;  // unset: the command's default
  std::string kv_type = "f16", kv_type_k, kv_type_v;
  std::string profile, template_file, on_full, priced_as;

  KvType k_type() const;
  KvType v_type() const;
  LoadOptions load_options() const;  // context 8192 where unset
};
void add_common_options(CLI::App& app, CommonOptions& options);

// Parses; a value is the exit code to return at once (help printed, or an argument refused).
std::optional<int> parse_options(CLI::App& app, int argc, char** argv);

// MODEL as given: a path, or a name in the model folder (of the profile, or of the user's data folder).
std::string model_path(const std::string& model, const CommonOptions& options);

// Opens a file for its vocabulary only.
Result<std::shared_ptr<const Tokenizer>> load_tokenizer(const std::string& path);

// ---- Files and output
// ---------------------------------------------------------------------------------------------------

Result<std::string> read_file(const std::string& path);  // "-": standard input
Status write_file(const std::string& path, std::string_view bytes);
std::optional<std::string> decode_base64(std::string_view text);

// Prints MESSAGE as one printable line of at most 300 characters on stderr.
void print_sentence(std::string_view message);
// Prints the error and gives its exit code.
int fail(const Error& error);
int refuse_argument(std::string_view message);
void print_json(const Json& object);  // one line on stdout; bytes that are no UTF-8 become U+FFFD

// Set by Ctrl+C from the first call on; a command that was cancelled by it returns kExitInterrupted.
CancelToken interrupt_token();

}  // namespace tg
