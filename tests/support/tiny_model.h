// Tiny random models as data, for tests: metadata and a tensor list that a test may change before it asks for the bytes.
// The same description gives the same bytes everywhere. Header only, no Qt.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "engine/gguf/writer.h"

namespace tg::test {

struct TinyTensor {
  std::string name;
  Format format = Format::F32;
  std::vector<std::uint64_t> shape;
};

class TinyModel {
 public:
  using Value = std::variant<int, float, bool, std::string, std::vector<std::int32_t>>;
  std::string architecture;
  std::map<std::string, Value> keys;       // without the architecture's prefix
  std::vector<TinyTensor> tensors;

  int integer(const std::string& key) const { return std::get<int>(keys.at(key)); }
  TinyTensor& tensor(const std::string& name) {
    for (TinyTensor& t : tensors) {
      if (t.name == name) return t;
    }
    return tensors.front();
  }
  void set_vocabulary(int rows) {
    for (TinyTensor& t : tensors) {
      if (t.name == "token_embd.weight" || t.name == "output.weight") t.shape.back() = static_cast<std::uint64_t>(rows);
    }
  }
  void drop(const std::string& name) { std::erase_if(tensors, [&](const TinyTensor& t) { return t.name == name; }); }
  void vector(const std::string& name, int n, int rows = 1) { add(name, Format::F32, n, rows, 1); }
  void matrix(const std::string& name, int rows, int cols, Format format = Format::F32, int experts = 1) { add(name, format, cols, rows, experts); }

  std::string bytes() const { return bytes(GgufWriter()); }
  // With a vocabulary: a writer that holds its keys, and rows for all its tokens (set_vocabulary).
  std::string bytes(GgufWriter writer) const {
    writer.add_string("general.architecture", architecture);
    writer.add_string("general.name", "tiny " + architecture);
    for (const auto& [key, value] : keys) write_key(writer, architecture + "." + key, value);
    for (const TinyTensor& t : tensors) {
      const std::string data = data_of(t);
      writer.add_tensor(t.name, t.format, t.shape, std::as_bytes(std::span(data)));
    }
    return writer.bytes();
  }

 private:
  // Numbers in [-1, 1) from the tensor's name on.
  struct Random {
    std::uint64_t state;
    explicit Random(const std::string& name) : state(1469598103934665603ULL) {
      for (const char c : name) state = (state ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    }
    std::uint32_t bits() {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      return static_cast<std::uint32_t>(state >> 32);
    }
    float unit() { return static_cast<float>(bits() >> 8) / 8388608.0F - 1.0F; }
  };

  void add(const std::string& name, Format format, int cols, int rows, int experts) {
    TinyTensor t{name, format, {static_cast<std::uint64_t>(cols)}};
    if (rows > 1 || experts > 1) t.shape.push_back(static_cast<std::uint64_t>(rows));
    if (experts > 1) t.shape.push_back(static_cast<std::uint64_t>(experts));
    tensors.push_back(t);
  }

  static void write_key(GgufWriter& writer, const std::string& key, const Value& value) {
    if (const auto* i = std::get_if<int>(&value)) writer.add_u32(key, static_cast<std::uint32_t>(*i));
    if (const auto* f = std::get_if<float>(&value)) writer.add_f32(key, *f);
    if (const auto* b = std::get_if<bool>(&value)) writer.add_bool(key, *b);
    if (const auto* s = std::get_if<std::string>(&value)) writer.add_string(key, *s);
    if (const auto* a = std::get_if<std::vector<std::int32_t>>(&value)) writer.add_i32s(key, *a);
  }

