#include "views/chats/chats_page.h"

#include <QHBoxLayout>
#include <QResizeEvent>
#include <QSplitter>
#include <QTimer>
#include <QTreeView>

#include "app/settings.h"
#include "views/chats/chat_header.h"
#include "views/chats/chat_list_model.h"
#include "views/chats/chat_list_panel.h"
#include "views/chats/chat_view.h"
#include "views/composer/composer.h"
#include "views/inspector/inspector_dock.h"
#include "views/shell/actions.h"
#include "views/theme/theme.h"
#include "views/transcript/transcript_view.h"
#include "views/turn/turn_popover.h"

namespace tg {

using namespace Qt::StringLiterals;

ChatsPage::ChatsPage(Application& app, Actions& actions, QWidget* parent) : QWidget(parent), app_(app), actions_(actions) {
  setObjectName(u"chatsPage"_s);
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(0, 0, 0, 0);
  split_ = new QSplitter(Qt::Horizontal, this);
  split_->setObjectName(u"chatsSplitter"_s);
  split_->setHandleWidth(1);
  split_->setChildrenCollapsible(false);
  list_ = new ChatListPanel(app.chats(), actions, split_);
  view_ = new ChatView(app, actions, split_);
  inspector_ = new InspectorDock(app, view_, split_);
  split_->setStretchFactor(0, 0);
  split_->setStretchFactor(1, 1);
  split_->setStretchFactor(2, 0);
  const int unit = qRound(em(font()));
  split_->setSizes({unit * 20, unit * 54, unit * 31});
  line->addWidget(split_);
  inspector_->hide();
  connect(list_, &ChatListPanel::chatChosen, this, &ChatsPage::openChat);
  connect(list_, &ChatListPanel::deleteWanted, this, &ChatsPage::deleteChat);
  connect(list_, &ChatListPanel::hitChosen, this, [this](const QString& chat, const QString& message, const QString& words) {
    openChat(chat);
    view_->showMessage(message, words);
  });
  connect(&app.chats(), &ChatService::chatChanged, this, [this](const QString& id) {
    const auto chat = app_.chats().chat(id);
    if (id == view_->chatId() && chat) Q_EMIT titleChanged(shownTitle(chat->title));
  });
  connect(view_, &ChatView::chatCreated, this, &ChatsPage::openChat);
  registerActions();
}

void ChatsPage::registerActions() {
  const auto on = [this](Act act, auto handler) { actions_.on(act, this, handler); };
  const auto current = [this] {
    const QString picked = list_->view()->hasFocus() ? list_->selected() : QString();
    return picked.isEmpty() ? view_->chatId() : picked;
  };
  on(Act::NewChat, [this] { newChat(); });
  on(Act::NewFolder, [this] { app_.chats().createFolder(tr("New folder")); });
  on(Act::Attach, [this] { view_->composer()->attach(); });
  on(Act::RenameChat, [this] {
    if (list_->view()->hasFocus()) list_->rename(list_->selected());
    else view_->header()->editTitle();
  });
  on(Act::DeleteChat, [this, current] { deleteChat(current()); });
  on(Act::MoveChat, [this, current] { list_->moveMenu(current()); });
  on(Act::DuplicateChat, [this, current] {
    const QVector<MessageInfo> all = app_.chats().messages(current());
    if (!all.isEmpty()) app_.chats().fork(current(), all.last().id);
  });
  on(Act::EditLast, [this] { view_->editLast(); });
  on(Act::CopyCode, [this] { view_->copyLastCode(); });
  on(Act::Find, [this] { view_->openFind(); });
  on(Act::FindAll, [this] {
    if (!list_->isVisible()) toggleList();
    list_->focusSearch();
  });
  on(Act::ToggleList, [this] { toggleList(); });
  on(Act::ToggleInspector, [this] { toggleInspector(); });
  on(Act::FocusComposer, [this] { view_->composer()->focusEdit(); });
  on(Act::Regenerate, [this] { view_->regenerateLast(); });
  on(Act::VersionBefore, [this] { view_->changeVersion(-1); });
  on(Act::VersionAfter, [this] { view_->changeVersion(1); });
  on(Act::TurnBefore, [this] { view_->selectTurn(qMax(1, view_->currentTurn() - 1)); });
  on(Act::TurnAfter, [this] { view_->selectTurn(qMin(view_->turnCount(), view_->currentTurn() + 1)); });
  on(Act::TurnPopover, [this] { view_->togglePopover(); });
  on(Act::ChatBefore, [this] { openChat(list_->neighbour(view_->chatId(), -1)); });
  on(Act::ChatAfter, [this] { openChat(list_->neighbour(view_->chatId(), 1)); });
  on(Act::ChooseModel, [this] { view_->header()->openModelMenu(); });
  on(Act::KeepInRam, [this, current] { app_.chats().keep(current(), ChatTier::Ram); });
  on(Act::KeepOnDisk, [this, current] { app_.chats().keep(current(), ChatTier::Disk); });
  on(Act::Evict, [this, current] { app_.chats().evict(current()); });
  on(Act::Pin, [this, current] {
    if (const auto chat = app_.chats().chat(current())) app_.chats().pin(chat->id, !chat->pinned);
  });
}

void ChatsPage::setFirstRunPage(QWidget* page) { view_->setFirstRunPage(page); }

void ChatsPage::openChat(const QString& chatId) {
  if (chatId.isEmpty()) return;
  if (chatId != view_->chatId()) view_->openChat(chatId);
  list_->select(chatId);
  app_.settings().set(Setting::LastChat, chatId);
  if (const auto chat = app_.chats().chat(chatId)) Q_EMIT titleChanged(shownTitle(chat->title));
  if (listDrawer_) {
    list_->hide();
    view_->composer()->focusEdit();
  }
}

QString ChatsPage::newChat() {
  const QString id = app_.chats().createChat(QString(), app_.models().defaultModel(), {});
  openChat(id);
  view_->composer()->focusEdit();
  return id;
}

void ChatsPage::openLastChat() {
  const QString last = app_.settings().get(Setting::LastChat).toString();
  const QVector<ChatInfo> all = app_.chats().chats();
  if (!last.isEmpty() && app_.chats().chat(last)) openChat(last);
  else if (!all.isEmpty()) openChat(all.first().id);
}

void ChatsPage::deleteChat(const QString& chatId) {
  const auto chat = app_.chats().chat(chatId);
  if (!chat) return;
  QString next = list_->neighbour(chatId, 1);
  if (next.isEmpty()) next = list_->neighbour(chatId, -1);
  const bool open = chatId == view_->chatId();
  app_.chats().deleteChat(chatId);
  deleted_ << chatId;
  if (open) {
    view_->openChat(QString());
    openChat(next);
    if (next.isEmpty()) Q_EMIT titleChanged({});
  }
  Q_EMIT chatDeleted(shownTitle(chat->title));
}

void ChatsPage::undoDelete() {
  if (deleted_.isEmpty()) return;
  const QString id = deleted_.takeLast();
  app_.chats().restoreChat(id);
  openChat(id);
}

// ---- narrow windows

void ChatsPage::layoutPanels() {
  const qreal units = width() / em(font());
  const bool drawer = units < 66 || width() < 760, sheet = units < 94;
  if (drawer != listDrawer_) {
    listDrawer_ = drawer;
    if (drawer) {
      list_->setParent(this);
    } else {
      split_->insertWidget(0, list_);
      split_->setStretchFactor(0, 0);
    }
    list_->setVisible(!drawer && listWanted_);
  }
  if (sheet != inspectorSheet_) {
    inspectorSheet_ = sheet;
    if (sheet) {
      inspector_->setParent(this);
    } else {
      split_->addWidget(inspector_);
    }
    inspector_->setVisible(!sheet && inspectorWanted_);
  }
  const int unit = qRound(em(font()));
  if (!inspectorSheet_ && !inspectorSized_ && isVisible() && inspector_->isVisibleTo(this)) {
    inspectorSized_ = true;
    QTimer::singleShot(0, this, [this, unit] {
      const QList<int> sizes = split_->sizes();
      if (sizes.size() == 3) split_->setSizes({sizes[0], qMax(1, sizes[1] + sizes[2] - unit * 30), unit * 30});
    });
  }
  if (!listDrawer_) {
    list_->setMinimumWidth(unit * 15);
    list_->setMaximumWidth(unit * 30);
  } else {
    list_->setGeometry(0, 0, qMin(width() * 4 / 5, unit * 22), height());
    list_->raise();
  }
  if (!inspectorSheet_) {
    inspector_->setMinimumWidth(unit * 26);
    inspector_->setMaximumWidth(unit * 50);
  } else {
    const int w = qMin(width() * 9 / 10, unit * 34);
    inspector_->setGeometry(width() - w, 0, w, height());
    inspector_->raise();
  }
  view_->setMinimumWidth(unit * 20);
  view_->header()->setInspectorShown(inspector_->isVisibleTo(this));
}

void ChatsPage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  layoutPanels();
}

