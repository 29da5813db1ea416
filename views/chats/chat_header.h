// Title, model, tier and state of the open chat, and the buttons of its page. GUI thread.
#pragma once
#include <QFrame>

#include "app/application.h"

class QLabel;
class QLineEdit;
class QMenu;
class QToolButton;

namespace tg {

class Actions;

class ChatHeader : public QFrame {
  Q_OBJECT
 public:
  ChatHeader(Application& app, Actions& actions, QWidget* parent = nullptr);
  void setChat(const QString& chatId);
  void refresh();
  void setLive(const std::optional<LiveTurn>& live);
  void editTitle();
  void openModelMenu();
  void setInspectorShown(bool shown);

 Q_SIGNALS:
  void modelChosen(const QString& path);

 private:
  void say(const QString& sentence);
  void fillModelMenu();
  void fillTierMenu();
  Application& app_;
  Actions& actions_;
  QString chatId_;
  QLineEdit* title_;
  QToolButton *model_, *tier_, *inspector_;
  QLabel* state_;
  QMenu *modelMenu_, *tierMenu_;
};

}  // namespace tg
