#include "engine/gguf/reader.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <unordered_map>

#include "engine/base/in_use.h"
#include "engine/base/platform.h"
#include "engine/base/text.h"
#include "engine/gguf/parser.h"
#include "engine/gguf/split.h"

namespace tg {
namespace {

Error refuse(std::string sentence) {
  return make_error(ErrorCode::bad_file, std::move(sentence));
}

constexpr std::size_t kSampleBytes = 256;
constexpr std::size_t kBringStep = std::size_t{1} << 20;

class ParsedFile final : public GgufFile {
 public:
  explicit ParsedFile(std::string path) : path_(std::move(path)) {}

  // Takes over one part. The metadata of the first part are the file's.
  Status add(std::span<const std::byte> bytes, GgufPart part) {
    file_bytes_ += bytes.size();
    headers_.push_back(bytes.first(part.header_bytes));
    sizes_.push_back(bytes.size());
    if (headers_.size() == 1) {
      for (auto& [key, value] : part.metadata) {
        keys_.push_back(key);
        metadata_.emplace(key, std::move(value));
      }
    }
    for (GgufTensor& tensor : part.tensors) tensors_.push_back(std::move(tensor));
    return Ok{};
  }
  void hold(const std::string& path, std::unique_ptr<MappedFile> mapping) {
    mappings_.push_back(std::move(mapping));
    paths_.push_back(path);
  }
  // True while the paths of all parts still name what was opened.
  bool is_current() const {
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      if (file_identity(paths_[i]) != mappings_[i]->identity()) return false;
    }
    return true;
  }

  // Call once, after the last part: the index points into the list of tensors.
  Status index_tensors() {
    for (const GgufTensor& tensor : tensors_) {
      if (!index_.emplace(tensor.name, &tensor).second) {
        return refuse("The tensor \"" + printable(tensor.name, 64) + "\" is in two parts of the model.");
      }
    }
    return Ok{};
  }

  const GgufValue* find(std::string_view key) const override {
    const auto it = metadata_.find(key);
    return it == metadata_.end() ? nullptr : &it->second;
  }
  std::span<const GgufTensor> tensors() const override { return tensors_; }
  const GgufTensor* tensor(std::string_view name) const override {
    const auto it = index_.find(name);
    return it == index_.end() ? nullptr : it->second;
  }
  std::vector<std::string_view> keys() const override { return keys_; }
  std::uint64_t file_bytes() const override { return file_bytes_; }
  const std::string& path() const override { return path_; }

  std::string fingerprint() const override {
    XXH3_state_t* state = XXH3_createState();
    XXH3_128bits_reset(state);
    for (std::size_t i = 0; i < headers_.size(); ++i) {
      XXH3_128bits_update(state, headers_[i].data(), headers_[i].size());
      XXH3_128bits_update(state, &sizes_[i], sizeof sizes_[i]);
    }
    for (const GgufTensor& tensor : tensors_) hash_samples(state, tensor.data);
    const XXH128_hash_t hash = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    char text[33];
    std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                  static_cast<unsigned long long>(hash.low64));
    return text;
  }

  bool read(std::span<const std::byte> data, std::byte* to) const override {
    if (const MappedFile* mapping = mapping_of(data)) return mapping->read(data, to);
    std::memcpy(to, data.data(), data.size());
    return true;
  }

  void let_go_of_metadata() const override {
    for (const std::span<const std::byte> header : headers_) {
      if (const MappedFile* mapping = mapping_of(header)) mapping->let_go(header);
    }
  }

  bool whole() const override {
    return std::all_of(mappings_.begin(), mappings_.end(), [](const auto& mapping) { return mapping->whole(); });
  }

  // Probes are cheap; what is not there is read in large steps, which the system need not guess.
  void bring(std::span<const std::byte> data) const override {
    const MappedFile* mapping = mapping_of(data);
    if (mapping == nullptr) return;
    std::vector<std::byte> buffer;
    for (std::size_t at = 0; at < data.size(); at += kBringStep) {
      const auto part = data.subspan(at, std::min(kBringStep, data.size() - at));
      if (mapping->in_memory(part) && mapping->in_memory(part.last(1))) continue;
      buffer.resize(kBringStep);
      mapping->read(part, buffer.data());
    }
  }

 private:
  // Null: the bytes were in memory from the beginning.
  const MappedFile* mapping_of(std::span<const std::byte> data) const {
    for (const auto& mapping : mappings_) {
      const std::span<const std::byte> all = mapping->bytes();
      if (std::less_equal<>{}(all.data(), data.data()) && std::less_equal<>{}(data.data() + data.size(), all.data() + all.size())) return mapping.get();
    }
    return nullptr;
  }
  // Start, middle and end of every tensor: cheap, and another fine-tune of the same base differs there. Read, not mapped: a sample would
  // bring 64 KiB into the process.
  void hash_samples(XXH3_state_t* state, std::span<const std::byte> data) const {
    std::array<std::byte, kSampleBytes> sample{};
    const std::size_t n = std::min(kSampleBytes, data.size());
    for (const std::size_t at : {std::size_t{0}, (data.size() - n) / 2, data.size() - n}) {
      if (read(data.subspan(at, n), sample.data())) XXH3_128bits_update(state, sample.data(), n);
    }
  }

