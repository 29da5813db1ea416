#include "views/chats/chat_view.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QResizeEvent>
#include <QStackedWidget>
#include <QToolButton>

#include "views/chats/chat_header.h"
#include "views/composer/composer.h"
#include "views/theme/icons.h"
#include "views/transcript/edit_in_place.h"
#include "views/transcript/find_bar.h"
#include "views/transcript/row_action_bar.h"
#include "views/transcript/transcript_view.h"
#include "views/turn/turn_popover.h"

namespace tg {

using namespace Qt::StringLiterals;

ChatView::ChatView(Application& app, Actions& actions, QWidget* parent) : QWidget(parent), app_(app), service_(app.chats()), actions_(actions) {
  setObjectName(u"chatView"_s);
  model_ = new TranscriptModel(this);
  header_ = new ChatHeader(app, actions, this);
  view_ = new TranscriptView(model_, this);
  find_ = new FindBar(view_, this);
  composer_ = new Composer(service_, this);
  rowBar_ = new RowActionBar(view_->viewport());
  edit_ = new EditInPlace(service_, view_->viewport());
  buildLayout();
  popover_ = new TurnPopover(this);
  connectService();
  connectTranscript();
  timer_.setInterval(33);
  connect(&timer_, &QTimer::timeout, this, &ChatView::poll);
  applySettings();
  showContent();
}

void ChatView::buildLayout() {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(header_);
  column->addWidget(find_);
  errorStrip_ = new QFrame(this);
  errorStrip_->setObjectName(u"errorStrip"_s);
  auto* errorLine = new QHBoxLayout(errorStrip_);
  errorText_ = new QLabel(errorStrip_);
  errorText_->setWordWrap(true);
  errorText_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* closeError = new QToolButton(errorStrip_);
  closeError->setObjectName(u"errorClose"_s);
  closeError->setIcon(icon(u"close"_s, Role::ErrorText));
  closeError->setAccessibleName(tr("Close this message"));
  connect(closeError, &QToolButton::clicked, errorStrip_, &QWidget::hide);
  errorLine->addWidget(errorText_, 1);
  errorLine->addWidget(closeError);
  errorStrip_->hide();
  column->addWidget(errorStrip_);
  content_ = new QStackedWidget(this);
  content_->addWidget(view_);
  column->addWidget(content_, 1);

  strip_ = new QFrame(this);
  strip_->setObjectName(u"turnStrip"_s);
  auto* stripLine = new QHBoxLayout(strip_);
  stripLine->setContentsMargins(16, 4, 16, 4);
  stripText_ = new QLabel(strip_);
  stripText_->setProperty("kind", u"muted"_s);
  stripText_->setWordWrap(true);
  stripLine->addWidget(stripText_, 1);
  const auto button = [&](const QString& name, const QString& text) {
    auto* b = new QPushButton(text, strip_);
    b->setObjectName(name);
    stripLine->addWidget(b);
    return b;
  };
  continue_ = button(u"continueButton"_s, tr("Continue"));
  regenerate_ = button(u"regenerateButton"_s, tr("Regenerate"));
  retry_ = button(u"tryAgainButton"_s, tr("Try again"));
  discard_ = button(u"discardButton"_s, tr("Discard"));
  strip_->hide();
  column->addWidget(strip_);

  auto* dock = new QFrame(this);
  dock->setObjectName(u"composerDock"_s);
  auto* dockLine = new QHBoxLayout(dock);
  dockLine->setContentsMargins(16, 10, 16, 12);
  dockLine->addWidget(composer_);
  column->addWidget(dock);

  empty_ = new QLabel(tr("Nothing here yet. Type below."), view_->viewport());
  empty_->setObjectName(u"emptyChat"_s);
  empty_->setAlignment(Qt::AlignCenter);
  empty_->setProperty("kind", u"muted"_s);
  jump_ = new QToolButton(view_->viewport());
  jump_->setObjectName(u"jumpToEndButton"_s);
  jump_->setProperty("kind", u"edged"_s);
  jump_->setCursor(Qt::ArrowCursor);
  jump_->setText(tr("↓ to the end"));
  jump_->hide();
  connect(jump_, &QToolButton::clicked, view_, &TranscriptView::scrollToEnd);
}

void ChatView::connectService() {
  connect(&service_, &ChatService::chatOpened, this, [this](const QString& id) {
    if (id == chatId_) reload();
  });
  connect(&service_, &ChatService::pathChanged, this, [this](const QString& id) {
    if (id == chatId_) reload();
  });
  connect(&service_, &ChatService::messageAdded, this, [this](const QString& id, const MessageInfo& m) {
    if (id != chatId_) return;
    model_->addMessage(m);
    if (m.role == u"user"_s) view_->scrollToEnd();
    updateOverlays();
  });
  connect(&service_, &ChatService::messageChanged, this, [this](const QString& id, const MessageInfo& m) {
    if (id != chatId_) return;
    model_->changeMessage(m);
    // Its speed curve came from the disk.
    if (popover_->isVisible() && m.record && m.id == popover_->shownMessage()) popover_->showRecord(*m.record, service_.messages(chatId_));
  });
  connect(&service_, &ChatService::turnStarted, this, [this](const QString& id) {
    if (id == chatId_) startPolling();
  });
  connect(&service_, &ChatService::turnFinished, this, [this](const QString& id, const MessageInfo& m) {
    if (id == chatId_) finishTurn(m);
  });
  connect(&service_, &ChatService::chatChanged, this, [this](const QString& id) {
    if (id != chatId_) return;
    composer_->setQueued(service_.queuedMessage(id));
    updateComposerModel();
  });
  connect(&service_, &ChatService::failed, this, [this](const QString& id, const QString& sentence, const QString& details) {
    if (id.isEmpty() || id == chatId_) showError(sentence, details);
  });
  connect(&app_.models(), &ModelCatalogue::changed, this, &ChatView::updateComposerModel);
  connect(&app_.settings(), &Settings::changed, this, &ChatView::applySettings);
  connect(composer_, &Composer::send, this, &ChatView::send);
  connect(composer_, &Composer::stop, this, [this] { service_.stop(chatId_); });
  connect(composer_, &Composer::editLast, this, &ChatView::editLast);
  connect(composer_, &Composer::takeBack, this, [this] {
    const auto text = service_.queuedMessage(chatId_);
    service_.takeBackQueued(chatId_);
    composer_->setQueued(std::nullopt);
    if (text && composer_->text().isEmpty()) composer_->setText(*text);
  });
  connect(composer_, &Composer::refused, this, [this](const QString& sentence) { showError(sentence, {}); });
  connect(header_, &ChatHeader::modelChosen, this, [this](const QString& path) {
    service_.setModel(chatId_, path);
    updateComposerModel();
    composer_->recount();
  });
}

void ChatView::connectTranscript() {
  connect(view_, &TranscriptView::laidOut, this, &ChatView::updateOverlays);
  connect(view_, &TranscriptView::awayFromEnd, this, [this](bool away, bool newText) {
    jump_->setText(newText ? tr("↓ new text") : tr("↓ to the end"));
    jump_->adjustSize();
    jump_->setVisible(away);
    updateOverlays();
  });
  connect(view_, &TranscriptView::footerActivated, this, [this](int row) {
    showTurn(row);
    popover_->isVisible() ? popover_->hide() : togglePopover();
  });
  connect(view_, &TranscriptView::hoveredRowChanged, this, &ChatView::showRowBar);
  connect(view_->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& index) {
    showRowBar(index.row());
    if (index.isValid()) showTurn(index.row());
  });
  connect(view_, &TranscriptView::activated, this, [this](const QModelIndex& index) {
    showRowBar(index.row());
    rowBar_->setFocus();
    rowBar_->focusWidget();
  });
  connect(view_, &TranscriptView::linkHovered, this, &ChatView::linkHovered);
  connect(view_, &TranscriptView::linkActivated, this, &ChatView::openLink);
  connect(rowBar_, &RowActionBar::edit, this, &ChatView::startEdit);
  connect(rowBar_, &RowActionBar::copy, this, &ChatView::copyMessage);
  connect(rowBar_, &RowActionBar::regenerate, this, [this](const QString& id) { service_.regenerate(chatId_, id); });
  connect(rowBar_, &RowActionBar::version, this, [this](const QString& id, int v) { service_.showVersion(chatId_, id, v); });
  connect(rowBar_, &RowActionBar::details, this, [this](const QString& id) {
    showTurn(model_->lastRowOf(id));
    togglePopover();
  });
  connect(rowBar_, &RowActionBar::fork, this, [this](const QString& id) { Q_EMIT chatCreated(service_.fork(chatId_, id)); });
  connect(rowBar_, &RowActionBar::quote, this, [this](const QString& id) {
    const MessageInfo* m = model_->message(id);
    if (m) composer_->setText(u"> "_s + QString(m->text).replace(u'\n', u"\n> "_s) + u"\n\n"_s + composer_->text());
    composer_->focusEdit();
  });
  connect(edit_, &EditInPlace::heightChanged, this, [this] { view_->setRowHeightOverride(edit_->messageId() + u"/b0"_s, edit_->wantedHeight()); });
  connect(edit_, &EditInPlace::finished, this, [this](const QString& id) {
    view_->setRowHeightOverride(id + u"/b0"_s, 0);
    composer_->focusEdit();
  });
  connect(find_, &FindBar::closed, this, [this] { composer_->focusEdit(); });
  connect(continue_, &QPushButton::clicked, this, [this] {
    if (!model_->messages().isEmpty()) service_.continueAnswer(chatId_, model_->messages().last()->id);
  });
  for (QPushButton* b : {regenerate_, retry_}) connect(b, &QPushButton::clicked, this, &ChatView::regenerateLast);
  connect(discard_, &QPushButton::clicked, this, [this] {
    if (!model_->messages().isEmpty()) service_.discardRecovered(chatId_, model_->messages().last()->id);
  });
}

