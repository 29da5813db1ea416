// What is measured once per processor, table of kernels and number of threads, because the best value depends on caches and memory.
// None of it can change a bit of a result: it decides how weights are unpacked and what is asked of the memory early.
// Kept in a small text file, one line per machine, "turnglass-tuning 1" first. What does not read as that is measured again.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tg::cpu {

class CpuDevice;

// Formats that cost about the same to unpack.
enum class UnpackKind : std::size_t {
  wide,    // signed bytes: Q8_0
  block,   // blocks of 32
  super,   // blocks of 256 with a scale per 32
  pairs,   // a scale per 16
};
inline constexpr std::size_t kUnpackKinds = 4;

struct Tuning {
  // Most activation rows multiplied straight from the file's bits; more go through a panel. By UnpackKind.
  std::array<int, kUnpackKinds> direct_rows{16, 8, 4, 4};
  int weights_ahead = 10240;  // bytes by which weights are asked for before they are used
  int blocks_ahead = 0;       // the same for large matrices in blocks of 32 by one activation row; 0: hardware prefetch follows their few loads better alone
  // The cache that weights, keys and values are asked into. The first waits for few lines at a time: the 24 of a Zen 4 core are 9 GB/s where a
  // line takes 166 ns, and only the second cache gets more out of the memory; on a Zen 5 core the first is better.
  int prefetch_cache = 2;
  int direct(UnpackKind kind) const { return direct_rows[static_cast<std::size_t>(kind)]; }
  bool operator==(const Tuning&) const = default;
};
inline constexpr Tuning kUsualTuning{};

// "direct 16 8 4 4 ahead 10240 blocks 0 cache 2", for the file and for people. Nothing for a text that is not exactly that, or has a value out of range.
std::string to_text(const Tuning& tuning);
std::optional<Tuning> tuning_from_text(std::string_view text);

// KEY names the machine; control characters in it are taken as spaces. Any thread; nothing for a file that is absent, damaged or has no such line.
std::optional<Tuning> read_tuning(const std::string& path, std::string_view key);
// Replaces the line of KEY and keeps the others, making the folder where there is none; a reader sees the old file or the new one. False: it could not be written.
bool write_tuning(const std::string& path, std::string_view key, const Tuning& tuning);

// Measures on DEVICE, which must be otherwise unused meanwhile: about 0.2 s. Nothing when it was cancelled.
std::optional<Tuning> measure_tuning(CpuDevice& device);

}  // namespace tg::cpu
