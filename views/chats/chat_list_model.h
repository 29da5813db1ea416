// Folders and chats as a tree of two levels. Rows keep their identity while tiers and waits change. GUI thread.
#pragma once
#include <QHash>
#include <QStandardItemModel>
#include <QTimer>

#include "app/chat_service.h"

namespace tg {

QString chatSecondLine(const ChatInfo& chat, const std::optional<LiveTurn>& live);
QString shownTitle(const QString& title);          // of a chat that has none yet: "New chat"
QString chatSentence(const ChatInfo& chat);      // read aloud

class ChatListModel : public QStandardItemModel {
  Q_OBJECT
 public:
  enum DataRole { IdRole = Qt::UserRole + 1, IsFolderRole, TitleRole, SecondLineRole, TierRole, PinnedRole, BusyRole };
  ChatListModel(ChatService& service, QObject* parent = nullptr);
  QModelIndex indexOf(const QString& chatId) const;
  int chatCount() const { return static_cast<int>(items_.size()); }
  void refresh();                                // the list as it is now
  void refreshChat(const QString& chatId);
  void setHeld(bool held);                       // pointer down: figures wait

  Qt::DropActions supportedDropActions() const override { return Qt::MoveAction; }
  QStringList mimeTypes() const override;
  QMimeData* mimeData(const QModelIndexList& indexes) const override;
  bool canDropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column, const QModelIndex& parent) const override;
  bool dropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column, const QModelIndex& parent) override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;

 private:
  void fill(QStandardItem* item, const ChatInfo& chat);
  void refreshLive();                            // counts of answers being read for or written
  QString shape() const;                         // ids and folders in order: the structure
  ChatService& service_;
  QHash<QString, QStandardItem*> items_;
  QString shape_;
  QTimer live_;
  bool held_ = false, waiting_ = false;
};

}  // namespace tg
