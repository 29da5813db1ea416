// Export, import, the choice of a template, the care of the chat file, and where the keyboard is on a fresh profile.
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QtTest>

#include "tests/support/fake_chat_service.h"
#include "tests/support/find_widget.h"
#include "app/format.h"
#include "views/chats/chat_list_model.h"
#include "views/chats/chat_view.h"
#include "views/chats/chats_page.h"
#include "views/composer/composer.h"
#include "views/dialogs/settings_dialog.h"
#include "views/dialogs/template_dialog.h"
#include "views/dialogs/transfer_dialogs.h"
#include "views/shell/main_window.h"

using namespace tg;
using tg::test::find;
using tg::fake::FakeApplication;
using tg::fake::FakeChatService;

namespace {

class Service : public FakeChatService {
 public:
  QVector<ExportWish> wishes;
  QStringList files;
  QString error;
  ImportPreview preview;
  bool duplicates = false;

  void exportChat(const QString&, const ExportWish& wish, const QString& file, quint64 request) override {
    wishes << wish;
    files << file;
    ExportResult result;
    result.request = request;
    result.file = file;
    result.preview = QStringLiteral("# ") + wish.what + QLatin1Char(' ') + wish.format;
    result.error = file.isEmpty() ? QString() : error;
    QMetaObject::invokeMethod(this, [this, result] { Q_EMIT exported(result); }, Qt::QueuedConnection);
  }
  void previewImport(const QString& file, quint64 request) override {
    preview.request = request;
    preview.file = file;
    QMetaObject::invokeMethod(this, [this] { Q_EMIT importPreviewed(preview); }, Qt::QueuedConnection);
  }
  void importChats(const QString&, bool duplicatesToo, quint64 request) override {
    duplicates = duplicatesToo;
    ImportResult result;
    result.request = request;
    result.chats = duplicatesToo ? preview.chats : preview.chats - preview.duplicates;
    result.firstChatId = QStringLiteral("new");
    QMetaObject::invokeMethod(this, [this, result] { Q_EMIT imported(result); }, Qt::QueuedConnection);
  }
};

class DataApplication : public FakeApplication {
 public:
  void checkData(quint64 request) override {
    DataAnswer answer;
    answer.request = request;
    answer.sentence = QStringLiteral("The chat file is sound.");
    Q_EMIT dataAnswered(answer);
  }
};

class NeedsTemplate : public FakeApplication {
 public:
  class Chats : public FakeChatService {
   public:
    void listTemplates(const QString&, quint64 request) override {
      Q_EMIT templatesListed({{QStringLiteral("builtin:a"), QStringLiteral("A"), QStringLiteral("It fits."), true}, {QStringLiteral("builtin:b"), QStringLiteral("B"), {}, false}}, request);
    }
    void setTemplate(const QString& chat, const QString& name) override { calls << QStringLiteral("template ") + chat + QLatin1Char(' ') + name; }
  } bare;
  ChatService& chats() override { return bare; }
};

}  // namespace

class TransferDialogsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void exportShowsTheFirstLines() {
    Service service;
    ExportDialog dialog(service, QStringLiteral("a"), nullptr);
    auto* text = find<QPlainTextEdit>(dialog, "exportPreview");
    QTRY_COMPARE(text->toPlainText(), QStringLiteral("# both json"));
    auto* format = find<QComboBox>(dialog, "exportFormat");
    format->setCurrentIndex(format->findData(QStringLiteral("md")));
    QTRY_COMPARE(text->toPlainText(), QStringLiteral("# both md"));
    find<QCheckBox>(dialog, "exportThinking")->click();
    QVERIFY(!service.wishes.last().thinking);
    QVERIFY(service.files.join(QString()).isEmpty());  // nothing is written before a file was named
  }

  void figuresHaveNoTexts() {
    Service service;
    ExportDialog dialog(service, QStringLiteral("a"), nullptr);
    auto* format = find<QComboBox>(dialog, "exportFormat");
    format->setCurrentIndex(format->findData(QStringLiteral("csv")));
    QCOMPARE(service.wishes.last().what, QStringLiteral("figures"));
    QVERIFY(!find<QCheckBox>(dialog, "exportThinking")->isEnabled());
    QVERIFY(!find<QLabel>(dialog, "exportNote")->text().isEmpty());
    auto* what = find<QComboBox>(dialog, "exportWhat");
    what->setCurrentIndex(what->findData(QStringLiteral("figures")));
    format->setCurrentIndex(format->findData(QStringLiteral("md")));
    QCOMPARE(service.wishes.last().format, QStringLiteral("csv"));  // and the note says so
  }

  void exportStaysOpenWhenItFails() {
    Service service;
    service.error = QStringLiteral("The file cannot be written: /x.");
    ExportDialog dialog(service, QStringLiteral("a"), nullptr);
    dialog.open();
    QSignalSpy saved(&dialog, &ExportDialog::saved);
    dialog.saveTo(QStringLiteral("/x"));
    QTRY_COMPARE(find<QLabel>(dialog, "exportNote")->text(), service.error);
    QVERIFY(dialog.isVisible());
    service.error.clear();
    dialog.saveTo(QStringLiteral("/y"));
    QTRY_COMPARE(saved.count(), 1);
    QCOMPARE(saved[0][0].toString(), QStringLiteral("/y"));
    QVERIFY(!dialog.isVisible());
  }

  void importTellsCountsAndDuplicates() {
    Service service;
    service.preview.kind = QStringLiteral("Chats of Turnglass");
    service.preview.chats = 3;
    service.preview.messages = 1200;
    service.preview.turns = 4;
    service.preview.duplicates = 1;
    service.preview.titles = {QStringLiteral("a"), QStringLiteral("b"), QStringLiteral("<b>c</b>")};
    ImportDialog dialog(service, nullptr);
    auto* start = find<QPushButton>(dialog, "importStart");
    QVERIFY(!start->isEnabled());
    dialog.read(QStringLiteral("/some/export.json"));
    QTRY_VERIFY(start->isEnabled());
    QCOMPARE(find<QLabel>(dialog, "importCounts")->text(), QStringLiteral("3 chats, 1\u202f200 messages, figures of 4 turns."));
    QVERIFY(find<QLabel>(dialog, "importKind")->text().contains(QStringLiteral("Chats of Turnglass")));
    QCOMPARE(find<QLabel>(dialog, "importTitles")->textFormat(), Qt::PlainText);
    QSignalSpy done(&dialog, &ImportDialog::done);
    start->click();
    QTRY_COMPARE(done.count(), 1);
    QCOMPARE(done[0][0].toInt(), 2);
    QVERIFY(!service.duplicates);
  }

  void importOfOnlyDuplicatesAsksFirst() {
    Service service;
    service.preview.chats = service.preview.duplicates = 2;
    ImportDialog dialog(service, nullptr);
    dialog.read(QStringLiteral("/some/export.json"));
    auto* again = find<QCheckBox>(dialog, "importDuplicates");
    QTRY_VERIFY(again->isVisibleTo(&dialog));
    auto* start = find<QPushButton>(dialog, "importStart");
    QVERIFY(!start->isEnabled());
    again->click();
    QVERIFY(start->isEnabled());
  }

  void importSaysWhatIsWrong() {
    Service service;
    service.preview.error = QStringLiteral("This import has no chats in it.");
    ImportDialog dialog(service, nullptr);
    dialog.read(QStringLiteral("/some/export.json"));
    QTRY_COMPARE(find<QLabel>(dialog, "importNote")->text(), service.preview.error);
    QVERIFY(!find<QPushButton>(dialog, "importStart")->isEnabled());
  }

  void templateIsChosenByTheUser() {
    TemplateDialog dialog(nullptr);
    dialog.setChoices({{QStringLiteral("builtin:a"), QStringLiteral("A"), QStringLiteral("It fits."), true}, {QStringLiteral("builtin:b"), QStringLiteral("B"), {}, false}});
    QCOMPARE(dialog.chosen(), QString());     // a suggestion is no choice
    QVERIFY(!find<QPushButton>(dialog, "templateUse")->isEnabled());
    auto* list = find<QListWidget>(dialog, "templateList");
    QVERIFY(list->item(0)->text().contains(QStringLiteral("suggested")));
    QVERIFY(!list->item(1)->text().contains(QStringLiteral("suggested")));
    list->setCurrentRow(0);
    QCOMPARE(dialog.chosen(), QStringLiteral("builtin:a"));
    QCOMPARE(find<QLabel>(dialog, "templateReason")->text(), QStringLiteral("It fits."));
  }

  void sendThatNeedsATemplateGoesOn() {
    NeedsTemplate app;
    const QString id = app.bare.createChat(QStringLiteral("a"), {}, {});
    MainWindow window(app);
    window.start();
    window.show();
    Q_EMIT app.bare.templateNeeded(id, QStringLiteral("hello"), {});
    auto* dialog = window.findChild<TemplateDialog*>();
    QVERIFY(dialog && dialog->isVisible());
    auto* list = find<QListWidget>(*dialog, "templateList");
    QTRY_COMPARE(list->count(), 2);
    list->setCurrentRow(1);
    find<QPushButton>(*dialog, "templateUse")->click();
    QVERIFY(app.bare.calls.contains(QStringLiteral("template %1 builtin:b").arg(id)));
    QCOMPARE(app.bare.sent.size(), 1);
    QCOMPARE(app.bare.sent[0].text, QStringLiteral("hello"));
    Q_EMIT app.bare.templateNeeded(id, QStringLiteral("once more"), {});
    const auto dialogs = window.findChildren<TemplateDialog*>();
    dialogs.last()->reject();
    QCOMPARE(app.bare.sent.size(), 1);
    QCOMPARE(window.chatsPage()->view()->composer()->text(), QStringLiteral("once more"));  // nothing is lost
  }

  void chatFileIsChecked() {
    DataApplication app;
    SettingsDialog dialog(app, nullptr);
    for (const char* name : {"checkDataButton", "backupButton", "restoreButton"}) QVERIFY(find<QPushButton>(dialog, name));
    find<QPushButton>(dialog, "checkDataButton")->click();
    QCOMPARE(find<QLabel>(dialog, "dataAnswer")->text(), QStringLiteral("The chat file is sound."));
  }

  void chatOfAnUnloadedModelNamesTheLoad() {
    ChatInfo chat;
    chat.modelLoaded = false;
    chat.waitMs = 300;
    chat.loadMs = 3100;
    QCOMPARE(chatSecondLine(chat, std::nullopt), QStringLiteral("not loaded · %1 + load %2").arg(format::expectedTime(300), format::expectedTime(3100)));
    QVERIFY(chatSentence(chat).contains(QStringLiteral("The model is loaded first, about 3.1 seconds.")));
    chat.waitMs.reset();
    chat.loadMs.reset();
    QCOMPARE(chatSecondLine(chat, std::nullopt), QStringLiteral("not loaded · –"));
  }

  void freshProfileStartsOnTheDemoButton() {
    FakeApplication app;
    ModelInfo demo;
    demo.path = QStringLiteral("/models/demo.gguf");
    app.catalogue.list = {demo};
    MainWindow window(app);
    window.start();
    window.show();
    QCOMPARE(window.focusWidget(), static_cast<QWidget*>(find<QPushButton>(window, "startDemoButton")));
  }

  void aProfileWithChatsStartsInTheComposer() {
    FakeApplication app;
    app.service.createChat(QStringLiteral("a"), {}, {});
    MainWindow window(app);
    window.start();
    window.show();
    QVERIFY(window.focusWidget() && window.chatsPage()->view()->composer()->isAncestorOf(window.focusWidget()));
  }
};

QTEST_MAIN(TransferDialogsTest)
#include "tst_transfer_dialogs.moc"
