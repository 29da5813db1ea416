#include "engine/forward/weights.h"

#include <cstring>

#include "engine/formats/format.h"

namespace tg {

namespace {

std::string key_of(const MatrixRef& ref) {
  return ref.name + " " + std::to_string(ref.first) + " " + std::to_string(ref.run) + " " + std::to_string(ref.step) + " " +
         std::to_string(ref.rows);
}

// Uploads what the description names; the first error is kept, after it every call returns null at once.
class Uploader {
 public:
  Uploader(const std::shared_ptr<const GgufFile>& file, const ModelDescription& description, Device& device,
           const LoadProgress& progress, const CancelToken& cancel)
      : file_(file), description_(description), device_(device), progress_(progress), cancel_(cancel) {
    for (const GgufTensor& tensor : file->tensors()) {
      total_ += tensor.data.size();
    }
  }

  Result<ModelWeights> run() {
    const ModelDescription& d = description_;
    weights_.token_embedding = matrix(d.token_embedding, true);
    weights_.output = matrix(d.output);
    weights_.output_bias = vector(d.output_bias);
    weights_.output_norm = norm(d.output_norm);
    if (d.per_layer) {
      weights_.per_layer_table = matrix(d.per_layer->table, true);
      weights_.per_layer_projection = matrix(d.per_layer->projection);
      weights_.per_layer_norm = norm(d.per_layer->norm);
    }
    for (const LayerDescription& layer : d.layers) {
      weights_.layers.push_back(layer_weights(layer));
    }
    if (error_) {
      return *error_;
    }
    return std::move(weights_);
  }

 private:
  LayerWeights layer_weights(const LayerDescription& l) {
    LayerWeights w;
    w.attention_norm = norm(l.attention_norm);
    w.attention_post_norm = norm(l.attention_post_norm);
    w.feed_forward_norm = norm(l.feed_forward_norm);
    w.feed_forward_post_norm = norm(l.feed_forward_post_norm);
    w.attention = attention(l.attention);
    if (l.mla) w.mla = mla(*l.mla);
    if (l.delta_net) w.delta_net = delta_net(*l.delta_net);
    if (l.short_conv) w.short_conv = {matrix(l.short_conv->input), matrix(l.short_conv->output), vector(l.short_conv->conv)};
    if (l.feed_forward) w.feed_forward = feed_forward(*l.feed_forward);
    if (l.experts) w.experts = experts(*l.experts);
    w.per_layer_gate = matrix(l.per_layer_gate);
    w.per_layer_projection = matrix(l.per_layer_projection);
    w.per_layer_post_norm = norm(l.per_layer_post_norm);
    if (l.output_scale) {
      const std::vector<float> value = read(l.output_scale);
      w.output_scale = value.empty() ? 1.0F : value[0];
    }
    return w;
  }

  AttentionWeights attention(const AttentionDescription& a) {
    AttentionWeights w;
    w.q = matrix(a.q);
    w.k = matrix(a.k);
    w.v = matrix(a.v);
    w.output = matrix(a.output);
    w.gate = matrix(a.gate);
    w.q_bias = vector(a.q_bias);
    w.k_bias = vector(a.k_bias);
    w.v_bias = vector(a.v_bias);
    w.output_bias = vector(a.output_bias);
    w.sinks = vector(a.sinks);
    w.q_norm = norm(a.q_norm);
    w.k_norm = norm(a.k_norm);
    w.v_norm = norm(a.v_norm);
    w.rope = {a.rope.layout, a.rope.n_dims, nullptr, a.rope.magnitude};
    if (a.rope.layout != RopeLayout::none) {
      w.rope.inv_freq = store("rope " + std::to_string(weights_.vectors.size()), a.rope.inv_freq);
    }
    return w;
  }

  MlaWeights mla(const MlaDescription& m) {
    MlaWeights w;
    w.q_a = matrix(m.q_a);
    w.q_nope = matrix(m.q_nope);
    w.q_rope = matrix(m.q_rope);
    w.k_rope = matrix(m.k_rope);
    w.latent = matrix(m.latent);
    w.k_b = matrix(m.k_b);
    w.v_b = matrix(m.v_b);
    w.q_a_norm = norm(m.q_a_norm);
    w.latent_norm = norm(m.latent_norm);
    return w;
  }

