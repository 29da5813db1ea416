// Which chat template a chat uses when its model brings none: listed with what the vocabulary suggests, chosen by the user, kept with the chat.
#include <QThreadPool>

#include "app/chat_service_impl.h"
#include "engine/chat_template/template_chooser.h"
#include "engine/gguf/reader.h"
#include "engine/tokenizer/tokenizer.h"

namespace tg {
namespace {

QString text(std::string_view s) { return QString::fromUtf8(s.data(), static_cast<qsizetype>(s.size())); }

// Reads the vocabulary of the file: not on a thread that must not wait.
QVector<TemplateChoice> choices_for(const QString& model_path) {
  QVector<TemplateChoice> out;
  const auto file = GgufFile::open(model_path.toStdString());
  const auto tokenizer = file ? Tokenizer::load(*file) : Result<std::shared_ptr<const Tokenizer>>(file.error());
  if (!tokenizer) {
    for (const BuiltinTemplate& known : builtin_templates()) out.push_back({QStringLiteral("builtin:") + text(known.name), text(known.title), {}, false});
    return out;
  }
  for (const TemplateSuggestion& s : suggest_templates(**tokenizer)) {
    out.push_back({QStringLiteral("builtin:") + text(s.chat_template->name), text(s.chat_template->title), QString::fromStdString(s.reason), s.fits && out.isEmpty()});
  }
  return out;
}

}  // namespace

void ChatServiceImpl::listTemplates(const QString& chatId, quint64 request) {
  const ChatState* chat = find(chatId);
  if (!chat) return;
  QThreadPool::globalInstance()->start([this, path = chat->row.modelPath, request] {
    const QVector<TemplateChoice> choices = choices_for(path);
    QMetaObject::invokeMethod(this, [this, choices, request] { Q_EMIT templatesListed(choices, request); }, Qt::QueuedConnection);
  });
}

void ChatServiceImpl::setTemplate(const QString& chatId, const QString& name) {
  ChatState* chat = find(chatId);
  if (!chat || chat->settings.templateFile == name) return;
  chat->settings.templateFile = name;
  storeSettings(*chat);
  Q_EMIT chatChanged(chatId);
}

}  // namespace tg
