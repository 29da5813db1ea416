#include "views/dialogs/overflow_flow.h"

#include <QPointer>

#include "views/chats/chat_view.h"
#include "views/chats/chats_page.h"
#include "views/composer/composer.h"
#include "views/dialogs/overflow_dialog.h"
#include "views/shell/main_window.h"

namespace tg {
namespace {

using namespace Qt::StringLiterals;

// Requests of this flow, apart from others' numbers.
quint64 nextRequest() {
  static quint64 last = quint64{1} << 48;
  return ++last;
}

class OverflowFlow : public QObject {
 public:
  OverflowFlow(MainWindow& window, const QString& chatId, const QString& text, const QStringList& attachments)
      : QObject(&window), window_(window), chatId_(chatId), text_(text), attachments_(attachments) {
    connect(&chats(), &ChatService::overflowReady, this, [this](const QVector<OverflowChoice>& choices, const DraftCount& count, quint64 request) {
      if (request == request_) show(choices, count);
    });
    ask(-1);
  }

 private:
  ChatService& chats() { return window_.application().chats(); }
  void ask(int dropTurns) {
    request_ = nextRequest();
    chats().overflowChoices(chatId_, text_, attachments_, dropTurns, request_);
  }
  void show(const QVector<OverflowChoice>& choices, const DraftCount& count) {
    if (!dialog_) {
      dialog_ = new OverflowDialog(&window_);
      dialog_->setAttribute(Qt::WA_DeleteOnClose);
      connect(dialog_, &OverflowDialog::dropTurnsChanged, this, [this](int turns) { ask(turns); });
      connect(dialog_, &QDialog::accepted, this, [this] {
        chats().sendWithOverflow(chatId_, text_, attachments_, dialog_->chosen(), dialog_->always());
        deleteLater();
      });
      connect(dialog_, &QDialog::rejected, this, [this] {
        restoreDraft();
        deleteLater();
      });
      dialog_->setChoices(choices, count);
      dialog_->open();
      return;
    }
    dialog_->setChoices(choices, count);
  }
  void restoreDraft() {
    ChatView* view = window_.chatsPage()->view();
    if (view->chatId() != chatId_ || !view->composer()->text().isEmpty()) return;
    view->composer()->setText(text_);
    for (const QString& path : attachments_) view->composer()->addAttachment(path);
    view->composer()->focusEdit();
  }

  MainWindow& window_;
  QString chatId_, text_;
  QStringList attachments_;
  quint64 request_ = 0;
  QPointer<OverflowDialog> dialog_;
};

}  // namespace

void installOverflow(MainWindow& window) {
  QObject::connect(&window.application().chats(), &ChatService::overflow, &window,
                   [&window](const QString& chatId, const QString& text, const QStringList& attachments, const DraftCount&) { new OverflowFlow(window, chatId, text, attachments); });
}

QDialog* exampleOverflow(QWidget* parent) {
  DraftCount count;
  count.draftTokens = 1844;
  count.promptTokens = 17906;
  count.answerKept = 1024;
  count.window = 16384;
  count.parts = {{u"system"_s, 6140}, {u"history"_s, 9922}, {u"new"_s, 1844}};
  OverflowChoice widen, drop;
  widen.kind = u"widen"_s;
  widen.possible = true;
  widen.reason = OverflowDialog::tr("Nothing is dropped.");
  widen.prompt = 17906;
  widen.fresh = 1844;
  widen.window = 32768;
  widen.waitMs = 1200;
  drop.kind = u"drop-oldest"_s;
  drop.possible = true;
  drop.reason = OverflowDialog::tr("Turns 1–4 (5 590 tokens) leave the prompt in one step and stay readable above.");
  drop.prompt = 12316;
  drop.readAgain = 4280;
  drop.fresh = 1844;
  drop.firstTurn = 1;
  drop.lastTurn = 4;
  drop.waitMs = 3800;
  auto* dialog = new OverflowDialog(parent);
  dialog->setChoices({widen, drop}, count);
  return dialog;
}

}  // namespace tg
