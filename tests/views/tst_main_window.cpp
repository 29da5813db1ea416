// The whole window over fake services: sending, streaming, popover, Esc, areas, deleting with undo, search, names for screen readers.
#include <QAbstractItemModelTester>
#include <QAccessible>
#include <QComboBox>
#include <QHelpEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMenuBar>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <QTreeView>

#include "tests/support/picture_chats.h"
#include "views/chats/chat_list_model.h"
#include "views/chats/chat_list_panel.h"
#include "views/chats/chat_view.h"
#include "views/chats/chats_page.h"
#include "views/composer/composer.h"
#include "views/inspector/inspector_dock.h"
#include "views/shell/main_window.h"
#include "views/shell/toast.h"
#include "views/transcript/row_action_bar.h"
#include "views/transcript/transcript_view.h"
#include "views/turn/turn_popover.h"

using namespace tg;
using namespace Qt::StringLiterals;

namespace {

struct Fixture {
  fake::FakeApplication app;
  std::unique_ptr<MainWindow> window;
  explicit Fixture(QSize size = {1280, 820}) {
    fake::fillPicture(app);
    app.service.nextCount = {};
    window = std::make_unique<MainWindow>(app);
    window->start();
    window->resize(size);
    window->show();
    window->activateWindow();
  }
  ChatView* view() { return window->chatsPage()->view(); }
  TranscriptModel* model() { return view()->transcript()->transcript(); }
  TurnPopover* popover() { return view()->popover(); }
  void open(const QString& chat) {
    window->chatsPage()->openChat(chat);
    QTRY_VERIFY(model()->rowCount() > 0 || app.service.messages(chat).isEmpty());
  }
  void type(const QString& text) {
    view()->composer()->focusEdit();
    view()->composer()->setText(text);
    QTest::keyClick(view()->composer()->edit(), Qt::Key_Return);
  }
  LiveTurn& live() { return app.service.live[view()->chatId()]; }
  void escape() { QTest::keyClick(window.get(), Qt::Key_Escape); }
};

}  // namespace

