// Every action of the program in one registry: menus, shortcuts and the shortcut sheet come from this table.
// An action without a handler is not shown; whoever builds a page or dialog gives it one with on().
// Thread: GUI thread. Ownership: owns the QActions.
#pragma once
#include <QAction>
#include <QObject>
#include <QVector>
#include <functional>

class QMenu;
class QMenuBar;
class QWidget;

namespace tg {

enum class Act {
  NewChat, NewFolder, AddModel, Attach, Import, Export, CloseWindow, Quit,
  Undo, Copy, CopyCode, SelectAll, RenameChat, DeleteChat, MoveChat, DuplicateChat, EditLast, Find, FindAll, Settings,
  PageChats, PageCache, PageModels, ToggleList, ToggleInspector, QuickSwitcher, FontLarger, FontSmaller, FontNormal, NextArea, PreviousArea, DeveloperMode,
  FocusComposer, Stop, Regenerate, VersionBefore, VersionAfter, TurnBefore, TurnAfter, TurnPopover, ChatBefore, ChatAfter, ChooseModel,
  KeepInRam, KeepOnDisk, Evict, Pin, CacheBudgets, CheckCache, ClearCache,
  RecentlyDeleted,
  ShortcutSheet, HelpPage, About,
  Count
};

class Actions : public QObject {
  Q_OBJECT
 public:
  explicit Actions(QWidget* window);  // shortcuts work in WINDOW
  QAction* get(Act id) const { return actions_[static_cast<int>(id)]; }
  void on(Act id, QObject* context, std::function<void()> handler);
  void fill(QMenuBar* bar) const;
  QVector<QAction*> all() const { return actions_; }
  static QString menuOf(Act id);      // "Chat", for the shortcut sheet

 private:
  QVector<QAction*> actions_;
};

}  // namespace tg
