// Chats into files and back as the window does it, the samples of an old turn, and the care of the chat file.
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>

#include "tests/support/service_fixture.h"

using namespace tg;
using namespace tg::test;

namespace {

ExportResult exported(ServiceFixture& f, const QString& chat, const ExportWish& wish, const QString& file = {}) {
  QSignalSpy spy(&f.chats(), &ChatService::exported);
  f.chats().exportChat(chat, wish, file, 7);
  return spy.wait() ? spy[0][0].value<ExportResult>() : ExportResult();
}

ImportPreview previewed(ServiceFixture& f, const QString& file) {
  QSignalSpy spy(&f.chats(), &ChatService::importPreviewed);
  f.chats().previewImport(file, 8);
  return spy.wait() ? spy[0][0].value<ImportPreview>() : ImportPreview();
}

ImportResult imported(ServiceFixture& f, const QString& file, bool duplicates) {
  QSignalSpy spy(&f.chats(), &ChatService::imported);
  f.chats().importChats(file, duplicates, 9);
  return spy.wait() ? spy[0][0].value<ImportResult>() : ImportResult();
}

DataAnswer answered(ServiceFixture& f, const std::function<void(ApplicationImpl&)>& ask) {
  QSignalSpy spy(&f.app(), &Application::dataAnswered);
  ask(f.app());
  return spy.wait() ? spy[0][0].value<DataAnswer>() : DataAnswer();
}

QByteArray read(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void write(const QString& path, const QByteArray& bytes) {
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  QCOMPARE(file.write(bytes), bytes.size());
}

}  // namespace

class TestChatFiles : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void curveIsLoadedWhenLookedAt();
  void exportHasWhatWasAskedFor();
  void exportThatFailsSaysSo();
  void importKnowsItsOwn();
  void importCountsForeignChats();
  void importRefusesOtherFiles();
  void checkedAndBackedUp();
  void restoredAtTheNextStart();
  void restoreRefusesOtherFiles();
};

void TestChatFiles::curveIsLoadedWhenLookedAt() {
  ServiceFixture f;
  const QString id = f.chat();
  f.turn(id, QStringLiteral("hello"));
  const QVector<float> curve = f.chats().messages(id)[1].record->rateCurve;
  QVERIFY(!curve.isEmpty());
  f.reopen();
  QSignalSpy opened(&f.chats(), &ChatService::chatOpened), changed(&f.chats(), &ChatService::messageChanged);
  f.chats().openChat(id);
  QVERIFY(opened.wait());
  const MessageInfo answer = f.chats().messages(id)[1];
  QVERIFY(answer.record->rateCurve.isEmpty());  // a chat opens without them
  f.chats().loadCurve(id, answer.id);
  QVERIFY(changed.wait());
  QCOMPARE(changed[0][1].value<MessageInfo>().record->rateCurve, curve);
  QCOMPARE(f.chats().messages(id)[1].record->rateCurve, curve);
  f.chats().loadCurve(id, answer.id);         // there already
  f.chats().loadCurve(id, QStringLiteral("nobody"));
}