  static std::string data_of(const TinyTensor& t) {
    Random random(t.name);
    std::size_t n = 1;
    for (const std::uint64_t d : t.shape) n *= d;
    const float spread = 1.6F / std::sqrt(static_cast<float>(t.shape[0]));
    const bool is_vector = t.shape.size() == 1;
    if (t.format == Format::F32) {
      std::vector<float> values(n);
      for (float& v : values) v = value_of(t.name, is_vector, random.unit(), spread);
      return {reinterpret_cast<const char*>(values.data()), n * sizeof(float)};
    }
    // Random payload under small scales: all scale fields of the format lie where `fix_scales` puts them.
    const FormatInfo& info = *format_info(t.format);
    std::string blocks(n / info.block_elements * info.block_bytes, '\0');
    for (char& c : blocks) c = static_cast<char>(random.bits() & 0xFF);
    for (std::size_t at = 0; at < blocks.size(); at += info.block_bytes) fix_scales(t.format, spread, blocks.data() + at);
    return blocks;
  }

  static float value_of(const std::string& name, bool is_vector, float unit, float spread) {
    if (name.find("rope_f") != std::string::npos) return 1.5F + unit;                 // divisors
    if (name.ends_with("ssm_a")) return -0.3F + 0.2F * unit;                          // -exp(A_log)
    if (name.ends_with("conv1d.weight") || name.ends_with("conv.weight")) return 0.5F * unit;
    if (is_vector && name.find("norm") != std::string::npos && !name.ends_with("bias")) return 1.0F + 0.2F * unit;
    return is_vector ? 0.3F * unit : spread * unit;
  }

