#include "views/transcript/edit_in_place.h"

#include <QKeyEvent>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "app/format.h"
#include "views/theme/theme.h"

namespace tg {

EditInPlace::EditInPlace(ChatService& service, QWidget* parent) : QFrame(parent), service_(service) {
  setCursor(Qt::ArrowCursor);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(8, 4, 8, 8);
  edit_ = new QPlainTextEdit(this);
  edit_->setObjectName(QStringLiteral("editInPlace"));
  edit_->setAccessibleName(tr("Text of the message"));
  edit_->setTabChangesFocus(true);
  edit_->installEventFilter(this);
  column->addWidget(edit_, 1);
  preview_ = new QLabel(this);
  preview_->setObjectName(QStringLiteral("editPreview"));
  preview_->setWordWrap(true);
  preview_->setProperty("kind", QStringLiteral("muted"));
  auto* line = new QHBoxLayout;
  line->addWidget(preview_, 1);
  auto* leave = new QPushButton(tr("Cancel"), this);
  leave->setObjectName(QStringLiteral("editCancel"));
  auto* save = new QPushButton(tr("Save and send"), this);
  save->setObjectName(QStringLiteral("editSave"));
  save->setProperty("kind", QStringLiteral("primary"));
  line->addWidget(leave);
  line->addWidget(save);
  column->addLayout(line);
  connect(leave, &QPushButton::clicked, this, &EditInPlace::cancel);
  connect(save, &QPushButton::clicked, this, &EditInPlace::save);
  delay_.setSingleShot(true);
  delay_.setInterval(150);
  connect(&delay_, &QTimer::timeout, this, &EditInPlace::askPreview);
  connect(edit_, &QPlainTextEdit::textChanged, this, [this] {
    delay_.start();
    Q_EMIT heightChanged();
  });
  connect(&service, &ChatService::editPreviewed, this, &EditInPlace::showPreview);
  hide();
}

void EditInPlace::start(const QString& chatId, const MessageInfo& message) {
  chatId_ = chatId;
  message_ = message;
  preview_->setText(tr("Counting …"));
  edit_->setPlainText(message.text);
  show();
  raise();
  edit_->setFocus();
  edit_->moveCursor(QTextCursor::End);
  Q_EMIT heightChanged();
}

int EditInPlace::wantedHeight() const {
  const int lines = qBound(2, edit_->document()->blockCount() + static_cast<int>(edit_->toPlainText().size()) / 80, 12);
  return qRound(em(font()) * (1.5 * lines + 4.6));
}

void EditInPlace::cancel() {
  if (!isVisible()) return;
  hide();
  Q_EMIT finished(message_.id);
}

void EditInPlace::save() {
  const QString text = edit_->toPlainText();
  if (text.trimmed().isEmpty()) return;
  const QString id = message_.id;
  hide();
  Q_EMIT finished(id);
  service_.edit(chatId_, id, text);
}

void EditInPlace::askPreview() {
  if (isVisible()) service_.previewEdit(chatId_, message_.id, edit_->toPlainText(), ++request_);
}

void EditInPlace::showPreview(const EditPreview& p, quint64 request) {
  if (request != request_) return;  // an older text
  preview_->setText(tr("Keeps %1 cached tokens, reads %2, %3. The old text stays as version %4 of %5.")
                        .arg(format::count(p.keeps), format::count(p.reads), format::expectedTime(p.waitMs))
                        .arg(message_.version)
                        .arg(message_.versions + 1));
}

bool EditInPlace::eventFilter(QObject* watched, QEvent* event) {
  if (watched == edit_ && event->type() == QEvent::KeyPress) {
    auto* key = static_cast<QKeyEvent*>(event);
    if (key->key() == Qt::Key_Escape) {
      cancel();
      return true;
    }
    if ((key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) && key->modifiers() & Qt::ControlModifier) {
      save();
      return true;
    }
  }
  return QFrame::eventFilter(watched, event);
}

}  // namespace tg
