// Said before sending, and nothing lost: overflow with its choices, full disks, crashes, read-only and shared profiles.
#include <QJsonObject>
#include <QtSql/QSqlQuery>

#include "app/overflow.h"
#include "storage/database.h"
#include "tests/support/service_fixture.h"

using namespace tg;
using test::ServiceFixture;

namespace {

QString words(int n) { return QString(QStringLiteral("word ")).repeated(n).trimmed(); }

// The database may not grow any more, which SQLite tells as a full disk.
void limit_pages(ServiceFixture& f, bool full) {
  f.app().store().run([full](storage::ChatStore& store) {
    QSqlQuery query(store.database()->connection());
    return query.exec(full ? QStringLiteral("PRAGMA max_page_count = 1") : QStringLiteral("PRAGMA max_page_count = 1000000"));
  }).waitForFinished();
}

}  // namespace

class TestChatSafety : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void draftIsCounted();
  void editIsPreviewed();
  void overflowIsSaidBeforeSending();
  void choicesAreCounted();
  void widening();
  void droppingLeavesANotice();
  void policyDropsByItself();
  void headAndTailKeepsTheFirstTurn();
  void dropPlan_data();
  void dropPlan();
  void fullDiskKeepsTheAnswer();
  void fullDiskSendsNothing();
  void interruptedTurnIsRecovered();
  void recoveredTurnContinues();
  void secondInstanceHandsOver();
  void commandsGoToTheRunningInstance();
  void readOnlyProfileOpens();
  void missingModelIsSaid();
  void closingKeepsTheText();
};

void TestChatSafety::draftIsCounted() {
  ServiceFixture f;
  const QString id = f.chat();
  f.turn(id, QStringLiteral("hello"));
  QSignalSpy counted(&f.chats(), &ChatService::draftCounted);
  f.chats().countDraft(id, QStringLiteral("one two three"), {}, 5);
  QVERIFY(counted.wait());
  const auto count = counted[0][0].value<DraftCount>();
  QCOMPARE(count.request, 5ULL);
  QCOMPARE(count.draftTokens, 4);           // the script's role mark counts as one
  int sum = 0;
  for (const RecordSegment& s : count.parts) sum += s.tokens;
  QCOMPARE(sum, count.promptTokens);
  QVERIFY(count.cached > 0);
  QVERIFY(count.fits());
}

void TestChatSafety::editIsPreviewed() {
  ServiceFixture f;
  const QString id = f.chat();
  f.turn(id, QStringLiteral("one"));
  f.turn(id, QStringLiteral("two"));
  QSignalSpy seen(&f.chats(), &ChatService::editPreviewed);
  f.chats().previewEdit(id, f.chats().messages(id)[2].id, QStringLiteral("three"), 9);
  QVERIFY(seen.wait());
  const auto preview = seen[0][0].value<EditPreview>();
  QVERIFY(preview.keeps > 0);
  QVERIFY(preview.reads > 0 && preview.reads < preview.keeps + preview.reads);
}

void TestChatSafety::overflowIsSaidBeforeSending() {
  ServiceFixture f(QStringLiteral("small-window"));
  const QString id = f.chat();
  QSignalSpy over(&f.chats(), &ChatService::overflow);
  f.chats().send(id, words(400), {});
  QVERIFY(over.wait());
  QCOMPARE(f.engine().submitted(), 0);
  QCOMPARE(f.chats().messages(id).size(), 0);
  QVERIFY(!over[0][3].value<DraftCount>().fits());
  QCOMPARE(f.chats().draft(id), words(400));
}

void TestChatSafety::choicesAreCounted() {
  ServiceFixture f(QStringLiteral("small-window"));
  const QString id = f.chat();
  for (int i = 0; i < 3; ++i) f.turn(id, words(30));
  QSignalSpy ready(&f.chats(), &ChatService::overflowReady);
  f.chats().overflowChoices(id, words(100), {}, 0, 3);
  QVERIFY(ready.wait());
  const auto choices = ready[0][0].value<QVector<OverflowChoice>>();
  QCOMPARE(choices.size(), 4);
  QCOMPARE(choices[0].kind, QStringLiteral("widen"));
  QVERIFY(choices[0].possible);
  QCOMPARE(choices[0].window, 512);
  QCOMPARE(choices[1].kind, QStringLiteral("drop-oldest"));
  QVERIFY(choices[1].possible);
  QCOMPARE(choices[1].firstTurn, 1);
  QVERIFY(choices[1].prompt < choices[0].prompt);
  QVERIFY(!choices[3].possible);
  QVERIFY(!choices[3].reason.isEmpty());
}

