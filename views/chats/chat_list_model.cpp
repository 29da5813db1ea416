#include "views/chats/chat_list_model.h"

#include <QLocale>
#include <QMimeData>

#include "app/format.h"
#include "views/theme/fill.h"
#include "views/theme/icons.h"
#include "views/turn/turn_words.h"

namespace tg {

using namespace Qt::StringLiterals;

namespace {
constexpr int kLiveMs = 250;                     // figures move four times a second
const auto kMime = u"application/x-turnglass-chat"_s;

QString tokens(int n) { return ChatListModel::tr("%1 tok").arg(format::count(n)); }
}  // namespace

QString chatSecondLine(const ChatInfo& c, const std::optional<LiveTurn>& live) {
  if (live) {
    if (live->state == TurnState::Reading) return ChatListModel::tr("reading … %1").arg(format::share(live->readDone, qMax(1, live->readTotal)));
    if (live->state == TurnState::Writing) return ChatListModel::tr("writing … %1").arg(tokens(live->output));
    return stateWord(*live);
  }
  if (c.activity == u"stopped"_s) return ChatListModel::tr("stopped");
  if (c.activity == u"error"_s) return ChatListModel::tr("error");
  if (!c.modelLoaded) {
    const QString wait = format::expectedTime(c.waitMs);
    return c.loadMs ? ChatListModel::tr("not loaded · %1 + load %2").arg(wait, format::expectedTime(c.loadMs)) : ChatListModel::tr("not loaded · %1").arg(wait);
  }
  QStringList parts{tierWord(c.tier), format::expectedTime(c.waitMs)};
  if (c.tier == ChatTier::Cold) {
    parts << (c.tokensToRead > 0 ? ChatListModel::tr("%1 to read").arg(tokens(c.tokensToRead)) : tokens(0));
  } else if (c.partly) {
    parts[0] = ChatListModel::tr("partly %1").arg(parts[0]);
    parts << ChatListModel::tr("%1 of %2").arg(format::count(c.tokensHeld), format::count(c.tokensHeld + c.tokensToRead));
  } else {
    parts << tokens(c.tokensHeld);
  }
  return parts.join(u" · "_s);
}

QString shownTitle(const QString& title) { return title.isEmpty() ? ChatListModel::tr("New chat") : title; }

// Expected times are spoken as they are shown: in tenths of a second, never below one (UI.md 3).
QString spokenWait(double ms) {
  return ms < 9950 ? ChatListModel::tr("%1 seconds").arg(QLocale().toString(qMax(0.1, ms / 1000), 'f', 1)) : format::spokenTime(ms);
}

QString chatSentence(const ChatInfo& c) {
  QString s = shownTitle(c.title) + u". "_s + tierSpoken(c.tier) + u". "_s;
  s += c.waitMs ? ChatListModel::tr("Ready in about %1. ").arg(spokenWait(*c.waitMs)) : ChatListModel::tr("Wait unknown: not measured yet. ");
  s += c.tier == ChatTier::Cold ? ChatListModel::tr("%1 tokens to read.").arg(c.tokensToRead) : ChatListModel::tr("%1 tokens.").arg(c.tokensHeld);
  if (!c.modelLoaded) s += c.loadMs ? ChatListModel::tr(" The model is loaded first, about %1.").arg(spokenWait(*c.loadMs)) : ChatListModel::tr(" The model is loaded first.");
  if (c.pinned) s += ChatListModel::tr(" Pinned.");
  return s;
}

ChatListModel::ChatListModel(ChatService& service, QObject* parent) : QStandardItemModel(parent), service_(service) {
  live_.setInterval(kLiveMs);
  connect(&live_, &QTimer::timeout, this, &ChatListModel::refreshLive);
  refresh();
  connect(&service, &ChatService::turnStarted, this, &ChatListModel::refreshChat);
  connect(&service, &ChatService::chatsChanged, this, &ChatListModel::refresh);
  connect(&service, &ChatService::chatChanged, this, &ChatListModel::refreshChat);
}

QString ChatListModel::shape() const {
  QString all;
  for (const FolderInfo& f : service_.folders()) all += f.id + u'/' + f.name + u'\n';
  for (const ChatInfo& c : service_.chats()) all += c.id + u'@' + c.folderId + u'\n';
  return all;
}

void ChatListModel::fill(QStandardItem* item, const ChatInfo& c) {
  const std::optional<LiveTurn> live = service_.liveTurn(c.id);
  if (live && !live_.isActive()) live_.start();
  const QString second = chatSecondLine(c, live);
  const QString title = shownTitle(c.title);
  item->setData(title, TitleRole);
  item->setData(second, SecondLineRole);
  item->setData(QString(title + u'\n' + second), Qt::DisplayRole);
  item->setData(chatSentence(c), Qt::AccessibleTextRole);
  item->setData(static_cast<int>(c.tier), TierRole);
  item->setData(c.pinned, PinnedRole);
  item->setData(!c.activity.isEmpty(), BusyRole);
  item->setToolTip(c.waitMs ? title : tr("%1\nWait unknown: not measured yet, send one message with this model").arg(title));
}

void ChatListModel::refresh() {
  if (held_) {
    waiting_ = true;
    return;
  }
  const QVector<ChatInfo> chats = service_.chats();
  if (const QString now = shape(); now != shape_ || chats.isEmpty()) {
    shape_ = now;
    clear();
    items_.clear();
    QHash<QString, QStandardItem*> folders;
    for (const FolderInfo& f : service_.folders()) {
      auto* item = new QStandardItem(icon(u"folder"_s, Role::Muted), f.name);
      item->setData(f.id, IdRole);
      item->setData(true, IsFolderRole);
      item->setData(f.name, TitleRole);
      item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsDropEnabled);
      folders.insert(f.id, item);
      appendRow(item);
    }
    for (const ChatInfo& c : chats) {
      auto* item = new QStandardItem;
      item->setData(c.id, IdRole);
      item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsEditable | Qt::ItemIsDragEnabled);
      items_.insert(c.id, item);
      QStandardItem* folder = folders.value(c.folderId);
      if (folder) folder->appendRow(item);
      else appendRow(item);
    }
  }
  for (const ChatInfo& c : chats) fill(items_.value(c.id), c);
}

