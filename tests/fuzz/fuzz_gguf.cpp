// Any bytes as a model file: read and described, or refused; values of every tensor can be computed.
#include <algorithm>
#include <vector>

#include "engine/gguf/reader.h"
#include "engine/model/description.h"
#include "engine/tokenizer/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tg;
  const auto file = GgufFile::parse(std::as_bytes(std::span(data, size)));
  if (!file) return 0;
  static_cast<void>((*file)->fingerprint());
  static_cast<void>(describe_model(**file, 0));
  static_cast<void>(Tokenizer::load(*file));
  for (const GgufTensor& tensor : (*file)->tensors()) {
    const FormatInfo* info = format_info(tensor.format);
    if (!info->weights) continue;
    std::vector<float> block(info->block_elements);
    dequantise(tensor.format, tensor.data.last(info->block_bytes), block.data(), block.size());
  }
  return 0;
}