class TestMainWindow : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void aChatIsReadBackWhileThePointerRestsOnIt() {
    Fixture f;
    QTRY_COMPARE(f.view()->chatId(), u"boiler"_s);
    auto* list = f.window->findChild<QTreeView*>(u"chatListView"_s);
    QModelIndex garden;
    for (QModelIndex i = list->model()->index(0, 0); i.isValid(); i = list->indexBelow(i)) {
      if (!i.data(ChatListModel::IsFolderRole).toBool() && i.data(ChatListModel::IdRole) != u"boiler"_s) garden = i;
    }
    QVERIFY(garden.isValid());
    const QPoint at = list->visualRect(garden).center();
    QHelpEvent rest(QEvent::ToolTip, at, list->viewport()->mapToGlobal(at));
    QCoreApplication::sendEvent(list->viewport(), &rest);
    QVERIFY(f.app.service.calls.contains(u"prefetch "_s + garden.data(ChatListModel::IdRole).toString()));
  }

  void opensTheNewestChat() {
    Fixture f;
    QTRY_COMPARE(f.view()->chatId(), u"boiler"_s);
    QTRY_VERIFY(f.window->windowTitle().startsWith(u"Boiler manual questions"_s));
    QTRY_VERIFY(f.model()->rowCount() > 8);
  }

  void sendShowsAtOnce() {
    Fixture f;
    f.open(u"boiler"_s);
    const int before = f.model()->rowCount();
    f.type(u"And now?"_s);
    QCOMPARE(f.app.service.sent.size(), 1);
    QVERIFY(f.view()->composer()->text().isEmpty());
    QVERIFY(f.model()->rowCount() >= before + 4);  // head, text, head, footer
    QVERIFY(f.window->findChild<QPushButton*>(u"stopButton"_s)->isVisible());
    QVERIFY(f.model()->row(f.model()->rowCount() - 1).kind == RowKind::Footer);
  }

  void aTurnFromReadingToTheEnd() {
    Fixture f;
    f.open(u"boiler"_s);
    f.type(u"And now?"_s);
    f.live().state = TurnState::Reading;
    f.live().readTotal = 5200;
    f.live().readCached = 5122;
    f.live().readDone = 5150;
    const auto footer = [&] { return f.model()->data(f.model()->index(f.model()->rowCount() - 1), Qt::DisplayRole).toString(); };
    QTRY_VERIFY(footer().startsWith(u"reading"_s));
    const int height = f.view()->transcript()->visualRect(f.model()->index(f.model()->rowCount() - 1)).height();
    f.live().state = TurnState::Writing;
    f.live().readDone = 5200;
    f.live().text = u"Look at the gauge.\n\nThen call."_s;
    f.live().output = 9;
    f.live().ttftMs = 100;
    f.live().writeTps = 40;
    QTRY_VERIFY(footer().startsWith(u"in "_s));
    QCOMPARE(f.view()->transcript()->visualRect(f.model()->index(f.model()->rowCount() - 1)).height(), height);
    f.app.service.finish(u"boiler"_s);
    QVERIFY(!f.view()->isRunning());
    QVERIFY(f.window->findChild<QPushButton*>(u"sendButton"_s)->isVisible());
    QCOMPARE(f.view()->transcript()->visualRect(f.model()->index(f.model()->rowCount() - 1)).height(), height);
    QCOMPARE(f.view()->currentTurn(), f.view()->turnCount());
  }

  void popoverGoesToGeneratingByItself() {
    Fixture f;
    f.open(u"boiler"_s);
    f.type(u"go"_s);
    f.live().state = TurnState::Reading;
    f.live().readTotal = 10;
    f.view()->selectTurn(f.view()->turnCount());
    f.view()->togglePopover();
    QVERIFY(f.popover()->isVisible());
    QTRY_COMPARE(f.popover()->segment(), TurnPopover::Reading);
    f.live().state = TurnState::Writing;
    QTRY_COMPARE(f.popover()->segment(), TurnPopover::Generating);
  }

  void chosenSegmentStays() {
    Fixture f;
    f.open(u"boiler"_s);
    f.type(u"go"_s);
    f.live().state = TurnState::Reading;
    f.view()->selectTurn(f.view()->turnCount());
    f.view()->togglePopover();
    QTest::mouseClick(f.popover()->findChild<QPushButton*>(u"segCost"_s), Qt::LeftButton);
    f.live().state = TurnState::Writing;
    f.live().text = u"x"_s;
    QTRY_VERIFY(f.model()->live() && f.model()->live()->state == TurnState::Writing);
    QCOMPARE(f.popover()->segment(), TurnPopover::Cost);
    QTest::keyClick(f.popover(), Qt::Key_Right);
    QCOMPARE(f.popover()->segment(), TurnPopover::Summary);
  }

  void escapeOneStepAtATime() {
    Fixture f;
    f.open(u"boiler"_s);
    f.type(u"go"_s);
    f.view()->selectTurn(f.view()->turnCount());
    f.view()->togglePopover();
    f.view()->openFind();
    f.escape();
    QVERIFY(!f.popover()->isVisible());
    QVERIFY(f.view()->isRunning());
    f.escape();
    QVERIFY(!f.window->findChild<QWidget*>(u"findBar"_s)->isVisible());
    QVERIFY(f.view()->isRunning());
    f.escape();
    QCOMPARE(f.app.service.stopped, QStringList{u"boiler"_s});
    QVERIFY(!f.view()->isRunning());
    QVERIFY(f.window->findChild<QPushButton*>(u"continueButton"_s)->isVisible());
  }

  void whileWritingAMessageQueues() {
    Fixture f;
    f.open(u"boiler"_s);
    f.type(u"first"_s);
    f.type(u"second"_s);
    QVERIFY(f.window->findChild<QWidget*>(u"queuedMessage"_s)->isVisible());
    QTest::mouseClick(f.window->findChild<QPushButton*>(u"takeBackButton"_s), Qt::LeftButton);
    QVERIFY(!f.window->findChild<QWidget*>(u"queuedMessage"_s)->isVisible());
    QCOMPARE(f.view()->composer()->text(), u"second"_s);
  }

  void switchingChatsLeavesTheTurnRunning() {
    Fixture f;
    f.open(u"boiler"_s);
    f.type(u"go"_s);
    f.open(u"parser"_s);
    QVERIFY(f.window->findChild<QPushButton*>(u"sendButton"_s)->isVisible());
    QVERIFY(f.app.service.live.contains(u"boiler"_s));
    f.open(u"boiler"_s);
    QTRY_VERIFY(f.window->findChild<QPushButton*>(u"stopButton"_s)->isVisible());
  }

  void editShowsWhatItCosts() {
    Fixture f;
    f.open(u"boiler"_s);
    QTest::keyClick(f.window.get(), Qt::Key_E, Qt::ControlModifier | Qt::ShiftModifier);
    auto* edit = f.window->findChild<QPlainTextEdit*>(u"editInPlace"_s);
    QTRY_VERIFY(edit->isVisible());
    edit->setPlainText(u"Does that fit?"_s);
    auto* preview = f.window->findChild<QLabel*>(u"editPreview"_s);
    QTRY_VERIFY(preview->text().startsWith(u"Keeps 3\u202F445 cached tokens, reads 4"_s));
    QTest::keyClick(edit, Qt::Key_Return, Qt::ControlModifier);
    QVERIFY(f.app.service.calls.contains(u"edit u4 Does that fit?"_s));
    QVERIFY(!edit->isVisible());
  }

  void versionsByKey() {
    Fixture f;
    f.app.service.paths[u"boiler"_s].last().versions = 3;
    f.app.service.paths[u"boiler"_s].last().version = 2;
    f.open(u"parser"_s);
    f.open(u"boiler"_s);
    QTest::keyClick(f.window.get(), Qt::Key_Left, Qt::AltModifier);
    QVERIFY(f.app.service.calls.contains(u"version a4 1"_s));
  }

  void forkOpensTheCopy() {
    Fixture f;
    f.open(u"boiler"_s);
    f.view()->transcript()->setCurrentIndex(f.model()->index(0, 0));
    auto* more = f.view()->actionBar()->findChild<QToolButton*>(u"rowMore"_s);
    QVERIFY(more && more->menu());
    const QList<QAction*> entries = more->menu()->actions();
    const auto fork = std::find_if(entries.begin(), entries.end(), [](const QAction* a) { return a->text() == u"Fork here"_s; });
    QVERIFY(fork != entries.end());
    (*fork)->trigger();
    QTRY_VERIFY(f.view()->chatId() != u"boiler"_s);
    QCOMPARE(f.app.service.chat(f.view()->chatId())->title, u"fork of boiler"_s);
    QVERIFY(f.app.service.chat(u"boiler"_s).has_value());
  }

  void deleteAndUndo() {
    Fixture f;
    f.open(u"lisbon"_s);
    f.window->chatsPage()->list()->view()->setFocus();
    QTest::keyClick(f.window->chatsPage()->list()->view(), Qt::Key_Delete);
    QVERIFY(!f.app.service.chat(u"lisbon"_s));
    QVERIFY(f.window->toast()->isVisible());
    QTest::mouseClick(f.window->toast()->findChild<QPushButton*>(u"toastButton"_s), Qt::LeftButton);
    QVERIFY(f.app.service.chat(u"lisbon"_s).has_value());
    QCOMPARE(f.view()->chatId(), u"lisbon"_s);
  }

  void searchLeadsToTheMessage() {
    Fixture f;
    auto* search = f.window->findChild<QLineEdit*>(u"chatSearchEdit"_s);
    search->setFocus();
    QTest::keyClicks(search, u"gas supplier"_s);
    auto* results = f.window->findChild<QListWidget*>(u"searchResultsView"_s);
    QTRY_VERIFY(results->count() > 0);
    QTest::keyClick(search, Qt::Key_Return);
    QCOMPARE(f.view()->chatId(), u"boiler"_s);
    QTRY_VERIFY(f.window->findChild<QWidget*>(u"findBar"_s)->isVisible());
    search->setText(u"zzz"_s);
    QTRY_COMPARE(f.window->findChild<QLabel*>(u"chatListNote"_s)->text(), u"No chat contains “zzz”."_s);
  }

  void listRowsSpeak() {
    fake::FakeApplication app;
    fake::fillPicture(app);
    ChatListModel model(app.service);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    const QModelIndex i = model.indexOf(u"boiler"_s);
    QVERIFY(i.data(Qt::AccessibleTextRole).toString().startsWith(u"Boiler manual questions. On the GPU. Ready in about "_s));
    QVERIFY(i.data(Qt::DisplayRole).toString().contains(u"on GPU · ≈"_s));
    QVERIFY(model.indexOf(u"meeting"_s).data(ChatListModel::SecondLineRole).toString().startsWith(u"cold · ≈"_s));
    app.service.keep(u"boiler"_s, ChatTier::Disk);
    QVERIFY(model.indexOf(u"boiler"_s).data(Qt::DisplayRole).toString().contains(u"on disk"_s));
    app.service.find(u"boiler"_s)->waitMs.reset();
    model.refreshChat(u"boiler"_s);
    QVERIFY(model.indexOf(u"boiler"_s).data(ChatListModel::SecondLineRole).toString().contains(u"· – ·"_s));
    app.service.moveToFolder(u"boiler"_s, u"work"_s);
    QCOMPARE(model.indexOf(u"boiler"_s).parent().data(ChatListModel::TitleRole).toString(), u"Work"_s);
  }

  void areasByF6() {
    Fixture f;
    f.open(u"boiler"_s);
    f.window->chatsPage()->showInspector(true);
    QTRY_VERIFY(f.window->isActiveWindow());
    f.window->findChild<QToolButton*>(u"navChats"_s)->setFocus();
    QStringList seen;
    for (int i = 0; i < 5; ++i) {
      QTest::keyClick(QApplication::focusWidget(), Qt::Key_F6);
      QWidget* w = QApplication::focusWidget();
      seen << (w->objectName() == u"qt_tabwidget_tabbar"_s ? u"inspectorTabs"_s : w->objectName());
    }
    QCOMPARE(seen, (QStringList{u"chatListView"_s, u"transcriptView"_s, u"composerEdit"_s, u"inspectorTabs"_s, u"navChats"_s}));
  }

  void modeKeepsTheDraft() {
    Fixture f;
    f.open(u"boiler"_s);
    f.view()->composer()->setText(u"half a thought"_s);
    QTest::keyClick(f.window.get(), Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(f.app.values.get(Setting::DeveloperMode).toBool());
    QCOMPARE(f.view()->composer()->text(), u"half a thought"_s);
  }

  void noTwoActionsShareAKey() {
    Fixture f;
    QHash<QString, QString> keys;
    for (const QAction* a : f.window->actions().all()) {
      for (const QKeySequence& k : a->shortcuts()) {
        QVERIFY2(!keys.contains(k.toString()), qPrintable(k.toString() + u' ' + a->objectName() + u' ' + keys.value(k.toString())));
        keys.insert(k.toString(), a->objectName());
      }
    }
  }

  // Whatever can have the focus has a name; every named thing has an object name of its own.
  void everythingHasAName() {
    Fixture f;
    f.open(u"boiler"_s);
    f.window->chatsPage()->showInspector(true);
    f.view()->togglePopover();
    f.view()->actionBar()->showFor(f.app.service.paths[u"boiler"_s].first(), false);
    QSet<QString> seen;
    for (QWidget* w : f.window->findChildren<QWidget*>()) {
      if (w->focusPolicy() == Qt::NoFocus || w->objectName().startsWith(u"qt_"_s) || !w->isVisibleTo(f.window.get())) continue;
      QAccessibleInterface* a = QAccessible::queryAccessibleInterface(w);
      QVERIFY2(a && !a->text(QAccessible::Name).isEmpty(), qPrintable(QString::fromLatin1(w->metaObject()->className()) + u' ' + w->objectName()));
      QVERIFY2(!w->objectName().isEmpty(), w->metaObject()->className());
      QVERIFY2(!seen.contains(w->objectName()), qPrintable(w->objectName()));
      seen.insert(w->objectName());
    }
    QVERIFY(seen.size() > 20);
  }

  void narrowWindowHasDrawers() {
    Fixture f({800, 600});
    f.open(u"boiler"_s);
    auto* list = f.window->chatsPage()->list();
    QTRY_VERIFY(!list->isVisible());
    QTest::keyClick(f.window.get(), Qt::Key_B, Qt::ControlModifier);
    QVERIFY(list->isVisible());
    f.escape();
    QVERIFY(!list->isVisible());
    QTest::keyClick(f.window.get(), Qt::Key_F12);
    QVERIFY(f.window->chatsPage()->isInspectorShown());
    QVERIFY(f.window->width() <= 800);
  }

  void footerLineCanBeSwitchedOff() {
    Fixture f;
    f.open(u"boiler"_s);
    f.app.values.set(Setting::FooterLine, false);
    for (int i = 0; i < f.model()->rowCount(); ++i) QVERIFY(f.model()->row(i).kind != RowKind::Footer);
    f.app.values.set(Setting::FooterLine, true);
    QVERIFY(f.model()->row(f.model()->rowCount() - 1).kind == RowKind::Footer);
  }

  void inspectorShowsTheTurn() {
    Fixture f;
    f.open(u"boiler"_s);
    f.window->chatsPage()->showInspector(true);
    auto* title = f.window->findChild<QLabel*>(u"turnTitle"_s);
    QTRY_VERIFY(title->text().startsWith(u"Turn 2 of 2"_s));
    QTest::keyClick(f.window.get(), Qt::Key_Up, Qt::AltModifier);
    QVERIFY(title->text().startsWith(u"Turn 1 of 2"_s));
    QVERIFY(f.window->findChild<QLabel*>(u"missText"_s)->text().startsWith(u"Nothing was read twice."_s));
    f.open(u"parser"_s);
    QTRY_VERIFY(f.window->findChild<QLabel*>(u"missText"_s)->text().startsWith(u"The template leaves the thinking"_s));
  }

  void themeChangesEverything() {
    Fixture f;
    f.open(u"boiler"_s);
    const auto lightness = [&] { return f.window->grab().toImage().scaled(1, 1, Qt::IgnoreAspectRatio, Qt::SmoothTransformation).pixelColor(0, 0).lightness(); };
    f.app.values.set(Setting::Theme, u"light"_s);
    const int light = lightness();
    f.app.values.set(Setting::Theme, u"dark"_s);
    QVERIFY(lightness() < light - 120);
    f.app.values.set(Setting::Theme, u"light"_s);
  }
};

QTEST_MAIN(TestMainWindow)
#include "tst_main_window.moc"
