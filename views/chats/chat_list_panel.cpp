#include "views/chats/chat_list_panel.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QStackedWidget>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>

#include "app/format.h"
#include "views/chats/chat_list_model.h"
#include "views/chats/chat_row_delegate.h"
#include "views/shell/actions.h"
#include "views/theme/icons.h"

namespace tg {

using namespace Qt::StringLiterals;

namespace {
constexpr int kMessageRole = Qt::UserRole + 10;
}

ChatListPanel::ChatListPanel(ChatService& service, Actions& actions, QWidget* parent) : QFrame(parent), service_(service), actions_(actions) {
  setObjectName(u"chatListPanel"_s);
  setAttribute(Qt::WA_StyledBackground);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 8, 0, 0);
  column->setSpacing(6);
  buildHead(column);
  buildLists(column);
  buildFoot(column);
  connectParts();
  updateFoot();
}

void ChatListPanel::buildHead(QVBoxLayout* column) {
  auto* head = new QHBoxLayout;
  head->setContentsMargins(12, 0, 10, 0);
  auto* title = new QLabel(tr("Chats"), this);
  title->setFont(headingFont(font()));
  head->addWidget(title, 1);
  const auto tool = [&](Act act, const QString& name, const QString& verb, bool edged) {
    auto* b = new QToolButton(this);
    b->setObjectName(name);
    b->setIcon(actions_.get(act)->icon());
    b->setAccessibleName(verb);
    b->setToolTip(verb + u" ("_s + actions_.get(act)->shortcut().toString(QKeySequence::NativeText) + u')');
    if (edged) b->setProperty("kind", u"edged"_s);
    connect(b, &QToolButton::clicked, actions_.get(act), &QAction::trigger);
    head->addWidget(b);
  };
  tool(Act::NewFolder, u"newFolderButton"_s, tr("New folder"), false);
  tool(Act::NewChat, u"newChatButton"_s, tr("New chat"), true);
  column->addLayout(head);
  auto* searchLine = new QHBoxLayout;
  searchLine->setContentsMargins(10, 0, 10, 0);
  search_ = new QLineEdit(this);
  search_->setObjectName(u"chatSearchEdit"_s);
  search_->setPlaceholderText(tr("Search titles and text"));
  search_->setAccessibleName(tr("Search titles and text"));
  search_->setClearButtonEnabled(true);
  search_->addAction(icon(u"search"_s, Role::Muted), QLineEdit::LeadingPosition);
  search_->installEventFilter(this);
  searchLine->addWidget(search_);
  column->addLayout(searchLine);
}

void ChatListPanel::buildLists(QVBoxLayout* column) {
  model_ = new ChatListModel(service_, this);
  view_ = new QTreeView(this);
  view_->setObjectName(u"chatListView"_s);
  view_->setAccessibleName(tr("Chats"));
  view_->setModel(model_);
  view_->setHeaderHidden(true);
  view_->setRootIsDecorated(false);
  view_->setIndentation(0);
  view_->setFrameShape(QFrame::NoFrame);
  view_->setStyleSheet(u"QTreeView { border: none; background: transparent; } QTreeView:focus { border: none; } QTreeView::branch { image: none; background: transparent; } QTreeView::item { border: none; background: transparent; }"_s);
  view_->setItemDelegate(new ChatRowDelegate(view_));
  view_->setUniformRowHeights(false);
  view_->setMouseTracking(true);
  view_->setDragDropMode(QAbstractItemView::DragDrop);
  view_->setDefaultDropAction(Qt::MoveAction);
  view_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  view_->setContextMenuPolicy(Qt::CustomContextMenu);
  view_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  view_->viewport()->installEventFilter(this);
  view_->installEventFilter(this);
  view_->expandAll();
  results_ = new QListWidget(this);
  results_->setObjectName(u"searchResultsView"_s);
  results_->setAccessibleName(tr("Search results"));
  results_->setFrameShape(QFrame::NoFrame);
  results_->setWordWrap(true);
  results_->setSpacing(2);
  nothing_ = new QLabel(this);
  nothing_->setObjectName(u"chatListNote"_s);
  nothing_->setAlignment(Qt::AlignHCenter | Qt::AlignTop);
  nothing_->setWordWrap(true);
  nothing_->setProperty("kind", u"muted"_s);
  nothing_->setContentsMargins(12, 24, 12, 12);
  stack_ = new QStackedWidget(this);
  for (QWidget* w : {static_cast<QWidget*>(view_), static_cast<QWidget*>(results_), static_cast<QWidget*>(nothing_)}) stack_->addWidget(w);
  column->addWidget(stack_, 1);
}