  // IEEE half of a positive number below 2.
  static std::uint16_t half(float x) {
    if (x < 6.2e-5F) return static_cast<std::uint16_t>(x * 16777216.0F);  // subnormal: units of 2^-24
    std::uint32_t bits;
    std::memcpy(&bits, &x, 4);
    return static_cast<std::uint16_t>((((bits >> 23) & 0xFF) - 112) << 10 | ((bits >> 13) & 0x3FF));
  }
  static void fix_scales(Format format, float spread, char* block) {
    const auto put = [&](std::size_t at, float value) {
      const std::uint16_t h = half(value);
      std::memcpy(block + at, &h, 2);
    };
    switch (format) {
      case Format::Q8_0: put(0, spread / 128); break;
      case Format::Q4_0: put(0, spread / 8); break;
      case Format::Q4_K: put(0, spread / 8 / 32); put(2, spread / 64); break;   // 6-bit scales
      case Format::Q6_K: put(208, spread / 32 / 128); break;                    // int8 scales
      default: break;
    }
  }
};

// ---- Models of the kinds whose cache differs ------------------------------------------------------------------------------

inline void add_embeddings(TinyModel& m, int vocab, bool tied, Format format = Format::F32) {
  const int dim = m.integer("embedding_length");
  m.matrix("token_embd.weight", vocab, dim, format);
  m.vector("output_norm.weight", dim);
  if (!tied) m.matrix("output.weight", vocab, dim, format);
}

inline void add_attention(TinyModel& m, int layer, int heads, int kv_heads, int head, Format format = Format::F32) {
  const std::string blk = "blk." + std::to_string(layer) + ".";
  const int dim = m.integer("embedding_length");
  m.vector(blk + "attn_norm.weight", dim);
  m.matrix(blk + "attn_q.weight", heads * head, dim, format);
  m.matrix(blk + "attn_k.weight", kv_heads * head, dim, format);
  m.matrix(blk + "attn_v.weight", kv_heads * head, dim, format);
  m.matrix(blk + "attn_output.weight", dim, heads * head, format);
}

inline void add_feed_forward(TinyModel& m, int layer, int width, Format format = Format::F32, const std::string& norm = "ffn_norm") {
  const std::string blk = "blk." + std::to_string(layer) + ".";
  const int dim = m.integer("embedding_length");
  m.vector(blk + norm + ".weight", dim);
  m.matrix(blk + "ffn_gate.weight", width, dim, format);
  m.matrix(blk + "ffn_up.weight", width, dim, format);
  m.matrix(blk + "ffn_down.weight", dim, width, format);
}

inline void add_experts(TinyModel& m, int layer, int n, int width, Format format = Format::F32) {
  const std::string blk = "blk." + std::to_string(layer) + ".";
  const int dim = m.integer("embedding_length");
  m.matrix(blk + "ffn_gate_inp.weight", n, dim);
  m.matrix(blk + "ffn_gate_exps.weight", width, dim, format, n);
  m.matrix(blk + "ffn_up_exps.weight", width, dim, format, n);
  m.matrix(blk + "ffn_down_exps.weight", dim, width, format, n);
}

inline TinyModel tiny_base(const std::string& architecture, int layers, int dim, int width, int heads, int kv_heads, int context = 1024) {
  TinyModel m;
  m.architecture = architecture;
  m.keys = {{"block_count", layers}, {"embedding_length", dim}, {"feed_forward_length", width}, {"context_length", context},
            {"attention.head_count", heads}, {"attention.head_count_kv", kv_heads}, {"attention.layer_norm_rms_epsilon", 1e-5F},
            {"rope.freq_base", 5000.0F}};
  return m;
}

// Full attention; FORMAT of the matrices, down and output in DOWN (as k-quant mixes do).
inline TinyModel tiny_llama(Format format = Format::F32, Format down = Format::F32, int dim = 64) {
  TinyModel m = tiny_base("llama", 2, dim, 2 * dim, 4, 2);
  add_embeddings(m, 200, false, down);
  for (int i = 0; i < 2; ++i) {
    add_attention(m, i, 4, 2, dim / 4, format);
    add_feed_forward(m, i, 2 * dim, format);
    m.tensor("blk." + std::to_string(i) + ".ffn_down.weight").format = down;
  }
  return m;
}

// Window layers with a window that is no multiple of a page, one full layer, norms after, heads normalised, tied output.
inline TinyModel tiny_gemma3(Format format = Format::F32) {
  TinyModel m = tiny_base("gemma3", 3, 64, 96, 2, 1);
  m.keys["attention.sliding_window"] = 37;
  m.keys["attention.sliding_window_pattern"] = 3;
  add_embeddings(m, 200, true, format);
  for (int i = 0; i < 3; ++i) {
    const std::string blk = "blk." + std::to_string(i) + ".";
    add_attention(m, i, 2, 1, 32, format);
    m.vector(blk + "attn_q_norm.weight", 32);
    m.vector(blk + "attn_k_norm.weight", 32);
    m.vector(blk + "post_attention_norm.weight", 64);
    add_feed_forward(m, i, 96, format);
    m.vector(blk + "post_ffw_norm.weight", 64);
  }
  return m;
}

// Experts with the router's softmax after the choice, sinks, window in every other layer.
inline TinyModel tiny_gpt_oss(Format format = Format::F32) {
  TinyModel m = tiny_base("gpt-oss", 2, 64, 64, 4, 2);
  m.keys["attention.sliding_window"] = 24;
  m.keys["expert_count"] = 5;
  m.keys["expert_used_count"] = 2;
  add_embeddings(m, 200, false);
  for (int i = 0; i < 2; ++i) {
    const std::string blk = "blk." + std::to_string(i) + ".";
    add_attention(m, i, 4, 2, 16);
    m.vector(blk + "attn_sinks.weight", 4);
    m.vector(blk + "post_attention_norm.weight", 64);
    add_experts(m, i, 5, 64, format);
    m.vector(blk + "ffn_gate_exps.bias", 64, 5);
    m.vector(blk + "ffn_up_exps.bias", 64, 5);
    m.vector(blk + "ffn_down_exps.bias", 64, 5);
  }
  return m;
}

// Two gated delta net layers and one full layer with an output gate.
inline TinyModel tiny_qwen35(Format format = Format::F32) {
  TinyModel m = tiny_base("qwen35", 3, 64, 96, 2, 1);
  m.keys["attention.key_length"] = 32;
  m.keys["attention.value_length"] = 32;
  m.keys["rope.dimension_count"] = 16;
  m.keys["full_attention_interval"] = 3;
  for (const auto& [key, value] : {std::pair{"conv_kernel", 4}, {"state_size", 16}, {"group_count", 2}, {"time_step_rank", 4}, {"inner_size", 64}}) {
    m.keys[std::string("ssm.") + key] = value;
  }
  add_embeddings(m, 200, false, format);
  for (int i = 0; i < 3; ++i) {
    const std::string blk = "blk." + std::to_string(i) + ".";
    if (i == 2) {
      add_attention(m, i, 2, 1, 32, format);
      m.tensor(blk + "attn_q.weight").shape[1] = 128;
      m.tensor(blk + "attn_output.weight").shape = {64, 64};
      m.vector(blk + "attn_q_norm.weight", 32);
      m.vector(blk + "attn_k_norm.weight", 32);
    } else {
      m.vector(blk + "attn_norm.weight", 64);
      m.matrix(blk + "attn_qkv.weight", 128, 64, format);
      m.matrix(blk + "attn_gate.weight", 64, 64, format);
      m.vector(blk + "ssm_conv1d.weight", 4, 128);
      m.vector(blk + "ssm_dt.bias", 4);
      m.vector(blk + "ssm_a", 4);
      m.matrix(blk + "ssm_beta.weight", 4, 64);
      m.matrix(blk + "ssm_alpha.weight", 4, 64);
      m.vector(blk + "ssm_norm.weight", 16);
      m.matrix(blk + "ssm_out.weight", 64, 64, format);
    }
    add_feed_forward(m, i, 96, format, "post_attention_norm");
  }
  return m;
}

// Short convolutions and one attention layer.
inline TinyModel tiny_lfm2() {
  TinyModel m = tiny_base("lfm2", 3, 64, 96, 4, 2);
  m.keys["attention.head_count_kv"] = std::vector<std::int32_t>{0, 2, 0};
  m.keys["shortconv.l_cache"] = 3;
  add_embeddings(m, 200, true);
  for (int i = 0; i < 3; ++i) {
    const std::string blk = "blk." + std::to_string(i) + ".";
    if (i == 1) {
      add_attention(m, i, 4, 2, 16);
      m.vector(blk + "attn_q_norm.weight", 16);
      m.vector(blk + "attn_k_norm.weight", 16);
    } else {
      m.vector(blk + "attn_norm.weight", 64);
      m.vector(blk + "shortconv.conv.weight", 3, 64);
      m.matrix(blk + "shortconv.in_proj.weight", 192, 64);
      m.matrix(blk + "shortconv.out_proj.weight", 64, 64);
    }
    add_feed_forward(m, i, 96);
  }
  return m;
}

// Latent attention and experts with a shared one.
inline TinyModel tiny_deepseek2() {
  TinyModel m = tiny_base("deepseek2", 2, 64, 96, 4, 1);
  for (const auto& [key, value] : {std::pair{"attention.key_length_mla", 32}, {"attention.value_length_mla", 16}, {"attention.kv_lora_rank", 32},
                                   {"rope.dimension_count", 16}, {"leading_dense_block_count", 1}, {"expert_count", 4}, {"expert_used_count", 2},
                                   {"expert_shared_count", 1}, {"expert_feed_forward_length", 32}}) {
    m.keys[key] = value;
  }
  add_embeddings(m, 200, false);
  for (int i = 0; i < 2; ++i) {
    const std::string blk = "blk." + std::to_string(i) + ".";
    m.vector(blk + "attn_norm.weight", 64);
    m.matrix(blk + "attn_q.weight", 128, 64);
    m.matrix(blk + "attn_kv_a_mqa.weight", 48, 64);
    m.vector(blk + "attn_kv_a_norm.weight", 32);
    m.matrix(blk + "attn_k_b.weight", 32, 16, Format::F32, 4);
    m.matrix(blk + "attn_v_b.weight", 16, 32, Format::F32, 4);
    m.matrix(blk + "attn_output.weight", 64, 64);
    if (i == 0) {
      add_feed_forward(m, i, 96);
      continue;
    }
    m.vector(blk + "ffn_norm.weight", 64);
    add_experts(m, i, 4, 32);
    m.matrix(blk + "ffn_gate_shexp.weight", 32, 64);
    m.matrix(blk + "ffn_up_shexp.weight", 32, 64);
    m.matrix(blk + "ffn_down_shexp.weight", 64, 32);
  }
  return m;
}

}  // namespace tg::test