  std::string path_;
  std::vector<std::unique_ptr<MappedFile>> mappings_;
  std::vector<std::string> paths_;                   // of each mapping
  std::vector<std::span<const std::byte>> headers_;  // of each part
  std::vector<std::uint64_t> sizes_;
  std::uint64_t file_bytes_ = 0;
  std::vector<std::string_view> keys_;
  std::unordered_map<std::string_view, GgufValue> metadata_;
  std::vector<GgufTensor> tensors_;
  std::unordered_map<std::string_view, const GgufTensor*> index_;
};

Result<GgufPart> open_part(const std::string& path, std::unique_ptr<MappedFile>& mapping) {
  auto mapped = MappedFile::open(path);
  if (!mapped) return mapped.error();
  mapping = std::move(*mapped);
  return parse_gguf(mapping->bytes());
}

// Opens part INDEX (from 0) of a split model and adds it, checked against the first part.
Status add_part(ParsedFile& file, const std::string& path, std::int64_t index, std::int64_t count) {
  std::unique_ptr<MappedFile> mapping;
  auto part = open_part(path, mapping);
  const std::string which = "Part " + std::to_string(index + 1) + " of " + std::to_string(count) + " of a split model";
  if (!part) {
    if (part.error().code == ErrorCode::io) return make_error(ErrorCode::io, which + " is missing or cannot be read.");
    return make_error(part.error().code, which + " is refused: " + part.error().message);
  }
  const SplitKeys keys = split_keys(*part);
  if (keys.index != index || keys.count != count) return refuse(which + " does not belong to the first part.");
  const Status added = file.add(mapping->bytes(), std::move(*part));
  if (!added) return added.error();
  file.hold(path, std::move(mapping));
  return Ok{};
}

Status check_total(const ParsedFile& file, const SplitKeys& keys) {
  if (!keys.n_tensors || *keys.n_tensors == static_cast<std::int64_t>(file.tensors().size())) return Ok{};
  return refuse("The parts of this split model hold " + std::to_string(file.tensors().size()) + " tensors instead of " +
                std::to_string(*keys.n_tensors) + ".");
}

}  // namespace

Result<std::shared_ptr<const GgufFile>> GgufFile::open(const std::string& path) {
  static InUse<std::string, ParsedFile> in_use;
  if (auto file = in_use.find(path); file != nullptr && file->is_current()) return std::shared_ptr<const GgufFile>(std::move(file));
  std::unique_ptr<MappedFile> mapping;
  auto first = open_part(path, mapping);
  if (!first) return first.error();
  const SplitKeys keys = split_keys(*first);
  const auto names = split_names(path, keys);
  if (!names) return names.error();
  auto file = std::make_shared<ParsedFile>(path);
  const Status added = file->add(mapping->bytes(), std::move(*first));
  if (!added) return added.error();
  file->hold(path, std::move(mapping));
  for (std::size_t i = 1; i < names->size(); ++i) {
    const Status part = add_part(*file, (*names)[i], static_cast<std::int64_t>(i), keys.count);
    if (!part) return part.error();
  }
  const Status total = check_total(*file, keys);
  if (!total) return total.error();
  const Status indexed = file->index_tensors();
  if (!indexed) return indexed.error();
  in_use.add(path, file);
  return std::shared_ptr<const GgufFile>(std::move(file));
}

Result<std::shared_ptr<const GgufFile>> GgufFile::parse(std::span<const std::byte> bytes) {
  auto part = parse_gguf(bytes);
  if (!part) return part.error();
  if (split_keys(*part).count > 1)
    return refuse("This is one part of a split model; the others can only be found by name.");
  auto file = std::make_shared<ParsedFile>(std::string());
  const Status added = file->add(bytes, std::move(*part));
  if (!added) return added.error();
  const Status indexed = file->index_tensors();
  if (!indexed) return indexed.error();
  return std::shared_ptr<const GgufFile>(std::move(file));
}

std::uint64_t GgufTensor::elements() const {
  return shape.empty() ? 0 : shape[0] * rows();
}

std::uint64_t GgufTensor::rows() const {
  std::uint64_t n = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) n *= shape[i];
  return n;
}

std::optional<std::int64_t> GgufFile::integer(std::string_view key) const {
  const GgufValue* v = find(key);
  const auto* number = v == nullptr ? nullptr : std::get_if<std::int64_t>(&v->value);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

std::optional<double> GgufFile::number(std::string_view key) const {
  const GgufValue* v = find(key);
  if (v == nullptr) return std::nullopt;
  if (const auto* d = std::get_if<double>(&v->value)) return *d;
  if (const auto* i = std::get_if<std::int64_t>(&v->value)) return static_cast<double>(*i);
  return std::nullopt;
}

std::optional<bool> GgufFile::boolean(std::string_view key) const {
  const GgufValue* v = find(key);
  const auto* flag = v == nullptr ? nullptr : std::get_if<bool>(&v->value);
  return flag == nullptr ? std::nullopt : std::optional(*flag);
}

std::optional<std::string_view> GgufFile::string(std::string_view key) const {
  const GgufValue* v = find(key);
  const auto* text = v == nullptr ? nullptr : std::get_if<std::string_view>(&v->value);
  return text == nullptr ? std::nullopt : std::optional(*text);
}

const GgufArray* GgufFile::array(std::string_view key) const {
  const GgufValue* v = find(key);
  return v == nullptr ? nullptr : std::get_if<GgufArray>(&v->value);
}

}  // namespace tg
