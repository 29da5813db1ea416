#include "engine/tools/command.h"

int main(int argc, char** argv) {
  return tg::run_engine_command(argc, argv);
}
