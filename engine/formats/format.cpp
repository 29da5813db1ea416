#include "engine/formats/format.h"

#include <array>

namespace tg {
namespace {

// Block geometry as in the GGUF format's reference implementation (ggml-common.h). `weights` is false for
// formats that never hold a weight matrix: activations and plain integers.
constexpr std::array kFormats{
    FormatInfo{Format::F32, "F32", 1, 4, true},
    FormatInfo{Format::F16, "F16", 1, 2, true},
    FormatInfo{Format::Q4_0, "Q4_0", 32, 18, true},
    FormatInfo{Format::Q4_1, "Q4_1", 32, 20, true},
    FormatInfo{Format::Q5_0, "Q5_0", 32, 22, true},
    FormatInfo{Format::Q5_1, "Q5_1", 32, 24, true},
    FormatInfo{Format::Q8_0, "Q8_0", 32, 34, true},
    FormatInfo{Format::Q8_1, "Q8_1", 32, 36, false},
    FormatInfo{Format::Q2_K, "Q2_K", 256, 84, true},
    FormatInfo{Format::Q3_K, "Q3_K", 256, 110, true},
    FormatInfo{Format::Q4_K, "Q4_K", 256, 144, true},
    FormatInfo{Format::Q5_K, "Q5_K", 256, 176, true},
    FormatInfo{Format::Q6_K, "Q6_K", 256, 210, true},
    FormatInfo{Format::Q8_K, "Q8_K", 256, 292, false},
    FormatInfo{Format::IQ2_XXS, "IQ2_XXS", 256, 66, true},
    FormatInfo{Format::IQ2_XS, "IQ2_XS", 256, 74, true},
    FormatInfo{Format::IQ3_XXS, "IQ3_XXS", 256, 98, true},
    FormatInfo{Format::IQ1_S, "IQ1_S", 256, 50, true},
    FormatInfo{Format::IQ4_NL, "IQ4_NL", 32, 18, true},
    FormatInfo{Format::IQ3_S, "IQ3_S", 256, 110, true},
    FormatInfo{Format::IQ2_S, "IQ2_S", 256, 82, true},
    FormatInfo{Format::IQ4_XS, "IQ4_XS", 256, 136, true},
    FormatInfo{Format::I8, "I8", 1, 1, false},
    FormatInfo{Format::I16, "I16", 1, 2, false},
    FormatInfo{Format::I32, "I32", 1, 4, false},
    FormatInfo{Format::I64, "I64", 1, 8, false},
    FormatInfo{Format::F64, "F64", 1, 8, false},
    FormatInfo{Format::IQ1_M, "IQ1_M", 256, 56, true},
    FormatInfo{Format::BF16, "BF16", 1, 2, true},
    FormatInfo{Format::TQ1_0, "TQ1_0", 256, 54, true},
    FormatInfo{Format::TQ2_0, "TQ2_0", 256, 66, true},
    FormatInfo{Format::MXFP4, "MXFP4", 32, 17, true},
    FormatInfo{Format::NVFP4, "NVFP4", 64, 36, true},
    FormatInfo{Format::Q1_0, "Q1_0", 128, 18, true},
    FormatInfo{Format::Q2_0, "Q2_0", 64, 18, true},
};

}  // namespace

const FormatInfo* format_info(std::uint32_t ggml_type_id) {
  for (const FormatInfo& info : kFormats) {
    if (static_cast<std::uint32_t>(info.format) == ggml_type_id) return &info;
  }
  return nullptr;
}

const FormatInfo* format_info(Format format) {
  return format_info(static_cast<std::uint32_t>(format));
}

std::optional<Format> format_by_name(std::string_view name) {
  for (const FormatInfo& info : kFormats) {
    if (info.name == name) return info.format;
  }
  return std::nullopt;
}

}  // namespace tg
