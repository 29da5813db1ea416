#include "views/shell/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenuBar>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QStackedWidget>
#include <QTabBar>
#include <QTabWidget>
#include <QToolButton>
#include <QTreeView>

#include "app/settings.h"
#include "views/chats/chat_list_panel.h"
#include "views/chats/chat_view.h"
#include "views/chats/chats_page.h"
#include "views/composer/composer.h"
#include "views/inspector/inspector_dock.h"
#include "views/pages/first_run_page.h"
#include "views/pages/install_pages.h"
#include "views/shell/nav_rail.h"
#include "views/shell/status_line.h"
#include "views/shell/toast.h"
#include "views/theme/icons.h"
#include "views/transcript/transcript_view.h"

namespace tg {

using namespace Qt::StringLiterals;

MainWindow::MainWindow(Application& app, QWidget* parent) : QMainWindow(parent), app_(app) {
  setObjectName(u"mainWindow"_s);
  setWindowIcon(icon(u"turnglass"_s, Role::Accent));
  setAcceptDrops(true);
  applySettings();
  actions_ = new Actions(this);
  auto* center = new QWidget(this);
  auto* line = new QHBoxLayout(center);
  line->setContentsMargins(0, 0, 0, 0);
  line->setSpacing(0);
  rail_ = new NavRail(center);
  pages_ = new QStackedWidget(center);
  pages_->setObjectName(u"pageStack"_s);
  line->addWidget(rail_);
  line->addWidget(pages_, 1);
  setCentralWidget(center);
  chats_ = new ChatsPage(app, *actions_, pages_);
  status_ = new StatusLine(app, this);
  setStatusBar(status_);
  toast_ = new Toast(this);
  addPage(u"navChats"_s, u"nav-chats"_s, tr("Chats"), Act::PageChats, [this](QWidget*) { return chats_; });
  registerActions();
  installPages(*this);
  menuBar()->setObjectName(u"menuBar"_s);
  actions_->fill(menuBar());
  connect(rail_, &NavRail::chosen, this, [this](int nav) {
    for (int i = 0; i < list_.size(); ++i) {
      if (list_[i].nav == nav) showPage(i);
    }
  });
  connect(chats_, &ChatsPage::titleChanged, this, &MainWindow::setTitle);
  connect(chats_, &ChatsPage::chatDeleted, this, [this](const QString& title) {
    toast_->say(tr("“%1” was moved to Recently deleted.").arg(title), tr("Undo"), [this] { chats_->undoDelete(); });
  });
  connect(chats_->view(), &ChatView::linkHovered, status_, &StatusLine::showLink);
  connect(&app.settings(), &Settings::changed, this, &MainWindow::applySettings);
  connect(&app, &Application::openRequested, this, [this](const QStringList& files) {
    openFiles(files);
    show();
    raise();
    activateWindow();
  });
  setTitle({});
  showPage(0);
}

int MainWindow::addPage(const QString& navName, const QString& iconName, const QString& word, Act act, std::function<QWidget*(QWidget*)> make, bool developerOnly) {
  const int number = static_cast<int>(list_.size());
  const int nav = rail_->add(navName, iconName, word, false);
  list_.append({nav, act, word, std::move(make), nullptr, developerOnly});
  actions_->on(act, this, [this, number] { showPage(number); });
  if (developerOnly) showDeveloperPages(app_.settings().get(Setting::DeveloperMode).toBool());
  return number;
}

void MainWindow::addNavigationAction(const QString& navName, const QString& iconName, const QString& word, Act act) {
  const int nav = rail_->add(navName, iconName, word, true);
  connect(rail_, &NavRail::chosen, this, [this, nav, act](int chosen) {
    if (chosen != nav) return;
    for (const Page& page : std::as_const(list_)) {
      if (page.widget == pages_->currentWidget()) rail_->setCurrent(page.nav);
    }
    actions_->get(act)->trigger();
  });
}

void MainWindow::showPage(int number) {
  Page& page = list_[number];
  if (!page.widget) {
    page.widget = page.make(pages_);
    pages_->addWidget(page.widget);
  }
  pages_->setCurrentWidget(page.widget);
  rail_->setCurrent(page.nav);
  setTitle(chatTitle_);
}

QVector<int> MainWindow::pages() const {
  QVector<int> numbers;
  for (int i = 0; i < list_.size(); ++i) numbers << i;
  return numbers;
}

void MainWindow::registerActions() {
  const auto on = [this](Act act, auto handler) { actions_->on(act, this, handler); };
  on(Act::CloseWindow, [this] { close(); });
  on(Act::Quit, [this] { close(); });
  on(Act::AddModel, [this] {
    for (const QString& path : QFileDialog::getOpenFileNames(this, tr("Add model files"), {}, tr("GGUF models (*.gguf)"))) app_.models().addFile(path);
  });
  on(Act::Undo, [this] { chats_->undoDelete(); });
  on(Act::Copy, [this] { copy(); });
  on(Act::SelectAll, [this] { selectAll(); });
  on(Act::FontLarger, [this] { changeFont(10); });
  on(Act::FontSmaller, [this] { changeFont(-10); });
  on(Act::FontNormal, [this] { app_.settings().set(Setting::FontPercent, 100); });
  on(Act::NextArea, [this] { nextArea(1); });
  on(Act::PreviousArea, [this] { nextArea(-1); });
  on(Act::DeveloperMode, [this] { app_.settings().set(Setting::DeveloperMode, !app_.settings().get(Setting::DeveloperMode).toBool()); });
  on(Act::Stop, [this] {
    if (!chats_->closeDrawers()) chats_->view()->escape();
  });
}

void MainWindow::setTitle(const QString& chat) {
  chatTitle_ = chat;
  QString title = chat;
  for (qsizetype i = 1; i < list_.size(); ++i) {
    if (list_[i].widget && list_[i].widget == pages_->currentWidget()) title = list_[i].word;
  }
  setWindowTitle(title.isEmpty() ? tr("Turnglass") : tr("%1 – Turnglass").arg(title));
}

// Navigation, list, content, composer, inspector; parts that are not shown are left out.
void MainWindow::nextArea(int by) {
  QVector<QWidget*> areas{rail_->button(0), chats_->list()->view(), chats_->view()->transcript(), chats_->view()->composer()->edit(), chats_->inspector()->tabs()->tabBar()};
  areas.removeIf([](QWidget* w) { return !w->isVisible(); });
  if (areas.isEmpty()) return;
  int at = by > 0 ? -1 : 0;
  for (int i = 0; i < areas.size(); ++i) {
    QWidget* focus = QApplication::focusWidget();
    if (focus && (focus == areas[i] || areas[i]->isAncestorOf(focus) || (i == 0 && rail_->isAncestorOf(focus)))) at = i;
  }
  const int count = static_cast<int>(areas.size());
  areas[(at + by + count) % count]->setFocus(by > 0 ? Qt::TabFocusReason : Qt::BacktabFocusReason);
}

void MainWindow::copy() {
  QWidget* focus = QApplication::focusWidget();
  if (auto* edit = qobject_cast<QLineEdit*>(focus)) edit->copy();
  else if (auto* text = qobject_cast<QPlainTextEdit*>(focus); text && text->textCursor().hasSelection()) text->copy();
  else chats_->view()->transcript()->copySelection();
}

void MainWindow::selectAll() {
  QWidget* focus = QApplication::focusWidget();
  if (auto* edit = qobject_cast<QLineEdit*>(focus)) edit->selectAll();
  else if (auto* text = qobject_cast<QPlainTextEdit*>(focus)) text->selectAll();
  else chats_->view()->transcript()->selectEverything();
}

void MainWindow::changeFont(int by) {
  app_.settings().set(Setting::FontPercent, qBound(50, app_.settings().get(Setting::FontPercent).toInt() + by, 300));
}

void MainWindow::applySettings() {
  Settings& s = app_.settings();
  const QString scheme = s.get(Setting::Theme).toString();
  const int percent = s.get(Setting::FontPercent).toInt();
  if (property("scheme").toString() != scheme) Theme::get().setScheme(scheme.isEmpty() ? u"system"_s : scheme);
  if (property("fontPercent").toInt() != percent && percent > 0) Theme::get().setFontPercent(percent);
  setProperty("scheme", scheme);
  setProperty("fontPercent", percent);
  const bool developer = s.get(Setting::DeveloperMode).toBool();
  showDeveloperPages(developer);
  if (!list_.isEmpty()) actions_->get(Act::DeveloperMode)->setChecked(developer);
}

// In User mode these pages have no button and no key; who stands on one is brought back to the chats.
void MainWindow::showDeveloperPages(bool on) {
  for (const Page& page : std::as_const(list_)) {
    if (!page.developerOnly) continue;
    rail_->setShown(page.nav, on);
    actions_->get(page.act)->setVisible(on);
    actions_->get(page.act)->setEnabled(on);
    if (!on && page.widget && page.widget == pages_->currentWidget()) showPage(0);
  }
}

void MainWindow::start() {
  setMinimumSize(720, 480);
  if (!restoreGeometry(app_.settings().get(Setting::WindowGeometry).toByteArray())) resize(1280, 820);
  chats_->restoreState(app_.settings().get(Setting::SplitterState).toByteArray());
  chats_->openLastChat();
  auto* first = chats_->view()->chatId().isEmpty() ? chats_->view()->findChild<FirstRunPage*>() : nullptr;
  if (first) first->focusStart();
  else chats_->view()->composer()->focusEdit();
  if (const QString notice = app_.profileNotice(); !notice.isEmpty()) chats_->view()->showError(notice, {});
}

void MainWindow::openFiles(const QStringList& paths) {
  for (const QString& path : paths) {
    if (path.endsWith(u".gguf"_s, Qt::CaseInsensitive)) {
      app_.models().addFile(path);
      toast_->say(tr("%1 was added to the models.").arg(path.section(u'/', -1)));
    } else {
      chats_->view()->composer()->addAttachment(path);
    }
  }
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (mayClose_ && !mayClose_()) {
    event->ignore();
    return;
  }
  app_.settings().set(Setting::WindowGeometry, saveGeometry());
  app_.settings().set(Setting::SplitterState, chats_->saveState());
  if (!chats_->view()->chatId().isEmpty()) app_.chats().saveDraft(chats_->view()->chatId(), chats_->view()->composer()->text());
  event->accept();
}

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  rail_->setNarrow(width() < qMax(820.0, em(font()) * 66));
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  QStringList paths;
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) paths << url.toLocalFile();
  }
  openFiles(paths);
}

}  // namespace tg
