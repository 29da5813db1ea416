// The inspector's tab Explain: only in Developer mode, follows the turn, says what is not known, keeps its place while nothing changes, fits a narrow panel.
#include <QClipboard>
#include <QGuiApplication>
#include <QLabel>
#include <QScrollArea>
#include <QScrollBar>
#include <QTest>
#include <QToolButton>

#include "app/format.h"
#include "tests/support/picture_cache.h"
#include "tests/support/save_picture.h"
#include "views/chats/chat_view.h"
#include "views/chats/chats_page.h"
#include "views/inspector/explain_tab.h"
#include "views/shell/main_window.h"
#include "views/theme/theme.h"
#include "views/turn/facts.h"

using namespace tg;
using namespace Qt::StringLiterals;

namespace {

struct Fixture {
  fake::FakeApplication app;
  std::unique_ptr<MainWindow> window;
  Fixture() {
    fake::fillPicture(app);
    fake::fillCachePicture(app);
    app.service.nextCount = {};
    app.values.set(Setting::DeveloperMode, true);
    window = std::make_unique<MainWindow>(app);
    window->start();
    window->resize(1440, 900);
    window->show();
    window->showPage(0);
    open(u"boiler"_s);
    window->chatsPage()->showInspector(true);
    tabs()->setCurrentIndex(2);
  }
  void open(const QString& chat) { window->chatsPage()->openChat(chat); }
  template <class T>
  T* part(const QString& name) { return window->findChild<T*>(name); }
  QTabWidget* tabs() { return part<QTabWidget>(u"inspectorTabs"_s); }
  QString words(const QString& id) {
    auto* label = part<QLabel>(u"explain-"_s + id);
    return label ? label->text() : QString();
  }
};

}  // namespace

class TestExplainTab : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void tellsTheTurn() {
    Fixture f;
    QCOMPARE(f.tabs()->tabText(2), u"Explain"_s);
    QTRY_VERIFY(f.words(u"reading"_s).contains(u"172 were read in 1 pass"_s));
    QVERIFY(f.part<ExplainTab>(u"tabExplain"_s)->isVisible());
    QVERIFY(f.words(u"writing"_s).contains(u"69\u00A0% of the measured memory speed"_s));
    QCOMPARE(f.part<Facts>(u"explainFigures-writing"_s)->value(u"Bound by"_s), u"memory speed"_s);
    QVERIFY(f.words(u"faster"_s).startsWith(u"Most of the time was writing"_s));
    QVERIFY(!f.part<Facts>(u"explainLevers"_s)->text().isEmpty());
    auto* view = f.part<QScrollArea>(u"explainView"_s);
    QVERIFY(!view->accessibleName().isEmpty() && view->accessibleDescription().contains(f.words(u"reading"_s)));
    f.part<QToolButton>(u"copyFigures"_s)->click();
    QCOMPARE(QGuiApplication::clipboard()->text(), f.part<ExplainTab>(u"tabExplain"_s)->text());
  }

  void followsTheTurnAndSaysWhatIsUnknown() {
    Fixture f;
    QTRY_VERIFY(f.words(u"reading"_s).contains(u"172"_s));
    f.part<QToolButton>(u"turnPrev"_s)->click();
    QTRY_VERIFY(f.words(u"reading"_s).contains(u"older than the counters"_s));
    QCOMPARE(f.part<Facts>(u"explainFigures-reading"_s)->value(u"Operations"_s), format::unknown());
    f.open(u"lisbon"_s);  // nothing answered there
    QTRY_VERIFY(f.part<QLabel>(u"tabExplainEmpty"_s)->isVisible());
    QVERIFY(!f.part<QScrollArea>(u"explainView"_s)->isVisible());
  }

  void staysWhereItWasRead() {
    ExplainTab tab;
    tab.resize(380, 300);
    tab.QWidget::show();
    const TurnRecord r = fake::withWork(fake::pictureRecord(2, 4812, 4640, 310, 212, 160, 39.9, "5004000000"));
    tab.show(r);
    auto* view = tab.findChild<QScrollArea*>(u"explainView"_s);
    QTRY_VERIFY(view->verticalScrollBar()->maximum() > 100);
    QVERIFY(view->widget()->width() <= view->viewport()->width());
    view->verticalScrollBar()->setValue(90);
    QWidget* before = view->widget();
    tab.show(r);
    QCOMPARE(view->widget(), before);
    QCOMPARE(view->verticalScrollBar()->value(), 90);
  }

  void onlyInDeveloperMode() {
    Fixture f;
    QCOMPARE(f.tabs()->count(), 3);
    f.app.values.set(Setting::DeveloperMode, false);
    QCOMPARE(f.tabs()->count(), 1);
  }

  void picture() {
    Fixture f;
    QTRY_VERIFY(f.words(u"reading"_s).contains(u"172"_s));
    QVERIFY(test::savePicture(f.window.get(), "inspector-explain"));
    QVERIFY(test::savePicture(f.part<QScrollArea>(u"explainView"_s)->widget(), "inspector-explain-all"));
    f.part<QToolButton>(u"turnPrev"_s)->click();
    QTRY_VERIFY(f.words(u"reading"_s).contains(u"older"_s));
    QVERIFY(test::savePicture(f.part<QScrollArea>(u"explainView"_s)->widget(), "inspector-explain-unknown"));
    f.app.values.set(Setting::Theme, u"dark"_s);
    QVERIFY(test::savePicture(f.window.get(), "inspector-explain-dark"));
  }
};

QTEST_MAIN(TestExplainTab)
#include "tst_explain_tab.moc"
