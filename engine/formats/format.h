// Weight formats of GGUF files: identity and block geometry. Values of the enum are ggml_type ids (GGUF specification).
// Each format's layout and exact dequantisation stands in one traits struct (traits.h); nothing else switches over formats.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tg {

enum class Format : std::uint32_t {
  F32 = 0, F16 = 1, Q4_0 = 2, Q4_1 = 3, Q5_0 = 6, Q5_1 = 7, Q8_0 = 8, Q8_1 = 9,
  Q2_K = 10, Q3_K = 11, Q4_K = 12, Q5_K = 13, Q6_K = 14, Q8_K = 15,
  IQ2_XXS = 16, IQ2_XS = 17, IQ3_XXS = 18, IQ1_S = 19, IQ4_NL = 20, IQ3_S = 21, IQ2_S = 22, IQ4_XS = 23,
  I8 = 24, I16 = 25, I32 = 26, I64 = 27, F64 = 28, IQ1_M = 29, BF16 = 30,
  TQ1_0 = 34, TQ2_0 = 35, MXFP4 = 39, NVFP4 = 40, Q1_0 = 41, Q2_0 = 42,
};

struct FormatInfo {
  Format format;
  std::string_view name;       // "Q4_K"
  std::size_t block_elements;  // elements per block
  std::size_t block_bytes;     // bytes per block
  bool weights;                // usable as a weight matrix (dequantise and matmul exist)
};

// Null for ids that no current file may use (removed or unknown types).
const FormatInfo* format_info(Format format);
const FormatInfo* format_info(std::uint32_t ggml_type_id);
std::optional<Format> format_by_name(std::string_view name);

// Exact values of whole blocks: out[n_elements], n_elements a multiple of block_elements, blocks.size() the matching bytes.
void dequantise(Format format, std::span<const std::byte> blocks, float* out, std::size_t n_elements);

inline std::size_t row_bytes(const FormatInfo& info, std::size_t n_elements) {
  return n_elements / info.block_elements * info.block_bytes;
}

}  // namespace tg
