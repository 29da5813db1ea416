// The inspector: tabs about the current turn. Later tabs add themselves with addTab(); with one tab the tab bar is still there to say what it is.
#pragma once
#include <QFrame>

#include "app/application.h"

class QTabWidget;
class QToolButton;

namespace tg {

class CacheTab;
class ChatView;
class ExplainTab;
class TurnTab;

class InspectorDock : public QFrame {
  Q_OBJECT
 public:
  InspectorDock(Application& app, ChatView* view, QWidget* parent = nullptr);
  QTabWidget* tabs() const { return tabs_; }
  void refresh();                 // the chat's current turn

 private:
  Application& app_;
  ChatView* view_;
  QTabWidget* tabs_;
  void showTabs();                // Developer mode adds tabs
  QString figures() const;        // of the tab in sight, for copying
  TurnTab* turn_;
  CacheTab* cache_;
  ExplainTab* explain_;
  QToolButton* copy_;
};

}  // namespace tg
