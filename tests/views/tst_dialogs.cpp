// The dialogs and pages that stand by themselves, driven like a person would: find by name, click, type.
#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QRadioButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableView>
#include <QTableWidget>
#include <QtTest>

#include "tests/support/fake_chat_service.h"
#include "tests/support/find_widget.h"
#include "views/dialogs/overflow_dialog.h"
#include "views/dialogs/quick_switcher.h"
#include "views/dialogs/settings_dialog.h"
#include "views/dialogs/small_dialogs.h"
#include "views/pages/first_run_page.h"
#include "views/pages/models_page.h"

using namespace tg;
using tg::test::find;
using tg::fake::FakeApplication;
using tg::fake::FakeCatalogue;

namespace {

OverflowChoice choice(const QString& kind, bool possible, int prompt, int first, int last) {
  OverflowChoice made;
  made.kind = kind;
  made.possible = possible;
  made.reason = possible ? QStringLiteral("It helps.") : QStringLiteral("The model was made for at most 8 192.");
  made.prompt = prompt;
  made.readAgain = 40;
  made.fresh = 60;
  made.window = 32768;
  made.firstTurn = first;
  made.lastTurn = last;
  return made;
}

DraftCount tooMuch() {
  DraftCount count;
  count.draftTokens = 1844;
  count.promptTokens = 17906;
  count.answerKept = 1024;
  count.window = 16384;
  count.parts = {{QStringLiteral("system"), 6140}, {QStringLiteral("history"), 9922}, {QStringLiteral("new"), 1844}};
  return count;
}

}  // namespace

class DialogsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void overflowSaysHowManyTooMany() {
    OverflowDialog dialog(nullptr);
    dialog.setChoices({choice(QStringLiteral("widen"), true, 17906, -1, -1)}, tooMuch());
    const QString sentence = find<QLabel>(dialog, "overflowSentence")->text();
    QVERIFY2(sentence.contains(QStringLiteral("2\u202f546 more")), qPrintable(sentence));
    QVERIFY(sentence.contains(QStringLiteral("17\u202f906")));
  }

  void overflowPreselectsWhatLosesNothing() {
    OverflowDialog dialog(nullptr);
    const auto widen = choice(QStringLiteral("widen"), true, 17906, -1, -1), drop = choice(QStringLiteral("drop-oldest"), true, 12316, 1, 4);
    dialog.setChoices({drop, widen}, tooMuch());
    QCOMPARE(dialog.chosen().kind, QStringLiteral("widen"));
    QCOMPARE(find<QPushButton>(dialog, "overflowSend")->text(), QStringLiteral("Widen and send"));
  }

  void overflowShowsAnImpossibleChoiceOff() {
    OverflowDialog dialog(nullptr);
    const auto widen = choice(QStringLiteral("widen"), false, 0, -1, -1), drop = choice(QStringLiteral("drop-oldest"), true, 12316, 1, 4);
    dialog.setChoices({widen, drop}, tooMuch());
    QVERIFY(!find<QRadioButton>(dialog, "choiceWiden")->isEnabled());
    QCOMPARE(dialog.chosen().kind, QStringLiteral("drop-oldest"));
    QSignalSpy asked(&dialog, &OverflowDialog::dropTurnsChanged);
    find<QSpinBox>(dialog, "dropCountSpin")->stepUp();
    QCOMPARE(asked.count(), 1);
    QCOMPARE(asked.first().first().toInt(), 5);
  }

  void overflowCancelRejects() {
    OverflowDialog dialog(nullptr);
    dialog.setChoices({choice(QStringLiteral("widen"), true, 17906, -1, -1)}, tooMuch());
    QSignalSpy rejected(&dialog, &QDialog::rejected);
    dialog.open();
    find<QPushButton>(dialog, "overflowCancel")->click();
    QCOMPARE(rejected.count(), 1);
  }

  void settingsCountAtOnceAndCanBeUndone() {
    FakeApplication application;
    SettingsDialog dialog(application, nullptr);
    auto* theme = find<QComboBox>(dialog, "setting_window_theme");
    theme->setCurrentIndex(theme->findData(QStringLiteral("dark")));
    Q_EMIT theme->activated(theme->currentIndex());
    QCOMPARE(application.settings().get(Setting::Theme).toString(), QStringLiteral("dark"));
    find<QPushButton>(dialog, "settingsUndo")->click();
    QCOMPARE(application.settings().get(Setting::Theme).toString(), QStringLiteral("system"));
    QCOMPARE(theme->currentData().toString(), QStringLiteral("system"));
  }

  void settingsSearchGoesToThePage() {
    FakeApplication application;
    SettingsDialog dialog(application, nullptr);
    find<QLineEdit>(dialog, "settingsSearch")->setText(QStringLiteral("threads"));
    QCOMPARE(find<QListWidget>(dialog, "settingsList")->currentItem()->text(), QStringLiteral("Advanced"));
    QVERIFY(!find<QComboBox>(dialog, "setting_window_theme")->isEnabled());
  }

  void settingsRefuseAPriceThatIsNoNumber() {
    FakeApplication application;
    SettingsDialog dialog(application, nullptr);
    auto* price = find<QLineEdit>(dialog, "setting_energy_kwh_price");
    price->setText(QStringLiteral("cheap"));
    Q_EMIT price->editingFinished();
    QCOMPARE(application.settings().get(Setting::KwhPrice).toString(), QString());
    price->setText(QStringLiteral("0.31"));
    Q_EMIT price->editingFinished();
    QCOMPARE(application.settings().get(Setting::KwhPrice).toString(), QStringLiteral("0.31"));
  }

  void switcherFindsByWordsAndOpensWithEnter() {
    QString opened;
    QuickSwitcher dialog({{QStringLiteral("Boiler manual questions"), {}, {}, [&] { opened = QStringLiteral("boiler"); }},
                          {QStringLiteral("Trip to Lisbon"), {}, {}, [&] { opened = QStringLiteral("lisbon"); }}}, nullptr);
    auto* edit = find<QLineEdit>(dialog, "quickSwitcherEdit");
    QTest::keyClicks(edit, QStringLiteral("lis"));
    QCOMPARE(find<QListWidget>(dialog, "quickSwitcherList")->count(), 1);
    QTest::keyClick(edit, Qt::Key_Return);
    QCOMPARE(opened, QStringLiteral("lisbon"));
  }

  void shortcutSheetListsRealActions() {
    QAction copy(QStringLiteral("&Copy"), nullptr);
    copy.setShortcut(QKeySequence(Qt::CTRL | Qt::Key_C));
    ShortcutSheet sheet(ShortcutSheet::keysOf({&copy}, QStringLiteral("Edit")), nullptr);
    QVERIFY(sheet.asText().contains(QStringLiteral("Edit\tCopy\tCtrl+C")));
    find<QLineEdit>(sheet, "shortcutSearch")->setText(QStringLiteral("paste"));
    QVERIFY(find<QTableWidget>(sheet, "shortcutTable")->isRowHidden(0));
  }

  void modelsTableIsAModelAndShowsRefusals() {
    FakeCatalogue catalogue;
    ModelInfo good, bad;
    good.path = QStringLiteral("/models/a.gguf");
    good.name = QStringLiteral("A");
    good.parameters = 135000000;
    bad.path = QStringLiteral("/models/b.gguf");
    bad.name = QStringLiteral("B");
    bad.refusal = QStringLiteral("This is not a GGUF file.");
    catalogue.list = {good, bad};
    ModelsPage page(catalogue, nullptr);
    auto* view = find<QTableView>(page, "modelTable");
    QAbstractItemModelTester tester(view->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
    QCOMPARE(view->model()->index(1, ModelsTable::State).data().toString(), bad.refusal);
    view->selectRow(1);
    QVERIFY(!find<QPushButton>(page, "useInChatButton")->isEnabled());
    QVERIFY(find<QLabel>(page, "modelDetail")->text().contains(bad.refusal));
    find<QPushButton>(page, "removeFromListButton")->click();
    QCOMPARE(view->model()->rowCount(), 1);
  }

  void firstRunShowsUnknownWhileMeasuringAndEstimatesAfter() {
    FirstRunPage page;
    HardwareReport report;
    report.cores = 2;
    report.memoryTotal = report.memoryFree = qint64{24} << 30;
    page.setHardware(report, true);
    auto* writes = find<QLabel>(page, "hardwareCell0_2");
    QCOMPARE(writes->text(), QStringLiteral("–"));
    report.readGbPerS = 40;
    report.int8GopPerS = 900;
    page.setHardware(report, false);
    QVERIFY2(writes->text().startsWith(QStringLiteral("≈ ")), qPrintable(writes->text()));
    QVERIFY(find<QLabel>(page, "hardwareCell0_3")->text().startsWith(QStringLiteral("≈")));
  }

  void firstRunDemoMissingSaysWhyAndOthersStay() {
    FirstRunPage page;
    page.setDemoModel({}, QStringLiteral("The demo model is not there."));
    QVERIFY(!find<QPushButton>(page, "startDemoButton")->isEnabled());
    QVERIFY(find<QPushButton>(page, "chooseFileButton")->isEnabled());
    QSignalSpy starter(&page, &FirstRunPage::starterChosen);
    find<QPushButton>(page, "starterButton2")->click();
    QCOMPARE(starter.count(), 1);
  }
};

QTEST_MAIN(DialogsTest)
#include "tst_dialogs.moc"
