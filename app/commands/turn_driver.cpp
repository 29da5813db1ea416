#include "app/commands/turn_driver.h"

#include "app/format.h"
#include "engine/chat_template/template_chooser.h"

namespace tg {

TurnDriver::TurnDriver(ApplicationImpl& app, QString chat, std::function<void(TurnResult)> done, std::function<void(const QString&)> text)
    : QObject(&app.service()), app_(app), chat_(std::move(chat)), done_(std::move(done)), text_(std::move(text)) {
  ChatServiceImpl* service = &app_.service();
  connect(service, &ChatService::turnFinished, this, [this](const QString& id, const MessageInfo& message) { if (id == chat_) finished(message); });
  connect(service, &ChatService::failed, this, [this](const QString& id, const QString& sentence, const QString&) {
    if (id == chat_ && !app_.service().busy(chat_)) answer({std::nullopt, std::nullopt, sentence, 2});
  });
  connect(service, &ChatService::overflow, this, [this](const QString& id, const QString&, const QStringList&, const DraftCount& count) {
    if (id != chat_) return;
    answer({std::nullopt, std::nullopt,
            tr("Nothing has been sent. The prompt has %1 tokens and %2 are kept free for the answer, which is more than the window of %3.")
                .arg(format::count(count.promptTokens), format::count(count.answerKept), format::count(count.window)), 4});
  });
  connect(service, &ChatService::templateNeeded, this, [this](const QString& id) {
    if (id != chat_) return;
    QStringList names;
    for (const BuiltinTemplate& known : builtin_templates()) names << QString::fromUtf8(known.name.data(), static_cast<qsizetype>(known.name.size()));
    answer({std::nullopt, std::nullopt, tr("This model brings no chat template. Choose one. Use --template FILE or --template builtin:NAME, where NAME is one of: %1.").arg(names.join(QStringLiteral(", "))),
            app_.service().exitCodeOf(chat_)});
  });
  if (!text_) return;
  connect(&app_.engine(), &EnginePort::events, this, [this] {
    const std::optional<LiveTurn> live = app_.service().liveTurn(chat_);
    if (!live || live->text.size() <= shown_.size()) return;
    text_(live->text.mid(shown_.size()));
    shown_ = live->text;
  });
}

void TurnDriver::drive(ApplicationImpl& app, const QString& chat, const std::function<void()>& start, std::function<void(TurnResult)> done,
                       std::function<void(const QString&)> text) {
  new TurnDriver(app, chat, std::move(done), std::move(text));  // owned by the service, deletes itself with its answer
  start();
}

void TurnDriver::finished(const MessageInfo& message) {
  if (text_ && message.text.size() > shown_.size()) text_(message.text.mid(shown_.size()));
  TurnResult result{message, message.record, {}, 0};
  if (message.state == TurnState::Error) {
    result.error = message.error;
    result.exit = std::max(1, app_.service().exitCodeOf(chat_));
  }
  answer(result);
}

void TurnDriver::answer(const TurnResult& result) {
  const auto done = std::exchange(done_, nullptr);
  if (!done) return;
  deleteLater();
  done(result);
}

}  // namespace tg