void TestChatFiles::exportHasWhatWasAskedFor() {
  ServiceFixture f(QStringLiteral("thinking"));
  f.engine().script().timer = false;
  const QString id = f.chat(QStringLiteral("Lisbon"));
  f.turn(id, QStringLiteral("the first question"));
  const MessageInfo answer = f.chats().messages(id)[1];
  QVERIFY(!answer.thinkingText.isEmpty());
  const QString thought = answer.thinkingText.section(QLatin1Char(' '), 0, 2);
  const QString file = f.profile() + QStringLiteral("/out.txt");
  const auto text = [&](const ExportWish& wish) {
    const ExportResult result = exported(f, id, wish, file);
    return result.error.isEmpty() ? QString::fromUtf8(read(file)) : result.error;
  };
  const QString json = QStringLiteral("json"), md = QStringLiteral("md"), csv = QStringLiteral("csv");
  const QString both = QStringLiteral("both"), chat = QStringLiteral("chat"), figures = QStringLiteral("figures");
  const QString all = text({both, json, true});
  QVERIFY(all.contains(QStringLiteral("the first question")) && all.contains(thought) && all.contains(QStringLiteral("input_total")));
  QVERIFY(!text({both, json, false}).contains(thought));
  QVERIFY(!text({chat, json, true}).contains(QStringLiteral("input_total")));
  for (const QString& format : {json, csv}) {
    const QString bare = text({figures, format, true});
    QVERIFY(!bare.contains(QStringLiteral("the first question")) && !bare.contains(QStringLiteral("Lisbon")));
    QVERIFY(bare.contains(QStringLiteral("input_total")));
  }
  QVERIFY(text({both, md, true}).contains(QStringLiteral("\n> ") + thought));
  QVERIFY(text({both, md, false}).contains(QStringLiteral("*in ")));
  QVERIFY(!text({chat, md, false}).contains(QStringLiteral("*in ")));
  const ExportResult preview = exported(f, id, {both, md, true});
  QVERIFY(preview.file.isEmpty());
  QVERIFY(preview.preview.startsWith(QStringLiteral("# Lisbon")));
  QVERIFY(preview.preview.count(QLatin1Char('\n')) < 10);
}

void TestChatFiles::exportThatFailsSaysSo() {
  ServiceFixture f;
  const QString id = f.chat();
  f.turn(id, QStringLiteral("hello"));
  const ExportResult result = exported(f, id, {}, f.profile() + QStringLiteral("/no/such/folder/a.json"));
  QVERIFY(result.error.startsWith(QStringLiteral("The file cannot be written")));
}

void TestChatFiles::importKnowsItsOwn() {
  ServiceFixture f;
  const QString id = f.chat(QStringLiteral("Lisbon"));
  f.turn(id, QStringLiteral("hello"));
  const QString file = f.profile() + QStringLiteral("/out.json");
  QVERIFY(exported(f, id, {}, file).error.isEmpty());
  const ImportPreview here = previewed(f, file);
  QCOMPARE(here.error, QString());
  QCOMPARE(here.chats, 1);
  QCOMPARE(here.messages, 2);
  QCOMPARE(here.turns, 1);
  QCOMPARE(here.duplicates, 1);
  QCOMPARE(here.titles, QStringList{QStringLiteral("Lisbon")});
  QCOMPARE(here.kind, QStringLiteral("Chats of Turnglass"));
  const ImportResult none = imported(f, file, false);
  QCOMPARE(none.chats, 0);
  QCOMPARE(none.skipped, 1);
  QCOMPARE(f.chats().chats().size(), 1);
  const ImportResult copy = imported(f, file, true);
  QCOMPARE(copy.chats, 1);
  QCOMPARE(f.chats().chats().size(), 2);
  QVERIFY(copy.firstChatId != id);
  QSignalSpy opened(&f.chats(), &ChatService::chatOpened);
  f.chats().openChat(copy.firstChatId);
  QVERIFY(opened.wait());
  QCOMPARE(f.texts(copy.firstChatId), f.texts(id));
  QVERIFY(f.chats().messages(copy.firstChatId)[1].record.has_value());
  f.turn(id, QStringLiteral("one more"));    // the chat has gone on: the file holds another one now
  f.chats().deleteForever(copy.firstChatId);
  QTRY_COMPARE(f.chats().chats().size(), 1);
  QCOMPARE(previewed(f, file).duplicates, 0);
}

void TestChatFiles::importCountsForeignChats() {
  ServiceFixture f;
  const QString file = f.profile() + QStringLiteral("/other.json");
  write(file, R"([{"title":"a","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]},
                  {"title":"b","messages":[{"role":"user","content":"more"}]}])");
  const ImportPreview preview = previewed(f, file);
  QCOMPARE(preview.chats, 2);
  QCOMPARE(preview.messages, 3);
  QCOMPARE(preview.duplicates, 0);
  QCOMPARE(imported(f, file, false).chats, 2);
  QCOMPARE(previewed(f, file).duplicates, 2);
}

