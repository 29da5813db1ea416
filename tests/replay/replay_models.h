// Model files of the replay tests: random weights of every kind of cache, with a small vocabulary of letters and a chat template, so that whole
// chats can be played through the command line in milliseconds. The same bytes everywhere. Header only, no Qt.
#pragma once
#include <string>

#include "engine/base/text.h"
#include "engine/tokenizer/byte_alphabet.h"
#include "tests/support/tiny_model.h"

namespace tg::test {

inline const std::string kReplayTemplate =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

// What was thought in earlier turns is left out, as reasoning models want it.
inline const std::string kThinkingTemplate =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% if enable_thinking is not defined or enable_thinking %}<think>\n{% endif %}{% endif %}";

// ... and the same with the thoughts kept.
inline const std::string kKeepThinkingTemplate =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' and m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n</think>\n\n{% endif %}"
    "{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% if enable_thinking is not defined or enable_thinking %}<think>\n{% endif %}{% endif %}";

// One token a character: whatever the model says is text that reads back as the same tokens.
inline int add_letters(GgufWriter& writer) {
  std::vector<std::string> tokens;
  std::vector<std::int32_t> kinds;
  for (int c = ' ' - 1; c < 127; ++c) {
    std::string text;
    append_utf8(text, byte_to_character(static_cast<unsigned char>(c < ' ' ? '\n' : c)));
    tokens.push_back(text);
    kinds.push_back(1);
  }
  for (const auto& [text, kind] : {std::pair{"<|im_start|>", 4}, {"<think>", 4}, {"</think>", 4}, {"<|im_end|>", 3}}) {
    tokens.emplace_back(text);
    kinds.push_back(kind);
  }
  writer.add_string("tokenizer.ggml.model", "gpt2");
  writer.add_string("tokenizer.ggml.pre", "gpt-2");
  writer.add_strings("tokenizer.ggml.tokens", tokens);
  writer.add_i32s("tokenizer.ggml.token_type", kinds);
  writer.add_strings("tokenizer.ggml.merges", {});
  writer.add_u32("tokenizer.ggml.eos_token_id", static_cast<std::uint32_t>(tokens.size() - 1));
  writer.add_string("tokenizer.chat_template", kReplayTemplate);
  return static_cast<int>(tokens.size());
}

inline std::string model_with_letters(TinyModel model, int context = 8192) {
  GgufWriter writer;
  model.keys["context_length"] = context;
  model.set_vocabulary(add_letters(writer));
  return model.bytes(std::move(writer));
}

// "full", "window", "delta", "conv", "latent"; "other": full attention with other weights.
inline std::string replay_model(const std::string& kind) {
  if (kind == "window") return model_with_letters(tiny_gemma3());
  if (kind == "delta") return model_with_letters(tiny_qwen35());
  if (kind == "conv") return model_with_letters(tiny_lfm2());
  if (kind == "latent") return model_with_letters(tiny_deepseek2());
  TinyModel model = tiny_llama();
  if (kind == "other") model.keys["rope.freq_base"] = 9000.0F;
  return model_with_letters(model);
}

}  // namespace tg::test
