#include "engine/tools/prompt_files.h"

#include <iostream>

#include "engine/base/text.h"
#include "engine/chat_template/template_chooser.h"

namespace tg {
namespace {

// What a template raised may run over lines; nothing in it may steer a terminal.
void print_template_message(std::string_view message) {
  std::string shown;
  for (std::size_t at = 0; at < message.size();) {
    const CodePoint c = decode_utf8(message, at);
    const std::string_view bytes = message.substr(at, c.length);
    shown += bytes == "\n" ? std::string(bytes) : printable(bytes);
    at += c.length;
  }
  std::cerr << shown << "\n";
}

std::string text_of(const Json& message, const char* key) {
  const auto found = message.find(key);
  if (found == message.end() || found->is_null()) return {};
  return found->is_string() ? found->get<std::string>() : found->dump();
}

}  // namespace

int fail_render(const Error& error) {
  if (error.code != ErrorCode::template_error) return fail(error);
  print_template_message(error.message);
  return kExitTemplate;
}

// A file, or builtin:NAME.
Result<TemplatePtr> load_template(const std::string& path) {
  if (path.starts_with("builtin:")) {
    const BuiltinTemplate* builtin = find_builtin_template(std::string_view(path).substr(8));
    if (builtin == nullptr) return make_error(ErrorCode::bad_argument, "There is no built-in template of that name.");
    return ChatTemplate::parse(std::string(builtin->source));
  }
  auto source = read_file(path);
  if (!source) return source.error();
  return ChatTemplate::parse(std::move(*source));
}

Result<Json> read_json(const std::string& path) {
  const auto content = read_file(path);
  if (!content) return content.error();
  Json json = Json::parse(*content, nullptr, false);
  if (json.is_discarded()) return make_error(ErrorCode::bad_argument, "The file " + path + " is not JSON.");
  return json;
}

Result<std::vector<ChatMessage>> read_messages(const std::string& path, Json& tools) {
  auto json = read_json(path);
  if (!json) return json.error();
  const Json* list = &*json;
  if (json->is_object() && json->contains("messages")) {
    list = &(*json)["messages"];
    if (tools.is_null() && json->contains("tools")) tools = (*json)["tools"];
  }
  if (!list->is_array()) return make_error(ErrorCode::bad_argument, "The messages file holds no list of messages.");
  std::vector<ChatMessage> messages;
  for (const Json& item : *list) {
    if (!item.is_object() || !item.contains("role") || !item["role"].is_string()) {
      return make_error(ErrorCode::bad_argument, "A message needs a role and a content.");
    }
    ChatMessage message;
    message.role = item["role"].get<std::string>();
    message.content = text_of(item, "content");
    message.reasoning = text_of(item, "reasoning_content");
    message.document = item.contains("document") && item["document"].is_boolean() && item["document"].get<bool>();
    messages.push_back(std::move(message));
  }
  return messages;
}

Result<TemplatePtr> model_template(const std::string& template_file, const GgufFile& file, const Tokenizer& tokenizer) {
  if (!template_file.empty()) return load_template(template_file);
  const auto source = file.string("tokenizer.chat_template");
  if (source && !source->empty()) return ChatTemplate::parse(std::string(*source));
  return make_error(ErrorCode::no_template, no_template_sentence(tokenizer));
}

}  // namespace tg
