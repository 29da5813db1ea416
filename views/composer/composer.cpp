#include "views/composer/composer.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QStackedLayout>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/format.h"
#include "views/composer/context_ring.h"
#include "views/theme/icons.h"

namespace tg {

using namespace Qt::StringLiterals;

Composer::Composer(ChatService& service, QWidget* parent) : QFrame(parent), service_(service) {
  setObjectName(u"composer"_s);
  setAttribute(Qt::WA_StyledBackground);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 6, 8, 8);
  column->setSpacing(4);
  column->addWidget(queuedRow());
  attachmentBar_ = new QWidget(this);
  attachmentBar_->setObjectName(u"attachmentBar"_s);
  auto* chips = new QHBoxLayout(attachmentBar_);
  chips->setContentsMargins(0, 0, 0, 0);
  attachmentBar_->hide();
  column->addWidget(attachmentBar_);
  edit_ = new ComposerEdit(this);
  column->addWidget(edit_);
  column->addLayout(toolsRow());
  delay_.setSingleShot(true);
  delay_.setInterval(150);
  connect(&delay_, &QTimer::timeout, this, &Composer::ask);
  connect(edit_, &QPlainTextEdit::textChanged, this, [this] {
    if (!restoring_) delay_.start();
    if (!draft_->text().endsWith(u'…') && !restoring_) draft_->setText(draft_->text() + u" …"_s);
    updateButtons();
  });
  connect(edit_, &ComposerEdit::sendWanted, this, &Composer::trySend);
  connect(edit_, &ComposerEdit::editLastWanted, this, &Composer::editLast);
  connect(edit_, &ComposerEdit::filesDropped, this, [this](const QStringList& paths) {
    for (const QString& path : paths) addAttachment(path);
  });
  connect(&service, &ChatService::draftCounted, this, &Composer::showCount);
  updateButtons();
}

QWidget* Composer::queuedRow() {
  queued_ = new QWidget(this);
  queued_->setObjectName(u"queuedMessage"_s);
  auto* line = new QHBoxLayout(queued_);
  line->setContentsMargins(0, 0, 0, 0);
  queuedText_ = new QLabel(queued_);
  queuedText_->setProperty("kind", u"muted"_s);
  queuedText_->setTextFormat(Qt::PlainText);
  auto* back = new QPushButton(tr("Take back"), queued_);
  back->setObjectName(u"takeBackButton"_s);
  connect(back, &QPushButton::clicked, this, &Composer::takeBack);
  line->addWidget(queuedText_, 1);
  line->addWidget(back);
  queued_->hide();
  return queued_;
}

QHBoxLayout* Composer::toolsRow() {
  auto* line = new QHBoxLayout;
  line->setSpacing(8);
  attach_ = new QToolButton(this);
  attach_->setObjectName(u"attachButton"_s);
  attach_->setIcon(icon(u"attach"_s));
  attach_->setAccessibleName(tr("Attach a text file"));
  attach_->setToolTip(tr("Attach a text file (Ctrl+O)"));
  connect(attach_, &QToolButton::clicked, this, &Composer::attach);
  thinking_ = new QToolButton(this);
  thinking_->setObjectName(u"thinkingButton"_s);
  thinking_->setIcon(icon(u"thinking"_s));
  thinking_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  thinking_->setPopupMode(QToolButton::InstantPopup);
  thinking_->setMenu(new QMenu(thinking_));
  connect(thinking_->menu(), &QMenu::aboutToShow, this, &Composer::rebuildThinkingMenu);
  thinking_->hide();
  draft_ = new QLabel(this);
  draft_->setObjectName(u"draftTokens"_s);
  draft_->setProperty("kind", u"muted"_s);
  draft_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  draft_->setMinimumWidth(1);
  ring_ = new ContextRing(this);
  send_ = new QPushButton(icon(u"send"_s, Role::OnAccent), tr("Send"), this);
  send_->setObjectName(u"sendButton"_s);
  stop_ = new QPushButton(icon(u"stop"_s, Role::OnAccent), tr("Stop"), this);
  stop_->setObjectName(u"stopButton"_s);
  for (QPushButton* b : {send_, stop_}) b->setProperty("kind", u"primary"_s);
  connect(send_, &QPushButton::clicked, this, &Composer::trySend);
  connect(stop_, &QPushButton::clicked, this, &Composer::stop);
  // One place, one size: nothing moves when Send becomes Stop.
  auto* holder = new QWidget(this);
  place_ = new QStackedLayout(holder);
  place_->setContentsMargins(0, 0, 0, 0);
  place_->addWidget(send_);
  place_->addWidget(stop_);
  holder->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  line->addWidget(attach_);
  line->addWidget(thinking_);
  line->addWidget(draft_, 1);
  line->addWidget(ring_);
  line->addWidget(holder);
  return line;
}

void Composer::setChat(const QString& chatId) {
  if (chatId_ == chatId) return;
  if (!chatId_.isEmpty()) service_.saveDraft(chatId_, text());
  chatId_ = chatId;
  attachments_.clear();
  rebuildAttachments();
  restoring_ = true;
  edit_->setPlainText(chatId.isEmpty() ? QString() : service_.draft(chatId));
  edit_->moveCursor(QTextCursor::End);
  restoring_ = false;
  count_ = {};
  draft_->setText(tr("%1 tokens").arg(0));
  rebuildThinkingMenu();
  ask();
}

void Composer::setModel(const QString& name, bool loaded, bool thinks) {
  hasModel_ = !name.isEmpty();
  thinking_->setVisible(thinks);
  edit_->setPlaceholderText(running_ ? tr("Write the next message while this answer is written")
                            : !hasModel_ ? tr("Choose a model first")
                            : loaded ? tr("Type a message")
                                     : tr("Type a message. %1 loads with the first one.").arg(name));
  updateButtons();
}