void ChatListPanel::buildFoot(QVBoxLayout* column) {
  auto* foot = new QFrame(this);
  foot->setObjectName(u"chatListFoot"_s);
  auto* footLine = new QHBoxLayout(foot);
  footLine->setContentsMargins(14, 2, 8, 2);
  count_ = new QLabel(foot);
  count_->setObjectName(u"chatCount"_s);
  count_->setProperty("kind", u"muted"_s);
  bin_ = new QPushButton(foot);
  bin_->setObjectName(u"recentlyDeletedButton"_s);
  bin_->setProperty("kind", u"flat"_s);
  connect(bin_, &QPushButton::clicked, actions_.get(Act::RecentlyDeleted), &QAction::trigger);
  footLine->addWidget(count_, 1);
  footLine->addWidget(bin_);
  column->addWidget(foot);
}

void ChatListPanel::connectParts() {
  delay_.setSingleShot(true);
  delay_.setInterval(80);
  connect(&delay_, &QTimer::timeout, this, &ChatListPanel::search);
  connect(search_, &QLineEdit::textChanged, &delay_, qOverload<>(&QTimer::start));
  connect(&service_, &ChatService::searchFinished, this, &ChatListPanel::showHits);
  connect(&service_, &ChatService::chatsChanged, this, &ChatListPanel::updateFoot);
  connect(model_, &QAbstractItemModel::rowsInserted, view_, &QTreeView::expandAll);
  connect(view_, &QTreeView::clicked, this, [this](const QModelIndex& index) {
    if (index.data(ChatListModel::IsFolderRole).toBool()) view_->setExpanded(index, !view_->isExpanded(index));
    else Q_EMIT chatChosen(index.data(ChatListModel::IdRole).toString());
  });
  connect(view_, &QTreeView::activated, this, [this](const QModelIndex& index) {
    if (!index.data(ChatListModel::IsFolderRole).toBool()) Q_EMIT chatChosen(index.data(ChatListModel::IdRole).toString());
  });
  connect(view_, &QTreeView::customContextMenuRequested, this, &ChatListPanel::contextMenu);
  const auto open = [this](QListWidgetItem* item) {
    Q_EMIT hitChosen(item->data(ChatListModel::IdRole).toString(), item->data(kMessageRole).toString(), search_->text());
  };
  connect(results_, &QListWidget::itemActivated, this, open);
  connect(results_, &QListWidget::itemClicked, this, open);
}

void ChatListPanel::updateFoot() {
  const int n = static_cast<int>(service_.chats().size());
  count_->setText(n == 1 ? tr("1 chat") : tr("%1 chats").arg(format::count(n)));
  bin_->setText(tr("Recently deleted: %1").arg(service_.deletedChats().size()));
  bin_->setVisible(actions_.get(Act::RecentlyDeleted)->isVisible() || !service_.deletedChats().isEmpty());
  if (search_->text().isEmpty()) {
    nothing_->setText(tr("No chats yet.\nYour first message starts one."));
    stack_->setCurrentWidget(n == 0 && service_.folders().isEmpty() ? static_cast<QWidget*>(nothing_) : view_);
  }
}

void ChatListPanel::select(const QString& chatId) {
  const QModelIndex index = model_->indexOf(chatId);
  view_->setCurrentIndex(index);
  if (index.isValid()) view_->scrollTo(index);
}

QString ChatListPanel::selected() const {
  const QModelIndex index = view_->currentIndex();
  return index.data(ChatListModel::IsFolderRole).toBool() ? QString() : index.data(ChatListModel::IdRole).toString();
}

void ChatListPanel::rename(const QString& chatId) {
  const QModelIndex index = model_->indexOf(chatId);
  if (index.isValid()) view_->edit(index);
}

void ChatListPanel::focusSearch() {
  search_->setFocus();
  search_->selectAll();
}