void TestChatSafety::widening() {
  ServiceFixture f(QStringLiteral("small-window"));
  const QString id = f.chat();
  OverflowChoice widen;
  widen.kind = QStringLiteral("widen");
  widen.window = 512;
  f.chats().sendWithOverflow(id, words(300), {}, widen, false);
  QTRY_VERIFY(f.chats().liveTurn(id));
  f.finish(id);
  QCOMPARE(f.chats().messages(id).last().record->context, 512);
  f.turn(id, words(20));                     // the chat keeps its window
  QCOMPARE(f.chats().messages(id).size(), 4);
}

void TestChatSafety::droppingLeavesANotice() {
  ServiceFixture f(QStringLiteral("small-window"));
  const QString id = f.chat();
  for (int i = 0; i < 3; ++i) f.turn(id, words(30));
  QSignalSpy ready(&f.chats(), &ChatService::overflowReady);
  f.chats().overflowChoices(id, words(100), {}, 0, 3);
  QVERIFY(ready.wait());
  f.chats().sendWithOverflow(id, words(100), {}, ready[0][0].value<QVector<OverflowChoice>>()[1], false);
  QTRY_VERIFY(f.chats().liveTurn(id));
  f.finish(id);
  const auto messages = f.chats().messages(id);
  QCOMPARE(messages.size(), 9);
  QCOMPARE(messages[6].role, QStringLiteral("notice"));
  QVERIFY(messages[6].text.startsWith(QStringLiteral("Turns 1–")));
  const TurnRecord& r = *messages[8].record;
  QCOMPARE(*r.inputTotal, ready[0][0].value<QVector<OverflowChoice>>()[1].prompt);
  QCOMPARE(r.cache.miss->detail, QStringLiteral("turns_dropped"));
}

void TestChatSafety::policyDropsByItself() {
  ServiceFixture f(QStringLiteral("small-window"));
  GenerationSettings s;
  s.onFull = QStringLiteral("drop-oldest");
  const QString id = f.chat(QStringLiteral("a"), s);
  for (int i = 0; i < 8; ++i) f.turn(id, words(30));
  int notices = 0, most = 0;
  const auto messages = f.chats().messages(id);
  for (const MessageInfo& m : messages) {
    notices += m.role == QLatin1String("notice") ? 1 : 0;
    if (m.record) most = std::max(most, *m.record->inputTotal);
  }
  QVERIFY(notices >= 1);
  QVERIFY(most <= 256);
}

void TestChatSafety::headAndTailKeepsTheFirstTurn() {
  ServiceFixture f(QStringLiteral("small-window"));
  GenerationSettings s;
  s.onFull = QStringLiteral("head-tail");
  const QString id = f.chat(QStringLiteral("a"), s);
  for (int i = 0; i < 6; ++i) f.turn(id, i == 0 ? QStringLiteral("remember 4711") : words(30));
  const auto prompt = f.engine().lastJob().prompt;
  QVERIFY(QString::fromStdString(prompt->text).contains(QStringLiteral("4711")));
  QVERIFY(prompt->ids.size() <= 256);
}

void TestChatSafety::dropPlan_data() {
  QTest::addColumn<int>("prompt");
  QTest::addColumn<bool>("keepFirst");
  QTest::addColumn<int>("wanted");
  QTest::addColumn<bool>("possible");
  QTest::addColumn<int>("first");
  QTest::addColumn<int>("last");
  QTest::newRow("one big step to 85 %") << 1100 << false << 0 << true << 1 << 4;
  QTest::newRow("as many as asked") << 1100 << false << 5 << true << 1 << 5;
  QTest::newRow("first stays") << 1100 << true << 0 << true << 2 << 5;
  QTest::newRow("not enough") << 5000 << false << 0 << false << 1 << 8;
}

