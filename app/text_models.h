// The part of a model that turns messages into tokens: vocabulary and template, read without the weights, so that counting never waits for a load.
// Thread: any; the models are immutable and shared.
#pragma once
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "engine/chat_template/chat_template.h"
#include "engine/gguf/reader.h"
#include "engine/tokenizer/tokenizer.h"

namespace tg {

struct TextModel {
  std::string path, template_file, name, architecture;
  std::shared_ptr<const GgufFile> file;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const ChatTemplate> chat_template;  // null: `template_error` says why
  Error template_error;
  int context_length = 0;                             // tokens the model was made for; 0: not stated
  bool thinks = false;                                // by its template
};

class TextModels {
 public:
  // TEMPLATE_FILE empty: the template of the model file; "builtin:NAME": one of the program's own. The few last used are kept.
  Result<std::shared_ptr<const TextModel>> get(const std::string& path, const std::string& template_file);

 private:
  std::mutex mutex_;
  std::list<std::shared_ptr<const TextModel>> recent_;
};

}  // namespace tg
