// The list of chats with search above and the bin below. GUI thread.
#pragma once
#include <QFrame>
#include <QTimer>

#include "app/chat_service.h"

class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;
class QStackedWidget;
class QTreeView;
class QVBoxLayout;

namespace tg {

class Actions;
class ChatListModel;

class ChatListPanel : public QFrame {
  Q_OBJECT
 public:
  ChatListPanel(ChatService& service, Actions& actions, QWidget* parent = nullptr);
  void select(const QString& chatId);          // shows which chat is open
  QString selected() const;
  void rename(const QString& chatId);
  void focusSearch();
  QTreeView* view() const { return view_; }
  QString neighbour(const QString& chatId, int by) const;  // the chat before or after in reading order
  void moveMenu(const QString& chatId);        // "Move to …" from the keyboard

 Q_SIGNALS:
  void chatChosen(const QString& chatId);
  void hitChosen(const QString& chatId, const QString& messageId, const QString& words);
  void deleteWanted(const QString& chatId);

 private:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void contextMenu(const QPoint& point);
  void search();
  void showHits(const QVector<SearchHit>& hits, quint64 request);
  void updateFoot();
  void buildHead(QVBoxLayout* column);
  void buildLists(QVBoxLayout* column);
  void buildFoot(QVBoxLayout* column);
  void connectParts();

  ChatService& service_;
  Actions& actions_;
  ChatListModel* model_;
  QTreeView* view_;
  QListWidget* results_;
  QStackedWidget* stack_;
  QLineEdit* search_;
  QLabel *count_, *nothing_;
  QPushButton* bin_;
  QTimer delay_;
  quint64 request_ = 0;
};

}  // namespace tg
