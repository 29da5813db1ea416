// Every table of kernels this processor runs: equal to the scalar twin, and the same bits for any number of rows. Exit status 1 where not.
#include <array>
#include <cstdio>
#include <cstring>

#include "engine/device/cpu/processor.h"
#include "engine/device/cpu/self_check.h"

// The system's answer needs libraries that are not cross-compiled; none is an answer too.
std::optional<tg::MainMemory> tg::main_memory() { return std::nullopt; }

using namespace tg;

namespace {

using Values = std::vector<float>;

std::unique_ptr<Device> make_device(const std::string& kernels) {
  CpuOptions options;
  options.kernels = kernels;
  options.threads = 1;
  auto device = make_cpu_device(options);
  return device.ok() ? std::move(*device) : nullptr;
}

// Rows [first, first + count) of a product, computed in one call.
Values product(Device& device, const Weight& weight, Mat x, int first, int count) {
  std::shared_ptr<std::byte> storage;
  const auto activations = device.activations(count, x.cols);
  device.prepare({x.row(first), count, x.cols, x.stride}, *activations);
  MatmulTask task;
  task.weight = &weight;
  task.out = device.matrix(storage, count, weight.rows);
  device.matmul(*activations, {&task, 1});
  Values values;
  for (int r = 0; r < count; ++r) values.insert(values.end(), task.out.row(r), task.out.row(r) + weight.rows);
  return values;
}

bool rows_are_independent(const std::string& kernels, const FormatInfo& info) {
  const int rows = 35, cols = 512, n = 15;
  const auto device = make_device(kernels);
  cpu::Random random(9);
  const auto bytes = cpu::make_weight(info.format, rows, cols, cpu::Payload::random, random);
  const auto weight = device->upload({.name = "check", .format = info.format, .rows = rows, .cols = cols, .data = bytes});
  std::shared_ptr<std::byte> storage;
  const Mat x = device->matrix(storage, n, cols);
  for (int r = 0; r < n; ++r) {
    for (int i = 0; i < cols; ++i) x.row(r)[i] = random.normal();
  }
  const Values whole = product(*device, **weight, x, 0, n);
  for (const int count : std::array{1, 2, 3, 5}) {
    for (int first = 0; first + count <= n; first += count) {
      const Values part = product(*device, **weight, x, first, count);
      if (std::memcmp(part.data(), whole.data() + first * rows, part.size() * sizeof(float)) != 0) return false;
    }
  }
  return true;
}

int check(const std::string& kernels) {
  int failed = 0;
  CpuOptions options;
  options.kernels = kernels;
  options.threads = 2;
  const std::vector<SelfCheck> checks = self_check_cpu(options);
  for (const SelfCheck& c : checks) {
    if (c.ok) continue;
    ++failed;
    std::printf("%s: %s: error %.2g, limit %.2g\n", kernels.c_str(), c.name.c_str(), c.nmse, c.limit);
  }
  for (std::uint32_t id = 0; id < 64; ++id) {
    const FormatInfo* info = format_info(id);
    if (info == nullptr || !info->weights || rows_are_independent(kernels, *info)) continue;
    ++failed;
    std::printf("%s: %s depends on the number of rows\n", kernels.c_str(), std::string(info->name).c_str());
  }
  std::printf("%s: %zu checks, %d failed\n", kernels.c_str(), checks.size(), failed);
  return failed;
}

}  // namespace

int main() {
  int failed = 0;
  for (const std::string& kernels : cpu::available_kernels()) {
    if (kernels != "scalar") failed += check(kernels);
  }
  return failed == 0 ? 0 : 1;
}
