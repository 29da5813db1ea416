#include "engine/device/cpu/cpu_device.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "engine/device/cpu/processor.h"

namespace tg::cpu {

std::shared_ptr<std::byte> allocate_uninitialised(std::size_t bytes) {
  // Whole large pages where there is room for several: weights are read front to back, and looking up small pages costs bandwidth.
  constexpr std::size_t kLine = 64, kLargePage = std::size_t{2} << 20;
  const std::size_t unit = bytes >= 4 * kLargePage ? kLargePage : kLine;
  void* memory = std::aligned_alloc(unit, round_up_bytes(bytes == 0 ? unit : bytes, unit));
  if (memory == nullptr) throw std::bad_alloc();
#if defined(__linux__)
  if (unit == kLargePage) madvise(memory, round_up_bytes(bytes, kLargePage), MADV_HUGEPAGE);
#endif
  return {static_cast<std::byte*>(memory), [](std::byte* p) { std::free(p); }};
}

std::shared_ptr<std::byte> allocate_zeroed(std::size_t bytes) {
  // By calloc: large memory comes zeroed from the system, page by page as it is used. Buffers are sized for the longest step.
  constexpr std::size_t kLine = 64;
  void* memory = std::calloc(1, bytes + kLine);
  if (memory == nullptr) throw std::bad_alloc();
  const std::size_t skip = kLine - reinterpret_cast<std::uintptr_t>(memory) % kLine;
  return {static_cast<std::byte*>(memory) + skip, [memory](std::byte*) { std::free(memory); }};
}

CpuDevice::CpuDevice(const Kernels& kernels, int threads, const CpuOptions& options)
    : k_(kernels), pool_(threads), tuning_file_(options.tuning_file), memory_(options.memory), scratch_(zu(threads)), scratch_floats_(zu(threads)), rooms_(zu(threads)) {
  if (tuning_file_.empty()) return;
  const auto known = read_tuning(tuning_file_, tuning_key());
  tuning_ = known.value_or(kUsualTuning);
  tuned_ = known.has_value();
}

std::string CpuDevice::tuning_key() const { return processor_name() + ", " + k_.variant + ", threads " + std::to_string(threads()); }

void CpuDevice::tune() {
  if (tuned_) return;
  const auto measured = measure_tuning(*this);
  if (!measured) return;
  tuning_ = *measured;
  tuned_ = true;
  write_tuning(tuning_file_, tuning_key(), tuning_);  // where that fails, it is measured again at the next start
}

std::string CpuDevice::name() const {
  return "CPU · " + processor_name() + " · " + k_.label + " · " + std::to_string(threads()) +
         (threads() == 1 ? " thread" : " threads");
}

void CpuDevice::copy_to_host(void* to, const std::byte* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
void CpuDevice::copy_from_host(std::byte* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

namespace {

// Whole cache lines, for long rows three more than a multiple of eight: rows a multiple of 4 KiB apart share a few places of the first cache.
std::size_t row_stride(int cols) {
  const int line = 16, lines = (cols + line - 1) / line;
  return zu(line * (lines < 32 ? lines : round_up(lines - 3, 8) + 3));
}

}  // namespace

Mat CpuDevice::matrix(std::shared_ptr<std::byte>& storage, int rows, int cols) {
  const std::size_t stride = row_stride(cols), bytes = stride * zu(rows) * sizeof(float);
  struct Sized {  // remembers its size, so that a matrix is reallocated only when it grows
    std::size_t bytes;
    std::shared_ptr<std::byte> memory;
    void operator()(std::byte*) const {}
  };
  const Sized* held = std::get_deleter<Sized>(storage);
  if (held == nullptr || held->bytes < bytes) {
    std::shared_ptr<std::byte> memory = allocate_zeroed(bytes);
    std::byte* data = memory.get();
    storage = std::shared_ptr<std::byte>(data, Sized{bytes, std::move(memory)});
  }
  return {reinterpret_cast<float*>(storage.get()), rows, cols, stride};
}

std::unique_ptr<Activations> CpuDevice::activations(int max_rows, int max_cols) {
  auto a = std::make_unique<CpuActivations>();
  a->f32 = a->own = matrix(a->f32_storage, max_rows, max_cols);
  a->tuning = &tuning_;
  a->block_stride = zu(max_cols + 31) / 32;
  a->block_storage = allocate_zeroed(zu(max_rows) * a->block_stride * sizeof(ActBlock));
  a->blocks = reinterpret_cast<ActBlock*>(a->block_storage.get());
  return a;
}

std::size_t CpuDevice::kv_layer_bytes(const KvLayerShape& shape) const {
  return KvPage(shape).head_bytes * zu(shape.n_kv_heads);
}

float* CpuDevice::scratch(int thread, std::size_t floats) {
  const auto t = zu(thread);
  if (scratch_floats_[t] < floats) {
    scratch_[t] = allocate_zeroed(floats * sizeof(float));
    scratch_floats_[t] = floats;
  }
  return reinterpret_cast<float*>(scratch_[t].get());
}

}  // namespace tg::cpu

namespace tg {

Result<std::unique_ptr<Device>> make_cpu_device(const CpuOptions& options) {
  const cpu::Kernels* kernels = cpu::kernels_by_name(options.kernels);
  if (kernels == nullptr) {
    return make_error(ErrorCode::unsupported, cpu::kernels_refusal(options.kernels));
  }
  const int threads = options.threads > 0 ? std::min(options.threads, 256) : cpu::physical_cores();
  return std::unique_ptr<Device>(std::make_unique<cpu::CpuDevice>(*kernels, threads, options));
}

}  // namespace tg
