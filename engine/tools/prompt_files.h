// Chat templates, messages and other JSON from files, as `render` and `generate` take them.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/chat_template/chat_template.h"
#include "engine/tools/command.h"

namespace tg {

using TemplatePtr = std::shared_ptr<const ChatTemplate>;

// Prints the error, a template's own message over as many lines as it has, and gives its exit code.
int fail_render(const Error& error);
Result<TemplatePtr> load_template(const std::string& path);  // a file, or builtin:NAME
Result<Json> read_json(const std::string& path);
// A list of messages, or an object with messages (and tools, taken where TOOLS is null).
Result<std::vector<ChatMessage>> read_messages(const std::string& path, Json& tools);
// TEMPLATE_FILE, or the template of the model's file where it is empty.
Result<TemplatePtr> model_template(const std::string& template_file, const GgufFile& file, const Tokenizer& tokenizer);

}  // namespace tg