  DeltaNetWeights delta_net(const DeltaNetDescription& d) {
    return {matrix(d.qkv), matrix(d.z),  matrix(d.beta),    matrix(d.alpha), matrix(d.output),
            vector(d.conv), vector(d.a), vector(d.dt_bias), norm(d.norm)};
  }

  FeedForwardWeights feed_forward(const FeedForwardDescription& f) {
    return {matrix(f.gate), matrix(f.up), matrix(f.down), vector(f.gate_bias), vector(f.up_bias), vector(f.down_bias)};
  }

  ExpertsWeights experts(const ExpertsDescription& e) {
    ExpertsWeights w;
    w.router = matrix(e.router);
    w.gate = matrix(e.gate);
    w.up = matrix(e.up);
    w.gate_up = matrix(e.gate_up);
    w.down = matrix(e.down);
    w.shared_gate = matrix(e.shared_gate);
    w.router_bias = vector(e.router_bias);
    w.gate_bias = vector(e.gate_bias);
    w.up_bias = vector(e.up_bias);
    w.down_bias = vector(e.down_bias);
    w.selection_bias = vector(e.selection_bias);
    w.expert_scale = vector(e.expert_scale);
    if (e.shared) w.shared = feed_forward(*e.shared);
    w.pre_norm = norm(e.pre_norm);
    w.post_norm = norm(e.post_norm);
    w.dense_post_norm = norm(e.dense_post_norm);
    if (e.router_scale) {  // a norm without weight, times router_scale and a factor: a norm with that weight
      std::vector<float> values = read(e.router_scale);
      for (float& value : values) {
        value *= e.router_input_scale;
      }
      w.router_norm = NormSpec{e.pre_norm.kind, store(e.router_scale.name, values), nullptr, e.pre_norm.eps};
    }
    return w;
  }

  OptionalNorm norm(const NormDescription& n) {
    if (!n.present) {
      return std::nullopt;
    }
    return NormSpec{n.kind, vector(n.weight), vector(n.bias), n.eps};
  }

  std::vector<float> read(const VectorRef& ref) {
    if (!ref || error_) {
      return {};
    }
    const GgufTensor* tensor = file_->tensor(ref.name);
    const FormatInfo* info = tensor == nullptr ? nullptr : format_info(tensor->format);
    if (info == nullptr || tensor->data.size() < row_bytes(*info, ref.first + ref.size)) {
      error_ = make_error(ErrorCode::bad_file, "The file holds no data for " + ref.name + ".");
      return {};
    }
    // Read, not mapped: a norm of some KiB would bring 64 KiB of the file into the process.
    std::vector<std::byte> bytes(row_bytes(*info, ref.size));
    std::vector<float> values(ref.size);
    if (!file_->read(tensor->data.subspan(row_bytes(*info, ref.first), bytes.size()), bytes.data())) {
      error_ = make_error(ErrorCode::io, "The model file cannot be read any more.");
      return {};
    }
    dequantise(tensor->format, bytes, values.data(), ref.size);
    return values;
  }

  const float* vector(const VectorRef& ref) {
    if (!ref || error_) {
      return nullptr;
    }
    return store(ref.name + " " + std::to_string(ref.first) + " " + std::to_string(ref.size), read(ref));
  }

  const float* store(const std::string& key, const std::vector<float>& values) {
    if (error_) {
      return nullptr;
    }
    std::shared_ptr<std::byte>& memory = weights_.vectors[key];
    if (memory == nullptr) {
      memory = device_.allocate(std::max<std::size_t>(values.size(), 1) * sizeof(float));
      device_.copy_from_host(memory.get(), values.data(), values.size() * sizeof(float));
      weights_.bytes += values.size() * sizeof(float);
    }
    return reinterpret_cast<const float*>(memory.get());
  }

  const Weight* matrix(const MatrixRef& ref, bool row_lookup = false) {
    if (!ref || error_) {
      return nullptr;
    }
    const auto known = weights_.matrices.find(key_of(ref));
    if (known != weights_.matrices.end()) {
      return known->second.get();
    }
    if (cancel_.cancelled()) {
      error_ = make_error(ErrorCode::cancelled, "Loading was cancelled.");
      return nullptr;
    }
    WeightSource source = source_of(ref);
    if (error_) {
      return nullptr;
    }
    source.row_lookup = row_lookup;
    bring(source.data);
    if (error_) {
      return nullptr;
    }
    Result<std::unique_ptr<Weight>> weight = device_.upload(source);
    if (!weight) {
      error_ = weight.error();
      return nullptr;
    }
    weights_.bytes += source.data.size();
    return weights_.matrices.emplace(key_of(ref), std::move(*weight)).first->second.get();
  }

