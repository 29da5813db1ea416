// The cache page over a cache set by hand: bars add up, blocks and rows are one selection, keys and buttons act, sentences say what they do first.
#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QDialog>
#include <QDoubleSpinBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollArea>
#include <QSlider>
#include <QTest>
#include <QToolButton>

#include "app/format.h"
#include "tests/support/picture_cache.h"
#include "tests/support/save_picture.h"
#include "views/cache/budgets_dialog.h"
#include "views/cache/cache_actions.h"
#include "views/cache/cache_detail.h"
#include "views/cache/cache_events_view.h"
#include "views/cache/cache_map.h"
#include "views/cache/cache_page.h"
#include "views/cache/cache_table.h"
#include "views/chats/chat_view.h"
#include "views/chats/chats_page.h"
#include "views/shell/main_window.h"
#include "views/theme/theme.h"

using namespace tg;
using namespace Qt::StringLiterals;

namespace {

constexpr qint64 kGib = qint64(1) << 30;

struct Fixture {
  fake::FakeApplication app;
  std::unique_ptr<MainWindow> window;
  explicit Fixture(QSize size = {1440, 900}, bool developer = true) {
    fake::fillPicture(app);
    fake::fillCachePicture(app);
    app.service.nextCount = {};
    app.values.set(Setting::DeveloperMode, developer);
    window = std::make_unique<MainWindow>(app);
    window->start();
    window->resize(size);
    window->show();
    window->activateWindow();
    if (developer) window->actions().get(Act::PageCache)->trigger();
  }
  template <class T>
  T* part(const QString& name) { return window->findChild<T*>(name); }
  CachePage* page() { return part<CachePage>(u"cachePage"_s); }
  CacheTable* table() { return part<CacheTable>(u"cacheTable"_s); }
  CacheMap* map() { return part<CacheMap>(u"cacheMap"_s); }
  QPushButton* button(const QString& name) { return part<QPushButton>(name); }
  QString consequence() { return part<QLabel>(u"cacheConsequence"_s)->text(); }
  QString cell(const QString& chat, int column) {
    return table()->rows()->index(table()->rows()->rowOf(chat), column).data().toString();
  }
  fake::FakeCacheOverview& cache() { return app.overview; }
};

QStringList shownOrder(CacheTable* table) {
  QStringList ids;
  for (int i = 0; i < table->model()->rowCount(); ++i) ids << table->model()->index(i, 0).data(CacheTableModel::IdRole).toString();
  return ids;
}

}  // namespace

