#include "app/text_models.h"

#include <QFile>

#include "engine/chat_template/chat_template.h"
#include "engine/chat_template/template_chooser.h"
#include "engine/sampling/thinking_stream.h"

namespace tg {
namespace {

constexpr std::size_t kKept = 4;

Result<std::string> template_source(const GgufFile& file, const std::string& template_file) {
  if (template_file.empty()) {
    const auto source = file.string("tokenizer.chat_template");
    if (!source) return make_error(ErrorCode::no_template, "This model brings no chat template.");
    return std::string(*source);
  }
  const std::string builtin = "builtin:";
  if (template_file.starts_with(builtin)) {
    const BuiltinTemplate* found = find_builtin_template(template_file.substr(builtin.size()));
    if (!found) return make_error(ErrorCode::bad_argument, "There is no built-in chat template of this name.");
    return std::string(found->source);
  }
  QFile source(QString::fromStdString(template_file));
  if (!source.open(QIODevice::ReadOnly)) return make_error(ErrorCode::io, "The chat template file is gone or cannot be read.");
  return source.readAll().toStdString();
}

Result<std::shared_ptr<const TextModel>> read(const std::string& path, const std::string& template_file) {
  auto file = GgufFile::open(path);
  if (!file) return file.error();
  auto tokenizer = Tokenizer::load(*file);
  if (!tokenizer) return tokenizer.error();
  auto model = std::make_shared<TextModel>();
  model->path = path;
  model->template_file = template_file;
  model->file = *file;
  model->tokenizer = *tokenizer;
  model->architecture = std::string((*file)->string("general.architecture").value_or(""));
  model->name = std::string((*file)->string("general.name").value_or(""));
  model->context_length = static_cast<int>((*file)->integer(model->architecture + ".context_length").value_or(0));
  const auto source = template_source(**file, template_file);
  if (!source) {
    model->template_error = source.error();
    return std::shared_ptr<const TextModel>(std::move(model));
  }
  auto parsed = ChatTemplate::parse(*source);
  if (parsed) {
    model->chat_template = *parsed;
    model->thinks = template_thinks(*source);
  } else {
    model->template_error = parsed.error();
  }
  return std::shared_ptr<const TextModel>(std::move(model));
}

}  // namespace

Result<std::shared_ptr<const TextModel>> TextModels::get(const std::string& path, const std::string& template_file) {
  const std::scoped_lock lock(mutex_);
  for (auto it = recent_.begin(); it != recent_.end(); ++it) {
    if ((*it)->path != path || (*it)->template_file != template_file) continue;
    recent_.splice(recent_.begin(), recent_, it);
    return recent_.front();
  }
  auto model = read(path, template_file);
  if (!model) return model.error();
  recent_.push_front(*model);
  if (recent_.size() > kKept) recent_.pop_back();
  return recent_.front();
}

}  // namespace tg
