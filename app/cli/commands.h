// The table of turnglass-cli's commands. Thread: main thread.
#pragma once

namespace tg {

int run_cli(int argc, char** argv);   // exit code as in CLI.md; a QCoreApplication exists

}  // namespace tg