void TestChatSafety::dropPlan() {
  QFETCH(int, prompt);
  QFETCH(bool, keepFirst);
  QFETCH(int, wanted);
  QFETCH(bool, possible);
  QFETCH(int, first);
  QFETCH(int, last);
  QVector<PromptTurn> turns;
  for (int i = 1; i <= 8; ++i) turns.push_back({i, QString::number(i), {}, 100});
  const DropPlan plan = plan_drop(turns, {}, prompt, 100, 1000, keepFirst, wanted);
  QCOMPARE(plan.possible, possible);
  QCOMPARE(plan.firstTurn, first);
  QCOMPARE(plan.lastTurn, last);
}

void TestChatSafety::fullDiskKeepsTheAnswer() {
  ServiceFixture f;
  const QString id = f.chat();
  f.start(id, words(5000));                  // an answer that needs new pages
  f.engine().script().answers = {words(4000)};
  limit_pages(f, true);
  QSignalSpy failed(&f.chats(), &ChatService::failed), finished(&f.chats(), &ChatService::turnFinished);
  f.engine().finishAll();
  QTRY_VERIFY(!failed.isEmpty() || !finished.isEmpty());
  if (finished.isEmpty()) {
    QCOMPARE(failed[0][1].toString(), QStringLiteral("The disk is full. The answer is kept in memory until there is room."));
    QVERIFY(f.chats().liveTurn(id));
    QVERIFY(!f.chats().liveTurn(id)->text.isEmpty());
    limit_pages(f, false);
    QTRY_COMPARE(finished.size(), 1);
  }
  QCOMPARE(f.chats().messages(id).last().state, TurnState::Finished);
}

void TestChatSafety::fullDiskSendsNothing() {
  ServiceFixture f;
  const QString id = f.chat();
  f.turn(id, QStringLiteral("hello"));
  limit_pages(f, true);
  QSignalSpy failed(&f.chats(), &ChatService::failed);
  const QString much(2000000, QLatin1Char('x'));  // one token of the script, many pages on disk
  f.chats().send(id, much, {});
  QTRY_VERIFY(!failed.isEmpty() || f.chats().liveTurn(id));
  QCOMPARE(f.engine().submitted(), 1);
  QCOMPARE(f.chats().messages(id).size(), 2);
  QCOMPARE(f.chats().draft(id), much);
  limit_pages(f, false);
}

void TestChatSafety::interruptedTurnIsRecovered() {
  ServiceFixture f;
  const QString id = f.chat();
  f.turn(id, QStringLiteral("hello"));
  f.app().store().run([id](storage::ChatStore& store) {
    const auto messages = store.messages(id);
    storage::Message user;
    user.id = QStringLiteral("u2");
    user.chatId = id;
    user.parentId = messages->last().id;
    user.role = QStringLiteral("user");
    user.text = QStringLiteral("more");
    if (auto done = store.addMessage(user); !done) return done;
    storage::Message half = user;
    half.id = QStringLiteral("a2");
    half.parentId = user.id;
    half.role = QStringLiteral("assistant");
    half.text = QStringLiteral("Half an ans");
    half.state = storage::MessageState::Streaming;
    return store.addMessage(half);
  }).waitForFinished();
  f.reopen();
  QSignalSpy opened(&f.chats(), &ChatService::chatOpened);
  f.chats().openChat(id);
  QVERIFY(opened.wait());
  const MessageInfo answer = f.chats().messages(id).last();
  QCOMPARE(answer.state, TurnState::Recovered);
  QCOMPARE(answer.text, QStringLiteral("Half an ans"));
  f.chats().discardRecovered(id, answer.id);
  QCOMPARE(f.chats().messages(id).size(), 3);
}

void TestChatSafety::recoveredTurnContinues() {
  ServiceFixture f;
  const QString id = f.chat();
  f.start(id, QStringLiteral("go"));
  while (f.chats().liveTurn(id)->output < 3) f.engine().advance(20);
  const QString message = f.chats().liveTurn(id)->messageId;
  f.app().store().run([message](storage::ChatStore& store) {
    auto done = store.saveAnswerDraft(message, QStringLiteral("Wednesday was the"), {});
    const auto recovered = store.recoverInterrupted();
    return done;
  }).waitForFinished();
  f.finish(id);
  QVERIFY(f.chats().messages(id).last().text.startsWith(QStringLiteral("Wednesday was the warmest")));
}

