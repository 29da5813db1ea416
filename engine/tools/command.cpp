#include "engine/tools/command.h"

#include <array>
#include <exception>
#include <iostream>
#include <new>

namespace tg {
namespace {

constexpr std::array kCommands{
    Command{"info", "What a model file holds, after all checks that a load makes", run_info},
    Command{"tokenize", "Token ids of a text", run_tokenize},
    Command{"detokenize", "Text of token ids", run_detokenize},
    Command{"render", "Prompt text of a chat", run_render},
    Command{"logits", "Logits of given tokens", run_logits},
    Command{"dequantize", "Values of raw blocks of a weight format as float32", run_dequantize},
    Command{"generate", "An answer to a prompt, with its figures", run_generate},
    Command{"bench", "Speed of prefill and decode", run_bench},
    Command{"selfcheck", "Every op against its scalar reference", run_selfcheck},
};

void print_help() {
  std::cout << "turnglass-engine " TG_VERSION "\n\nUsage: turnglass-engine COMMAND [OPTIONS]\n\nCommands:\n";
  for (const Command& command : kCommands) {
    std::cout << "  " << command.name << std::string(14 - command.name.size(), ' ') << command.help << "\n";
  }
  std::cout << "\nturnglass-engine COMMAND --help tells the options of a command.\n";
}

const Command* find_command(std::string_view name) {
  for (const Command& command : kCommands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

// Libraries throw (out of memory, iostreams); what reaches this place becomes a sentence.
int run_guarded(const Command& command, int argc, char** argv) {
  try {
    return command.run(argc, argv);
  } catch (const std::bad_alloc&) {
    print_sentence("There is not enough memory for this.");
    return kExitDoesNotFit;
  } catch (const std::exception& error) {
    print_sentence("The command failed: " + std::string(error.what()) + ".");
    return kExitFailed;
  }
}

}  // namespace

std::span<const Command> engine_commands() {
  return kCommands;
}

bool is_engine_command(std::string_view name) {
  return find_command(name) != nullptr;
}

int run_engine_command(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "--help";
  if (name == "--help" || name == "-h") {
    print_help();
    return argc > 1 ? kExitDone : kExitRefused;
  }
  if (name == "--version") {
    std::cout << "turnglass-engine " TG_VERSION "\n";
    return kExitDone;
  }
  const Command* command = find_command(name);
  if (command == nullptr) return refuse_argument("There is no command \"" + std::string(name) + "\".");
  return run_guarded(*command, argc - 1, argv + 1);
}

}  // namespace tg