class TestCachePage : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void isADeveloperPage() {
    Fixture f({1280, 820}, false);
    QVERIFY(!f.part<QToolButton>(u"navCache"_s)->isVisible());
    QVERIFY(!f.window->actions().get(Act::PageCache)->isVisible());
    f.app.values.set(Setting::DeveloperMode, true);
    QVERIFY(f.part<QToolButton>(u"navCache"_s)->isVisible());
    f.window->actions().get(Act::PageCache)->trigger();
    QVERIFY(f.page()->isVisible());
    QCOMPARE(f.window->actions().get(Act::PageCache)->shortcut(), QKeySequence(u"Ctrl+5"_s));
    QTRY_VERIFY(f.table()->hasFocus());
    f.app.values.set(Setting::DeveloperMode, false);
    QVERIFY(!f.page()->isVisible());
  }

  void blocksAddUp() {
    Fixture f;
    CacheBlock shared;
    shared.kind = CacheBlock::Kind::Shared;
    shared.bytes = 256 << 20;
    f.cache().tier(ChatTier::Ram)->blocks.append(shared);
    f.cache().tier(ChatTier::Ram)->used += shared.bytes;
    f.cache().refresh();
    for (const CacheTier& t : f.cache().now.tiers) {
      qint64 sum = 0;
      double pixels = 0;
      for (const CacheMap::Piece& p : f.map()->pieces()) {
        if (p.tier != t.tier) continue;
        sum += p.block.bytes;
        pixels += p.rect.width() + 1;
      }
      QCOMPARE(sum, t.used);
      const double bar = f.map()->width() - 22.5 * em(f.map()->font());
      QVERIFY2(qAbs(pixels - bar * double(t.used) / double(t.budget)) < 12, qPrintable(u"%1 of %2"_s.arg(pixels).arg(bar)));
    }
    QVERIFY(f.part<QLabel>(u"cacheMapHint"_s)->text().contains(u"counted once"_s));
  }

  void arrowsWalkAndEnterSelects() {
    Fixture f;
    f.map()->setFocus();
    QTest::keyClick(f.map(), Qt::Key_Home);
    QCOMPARE(f.map()->current(), 0);
    QTest::keyClick(f.map(), Qt::Key_Right);
    QCOMPARE(f.map()->current(), 1);
    QTest::keyClick(f.map(), Qt::Key_Down);
    QCOMPARE(f.map()->pieces()[f.map()->current()].tier, ChatTier::Ram);
    const QString id = f.map()->pieces()[f.map()->current()].block.chatId;
    QVERIFY(f.map()->accessibleDescription().contains(f.cache().row(id)->chat.title));
    QTest::keyClick(f.map(), Qt::Key_Return);
    QCOMPARE(f.page()->chatId(), id);
    QCOMPARE(f.table()->current(), id);
    QCOMPARE(f.part<QLabel>(u"cacheDetailTitle"_s)->text(), f.cache().row(id)->chat.title);
  }

  void fewBytesOfALargeBudget() {
    Fixture f;
    f.cache().tier(ChatTier::Gpu)->budget = 100 * kGib;
    f.cache().refresh();
    QVector<const CacheMap::Piece*> gpu;
    for (const CacheMap::Piece& p : f.map()->pieces()) {
      if (p.tier == ChatTier::Gpu) gpu << &p;
    }
    QCOMPARE(gpu.size(), 3);
    for (const CacheMap::Piece* p : gpu) {
      QVERIFY(p->rect.width() > 20);
      QVERIFY(qAbs(p->rect.width() / gpu[0]->rect.width() - double(p->block.bytes) / double(gpu[0]->block.bytes)) < 0.05);  // to scale among themselves
    }
  }

  void titleIsThePages() {
    Fixture f;
    QCOMPARE(f.window->windowTitle(), QString::fromUtf8("Cache – Turnglass"));
    f.window->showPage(0);
    QTRY_VERIFY(f.window->windowTitle().startsWith(u"Boiler"_s));
  }

  void clickSelects() {
    Fixture f;
    for (const CacheMap::Piece& p : f.map()->pieces()) {
      QTest::mouseClick(f.map(), Qt::LeftButton, {}, p.rect.center().toPoint());
      QCOMPARE(f.page()->chatId(), p.block.chatId);
    }
  }

  void everyRowHasAReason() {
    Fixture f;
    for (const CacheRow& r : f.cache().now.rows) QVERIFY(!f.cell(r.chat.id, CacheTableModel::Why).isEmpty());
    QVERIFY(f.cell(u"garden"_s, CacheTableModel::Why).contains(u"budget, for Trip to Lisbon"_s));
    QCOMPARE(f.cell(u"lisbon"_s, CacheTableModel::Why), u"pinned by you"_s);
    QCOMPARE(f.cell(u"meeting"_s, CacheTableModel::Size), u"0"_s);
    const QString said = f.table()->rows()->index(f.table()->rows()->rowOf(u"contract"_s), 0).data(Qt::AccessibleTextRole).toString();
    QVERIFY2(said.startsWith(u"Contract summary, in RAM, 12892 tokens, 1.77 gibibytes, ready in about 0.2 seconds, moved from GPU"_s), qPrintable(said));
  }

  void sorts_data() {
    QTest::addColumn<int>("column");
    QTest::addColumn<QString>("first");
    QTest::newRow("title") << int(CacheTableModel::Chat) << u"annual"_s;
    QTest::newRow("tokens") << int(CacheTableModel::Tokens) << u"recipes"_s;
    QTest::newRow("last used") << int(CacheTableModel::LastUsed) << u"recipes"_s;
    QTest::newRow("where") << int(CacheTableModel::Where) << u"parser"_s;
  }
  void sorts() {
    QFETCH(int, column);
    QFETCH(QString, first);
    Fixture f;
    QCOMPARE(shownOrder(f.table()).first(), u"parser"_s);  // newest first
    f.table()->sortByColumn(column, Qt::AscendingOrder);
    QCOMPARE(shownOrder(f.table()).first(), first);
    f.table()->sortByColumn(column, Qt::DescendingOrder);
    QVERIFY(shownOrder(f.table()).first() != first);
  }

  void filters() {
    Fixture f;
    f.part<QLineEdit>(u"cacheFilterEdit"_s)->setText(u"garden"_s);
    QCOMPARE(shownOrder(f.table()), QStringList{u"garden"_s});
    f.part<QLineEdit>(u"cacheFilterEdit"_s)->clear();
    QCOMPARE(shownOrder(f.table()).size(), 9);
  }

  void keysAct() {
    Fixture f;
    f.page()->choose(u"contract"_s);
    QTest::keyClick(f.table(), Qt::Key_P);
    QVERIFY(f.cache().row(u"contract"_s)->chat.pinned);
    QCOMPARE(f.button(u"pinButton"_s)->text(), u"Unpin"_s);
    QTest::keyClick(f.table(), Qt::Key_D);
    QCOMPARE(f.cache().row(u"contract"_s)->chat.tier, ChatTier::Disk);
    QCOMPARE(f.cell(u"contract"_s, CacheTableModel::Where), u"on disk"_s);
    QTest::keyClick(f.table(), Qt::Key_R);
    QCOMPARE(f.cache().row(u"contract"_s)->chat.tier, ChatTier::Ram);
    QTest::keyClick(f.map(), Qt::Key_G);
    QCOMPARE(f.cache().row(u"contract"_s)->chat.tier, ChatTier::Gpu);
    QCOMPARE(f.table()->current(), u"contract"_s);
    QTest::keyClick(f.table(), Qt::Key_E);
    QCOMPARE(f.cell(u"contract"_s, CacheTableModel::Where), u"cold"_s);
    QVERIFY(f.cell(u"contract"_s, CacheTableModel::Why).startsWith(u"dropped by you"_s));
    QCOMPARE(f.cell(u"contract"_s, CacheTableModel::Tokens), format::count(12892));
  }

  void evictingFreesWhatIsAnnounced() {
    Fixture f;
    f.page()->choose(u"contract"_s);
    f.button(u"evictButton"_s)->setFocus();
    const qint64 before = f.cache().tier(ChatTier::Ram)->used, own = f.cache().row(u"contract"_s)->own();
    const QString said = f.consequence();
    QVERIFY2(said.startsWith(u"Evict frees %1 of RAM. The text of the chat stays. The next message then reads %2 tokens again, "_s.arg(format::bytes(own), format::count(12892))), qPrintable(said));
    QTest::mouseClick(f.button(u"evictButton"_s), Qt::LeftButton);
    QCOMPARE(before - f.cache().tier(ChatTier::Ram)->used, own);
    QVERIFY(!f.button(u"evictButton"_s)->isEnabled());
    QVERIFY(!f.button(u"toDiskButton"_s)->isEnabled());
  }

  void theFocusedButtonSaysWhatItDoes() {
    Fixture f;
    QTRY_VERIFY(f.table()->hasFocus());
    f.page()->choose(u"contract"_s);
    QStringList said;
    for (const QString& name : {u"toGpuButton"_s, u"pinButton"_s, u"toDiskButton"_s, u"evictButton"_s}) {
      f.button(name)->setFocus();
      said << f.consequence();
      QVERIFY(!said.last().isEmpty());
      QCOMPARE(f.button(name)->accessibleDescription(), said.last());
    }
    QCOMPARE(QSet<QString>(said.begin(), said.end()).size(), 4);
    QVERIFY(said[1].contains(u"whatever other chats need"_s));
  }

  void sharedTokensStay() {
    Fixture f;
    CacheRow* r = f.cache().row(u"contract"_s);
    r->sharedTokens = 4096;
    r->sharedPages = 16;
    r->sharedWith = u"Annual report Q&A"_s;
    f.cache().refresh();
    f.page()->choose(u"contract"_s);
    f.button(u"evictButton"_s)->setFocus();
    QVERIFY2(f.consequence().contains(u"The first %1 tokens are shared with “Annual report Q&A” and stay."_s.arg(format::count(4096))), qPrintable(f.consequence()));
    QVERIFY(f.consequence().contains(format::count(12892 - 4096)));
  }

  void aBusyChatCannotBeEvicted() {
    Fixture f;
    f.cache().row(u"contract"_s)->busy = true;
    f.cache().refresh();
    f.page()->choose(u"contract"_s);
    QVERIFY(!f.button(u"evictButton"_s)->isEnabled());
    QVERIFY(f.button(u"evictButton"_s)->accessibleDescription().contains(u"is being written"_s));
    f.cache().calls.clear();
    QTest::keyClick(f.table(), Qt::Key_E);
    QVERIFY(f.cache().calls.isEmpty());
    QVERIFY(f.consequence().contains(u"is being written"_s));
  }

  void whatOthersDoIsSeen() {
    Fixture f;
    QCOMPARE(f.cell(u"garden"_s, CacheTableModel::Where), u"in RAM"_s);
    f.cache().evict(u"garden"_s);  // another process, or a budget
    QCOMPARE(f.cell(u"garden"_s, CacheTableModel::Where), u"cold"_s);
    CacheRow fresh = f.cache().now.rows.first();
    fresh.chat.id = u"new"_s;
    fresh.chat.title = u"A new one"_s;
    f.cache().now.rows.prepend(fresh);
    f.cache().now.rows.removeLast();
    f.cache().rebuild();
    f.cache().refresh();
    QVERIFY(f.table()->rows()->rowOf(u"new"_s) >= 0);
    QCOMPARE(f.table()->rows()->rowOf(u"recipes"_s), -1);
  }

  void aHiddenPageAsksForNothing() {
    Fixture f;
    f.window->showPage(0);
    f.cache().evict(u"garden"_s);
    QCOMPARE(f.cell(u"garden"_s, CacheTableModel::Where), u"in RAM"_s);
    f.window->actions().get(Act::PageCache)->trigger();
    QCOMPARE(f.cell(u"garden"_s, CacheTableModel::Where), u"cold"_s);
  }

  void budgetsAreNeverBelowWhatIsFixed() {
    Fixture f;
    f.cache().row(u"garden"_s)->chat.pinned = true;
    f.cache().row(u"contract"_s)->busy = true;
    f.cache().rebuild();
    const qint64 fixed = f.cache().tier(ChatTier::Ram)->fixed;
    QVERIFY(fixed > 2 * kGib);
    BudgetsDialog dialog(f.cache(), nullptr);
    auto* spin = dialog.findChild<QDoubleSpinBox*>(u"ramBudgetSpin"_s);
    auto* slider = dialog.findChild<QSlider*>(u"ramBudgetSlider"_s);
    spin->setValue(0.1);
    QVERIFY(dialog.chosen(ChatTier::Ram) >= fixed);
    slider->setValue(0);
    QVERIFY(dialog.chosen(ChatTier::Ram) >= fixed);
    QVERIFY(dialog.findChild<QLabel*>(u"ramBudgetUsed"_s)->text().contains(format::bytes(fixed)));
  }

  void budgetsSayWhatLeaves() {
    Fixture f;
    f.page()->openBudgets();
    auto* dialog = f.part<BudgetsDialog>(u"budgetsDialog"_s);
    QVERIFY(dialog && dialog->isVisible());
    const auto label = [&](const char* name) { return dialog->findChild<QLabel*>(QString::fromLatin1(name))->text(); };
    QVERIFY2(label("gpuBudgetTokens").contains(u"= %1 tokens of this model"_s.arg(format::count(3 * kGib / 147456))), qPrintable(label("gpuBudgetTokens")));
    QCOMPARE(label("ramBudgetLeaves"), u"Nothing leaves."_s);
    QVERIFY(!dialog->findChild<QPushButton*>(u"budgetsApplyButton"_s)->isEnabled());
    dialog->findChild<QDoubleSpinBox*>(u"ramBudgetSpin"_s)->setValue(2);
    QVERIFY2(label("ramBudgetLeaves").contains(u"moves to disk: Contract summary ("_s), qPrintable(label("ramBudgetLeaves")));
    dialog->findChild<QDoubleSpinBox*>(u"diskBudgetSpin"_s)->setValue(1);
    QVERIFY2(label("diskBudgetLeaves").contains(u"is dropped"_s) && label("diskBudgetLeaves").contains(u"read again"_s), qPrintable(label("diskBudgetLeaves")));
    QTest::mouseClick(dialog->findChild<QPushButton*>(u"budgetsApplyButton"_s), Qt::LeftButton);
    QCOMPARE(f.cache().tier(ChatTier::Ram)->budget, 2 * kGib);
    QCOMPARE(f.cache().tier(ChatTier::Gpu)->budget, 3 * kGib);
  }

  void clearAsksFirst() {
    Fixture f;
    f.cache().calls.clear();
    QTest::mouseClick(f.button(u"clearAllButton"_s), Qt::LeftButton);
    auto* box = f.part<QMessageBox>(u"clearAllDialog"_s);
    QVERIFY(box && box->isVisible());
    QVERIFY(box->text().contains(format::count(f.cache().now.tokensHeld)));
    QVERIFY(box->text().contains(format::bytes(f.cache().now.bytesHeld())));
    QTest::keyClick(box, Qt::Key_Escape);
    QVERIFY(!f.cache().calls.contains(u"clear"_s));
    f.page()->askClear();
    auto* again = f.part<QPushButton>(u"clearAllConfirm"_s);
    for (QPushButton* b : f.window->findChildren<QPushButton*>(u"clearAllConfirm"_s)) {
      if (b->isVisible()) again = b;
    }
    QTest::mouseClick(again, Qt::LeftButton);
    QVERIFY(f.cache().calls.contains(u"clear"_s));
    QCOMPARE(f.cache().now.chatsHeld, 0);
    QVERIFY(!f.button(u"clearAllButton"_s)->isEnabled());
  }

  void integrityIsReported() {
    Fixture f;
    QTest::mouseClick(f.button(u"checkIntegrityButton"_s), Qt::LeftButton);
    QCOMPARE(f.part<QLabel>(u"cacheNotice"_s)->text(), u"All 284 pages agree with their checksums."_s);
    QVERIFY(f.part<QLabel>(u"cacheNotice"_s)->isVisible());
    QVERIFY(f.button(u"checkIntegrityButton"_s)->isEnabled());
  }

  void theMenuHasTheActions() {
    Fixture f;
    for (Act act : {Act::CacheBudgets, Act::CheckCache, Act::ClearCache, Act::KeepInRam, Act::KeepOnDisk, Act::Pin, Act::Evict}) {
      QVERIFY(f.window->actions().get(act)->isVisible());
      QCOMPARE(Actions::menuOf(act), u"Cache"_s);
    }
    f.window->showPage(0);
    f.window->actions().get(Act::CacheBudgets)->trigger();
    QVERIFY(f.page()->isVisible());
  }

  void withoutAGpu() {
    Fixture f;
    CacheTier* gpu = f.cache().tier(ChatTier::Gpu);
    gpu->exists = false;
    gpu->budget = 0;
    f.cache().refresh();
    f.page()->choose(u"contract"_s);
    QVERIFY(!f.button(u"toGpuButton"_s)->isVisible());
    QTest::keyClick(f.table(), Qt::Key_G);
    QVERIFY2(f.consequence().startsWith(u"No GPU is in use"_s), qPrintable(f.consequence()));
  }

  void keptWhenTheProgramCloses() {
    Fixture f;
    f.page()->choose(u"contract"_s);
    auto* combo = f.part<QComboBox>(u"keepOnCloseCombo"_s);
    QVERIFY(combo->isVisible());
    QCOMPARE(combo->currentData().toInt(), int(ChatKeep::BySize));
    QCOMPARE(combo->count(), 3);
  }

  void narrow() {
    Fixture f({800, 600});
    auto* side = f.part<QScrollArea>(u"cacheDetailScroll"_s);
    const auto bottom = [&](QWidget* w) { return w->mapTo(f.page(), QPoint(0, w->height())).y(); };
    QTRY_VERIFY(side->mapTo(f.page(), QPoint()).y() >= bottom(f.table()));
    QVERIFY(f.page()->width() <= 800);
    auto* scroll = f.part<QScrollArea>(u"cacheScroll"_s);
    QVERIFY(scroll->widget()->width() <= scroll->viewport()->width());
    for (const QString& name : {u"budgetsButton"_s, u"checkIntegrityButton"_s, u"clearAllButton"_s}) {
      QVERIFY2(f.button(name)->width() >= f.button(name)->minimumSizeHint().width(), qPrintable(name));
    }
  }

  void inspectorTab() {
    Fixture f;
    f.window->showPage(0);
    f.window->chatsPage()->openChat(u"boiler"_s);
    f.window->chatsPage()->showInspector(true);
    auto* tabs = f.part<QTabWidget>(u"inspectorTabs"_s);
    QCOMPARE(tabs->count(), 3);
    tabs->setCurrentIndex(1);
    QTRY_VERIFY(f.part<QLabel>(u"tabCacheTier"_s)->text().contains(u"on GPU"_s));
    QVERIFY(f.part<QWidget>(u"tabCache"_s)->isVisible());
    f.cache().toTier(u"boiler"_s, ChatTier::Disk);
    QVERIFY(f.part<QLabel>(u"tabCacheTier"_s)->text().contains(u"on disk"_s));
    QVERIFY(!f.part<QPushButton>(u"tabToDiskButton"_s)->isEnabled());
    f.app.values.set(Setting::DeveloperMode, false);
    QCOMPARE(tabs->count(), 1);
  }

  void modelsKeepTheirPromises() {
    Fixture f;
    QAbstractItemModelTester rows(f.table()->rows(), QAbstractItemModelTester::FailureReportingMode::QtTest);
    QAbstractItemModelTester sorted(f.table()->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
    CacheEventsModel* events = f.part<CacheEventsView>(u"cacheEvents"_s)->events();
    QAbstractItemModelTester happened(events, QAbstractItemModelTester::FailureReportingMode::QtTest);
    f.page()->choose(u"contract"_s);
    QCOMPARE(events->rowCount(), 4);
    f.cache().evict(u"garden"_s);
    f.cache().now.rows.removeFirst();
    f.cache().rebuild();
    f.cache().refresh();
    f.cache().now.rows.clear();
    f.cache().refresh();
    QCOMPARE(f.table()->model()->rowCount(), 0);
  }

  void picture() {
    Fixture f;
    f.page()->choose(u"contract"_s);
    QVERIFY(test::savePicture(f.window.get(), "cache-design"));
    f.app.values.set(Setting::Theme, u"dark"_s);
    QVERIFY(test::savePicture(f.window.get(), "cache-design-dark"));
    f.app.values.set(Setting::Theme, u"light"_s);
    BudgetsDialog dialog(f.cache(), f.window.get());
    dialog.findChild<QDoubleSpinBox*>(u"ramBudgetSpin"_s)->setValue(2);
    QVERIFY(test::savePicture(&dialog, "budgets-design"));
    f.window->resize(800, 600);
    QVERIFY(test::savePicture(f.window.get(), "cache-narrow"));
    QVERIFY(test::savePicture(f.part<QScrollArea>(u"cacheScroll"_s)->widget(), "cache-narrow-all"));
    f.window->resize(1440, 900);
    f.window->showPage(0);
    f.window->chatsPage()->openChat(u"boiler"_s);
    f.window->chatsPage()->showInspector(true);
    f.part<QTabWidget>(u"inspectorTabs"_s)->setCurrentIndex(1);
    QVERIFY(test::savePicture(f.window.get(), "inspector-cache"));
  }
};

QTEST_MAIN(TestCachePage)
#include "tst_cache_page.moc"