void TestChatFiles::importRefusesOtherFiles() {
  ServiceFixture f;
  const QString file = f.profile() + QStringLiteral("/bad.json");
  for (const QByteArray& bytes : {QByteArray(), QByteArray("nonsense"), QByteArray("[]"), QByteArray("[1,2]"), QByteArray("{\"turnglass\":1}")}) {
    write(file, bytes);
    QVERIFY(!previewed(f, file).error.isEmpty());
    const ImportResult result = imported(f, file, true);
    QVERIFY(!result.error.isEmpty());
    QCOMPARE(result.chats, 0);
  }
  QVERIFY(!previewed(f, f.profile() + QStringLiteral("/gone.json")).error.isEmpty());
}

void TestChatFiles::checkedAndBackedUp() {
  ServiceFixture f;
  f.turn(f.chat(), QStringLiteral("hello"));
  const DataAnswer check = answered(f, [](ApplicationImpl& app) { app.checkData(1); });
  QVERIFY2(check.ok, qPrintable(check.sentence));
  QCOMPARE(check.request, 1ULL);
  const QString file = f.profile() + QStringLiteral("/mine.sqlite");
  const DataAnswer backup = answered(f, [&](ApplicationImpl& app) { app.backUpData(file, 2); });
  QVERIFY2(backup.ok, qPrintable(backup.sentence));
  QCOMPARE(backup.file, file);
  QVERIFY(QFile::exists(file));
  QVERIFY(!answered(f, [&](ApplicationImpl& app) { app.backUpData(f.profile() + QStringLiteral("/no/such/folder/a.sqlite"), 3); }).ok);
}

void TestChatFiles::restoredAtTheNextStart() {
  ServiceFixture f;
  f.turn(f.chat(QStringLiteral("old")), QStringLiteral("hello"));
  const QString file = f.profile() + QStringLiteral("/mine.sqlite");
  QVERIFY(answered(f, [&](ApplicationImpl& app) { app.backUpData(file, 1); }).ok);
  f.chat(QStringLiteral("new"));
  const DataAnswer restore = answered(f, [&](ApplicationImpl& app) { app.restoreData(file, 2); });
  QVERIFY2(restore.ok, qPrintable(restore.sentence));
  QVERIFY(restore.sentence.contains(QStringLiteral("next time")));
  QCOMPARE(f.chats().chats().size(), 2);     // nothing changes under the running program
  QVERIFY(QFile::remove(file));              // as a stick that was pulled out
  f.reopen();
  QVERIFY(f.app().profileNotice().contains(QStringLiteral("restored")));
  QCOMPARE(f.chats().chats().size(), 1);
  QCOMPARE(f.chats().chats()[0].title, QStringLiteral("old"));
  f.reopen();
  QCOMPARE(f.app().profileNotice(), QString());
  QCOMPARE(f.chats().chats().size(), 1);
}

void TestChatFiles::restoreRefusesOtherFiles() {
  ServiceFixture f;
  f.chat(QStringLiteral("mine"));
  const QString file = f.profile() + QStringLiteral("/bad.sqlite");
  for (const QByteArray& bytes : {QByteArray(), QByteArray("nonsense, and not a database at all")}) {
    write(file, bytes);
    QVERIFY(!answered(f, [&](ApplicationImpl& app) { app.restoreData(file, 1); }).ok);
  }
  QVERIFY(!answered(f, [&](ApplicationImpl& app) { app.restoreData(f.profile() + QStringLiteral("/gone.sqlite"), 1); }).ok);
  f.reopen();
  QCOMPARE(f.chats().chats().size(), 1);
}

QTEST_GUILESS_MAIN(TestChatFiles)
#include "tst_chat_files.moc"
