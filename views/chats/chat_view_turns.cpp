// The life of the open chat: opening, sending, following a running turn, versions, the turn that is looked at.
#include <QApplication>
#include <QClipboard>
#include <QDesktopServices>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QUrl>

#include "app/format.h"
#include "views/chats/chat_header.h"
#include "views/chats/chat_view.h"
#include "views/composer/composer.h"
#include "views/transcript/edit_in_place.h"
#include "views/transcript/find_bar.h"
#include "views/transcript/row_action_bar.h"
#include "views/transcript/transcript_view.h"
#include "views/turn/turn_popover.h"

namespace tg {

using namespace Qt::StringLiterals;

void ChatView::openChat(const QString& chatId) {
  if (chatId == chatId_) return;
  edit_->cancel();
  find_->close();
  popover_->hide();
  errorStrip_->hide();
  rowBar_->hide();
  timer_.stop();
  chatId_ = chatId;
  currentTurn_ = 0;
  model_->setMessages({});
  header_->setChat(chatId);
  composer_->setChat(chatId);
  composer_->setQueued(chatId.isEmpty() ? std::nullopt : service_.queuedMessage(chatId));
  updateComposerModel();
  showContent();
  updateStateStrip();
  if (!chatId.isEmpty()) service_.openChat(chatId);
}

void ChatView::reload() {
  model_->setMessages(service_.messages(chatId_));
  view_->scrollToEnd();
  rowBar_->hide();
  if (service_.liveTurn(chatId_)) {
    startPolling();
  } else {
    timer_.stop();
    composer_->setRunning(false);
    header_->setLive(std::nullopt);
  }
  updateComposerModel();
  updateStateStrip();
  selectTurn(turnCount());
  if (!pendingMessage_.isEmpty()) showMessage(pendingMessage_, pendingWords_);
}

void ChatView::showMessage(const QString& messageId, const QString& words) {
  const int row = model_->firstRowOf(messageId);
  if (row < 0) {
    pendingMessage_ = messageId;
    pendingWords_ = words;
    return;
  }
  pendingMessage_.clear();
  find_->open(words);
  view_->scrollTo(model_->index(row), QAbstractItemView::PositionAtCenter);
}

void ChatView::updateComposerModel() {
  const auto chat = service_.chat(chatId_);
  const QString path = chat && !chat->modelPath.isEmpty() ? chat->modelPath : app_.models().defaultModel();
  QString name = chat ? chat->modelName : QString();
  bool loaded = false, thinks = false;
  FooterOptions options = model_->footerOptions();
  options.bytesPerToken.reset();
  options.tier = app_.deviceStatus().device.contains(u"GPU"_s) ? ChatTier::Gpu : ChatTier::Ram;
  for (const ModelInfo& m : app_.models().models()) {
    if (m.path != path) continue;
    name = m.name;
    loaded = m.loaded;
    thinks = m.thinks;
    if (m.kvBytesPerToken > 0) options.bytesPerToken = m.kvBytesPerToken;
  }
  if (options.bytesPerToken != model_->footerOptions().bytesPerToken) model_->setFooterOptions(options, app_.settings().get(Setting::FooterLine).toBool());
  for (const auto& m : model_->messages()) thinks = thinks || !m->thinkingText.isEmpty() || (m->record && m->record->thinking.value_or(0) > 0);
  composer_->setModel(name, loaded, thinks);
}

void ChatView::send(const QString& text, const QStringList& attachments) {
  // The text leaves the field now; if it does not fit, overflow() brings it back untouched.
  composer_->clear();
  if (chatId_.isEmpty()) {
    openChat(service_.createChat(QString(), app_.models().defaultModel(), {}));  // its title comes from this message
    Q_EMIT chatCreated(chatId_);
  }
  service_.send(chatId_, text, attachments);
  composer_->setQueued(service_.queuedMessage(chatId_));
}

bool ChatView::isRunning() const { return !chatId_.isEmpty() && service_.liveTurn(chatId_).has_value(); }

void ChatView::startPolling() {
  composer_->setRunning(true);
  updateStateStrip();
  figuresClock_.invalidate();
  timer_.start();
  poll();
}

void ChatView::poll() {
  const std::optional<LiveTurn> live = service_.liveTurn(chatId_);
  if (!live) {
    timer_.stop();
    return;
  }
  const bool figures = !figuresClock_.isValid() || figuresClock_.elapsed() >= 250;
  if (figures) figuresClock_.start();
  model_->updateLive(*live, figures);
  if (!figures) return;
  header_->setLive(live);
  if (popover_->isVisible() && currentTurn_ == turnCount()) popover_->showLive(*live, service_.settings(chatId_).maxTokens);
}

void ChatView::finishTurn(const MessageInfo& message) {
  timer_.stop();
  model_->changeMessage(message);
  model_->endLive();
  composer_->setRunning(false);
  composer_->setQueued(service_.queuedMessage(chatId_));
  composer_->recount();
  header_->setLive(std::nullopt);
  header_->refresh();
  updateComposerModel();
  updateStateStrip();
  const bool follow = currentTurn_ >= turnCount() - 1;
  if (follow) selectTurn(turnCount());
  if (popover_->isVisible() && follow && message.record) popover_->showRecord(*message.record, service_.messages(chatId_));
  if (service_.liveTurn(chatId_)) startPolling();  // a queued message went on its way
}

// What can be done about an answer that did not simply end.
void ChatView::updateStateStrip() {
  const bool any = !model_->messages().isEmpty() && !isRunning();
  const TurnState state = any ? model_->messages().last()->state : TurnState::None;
  const bool cut = state == TurnState::Stopped || state == TurnState::Length, error = state == TurnState::Error, recovered = state == TurnState::Recovered;
  strip_->setVisible(cut || error || recovered || state == TurnState::ContextFull);
  if (strip_->isHidden()) return;
  // The transcript says the others where they arose.
  stripText_->setText(state == TurnState::Stopped ? stateSentence(*model_->messages().last()) : QString());
  continue_->setVisible(cut || recovered);
  regenerate_->setVisible(cut || state == TurnState::ContextFull);
  retry_->setVisible(error);
  discard_->setVisible(recovered);
}

void ChatView::showError(const QString& sentence, const QString& details) {
  errorText_->setText(sentence);
  errorText_->setToolTip(details);
  errorStrip_->setAccessibleName(sentence);
  errorStrip_->show();
}

bool ChatView::escape() {
  if (popover_->isVisible()) {
    popover_->hide();
    return true;
  }
  if (find_->isVisible()) {
    find_->close();
    return true;
  }
  if (edit_->isVisible()) {
    edit_->cancel();
    return true;
  }
  if (rowBar_->isVisible() && rowBar_->isAncestorOf(QApplication::focusWidget())) {
    rowBar_->hide();
    view_->setFocus();
    return true;
  }
  if (isRunning()) {
    service_.stop(chatId_);
    return true;
  }
  if (composer_->edit()->hasFocus()) return false;
  composer_->focusEdit();
  return true;
}

void ChatView::startEdit(const QString& messageId) {
  const MessageInfo* m = model_->message(messageId);
  if (!m || isRunning()) return;
  rowBar_->hide();
  view_->scrollTo(model_->index(model_->firstRowOf(messageId)));
  edit_->start(chatId_, *m);
  updateOverlays();
}

void ChatView::editLast() {
  const auto& all = model_->messages();
  for (auto it = all.crbegin(); it != all.crend(); ++it) {
    if ((*it)->role != u"user"_s) continue;
    startEdit((*it)->id);
    return;
  }
}

void ChatView::regenerateLast() {
  const auto& all = model_->messages();
  if (!isRunning() && !all.isEmpty() && all.last()->role == u"assistant"_s) service_.regenerate(chatId_, all.last()->id);
}

void ChatView::changeVersion(int by) {
  QString id = rowBar_->messageId();
  const MessageInfo* m = model_->message(id);
  if (!m || m->versions < 2) {
    for (const auto& known : model_->messages()) {
      if (known->versions > 1) m = known.get();  // the last one with versions
    }
  }
  if (m && m->version + by >= 1 && m->version + by <= m->versions) service_.showVersion(chatId_, m->id, m->version + by);
}

void ChatView::togglePopover() {
  if (popover_->isVisible()) {
    popover_->hide();
    return;
  }
  const auto live = service_.liveTurn(chatId_);
  if (live && currentTurn_ >= turnCount()) {
    popover_->showLive(*live, service_.settings(chatId_).maxTokens);
  } else {
    const TurnRecord* record = nullptr;
    for (int i = 0; i < model_->rowCount(); ++i) {
      const TranscriptRow& r = model_->row(i);
      if (r.turn == currentTurn_ && r.message->record) record = &*r.message->record;
    }
    if (!record) return;
    if (record->rateCurve.isEmpty() && record->output.value_or(0) > 0) service_.loadCurve(chatId_, record->messageId);
    popover_->showRecord(*record, service_.messages(chatId_));
  }
  popover_->show();
  placePopover();
}

int ChatView::turnCount() const { return model_->rowCount() == 0 ? 0 : model_->row(model_->rowCount() - 1).turn; }

void ChatView::selectTurn(int turn) {
  currentTurn_ = turn;
  Q_EMIT currentTurnChanged(turn);
}

void ChatView::showTurn(int row) {
  if (row < 0 || row >= model_->rowCount()) return;
  const TranscriptRow& r = model_->row(row);
  if (r.turn != currentTurn_) selectTurn(r.turn);
}

void ChatView::showRowBar(int row) {
  if (row < 0 || row >= model_->rowCount() || edit_->isVisible()) return;
  const TranscriptRow& r = model_->row(row);
  if (r.live) {
    rowBar_->hide();
    return;
  }
  rowBar_->showFor(*r.message, isRunning());
  updateOverlays();
}

void ChatView::copyMessage(const QString& messageId) {
  const MessageInfo* m = model_->message(messageId);
  if (m) QGuiApplication::clipboard()->setText(m->text);
}

void ChatView::copyLastCode() {
  for (int i = model_->rowCount() - 1; i >= 0; --i) {
    if (model_->row(i).kind != RowKind::Code) continue;
    QGuiApplication::clipboard()->setText(model_->row(i).text);
    return;
  }
}

void ChatView::openFind() { find_->open(); }

// Only web addresses, and only after a yes: a model wrote this link.
void ChatView::openLink(const QUrl& url) {
  if (url.scheme() != u"https"_s && url.scheme() != u"http"_s && url.scheme() != u"mailto"_s) {
    showError(tr("This link was not opened: %1").arg(url.toString()), {});
    return;
  }
  auto* box = new QMessageBox(QMessageBox::Question, tr("Open this link?"), url.toString(), QMessageBox::Open | QMessageBox::Cancel, this);
  box->setObjectName(u"linkDialog"_s);
  box->setAttribute(Qt::WA_DeleteOnClose);
  connect(box, &QMessageBox::finished, this, [url](int answer) {
    if (answer == QMessageBox::Open) QDesktopServices::openUrl(url);
  });
  box->open();
}

}  // namespace tg