void ChatListModel::refreshChat(const QString& chatId) {
  if (held_) {
    waiting_ = true;
    return;
  }
  QStandardItem* item = items_.value(chatId);
  const std::optional<ChatInfo> c = service_.chat(chatId);
  if (!item || !c || shape() != shape_) {
    refresh();
    return;
  }
  fill(item, *c);
}

// The timer runs only while something is read or written.
void ChatListModel::refreshLive() {
  bool any = false;
  for (auto it = items_.cbegin(); it != items_.cend(); ++it) {
    const std::optional<LiveTurn> live = service_.liveTurn(it.key());
    if (!live) continue;
    any = true;
    if (held_) continue;
    const QString second = chatSecondLine({}, live);
    if ((*it)->data(SecondLineRole).toString() == second) continue;
    (*it)->setData(second, SecondLineRole);
    (*it)->setData(QString((*it)->data(TitleRole).toString() + u'\n' + second), Qt::DisplayRole);
  }
  if (!any) live_.stop();
}

void ChatListModel::setHeld(bool held) {
  held_ = held;
  if (!held && waiting_) {
    waiting_ = false;
    refresh();
  }
}

QModelIndex ChatListModel::indexOf(const QString& chatId) const {
  QStandardItem* item = items_.value(chatId);
  return item ? item->index() : QModelIndex();
}

bool ChatListModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (role != Qt::EditRole) return QStandardItemModel::setData(index, value, role);
  const QString title = value.toString().trimmed();
  if (title.isEmpty()) return false;
  service_.renameChat(index.data(IdRole).toString(), title);
  return true;
}

QStringList ChatListModel::mimeTypes() const { return {kMime}; }

QMimeData* ChatListModel::mimeData(const QModelIndexList& indexes) const {
  if (indexes.isEmpty()) return nullptr;
  auto* data = new QMimeData;
  data->setData(kMime, indexes.first().data(IdRole).toString().toUtf8());
  return data;
}

bool ChatListModel::canDropMimeData(const QMimeData* data, Qt::DropAction, int, int, const QModelIndex&) const { return data->hasFormat(kMime); }

// The structure is the service's: it is told, and the rows follow its signal.
bool ChatListModel::dropMimeData(const QMimeData* data, Qt::DropAction, int, int, const QModelIndex& parent) {
  if (!data->hasFormat(kMime)) return false;
  QModelIndex folder = parent;
  if (folder.isValid() && !folder.data(IsFolderRole).toBool()) folder = folder.parent();
  const QString chat = QString::fromUtf8(data->data(kMime)), target = folder.isValid() ? folder.data(IdRole).toString() : QString();
  QMetaObject::invokeMethod(this, [this, chat, target] { service_.moveToFolder(chat, target); }, Qt::QueuedConnection);
  return false;  // the view must not remove the row itself
}

}  // namespace tg
