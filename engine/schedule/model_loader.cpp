// Brings a model from its file to a runtime: file, description, tokenizer, template, device, weights.
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/chat_template/chat_template.h"
#include "engine/sampling/thinking_stream.h"
#include "engine/schedule/model_runtime.h"

namespace tg {
namespace {

constexpr int kMaxRows = 512 + 64;  // of one step: a chunk of 512 and the rows of writing chats

// Pages in the memory of a device.
class DevicePageMemory : public PageMemory {
 public:
  explicit DevicePageMemory(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  std::shared_ptr<std::byte> allocate(std::size_t bytes, bool) override { return device_->allocate(bytes); }
  bool is_host() const override { return false; }
  void to_host(void* to, const std::byte* from, std::size_t bytes) override { device_->copy_to_host(to, from, bytes); }
  void from_host(std::byte* to, const void* from, std::size_t bytes) override { device_->copy_from_host(to, from, bytes); }
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) override {
    std::vector<std::byte> staging(bytes);
    device_->copy_to_host(staging.data(), from, bytes);
    device_->copy_from_host(to, staging.data(), bytes);
  }

 private:
  std::shared_ptr<Device> device_;
};

// Names the rope factors in force: a context above the trained one may choose others, and their keys do not mix.
std::string rope_set(const ModelDescription& description) {
  XXH3_state_t* state = XXH3_createState();
  XXH3_64bits_reset(state);
  for (const LayerDescription& layer : description.layers) {
    const RopeDescription& rope = layer.attention.rope;
    XXH3_64bits_update(state, rope.inv_freq.data(), rope.inv_freq.size() * sizeof(float));
    XXH3_64bits_update(state, &rope.magnitude, sizeof rope.magnitude);
  }
  const std::uint64_t hash = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  return "rope" + std::to_string(hash);
}

Result<std::shared_ptr<Device>> make_device(const LoadOptions& options) {
  if (options.backend == "cuda") return make_error(ErrorCode::unsupported, "This build has no CUDA backend.");
  auto device = make_cpu_device({options.threads, options.kernels, options.tuning_file});
  if (!device) return device.error();
  return std::shared_ptr<Device>(std::move(*device));
}

Result<std::shared_ptr<const ChatTemplate>> template_of(const GgufFile& file) {
  const auto source = file.string("tokenizer.chat_template");
  if (!source || source->empty()) return std::shared_ptr<const ChatTemplate>();
  return ChatTemplate::parse(std::string(*source));
}

int context_of(int wanted, int of_model) {
  if (of_model <= 0) return wanted > 0 ? wanted : 4096;
  return wanted > 0 ? std::min(wanted, of_model) : of_model;
}

}  // namespace

Result<std::unique_ptr<ModelRuntime>> load_model(const std::string& path, const LoadOptions& options,
                                                 const std::function<void(std::uint64_t, std::uint64_t)>& progress, const CancelToken& cancel) {
  const auto start = std::chrono::steady_clock::now();
  auto file = GgufFile::open(path);
  if (!file) return file.error();
  auto description = describe_model(**file, options.context);
  if (!description) return description.error();
  auto tokenizer = Tokenizer::load(*file);
  if (!tokenizer) return tokenizer.error();
  auto device = make_device(options);
  if (!device) return device.error();

  auto runtime = std::make_unique<ModelRuntime>();
  auto forward = Forward::load(*file, *description, *device, options.k_type, options.v_type, std::max(kMaxRows, options.chunk + 64), progress, cancel);
  if (!forward) return forward.error();
  runtime->forward = std::move(*forward);
  runtime->device = *device;
  runtime->chunk = options.chunk;

  auto info = std::make_shared<LoadedModel>();
  info->path = path;
  info->name = description->name;
  info->fingerprint = (*file)->fingerprint();
  info->file = *file;
  info->tokenizer = *tokenizer;
  // A template that does not parse is like none: the model can be used with another one.
  if (auto own = template_of(**file)) info->chat_template = *own;
  info->thinks = template_thinks((*file)->string("tokenizer.chat_template").value_or(""));
  info->backend = (*device)->backend();
  info->device = (*device)->name();
  info->threads = (*device)->threads();
  info->context = context_of(options.context, description->context_length);
  info->k_type = options.k_type;
  info->v_type = options.v_type;
  info->kernel_variant = (*device)->kernel_variant();
  info->weights_bytes = runtime->forward->weights_bytes();
  for (const KvGroup& g : runtime->forward->kv_layout().groups) info->kv_bytes_per_token += g.bytes_per_token;
  info->state_bytes = runtime->forward->kv_layout().state_bytes;
  runtime->key = {info->fingerprint, info->backend, info->kernel_variant, info->k_type, info->v_type, rope_set(*description)};
  info->description = std::move(*description);
  (*file)->let_go_of_metadata();
  info->load_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (info->backend == "cpu") runtime->memory = std::make_shared<HostPageMemory>();
  else runtime->memory = std::make_shared<DevicePageMemory>(*device);
  runtime->info = std::move(info);
  return runtime;
}

}  // namespace tg