void TestChatSafety::secondInstanceHandsOver() {
  ServiceFixture f;
  QSignalSpy asked(&f.app(), &Application::openRequested);
  AppOptions options;
  options.profile = f.profile();
  options.openFiles = {QStringLiteral("/some/model.gguf")};
  QString error;
  bool busy = false;
  // The first instance answers from its event loop; the second waits on a thread of its own as another process would.
  std::unique_ptr<QThread> second(QThread::create([&] {
    const bool taken = hand_over_files(profile_paths(f.profile()).socketName(), options.openFiles);
    error = taken ? QStringLiteral("taken") : QStringLiteral("nobody");
  }));
  second->start();
  QVERIFY(asked.wait());
  QTRY_VERIFY(second->isFinished());
  QCOMPARE(error, QStringLiteral("taken"));
  QCOMPARE(asked[0][0].toStringList(), options.openFiles);
  QVERIFY(!ApplicationImpl::open(options, &error, &busy));
  QVERIFY(busy);
  QVERIFY(error.startsWith(QStringLiteral("Another Turnglass uses this profile.")));
}

void TestChatSafety::commandsGoToTheRunningInstance() {
  ServiceFixture f(QStringLiteral("instant"));
  f.chat(QStringLiteral("in the window"));
  QByteArray out;
  std::optional<int> code;
  std::unique_ptr<QThread> cli(QThread::create([&] {
    code = hand_over_command(profile_paths(f.profile()).socketName(), {QStringLiteral("chat"), QStringLiteral("list"), QStringLiteral("--json")},
                             {[&](const QByteArray& line) { out += line; }, [](const QByteArray&) {}, nullptr});
  }));
  cli->start();
  QTRY_VERIFY(cli->isFinished());
  QCOMPARE(*code, 0);
  QVERIFY(out.contains("in the window"));
}

void TestChatSafety::readOnlyProfileOpens() {
  ServiceFixture f(QStringLiteral("instant"));
  const QString id = f.chat();
  f.turn(id, QStringLiteral("hello"));
  f.app().shutdown();
  AppOptions options;
  options.profile = f.profile();
  options.scriptedEngine = QStringLiteral("instant");
  options.readOnly = true;
  QString error;
  const auto reader = ApplicationImpl::open(options, &error);
  QVERIFY2(reader != nullptr, qPrintable(error));
  QSignalSpy opened(&reader->service(), &ChatService::chatOpened), failed(&reader->service(), &ChatService::failed);
  reader->service().openChat(id);
  QVERIFY(opened.wait());
  QCOMPARE(reader->service().messages(id).size(), 2);
  reader->service().send(id, QStringLiteral("more"), {});
  QCOMPARE(failed.size(), 1);
  QCOMPARE(reader->service().draft(id), QStringLiteral("more"));
}

void TestChatSafety::missingModelIsSaid() {
  QTemporaryDir dir;
  AppOptions options;
  options.profile = dir.path();
  QString error;
  const auto app = ApplicationImpl::open(options, &error);
  QVERIFY2(app != nullptr, qPrintable(error));
  const QString id = app->service().createChat(QStringLiteral("a"), dir.path() + QStringLiteral("/gone.gguf"), {});
  QSignalSpy finished(&app->service(), &ChatService::turnFinished);
  app->service().send(id, QStringLiteral("hello"), {});
  QVERIFY(finished.wait());
  const auto answer = finished[0][1].value<MessageInfo>();
  QCOMPARE(answer.state, TurnState::Error);
  QCOMPARE(answer.error, QStringLiteral("The file is gone or cannot be read: gone.gguf."));
  QCOMPARE(app->service().messages(id).first().text, QStringLiteral("hello"));
}

void TestChatSafety::closingKeepsTheText() {
  ServiceFixture f(QStringLiteral("long"));
  const QString id = f.chat();
  f.start(id, QStringLiteral("go"));
  QTRY_VERIFY(f.chats().liveTurn(id)->text.size() > 100);
  f.app().shutdown();
  f.reopen();
  QSignalSpy opened(&f.chats(), &ChatService::chatOpened);
  f.chats().openChat(id);
  QVERIFY(opened.wait());
  QCOMPARE(f.chats().messages(id).last().state, TurnState::Stopped);
  QVERIFY(f.chats().messages(id).last().text.size() > 100);
}

QTEST_GUILESS_MAIN(TestChatSafety)
#include "tst_chat_safety.moc"
