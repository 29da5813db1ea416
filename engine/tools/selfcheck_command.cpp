#include <algorithm>
#include <iostream>

#include "engine/device/device.h"
#include "engine/tools/command.h"

namespace tg {
namespace {

Json as_json(const std::vector<SelfCheck>& checks, std::size_t failed) {
  Json list = Json::array();
  for (const SelfCheck& c : checks) list.push_back({{"name", c.name}, {"nmse", c.nmse}, {"limit", c.limit}, {"ok", c.ok}});
  return {{"checks", list}, {"passed", checks.size() - failed}, {"failed", failed}};
}

void print_failures(const std::vector<SelfCheck>& checks) {
  for (const SelfCheck& c : checks) {
    if (!c.ok) std::cout << "FAILED " << c.name << ": nmse " << c.nmse << ", limit " << c.limit << "\n";
  }
}

}  // namespace

int run_selfcheck(int argc, char** argv) {
  CLI::App app("Every op against its scalar reference on random and adversarial inputs", "selfcheck");
  CommonOptions common;
  add_common_options(app, common);
  if (const auto code = parse_options(app, argc, argv)) return *code;
  if (common.backend == "cuda") return fail(make_error(ErrorCode::unsupported, "This build has no CUDA backend."));

  CpuOptions options;
  options.threads = common.threads;
  options.kernels = common.kernels;
  const auto device = make_cpu_device(options);
  if (!device) return fail(device.error());
  const std::vector<SelfCheck> checks = self_check_cpu(options);
  const auto failed = static_cast<std::size_t>(std::count_if(checks.begin(), checks.end(), [](const SelfCheck& c) { return !c.ok; }));
  if (common.json) {
    print_json(as_json(checks, failed));
  } else {
    if (!common.quiet) std::cout << (*device)->name() << "\n";
    print_failures(checks);
    std::cout << checks.size() - failed << " passed, " << failed << " failed\n";
  }
  return failed == 0 ? kExitDone : kExitFailed;
}

}  // namespace tg
