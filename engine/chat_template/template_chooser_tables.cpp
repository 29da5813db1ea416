// The built-in templates. Written for this program after the public descriptions of the formats; minimal on purpose.
#include "engine/chat_template/template_chooser.h"

namespace tg {
namespace {

constexpr std::string_view kChatml =
    "{%- for message in messages -%}"
    "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}";

constexpr std::string_view kLlama3 =
    "{{- bos_token -}}"
    "{%- for message in messages -%}"
    "{{ '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' + message['content'] | trim + '<|eot_id|>' }}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif -%}";

constexpr std::string_view kGemma =
    "{{- bos_token -}}{%- set ns = namespace(system='') -%}"
    "{%- for message in messages -%}"
    "{%- if message['role'] == 'system' -%}{%- set ns.system = message['content'] | trim + '\\n\\n' -%}"
    "{%- elif message['role'] == 'assistant' -%}"
    "{{ '<start_of_turn>model\\n' + message['content'] | trim + '<end_of_turn>\\n' }}"
    "{%- else -%}"
    "{{ '<start_of_turn>user\\n' + ns.system + message['content'] | trim + '<end_of_turn>\\n' }}{%- set ns.system = '' -%}"
    "{%- endif -%}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<start_of_turn>model\\n' }}{%- endif -%}";

constexpr std::string_view kMistral =
    "{{- bos_token -}}{%- set ns = namespace(system='') -%}"
    "{%- for message in messages -%}"
    "{%- if message['role'] == 'system' -%}{%- set ns.system = message['content'] | trim + '\\n\\n' -%}"
    "{%- elif message['role'] == 'assistant' -%}{{ ' ' + message['content'] | trim + eos_token }}"
    "{%- else -%}{{ '[INST] ' + ns.system + message['content'] | trim + ' [/INST]' }}{%- set ns.system = '' -%}"
    "{%- endif -%}"
    "{%- endfor -%}";

constexpr std::string_view kPhi =
    "{%- for message in messages -%}"
    "{{ '<|' + message['role'] + '|>\\n' + message['content'] + '<|end|>\\n' }}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<|assistant|>\\n' }}{%- endif -%}";

constexpr std::string_view kZephyr =
    "{%- for message in messages -%}"
    "{{ '<|' + message['role'] + '|>\\n' + message['content'] + eos_token + '\\n' }}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<|assistant|>\\n' }}{%- endif -%}";

constexpr std::string_view kDeepseek =
    "{{- bos_token -}}"
    "{%- for message in messages -%}"
    "{%- if message['role'] == 'assistant' -%}{{ '<｜Assistant｜>' + message['content'] + '<｜end▁of▁sentence｜>' }}"
    "{%- elif message['role'] == 'system' -%}{{ message['content'] }}"
    "{%- else -%}{{ '<｜User｜>' + message['content'] }}{%- endif -%}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<｜Assistant｜>' }}{%- endif -%}";

constexpr std::string_view kCommandR =
    "{{- bos_token -}}"
    "{%- set names = {'system': 'SYSTEM', 'assistant': 'CHATBOT'} -%}"
    "{%- for message in messages -%}"
    "{{ '<|START_OF_TURN_TOKEN|><|' + names.get(message['role'], 'USER') + '_TOKEN|>' + message['content'] | trim + "
    "'<|END_OF_TURN_TOKEN|>' }}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>' }}{%- endif -%}";

constexpr std::string_view kAlpaca =
    "{%- for message in messages -%}"
    "{%- if message['role'] == 'system' -%}{{ message['content'] + '\\n\\n' }}"
    "{%- elif message['role'] == 'assistant' -%}{{ '### Response:\\n' + message['content'] + eos_token + '\\n\\n' }}"
    "{%- else -%}{{ '### Instruction:\\n' + message['content'] + '\\n\\n' }}{%- endif -%}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '### Response:\\n' }}{%- endif -%}";

constexpr std::string_view kPlain =
    "{%- set names = {'system': 'System', 'assistant': 'Assistant'} -%}"
    "{%- for message in messages -%}"
    "{{ names.get(message['role'], 'User') + ': ' + message['content'] + '\\n' }}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ 'Assistant:' }}{%- endif -%}";

}  // namespace

// The more telling a markup is, the earlier it stands: templates without markup of their own come last.
std::span<const BuiltinTemplate> builtin_templates() {
  static const std::vector<BuiltinTemplate> templates{
      {"llama-3", "Llama 3", kLlama3, {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"}},
      {"gemma", "Gemma 2 and 3", kGemma, {"<start_of_turn>", "<end_of_turn>"}},
      {"command-r", "Command R, Aya", kCommandR, {"<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>"}},
      {"deepseek", "DeepSeek V2.5, V3, R1", kDeepseek, {"<｜User｜>", "<｜Assistant｜>", "<｜end▁of▁sentence｜>"}},
      {"chatml", "ChatML (Qwen, SmolLM, Yi, Hermes)", kChatml, {"<|im_start|>", "<|im_end|>"}},
      {"phi", "Phi 3 and 4-mini", kPhi, {"<|user|>", "<|assistant|>", "<|end|>"}},
      {"mistral", "Mistral with [INST] tokens", kMistral, {"[INST]", "[/INST]"}},
      {"zephyr", "Zephyr, TinyLlama", kZephyr, {"<|user|>", "<|assistant|>"}},
      {"alpaca", "Alpaca (### Instruction)", kAlpaca, {}},
      {"plain", "Plain dialogue (User: Assistant:)", kPlain, {}},
  };
  return templates;
}

}  // namespace tg
