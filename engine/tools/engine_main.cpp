#include "engine/base/platform.h"
#include "engine/tools/command.h"

int main(int argc, char** argv) {
  tg::make_file_size_limit_a_write_error();
  return tg::run_engine_command(argc, argv);
}