  // From the disk into the system's memory: what takes long when a model is loaded.
  void bring(std::span<const std::byte> data) {
    constexpr std::size_t kStep = std::size_t{8} << 20;
    for (std::size_t at = 0; at < data.size(); at += kStep) {
      if (cancel_.cancelled()) {
        error_ = make_error(ErrorCode::cancelled, "Loading was cancelled.");
        return;
      }
      const std::span<const std::byte> part = data.subspan(at, std::min(kStep, data.size() - at));
      file_->bring(part);
      done_ += part.size();
      if (progress_) {
        progress_(done_, std::max(done_, total_));
      }
    }
  }

  WeightSource source_of(const MatrixRef& ref) {
    const GgufTensor* tensor = file_->tensor(ref.name);
    const FormatInfo* info = tensor == nullptr ? nullptr : format_info(tensor->format);
    const auto n_rows = static_cast<std::size_t>(ref.rows) * static_cast<std::size_t>(ref.experts);
    const auto run = static_cast<std::size_t>(ref.run), step = static_cast<std::size_t>(ref.step), first = static_cast<std::size_t>(ref.first);
    const std::size_t bytes = info == nullptr ? 0 : row_bytes(*info, static_cast<std::size_t>(ref.cols));
    if (bytes == 0 || run == 0 || tensor->data.size() < (first + (n_rows / run - 1) * step + run) * bytes) {
      error_ = make_error(ErrorCode::bad_file, "The file holds no data for " + ref.name + ".");
      return {};
    }
    WeightSource source{ref.name, tensor->format, ref.rows, ref.cols, ref.experts, {}, {}, {}, ref.scale, false};
    if (run == step) {
      source.data = tensor->data.subspan(first * bytes, n_rows * bytes);
      source.read = [file = file_, data = source.data, unreadable = weights_.unreadable](std::size_t offset, std::span<std::byte> to) {
        if (file->read(data.subspan(offset, to.size()), to.data())) {
          return true;
        }
        unreadable->store(true);
        return false;
      };
      return source;
    }
    auto rows = std::make_shared<std::vector<std::byte>>(n_rows * bytes);
    for (std::size_t i = 0; i < n_rows / run; ++i) {
      std::memcpy(rows->data() + i * run * bytes, tensor->data.data() + (first + i * step) * bytes, run * bytes);
    }
    weights_.gathered.push_back(rows);
    source.data = *rows;
    source.release = [rows] { std::vector<std::byte>().swap(*rows); };
    return source;
  }

  const std::shared_ptr<const GgufFile>& file_;
  const ModelDescription& description_;
  Device& device_;
  const LoadProgress& progress_;
  const CancelToken& cancel_;
  ModelWeights weights_;
  std::optional<Error> error_;
  std::uint64_t done_ = 0, total_ = 0;
};

}  // namespace

Settler::Settler(const ModelWeights& weights, Device& device) : device_(device) {
  for (const auto& [key, weight] : weights.matrices) {
    const bool is_table = weight.get() == weights.per_layer_table || (weight.get() == weights.token_embedding && weight.get() != weights.output);
    if (!is_table) {  // of a table single rows are read, which the file gives as fast
      left_.push_back(weight.get());
    }
  }
}

void Settler::work(std::chrono::nanoseconds budget, const CancelToken& cancel) {
  constexpr std::size_t kStep = std::size_t{4} << 20;  // between looks at the clock
  const auto end = std::chrono::steady_clock::now() + budget;
  while (!left_.empty() && !cancel.cancelled() && std::chrono::steady_clock::now() < end) {
    if (device_.settle(*left_.back(), kStep) == 0) {
      left_.pop_back();
    }
  }
}

Result<ModelWeights> upload_weights(const std::shared_ptr<const GgufFile>& file, const ModelDescription& description, Device& device,
                                    const LoadProgress& progress, const CancelToken& cancel) {
  return Uploader(file, description, device, progress, cancel).run();
}

}  // namespace tg
