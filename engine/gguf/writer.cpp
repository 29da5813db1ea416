#include "engine/gguf/writer.h"

#include <fstream>

namespace tg {
namespace {

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<std::uint64_t>(text.size()));
  out += text;
}

void pad(std::string& out, std::size_t alignment) {
  out.append((alignment - out.size() % alignment) % alignment, '\0');
}

}  // namespace

void GgufWriter::begin_value(std::string_view key, GgufType type) {
  ++n_metadata_;
  put_text(metadata_, key);
  put(metadata_, static_cast<std::uint32_t>(type));
}

void GgufWriter::begin_array(std::string_view key, GgufType type, std::size_t count) {
  begin_value(key, GgufType::array);
  put(metadata_, static_cast<std::uint32_t>(type));
  put(metadata_, static_cast<std::uint64_t>(count));
}

void GgufWriter::add_u32(std::string_view key, std::uint32_t value) {
  begin_value(key, GgufType::u32);
  put(metadata_, value);
}

void GgufWriter::add_u64(std::string_view key, std::uint64_t value) {
  begin_value(key, GgufType::u64);
  put(metadata_, value);
}

void GgufWriter::add_i32(std::string_view key, std::int32_t value) {
  begin_value(key, GgufType::i32);
  put(metadata_, value);
}

void GgufWriter::add_f32(std::string_view key, float value) {
  begin_value(key, GgufType::f32);
  put(metadata_, value);
}

void GgufWriter::add_bool(std::string_view key, bool value) {
  begin_value(key, GgufType::boolean);
  metadata_ += value ? '\1' : '\0';
}

void GgufWriter::add_string(std::string_view key, std::string_view value) {
  begin_value(key, GgufType::string);
  put_text(metadata_, value);
}

void GgufWriter::add_strings(std::string_view key, std::span<const std::string> values) {
  begin_array(key, GgufType::string, values.size());
  for (const std::string& value : values) put_text(metadata_, value);
}

void GgufWriter::add_i32s(std::string_view key, std::span<const std::int32_t> values) {
  begin_array(key, GgufType::i32, values.size());
  for (const std::int32_t value : values) put(metadata_, value);
}

void GgufWriter::add_f32s(std::string_view key, std::span<const float> values) {
  begin_array(key, GgufType::f32, values.size());
  for (const float value : values) put(metadata_, value);
}

void GgufWriter::add_raw(std::string_view key, GgufType type, std::string_view value_bytes) {
  begin_value(key, type);
  metadata_ += value_bytes;
}

void GgufWriter::add_tensor(std::string_view name, Format format, std::vector<std::uint64_t> shape,
                            std::span<const std::byte> data) {
  tensors_.push_back({std::string(name), format, std::move(shape),
                      std::string(reinterpret_cast<const char*>(data.data()), data.size())});
}

void GgufWriter::add_f32_tensor(std::string_view name, std::vector<std::uint64_t> shape, std::span<const float> data) {
  add_tensor(name, Format::F32, std::move(shape), std::as_bytes(data));
}

void GgufWriter::set_alignment(std::uint32_t alignment) {
  alignment_ = alignment;
  add_u32("general.alignment", alignment);
}

std::string GgufWriter::bytes() const {
  std::string out = "GGUF";
  put(out, version_);
  put(out, static_cast<std::uint64_t>(tensors_.size()));
  put(out, n_metadata_);
  out += metadata_;
  std::string data;
  for (const Tensor& tensor : tensors_) {
    put_text(out, tensor.name);
    put(out, static_cast<std::uint32_t>(tensor.shape.size()));
    for (const std::uint64_t extent : tensor.shape) put(out, extent);
    put(out, static_cast<std::uint32_t>(tensor.format));
    put(out, static_cast<std::uint64_t>(data.size()));
    data += tensor.data;
    pad(data, alignment_);
  }
  pad(out, alignment_);
  return out + data;
}

Status GgufWriter::write(const std::string& path) const {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const std::string content = bytes();
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) return make_error(ErrorCode::io, "The file cannot be written.");
  return Ok{};
}

}  // namespace tg