QString ChatListPanel::neighbour(const QString& chatId, int by) const {
  QStringList order;
  for (QModelIndex i = model_->index(0, 0); i.isValid(); i = view_->indexBelow(i)) {
    if (!i.data(ChatListModel::IsFolderRole).toBool()) order << i.data(ChatListModel::IdRole).toString();
  }
  const qsizetype at = order.indexOf(chatId) + by;
  return at >= 0 && at < order.size() ? order[at] : QString();
}

void ChatListPanel::moveMenu(const QString& chatId) {
  QMenu menu(this);
  menu.setObjectName(u"moveMenu"_s);
  menu.addAction(tr("No folder"), this, [=, this] { service_.moveToFolder(chatId, {}); });
  for (const FolderInfo& f : service_.folders()) {
    menu.addAction(icon(u"folder"_s), f.name, this, [=, this] { service_.moveToFolder(chatId, f.id); });
  }
  const QModelIndex index = model_->indexOf(chatId);
  menu.exec(view_->viewport()->mapToGlobal(view_->visualRect(index).center()));
}

void ChatListPanel::contextMenu(const QPoint& point) {
  const QModelIndex index = view_->indexAt(point);
  if (!index.isValid() || index.data(ChatListModel::IsFolderRole).toBool()) return;
  const QString id = index.data(ChatListModel::IdRole).toString();
  Q_EMIT chatChosen(id);
  QMenu menu(this);
  for (Act act : {Act::RenameChat, Act::MoveChat, Act::DuplicateChat, Act::Export, Act::KeepInRam, Act::KeepOnDisk, Act::Pin, Act::Evict, Act::DeleteChat}) {
    menu.addAction(actions_.get(act));
  }
  menu.exec(view_->viewport()->mapToGlobal(point));
}

void ChatListPanel::search() {
  if (search_->text().trimmed().isEmpty()) {
    ++request_;
    updateFoot();
    return;
  }
  service_.search(search_->text().trimmed(), ++request_);
}

void ChatListPanel::showHits(const QVector<SearchHit>& hits, quint64 request) {
  if (request != request_ || search_->text().isEmpty()) return;
  results_->clear();
  for (const SearchHit& hit : hits) {
    QString snippet = hit.snippet;
    snippet.replace(u'\n', u' ');
    auto* item = new QListWidgetItem(hit.chatTitle + u" · "_s + QLocale().toString(hit.when.toLocalTime().date(), QLocale::ShortFormat) + u'\n' + snippet, results_);
    item->setData(ChatListModel::IdRole, hit.chatId);
    item->setData(kMessageRole, hit.messageId);
  }
  nothing_->setText(tr("No chat contains “%1”.").arg(search_->text()));
  stack_->setCurrentWidget(hits.isEmpty() ? static_cast<QWidget*>(nothing_) : results_);
  if (!hits.isEmpty()) results_->setCurrentRow(0);
}

bool ChatListPanel::eventFilter(QObject* watched, QEvent* event) {
  if (watched == view_->viewport() && (event->type() == QEvent::MouseButtonPress || event->type() == QEvent::MouseButtonRelease)) {
    model_->setHeld(event->type() == QEvent::MouseButtonPress);
  }
  // The pointer rests on a chat: what is kept of it on disk is read back before it is clicked.
  if (watched == view_->viewport() && event->type() == QEvent::ToolTip) {
    const QModelIndex index = view_->indexAt(static_cast<QHelpEvent*>(event)->pos());
    if (index.isValid() && !index.data(ChatListModel::IsFolderRole).toBool()) service_.prefetch(index.data(ChatListModel::IdRole).toString());
  }
  if (event->type() == QEvent::KeyPress) {
    auto* key = static_cast<QKeyEvent*>(event);
    const bool enter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
    if (watched == search_ && enter && results_->currentItem() && stack_->currentWidget() == results_) {
      Q_EMIT results_->itemActivated(results_->currentItem());
      return true;
    }
    if (watched == search_ && key->key() == Qt::Key_Down && stack_->currentWidget() == results_) {
      results_->setFocus();
      return true;
    }
    if (watched == view_ && key->key() == Qt::Key_Delete && !selected().isEmpty()) {
      Q_EMIT deleteWanted(selected());
      return true;
    }
    if (watched == view_ && enter && !selected().isEmpty()) {
      Q_EMIT chatChosen(selected());
      return true;
    }
  }
  return QFrame::eventFilter(watched, event);
}

}  // namespace tg
