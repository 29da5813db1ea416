// The window: menu bar, navigation, a stack of pages, status bar. It only puts them together; pages and dialogs are plugged in from
// views/pages/install_pages.cpp. Thread: GUI thread. Ownership: Qt parents; the Application outlives it.
#pragma once
#include <QMainWindow>
#include <functional>

#include "app/application.h"
#include "views/shell/actions.h"

class QStackedWidget;

namespace tg {

class ChatsPage;
class NavRail;
class StatusLine;
class Toast;

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  explicit MainWindow(Application& app, QWidget* parent = nullptr);

  Application& application() const { return app_; }
  Actions& actions() const { return *actions_; }
  ChatsPage* chatsPage() const { return chats_; }
  Toast* toast() const { return toast_; }
  QStackedWidget* pageStack() const { return pages_; }

  // A page with its button in the navigation and its action. MAKE is called when the page is first shown. Returns the page's number.
  int addPage(const QString& navName, const QString& iconName, const QString& word, Act act, std::function<QWidget*(QWidget* parent)> make, bool developerOnly = false);
  // A button at the foot of the navigation that triggers ACT (Settings).
  void addNavigationAction(const QString& navName, const QString& iconName, const QString& word, Act act);
  void showPage(int number);
  QVector<int> pages() const;
  // May refuse to close (answers being written); called before the window goes.
  void setCloseQuestion(std::function<bool()> mayClose) { mayClose_ = std::move(mayClose); }
  void openFiles(const QStringList& paths);
  // A dialog or popover that --grab and --self-test build as well; MAKE gives an unparented-or-child widget that is not shown yet.
  void addDialog(const QString& name, std::function<QWidget*()> make) { dialogs_.append({name, std::move(make)}); }
  const QVector<QPair<QString, std::function<QWidget*()>>>& dialogs() const { return dialogs_; }
  void start();                                    // restores size and the last chat; call once after construction

 private:
  struct Page { int nav; Act act; QString word; std::function<QWidget*(QWidget*)> make; QWidget* widget; bool developerOnly; };
  void registerActions();
  void setTitle(const QString& chat);              // kept while another page is shown
  void nextArea(int by);
  void copy();
  void selectAll();
  void changeFont(int by);
  void applySettings();
  void showDeveloperPages(bool on);
  void closeEvent(QCloseEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

  Application& app_;
  Actions* actions_;
  NavRail* rail_;
  QStackedWidget* pages_;
  ChatsPage* chats_;
  StatusLine* status_;
  Toast* toast_;
  QString chatTitle_;
  QVector<Page> list_;
  std::function<bool()> mayClose_;
  QVector<QPair<QString, std::function<QWidget*()>>> dialogs_;
};

}  // namespace tg