void Composer::setRunning(bool running) {
  running_ = running;
  if (running) edit_->setPlaceholderText(tr("Write the next message while this answer is written"));
  else edit_->setPlaceholderText(tr("Type a message"));
  updateButtons();
}

void Composer::setSendWithCtrl(bool on) { edit_->setSendWithCtrl(on); }

void Composer::setText(const QString& text) {
  edit_->setPlainText(text);
  edit_->moveCursor(QTextCursor::End);
}

void Composer::clear() {
  attachments_.clear();
  rebuildAttachments();
  edit_->clear();
  if (!chatId_.isEmpty()) service_.saveDraft(chatId_, {});
}

void Composer::updateButtons() {
  place_->setCurrentWidget(running_ ? stop_ : send_);
  send_->setEnabled(hasModel_ && (!text().trimmed().isEmpty() || !attachments_.isEmpty()));
}

void Composer::trySend() {
  const QString message = text();
  if ((message.trimmed().isEmpty() && attachments_.isEmpty()) || !hasModel_) return;
  Q_EMIT send(message, attachments_);
}

void Composer::recount() { delay_.start(); }

void Composer::ask() {
  if (chatId_.isEmpty()) return;
  service_.countDraft(chatId_, text(), attachments_, ++request_);
  if (!restoring_) service_.saveDraft(chatId_, text());
}

void Composer::showCount(const DraftCount& count) {
  if (count.request != request_) return;  // of an older text
  count_ = count;
  const int over = count.promptTokens + count.answerKept - count.window;
  QString words = tr("%1 tokens").arg(format::count(count.draftTokens));
  if (count.window > 0 && !count.fits()) {
    words += tr(", %1 too many").arg(format::count(over));
  } else if (count.draftTokens > 0) {
    words += tr(", fits");
    words += count.waitMs ? tr(" · first token in %1").arg(format::expectedTime(count.waitMs)) : tr(" · first token in %1").arg(format::unknown());
  }
  draft_->setText(words);
  draft_->setProperty("kind", count.window > 0 && !count.fits() ? u"error"_s : u"muted"_s);
  QPalette ink = palette();
  ink.setColor(QPalette::WindowText, color(count.window > 0 && !count.fits() ? Role::ErrorText : Role::Muted));
  draft_->setPalette(ink);
  draft_->setToolTip(count.waitMs ? QString() : tr("unknown: not measured yet, send one message with this model"));
  ring_->setCount(count);
  Q_EMIT counted(count);
}

void Composer::setQueued(const std::optional<QString>& text) {
  queued_->setVisible(text.has_value());
  if (text) queuedText_->setText(tr("Waits for the answer above: %1").arg(text->left(120)));
}

void Composer::attach() {
  const QStringList paths = QFileDialog::getOpenFileNames(this, tr("Attach text files"));
  for (const QString& path : paths) addAttachment(path);
}

void Composer::addAttachment(const QString& path) {
  const QFileInfo info(path);
  if (!info.isFile() || !info.isReadable()) {
    Q_EMIT refused(tr("The file is gone or cannot be read: %1.").arg(info.fileName()));
    return;
  }
  if (!attachments_.contains(path)) attachments_ << path;
  rebuildAttachments();
  recount();
}

void Composer::rebuildAttachments() {
  qDeleteAll(attachmentBar_->findChildren<QToolButton*>());
  auto* line = static_cast<QHBoxLayout*>(attachmentBar_->layout());
  while (QLayoutItem* item = line->takeAt(0)) delete item;
  for (const QString& path : attachments_) {
    auto* chip = new QToolButton(attachmentBar_);
    const QString name = path.section(u'/', -1);
    chip->setObjectName(u"attachment_"_s + name);
    chip->setProperty("kind", u"chip"_s);
    chip->setText(name);
    chip->setIcon(icon(u"close"_s));
    chip->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    chip->setLayoutDirection(Qt::RightToLeft);
    chip->setAccessibleName(tr("Remove %1").arg(name));
    chip->setToolTip(tr("Remove %1").arg(name));
    connect(chip, &QToolButton::clicked, this, [this, path] {
      attachments_.removeAll(path);
      QMetaObject::invokeMethod(this, &Composer::rebuildAttachments, Qt::QueuedConnection);
      recount();
    });
    line->addWidget(chip);
  }
  line->addStretch(1);
  attachmentBar_->setVisible(!attachments_.isEmpty());
  updateButtons();
}

void Composer::rebuildThinkingMenu() {
  const QString mode = chatId_.isEmpty() ? u"auto"_s : service_.settings(chatId_).thinking;
  QMenu* menu = thinking_->menu();
  menu->clear();
  const QPair<QString, QString> modes[] = {{u"off"_s, tr("off")}, {u"auto"_s, tr("automatic")}, {u"on"_s, tr("on")}};
  for (const auto& [key, word] : modes) {
    QAction* a = menu->addAction(tr("Thinking: %1").arg(word), this, [this, key = key] { setThinking(key); });
    a->setCheckable(true);
    a->setChecked(key == mode);
    if (key == mode) thinking_->setText(tr("Thinking: %1").arg(word) + u"  ⌄"_s);
  }
}

void Composer::setThinking(const QString& mode) {
  if (chatId_.isEmpty()) return;
  GenerationSettings settings = service_.settings(chatId_);
  settings.thinking = mode;
  service_.setSettings(chatId_, settings);
  rebuildThinkingMenu();
  recount();
}

}  // namespace tg