void ChatsPage::toggleList() {
  const bool show = !list_->isVisibleTo(this);
  if (!listDrawer_) listWanted_ = show;
  list_->setVisible(show);
  layoutPanels();
  if (show && listDrawer_) list_->view()->setFocus();
}

void ChatsPage::showInspector(bool on) {
  if (!inspectorSheet_) inspectorWanted_ = on;
  inspector_->setVisible(on);
  if (on) inspector_->refresh();
  layoutPanels();
}

bool ChatsPage::isInspectorShown() const { return inspector_->isVisibleTo(const_cast<ChatsPage*>(this)); }

void ChatsPage::toggleInspector() { showInspector(!isInspectorShown()); }

bool ChatsPage::closeDrawers() {
  if (listDrawer_ && list_->isVisible()) {
    list_->hide();
    return true;
  }
  if (inspectorSheet_ && inspector_->isVisible()) {
    showInspector(false);
    return true;
  }
  return false;
}

QByteArray ChatsPage::saveState() const { return split_->saveState() + (inspectorWanted_ ? '1' : '0') + (listWanted_ ? '1' : '0'); }

void ChatsPage::restoreState(const QByteArray& state) {
  if (state.size() < 3) return;
  split_->restoreState(state.chopped(2));
  listWanted_ = state.endsWith('1');
  inspectorWanted_ = state[state.size() - 2] == '1';
  inspectorSized_ = inspectorWanted_;
  if (!listDrawer_) list_->setVisible(listWanted_);
  if (!inspectorSheet_) inspector_->setVisible(inspectorWanted_);
  layoutPanels();
}

}  // namespace tg
