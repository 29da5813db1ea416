#include "views/dialogs/template_dialog.h"

#include <QLabel>
#include <QListWidget>
#include <QPointer>
#include <QPushButton>
#include <QVBoxLayout>

#include "views/chats/chat_view.h"
#include "views/chats/chats_page.h"
#include "views/composer/composer.h"
#include "views/pages/page_parts.h"
#include "views/shell/main_window.h"
#include "views/theme/theme.h"

namespace tg {
namespace {

using namespace Qt::StringLiterals;

enum ItemRole { NameRole = Qt::UserRole, ReasonRole };

}  // namespace

TemplateDialog::TemplateDialog(QWidget* parent) : QDialog(parent) {
  setObjectName(u"templateDialog"_s);
  setWindowTitle(tr("Choose a chat template"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(24, 16, 24, 16);
  layout->setSpacing(8);
  layout->addWidget(cardHeading(tr("This model brings no chat template. Choose one."), this));
  layout->addWidget(mutedNote(tr("A template says how messages are written down for the model. With a wrong one it answers nonsense, so nothing was sent and nothing is guessed. "
                                 "A base model was never trained on chats: expect it to go on writing rather than to answer."), this));
  list_ = new QListWidget(this);
  list_->setObjectName(u"templateList"_s);
  list_->setAccessibleName(tr("Chat templates"));
  layout->addWidget(list_, 1);
  reason_ = new QLabel(this);
  reason_->setObjectName(u"templateReason"_s);
  reason_->setWordWrap(true);
  layout->addWidget(reason_);
  auto* foot = new QHBoxLayout;
  use_ = primaryButton(tr("Use it in this chat"), this);
  use_->setObjectName(u"templateUse"_s);
  use_->setEnabled(false);
  auto* cancel = new QPushButton(tr("Cancel"), this);
  cancel->setObjectName(u"templateCancel"_s);
  cancel->setAutoDefault(false);
  foot->addStretch(1);
  foot->addWidget(cancel);
  foot->addWidget(use_);
  layout->addLayout(foot);
  connect(list_, &QListWidget::currentItemChanged, this, [this](QListWidgetItem* item) {
    reason_->setText(item ? item->data(ReasonRole).toString() : QString());
    use_->setEnabled(item != nullptr);
  });
  connect(list_, &QListWidget::itemActivated, this, &QDialog::accept);
  connect(use_, &QPushButton::clicked, this, &QDialog::accept);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  list_->setFocus();
  resize(int(36 * em(font())), int(30 * em(font())));
}

// No row is current at first: taking a template is the user's act.
void TemplateDialog::setChoices(const QVector<TemplateChoice>& choices) {
  list_->clear();
  for (const TemplateChoice& choice : choices) {
    auto* item = new QListWidgetItem(choice.suggested ? tr("%1 – suggested by the vocabulary").arg(choice.title) : choice.title, list_);
    item->setData(NameRole, choice.name);
    item->setData(ReasonRole, choice.reason);
  }
  list_->setCurrentRow(-1);
}

QString TemplateDialog::chosen() const { return list_->currentItem() ? list_->currentItem()->data(NameRole).toString() : QString(); }

namespace {

class TemplateFlow : public QObject {
 public:
  TemplateFlow(MainWindow& window, const QString& chatId, const QString& text, const QStringList& attachments)
      : QObject(&window), window_(window), chatId_(chatId), text_(text), attachments_(attachments) {
    static quint64 last = quint64{3} << 48;
    request_ = ++last;
    dialog_ = new TemplateDialog(&window_);
    dialog_->setAttribute(Qt::WA_DeleteOnClose);
    connect(&chats(), &ChatService::templatesListed, dialog_, [this](const QVector<TemplateChoice>& choices, quint64 request) {
      if (request == request_) dialog_->setChoices(choices);
    });
    connect(dialog_, &QDialog::finished, this, [this](int answer) {
      answer == QDialog::Accepted && !dialog_->chosen().isEmpty() ? use() : restoreDraft();
      deleteLater();
    });
    chats().listTemplates(chatId_, request_);
    dialog_->open();
  }

 private:
  ChatService& chats() { return window_.application().chats(); }
  void use() {
    chats().setTemplate(chatId_, dialog_->chosen());
    if (!text_.isEmpty() || !attachments_.isEmpty()) chats().send(chatId_, text_, attachments_);
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
  QPointer<TemplateDialog> dialog_;
};

}  // namespace

void installTemplateChooser(MainWindow& window) {
  QObject::connect(&window.application().chats(), &ChatService::templateNeeded, &window,
                   [&window](const QString& chatId, const QString& text, const QStringList& attachments) { new TemplateFlow(window, chatId, text, attachments); });
}

QDialog* exampleTemplateDialog(QWidget* parent) {
  auto* dialog = new TemplateDialog(parent);
  dialog->setChoices({{u"builtin:gemma"_s, TemplateDialog::tr("Gemma"), TemplateDialog::tr("The vocabulary has <start_of_turn> and <end_of_turn>."), true},
                      {u"builtin:plain"_s, TemplateDialog::tr("Plain words"), TemplateDialog::tr("It uses plain words only, so it works with any vocabulary, if not well."), false},
                      {u"builtin:chatml"_s, TemplateDialog::tr("ChatML"), TemplateDialog::tr("The vocabulary lacks <|im_start|>."), false}});
  return dialog;
}

}  // namespace tg
