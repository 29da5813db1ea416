#include "views/shell/grab.h"

#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QStackedWidget>
#include <QTimer>

#include "app/application.h"
#include "app/settings.h"
#include "views/chats/chat_view.h"
#include "views/chats/chats_page.h"
#include "views/shell/main_window.h"
#include "views/theme/theme.h"
#include "views/turn/turn_popover.h"

namespace tg {
namespace {

using namespace Qt::StringLiterals;

// Signals of the storage and counting threads arrive meanwhile.
void settle(int ms) {
  QEventLoop loop;
  QTimer::singleShot(ms, &loop, &QEventLoop::quit);
  loop.exec();
}

class Grabber {
 public:
  Grabber(MainWindow& window, const QString& folder) : window_(window), folder_(folder) {}
  void save(QWidget* widget, const QString& name) {
    const QString path = folder_ + u'/' + name + u".png"_s;
    if (!widget->grab().save(path) && error_.isEmpty()) error_ = QObject::tr("The picture %1 cannot be written.").arg(path);
  }
  void pages() {
    for (int page : window_.pages()) {
      window_.showPage(page);
      settle(150);
      QString name = window_.pageStack()->currentWidget()->objectName();
      if (name.endsWith(u"Page"_s)) name.chop(4);
      save(&window_, name);
    }
    window_.showPage(0);
  }
  void chatStates() {
    ChatsPage* chats = window_.chatsPage();
    if (chats->view()->chatId().isEmpty()) return;
    chats->showInspector(true);
    settle(120);
    save(&window_, u"chats-inspector"_s);
    chats->showInspector(false);
    TurnPopover* popover = chats->view()->popover();
    chats->view()->togglePopover();
    const QPair<TurnPopover::Segment, QString> segments[] = {{TurnPopover::Reading, u"reading"_s}, {TurnPopover::Generating, u"generating"_s}, {TurnPopover::Cost, u"cost"_s}, {TurnPopover::Summary, u"summary"_s}};
    for (const auto& [segment, name] : segments) {
      if (!popover->isVisible()) break;
      popover->choose(segment);
      settle(50);
      save(&window_, u"chats-popover-"_s + name);
    }
    popover->hide();
    chats->view()->openFind();
    settle(50);
    save(&window_, u"chats-find"_s);
    chats->view()->escape();
    chats->newChat();
    settle(150);
    save(&window_, u"chats-empty"_s);
  }
  void dialogs() {
    for (const auto& [name, make] : window_.dialogs()) {
      QWidget* dialog = make();
      if (!dialog) continue;
      dialog->show();
      settle(120);
      save(dialog, name);
      dialog->hide();
      dialog->deleteLater();
    }
  }
  QString error() const { return error_; }

 private:
  MainWindow& window_;
  QString folder_, error_;
};

}  // namespace

bool grabPictures(Application& app, const GrabOptions& options, QString* error) {
  if (!QDir().mkpath(options.folder)) {
    *error = QObject::tr("The folder %1 cannot be made.").arg(options.folder);
    return false;
  }
  Settings& settings = app.settings();
  const QVariant theme = settings.get(Setting::Theme), font = settings.get(Setting::FontPercent), mode = settings.get(Setting::DeveloperMode);
  settings.set(Setting::Theme, options.theme);
  settings.set(Setting::FontPercent, options.fontPercent);
  settings.set(Setting::DeveloperMode, options.developer);
  {
    MainWindow window(app);
    window.start();
    window.resize(options.size);
    window.show();
    settle(400);
    Grabber grabber(window, options.folder);
    grabber.pages();
    grabber.chatStates();
    grabber.dialogs();
    *error = grabber.error();
    const QString empty = window.chatsPage()->view()->chatId();
    if (!empty.isEmpty() && app.chats().messages(empty).isEmpty()) app.chats().deleteForever(empty);  // the one made for its picture
  }
  settings.set(Setting::Theme, theme);
  settings.set(Setting::FontPercent, font);
  settings.set(Setting::DeveloperMode, mode);
  return error->isEmpty();
}

}  // namespace tg
