#include "engine/device/cpu/processor.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace tg::cpu {
namespace {

#if defined(__linux__)
std::string cpuinfo(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

// Two hardware threads of one core share its multipliers: one of them is enough.
int count_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
  std::set<std::string> cores;
  for (std::size_t i = 0; i < CPU_SETSIZE; ++i) {
    if (!CPU_ISSET(i, &allowed)) continue;
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(i) + "/topology/thread_siblings_list");
    std::string siblings;
    if (!std::getline(file, siblings)) siblings = std::to_string(i);
    cores.insert(siblings);
  }
  return static_cast<int>(cores.size());
}
#else
std::string cpuinfo(std::string_view) { return {}; }
int count_cores() { return 0; }
#endif

}  // namespace

std::string processor_name() {
  std::string name = cpuinfo("model name");
  return name.empty() ? "unknown processor" : name;
}

int physical_cores() {
  const int cores = count_cores();
  return cores > 0 ? cores : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

namespace {

struct Choice {
  const char* name;
  bool runs;
  const Kernels& (*table)();
};

#if defined(__x86_64__)
// Not among the names of __builtin_cpu_supports in GCC 12. The system's support of the registers is what AVX2 needs too.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & (1U << 29)) != 0;
}
bool has_avx_vnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & (1U << 4)) != 0;
}
#elif defined(__aarch64__) && defined(__linux__)
bool has_dot_product() { return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0; }
#elif defined(__aarch64__)
bool has_dot_product() { return false; }  // no way to ask that is known to us
#endif

// Best first.
std::vector<Choice> choices() {
  std::vector<Choice> all;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vbmi");
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
  all.push_back({"avx512", avx512, avx512_kernels});
  all.push_back({"avxvnni", avx2 && has_avx_vnni(), avxvnni_kernels});
  all.push_back({"avx2", avx2, avx2_kernels});
#elif defined(__aarch64__)
  all.push_back({"neondot", has_dot_product(), dotprod_kernels});
  all.push_back({"neon", true, neon_kernels});
#endif
  all.push_back({"scalar", true, scalar_kernels});
  return all;
}

}  // namespace

std::vector<std::string> available_kernels() {
  std::vector<std::string> names;
  for (const Choice& c : choices()) {
    if (c.runs) names.emplace_back(c.name);
  }
  return names;
}

std::string kernels_refusal(std::string_view name) {
  std::string list = "auto";
  for (const std::string& known : available_kernels()) {
    if (known == name) return {};
    list += ", " + known;
  }
  return name == "auto" ? std::string() : "These kernels do not run on this machine; those that do are: " + list + ".";
}

const Kernels* kernels_by_name(std::string_view name) {
  for (const Choice& c : choices()) {
    if (c.runs && (name == "auto" || name == c.name)) return &c.table();
  }
  return nullptr;
}

}  // namespace tg::cpu
