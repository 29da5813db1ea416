// The Chats page: list, open chat and inspector side by side. On a narrow window the list is a drawer and the inspector a sheet over the chat.
// GUI thread.
#pragma once
#include <QWidget>

#include "app/application.h"

class QSplitter;

namespace tg {

class Actions;
class ChatListPanel;
class ChatView;
class InspectorDock;

class ChatsPage : public QWidget {
  Q_OBJECT
 public:
  ChatsPage(Application& app, Actions& actions, QWidget* parent = nullptr);
  ChatView* view() const { return view_; }
  ChatListPanel* list() const { return list_; }
  InspectorDock* inspector() const { return inspector_; }

  // PAGE stands where the transcript is while no chat is open (first run). Owned by the chat view.
  void setFirstRunPage(QWidget* page);
  void openChat(const QString& chatId);
  QString newChat();                          // creates and opens one
  void toggleList();
  void toggleInspector();
  void showInspector(bool on);
  bool isInspectorShown() const;
  QByteArray saveState() const;
  void restoreState(const QByteArray& state);
  bool closeDrawers();                        // true: one was open
  void openLastChat();

 Q_SIGNALS:
  void titleChanged(const QString& title);

 private:
  void registerActions();
  void layoutPanels();
  void deleteChat(const QString& chatId);
  void resizeEvent(QResizeEvent* event) override;

  Application& app_;
  Actions& actions_;
  QSplitter* split_;
  ChatListPanel* list_;
  ChatView* view_;
  InspectorDock* inspector_;
  bool listDrawer_ = false, inspectorSheet_ = false, listWanted_ = true, inspectorWanted_ = false, inspectorSized_ = false;
  QStringList deleted_;                       // for Undo, newest last

 public:
  const QStringList& undoable() const { return deleted_; }
  void undoDelete();

 Q_SIGNALS:
  void chatDeleted(const QString& title);
};

}  // namespace tg