void ChatView::applySettings() {
  FooterOptions options = model_->footerOptions();
  options.money = app_.settings().get(Setting::FooterMoney).toString();
  if (options.money.isEmpty()) options.money = u"hosted"_s;
  const QVariant shown = app_.settings().get(Setting::FooterLine);
  if (options.money != model_->footerOptions().money || shown.isValid()) model_->setFooterOptions(options, !shown.isValid() || shown.toBool());
  composer_->setSendWithCtrl(app_.settings().get(Setting::SendWithCtrlEnter).toBool());
  popover_->setFirstSegment(app_.settings().get(Setting::DeveloperMode).toBool() ? TurnPopover::Reading : TurnPopover::Summary);
}

void ChatView::setFirstRunPage(QWidget* page) {
  firstRun_ = page;
  content_->addWidget(page);
  showContent();
}

void ChatView::showContent() {
  const bool none = chatId_.isEmpty();
  content_->setCurrentWidget(none && firstRun_ ? firstRun_ : static_cast<QWidget*>(view_));
  header_->setVisible(!none);
}

void ChatView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  composer_->setMostHeight(height() * 2 / 5);
  placePopover();
}

void ChatView::updateOverlays() {
  const QSize area = view_->viewport()->size();
  empty_->setGeometry(QRect(QPoint(), area));
  empty_->setVisible(model_->rowCount() == 0 && !chatId_.isEmpty());
  jump_->adjustSize();
  jump_->move((area.width() - jump_->width()) / 2, area.height() - jump_->height() - 10);
  jump_->raise();
  if (edit_->isVisible()) {
    const int row = model_->firstRowOf(edit_->messageId()) + 1;
    const QRect r = view_->visualRect(model_->index(row));
    const int left = view_->rows()->columnLeft(area.width());
    edit_->setGeometry(left, r.top(), view_->rows()->columnWidth(area.width()), r.height());
  }
  if (rowBar_->isVisible()) {
    const QRect r = view_->visualRect(model_->index(model_->firstRowOf(rowBar_->messageId())));
    const int right = view_->rows()->columnLeft(area.width()) + view_->rows()->columnWidth(area.width());
    const int y = qMax(2, r.bottom() - rowBar_->height() + qRound(em(font()) * 0.3));
    rowBar_->move(right - rowBar_->width() - 8, y);
  }
  placePopover();
}

// Above the composer at the right; it leaves the last line free when there is room above it.
void ChatView::placePopover() {
  if (!popover_->isVisible()) return;
  const int w = qMin(width() - 24, qMax(popover_->sizeHint().width(), qRound(em(font()) * 33))), h = qMin(popover_->sizeHint().height(), view_->height() - 8);
  int bottom = content_->geometry().bottom() - qRound(em(font()) * 4);
  if (bottom - h < content_->y()) bottom = content_->y() + h + 4;
  popover_->setGeometry(width() - w - 16, bottom - h, w, h);
  popover_->raise();
}

}  // namespace tg
