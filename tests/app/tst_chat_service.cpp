// What a person does to a chat, through the service: send, stop, edit, fork, versions, queue, switching while an answer is written.
#include "tests/support/service_fixture.h"

using namespace tg;
using test::ServiceFixture;

class TestChatService : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void sendAnswersAndRecords();
  void secondTurnReusesTheFirst();
  void messageIsOnDiskBeforeTheEngineSeesIt();
  void textOnlyGrowsWhileStreaming();
  void stopKeepsTheText();
  void stopWhileReadingKeepsWhatWasRead();
  void stoppedAnswerContinues();
  void regenerateMakesAVersion();
  void editMakesAVersionAndSendsIt();
  void versionsKeepTheirOwnFollowingTurns();
  void forkSharesThePast();
  void oneMessageWaits();
  void queuedMessageCanBeTakenBack();
  void switchingChatsChangesNothing();
  void twoChatsAnswerSideBySide();
  void errorKeepsTheText();
  void deletedChatComesBack();
  void deletingStopsFirst();
  void draftSurvives();
  void titleComesFromTheFirstMessage();
  void searchFinds();
  void searchFindsNothing();
  void settingsSurvive();
  void modelChangeKeepsTheText();
  void attachmentsStayInThePrompt();
  void binaryAttachmentIsRefused();
  void limitOfTheAnswer();
  void thinkingIsCountedApart();
  void evictionIsNamed();
};

void TestChatService::sendAnswersAndRecords() {
  ServiceFixture f;
  const QString id = f.chat();
  QSignalSpy added(&f.chats(), &ChatService::messageAdded), finished(&f.chats(), &ChatService::turnFinished);
  f.turn(id, QStringLiteral("Which day was the warmest?"));
  QCOMPARE(added.size(), 2);
  QCOMPARE(finished.size(), 1);
  const QVector<MessageInfo> messages = f.chats().messages(id);
  QCOMPARE(messages.size(), 2);
  QCOMPARE(messages[1].state, TurnState::Finished);
  QVERIFY(messages[1].record.has_value());
  const TurnRecord& r = *messages[1].record;
  QCOMPARE(*r.inputTotal, *r.inputCached + *r.inputFresh);
  int sum = 0;
  for (const RecordSegment& s : r.segments) sum += s.tokens;
  QCOMPARE(sum, *r.inputTotal);
  QCOMPARE(r.turn, 1);
  QCOMPARE(r.cache.miss->cause, QStringLiteral("first_turn"));
  QCOMPARE(r.outputIds.size(), *r.output);
}

void TestChatService::secondTurnReusesTheFirst() {
  ServiceFixture f;
  const QString id = f.chat();
  f.turn(id, QStringLiteral("one"));
  f.turn(id, QStringLiteral("two"));
  const auto messages = f.chats().messages(id);
  const TurnRecord &a = *messages[1].record, &b = *messages[3].record;
  QCOMPARE(b.turn, 2);
  QVERIFY(*b.inputCached >= *a.inputTotal + *a.output - 8);
  QVERIFY(!b.cache.miss);
  QCOMPARE(b.cache.outcome, QStringLiteral("reused"));
  f.reopen();
  QSignalSpy opened(&f.chats(), &ChatService::chatOpened);
  f.chats().openChat(id);
  QVERIFY(opened.wait());
  const auto again = f.chats().messages(id);
  QCOMPARE(again.size(), 4);
  QCOMPARE(again[3].record->toJson(), b.toJson());
}

void TestChatService::messageIsOnDiskBeforeTheEngineSeesIt() {
  ServiceFixture f;
  const QString id = f.chat();
  f.start(id, QStringLiteral("hello"));
  QCOMPARE(f.engine().submitted(), 1);
  const auto rows = f.app().store().run([id](storage::ChatStore& store) { return store.messages(id); }).result();
  QCOMPARE(rows->size(), 2);
  QCOMPARE(rows->at(0).text, QStringLiteral("hello"));
  QCOMPARE(rows->at(1).state, storage::MessageState::Streaming);
  f.finish(id);
}

void TestChatService::textOnlyGrowsWhileStreaming() {
  ServiceFixture f;
  const QString id = f.chat();
  f.start(id, QStringLiteral("go"));
  QString before;
  while (f.chats().liveTurn(id)) {
    const QString now = f.chats().liveTurn(id)->text;
    QVERIFY(now.startsWith(before));
    before = now;
    f.engine().advance(40);
    QCoreApplication::processEvents();
  }
  QVERIFY(!before.isEmpty());
  QCOMPARE(f.chats().messages(id).last().text, QStringLiteral("Wednesday was the warmest day: 9 degrees, with fog until ten."));
}

void TestChatService::stopKeepsTheText() {
  ServiceFixture f;
  const QString id = f.chat();
  f.start(id, QStringLiteral("go"));
  while (f.chats().liveTurn(id)->output < 3) f.engine().advance(20);
  f.chats().stop(id);
  f.engine().advance(15);
  QTRY_VERIFY(!f.chats().liveTurn(id));
  const MessageInfo answer = f.chats().messages(id).last();
  QCOMPARE(answer.state, TurnState::Stopped);
  QVERIFY(answer.text.startsWith(QStringLiteral("Wednesday was the")));
  QCOMPARE(answer.record->finishReason, QStringLiteral("cancelled"));
  QVERIFY(answer.record->stopMs.has_value());
}

void TestChatService::stopWhileReadingKeepsWhatWasRead() {
  ServiceFixture f;
  const QString id = f.chat();
  f.engine().cancelAfter(id, 40, 0);
  f.start(id, QString(QStringLiteral("word ")).repeated(200));
  f.engine().advance(1000);
  QTRY_VERIFY(!f.chats().liveTurn(id));
  QCOMPARE(f.chats().messages(id).last().state, TurnState::Stopped);
  const QString answer = f.chats().messages(id).last().id;
  f.chats().regenerate(id, answer);
  QTRY_VERIFY(f.chats().liveTurn(id));
  f.finish(id);
  QVERIFY(*f.chats().messages(id).last().record->inputCached >= 40);
}

void TestChatService::stoppedAnswerContinues() {
  ServiceFixture f;
  const QString id = f.chat();
  f.engine().cancelAfter(id, 0, 3);
  f.turn(id, QStringLiteral("go"));
  const MessageInfo stopped = f.chats().messages(id).last();
  QCOMPARE(stopped.text, QStringLiteral("Wednesday was the"));
  f.engine().script().answers = {QStringLiteral(" warmest day.")};
  f.chats().continueAnswer(id, stopped.id);
  QTRY_VERIFY(f.chats().liveTurn(id));
  f.finish(id);
  QCOMPARE(f.chats().messages(id).size(), 2);
  QCOMPARE(f.chats().messages(id).last().text, QStringLiteral("Wednesday was the warmest day."));
  QCOMPARE(f.chats().messages(id).last().state, TurnState::Finished);
}

void TestChatService::regenerateMakesAVersion() {
  ServiceFixture f;
  const QString id = f.chat();
  f.turn(id, QStringLiteral("go"));
  QSignalSpy path(&f.chats(), &ChatService::pathChanged);
  f.chats().regenerate(id, f.chats().messages(id).last().id);
  QTRY_VERIFY(f.chats().liveTurn(id));
  f.finish(id);
  QCOMPARE(path.size(), 1);
  const MessageInfo answer = f.chats().messages(id).last();
  QCOMPARE(answer.version, 2);
  QCOMPARE(answer.versions, 2);
  QCOMPARE(*answer.record->inputFresh, 1);
  f.chats().showVersion(id, answer.id, 1);
  QCOMPARE(f.chats().messages(id).last().version, 1);
}

void TestChatService::editMakesAVersionAndSendsIt() {
  ServiceFixture f;
  const QString id = f.chat();
  f.turn(id, QStringLiteral("first question"));
  f.turn(id, QStringLiteral("second question"));
  const QString first = f.chats().messages(id).first().id;
  f.chats().edit(id, first, QStringLiteral("another question"));
  QTRY_VERIFY(f.chats().liveTurn(id));
  f.finish(id);
  const auto messages = f.chats().messages(id);
  QCOMPARE(messages.size(), 2);
  QCOMPARE(messages[0].text, QStringLiteral("another question"));
  QCOMPARE(messages[0].versions, 2);
  QCOMPARE(messages[1].record->cache.miss->detail, QStringLiteral("edited"));
  QCOMPARE(*messages[1].record->cache.miss->message, 1);
}

void TestChatService::versionsKeepTheirOwnFollowingTurns() {
  ServiceFixture f;
  const QString id = f.chat();
  f.turn(id, QStringLiteral("one"));
  f.turn(id, QStringLiteral("two"));
  f.chats().edit(id, f.chats().messages(id).first().id, QStringLiteral("uno"));
  QTRY_VERIFY(f.chats().liveTurn(id));
  f.finish(id);
  const QString edited = f.chats().messages(id).first().id;
  f.chats().showVersion(id, edited, 1);
  QCOMPARE(f.chats().messages(id).size(), 4);
  f.reopen();
  QSignalSpy opened(&f.chats(), &ChatService::chatOpened);
  f.chats().openChat(id);
  QVERIFY(opened.wait());
  QCOMPARE(f.chats().messages(id).size(), 4);
  QCOMPARE(f.chats().messages(id).first().versions, 2);
}

void TestChatService::forkSharesThePast() {
  ServiceFixture f;
  const QString id = f.chat();
  f.turn(id, QStringLiteral("one"));
  f.turn(id, QStringLiteral("two"));
  const QString copy = f.chats().fork(id, f.chats().messages(id)[1].id);
  QVERIFY(!copy.isEmpty());
  QSignalSpy opened(&f.chats(), &ChatService::chatOpened);
  f.chats().openChat(copy);
  QVERIFY(opened.wait());
  QCOMPARE(f.chats().messages(copy).size(), 2);
  f.turn(copy, QStringLiteral("three"));
  QVERIFY(*f.chats().messages(copy).last().record->inputCached > 0);
  QCOMPARE(f.chats().messages(id).size(), 4);
}

void TestChatService::oneMessageWaits() {
  ServiceFixture f;
  const QString id = f.chat();
  f.start(id, QStringLiteral("one"));
  f.chats().send(id, QStringLiteral("two"), {});
  QCOMPARE(*f.chats().queuedMessage(id), QStringLiteral("two"));
  f.engine().finishAll();
  QTRY_COMPARE(f.engine().submitted(), 2);
  f.finish(id);
  QCOMPARE(f.chats().messages(id).size(), 4);
  QCOMPARE(f.chats().messages(id)[2].text, QStringLiteral("two"));
}

void TestChatService::queuedMessageCanBeTakenBack() {
  ServiceFixture f;
  const QString id = f.chat();
  f.start(id, QStringLiteral("one"));
  f.chats().send(id, QStringLiteral("two"), {});
  f.chats().takeBackQueued(id);
  QVERIFY(!f.chats().queuedMessage(id));
  QCOMPARE(f.chats().draft(id), QStringLiteral("two"));
  f.finish(id);
  QCOMPARE(f.chats().messages(id).size(), 2);
}

void TestChatService::switchingChatsChangesNothing() {
  ServiceFixture f;
  const QString a = f.chat(QStringLiteral("a")), b = f.chat(QStringLiteral("b"));
  f.start(a, QStringLiteral("go"));
  f.chats().openChat(b);
  f.engine().advance(100);
  f.chats().openChat(a);
  QVERIFY(f.chats().liveTurn(a));
  QVERIFY(!f.chats().liveTurn(b));
  f.finish(a);
  QCOMPARE(f.chats().messages(a).last().state, TurnState::Finished);
}

void TestChatService::twoChatsAnswerSideBySide() {
  ServiceFixture f;
  const QString a = f.chat(QStringLiteral("a")), b = f.chat(QStringLiteral("b"));
  f.start(a, QStringLiteral("go"));
  f.start(b, QStringLiteral("go too"));
  f.engine().finishAll();
  QTRY_VERIFY(!f.chats().liveTurn(a) && !f.chats().liveTurn(b));
  QCOMPARE(f.chats().messages(a).last().state, TurnState::Finished);
  QCOMPARE(f.chats().messages(b).last().state, TurnState::Finished);
}

void TestChatService::errorKeepsTheText() {
  ServiceFixture f;
  f.engine().script().error = QStringLiteral("The device failed.");
  f.engine().script().errorAfter = 2;
  const QString id = f.chat();
  f.turn(id, QStringLiteral("go"));
  const MessageInfo answer = f.chats().messages(id).last();
  QCOMPARE(answer.state, TurnState::Error);
  QCOMPARE(answer.error, QStringLiteral("The device failed."));
  QCOMPARE(answer.text, QStringLiteral("Wednesday was"));
}

void TestChatService::deletedChatComesBack() {
  ServiceFixture f;
  const QString id = f.chat();
  f.turn(id, QStringLiteral("go"));
  f.chats().deleteChat(id);
  QCOMPARE(f.chats().chats().size(), 0);
  QCOMPARE(f.chats().deletedChats().size(), 1);
  f.reopen();
  f.chats().restoreChat(id);
  QCOMPARE(f.chats().chats().size(), 1);
  f.reopen();
  QCOMPARE(f.chats().chats().size(), 1);
  f.chats().deleteForever(id);
  f.reopen();
  QCOMPARE(f.chats().chats().size() + f.chats().deletedChats().size(), 0);
}

void TestChatService::deletingStopsFirst() {
  ServiceFixture f;
  const QString id = f.chat();
  f.start(id, QStringLiteral("go"));
  f.chats().deleteChat(id);
  f.engine().advance(30);
  QTRY_VERIFY(!f.chats().liveTurn(id));
  QCOMPARE(f.chats().chats().size(), 0);
}

void TestChatService::draftSurvives() {
  ServiceFixture f;
  const QString id = f.chat();
  f.chats().saveDraft(id, QStringLiteral("half a thou"));
  f.reopen();
  QCOMPARE(f.chats().draft(id), QStringLiteral("half a thou"));
}

void TestChatService::titleComesFromTheFirstMessage() {
  ServiceFixture f;
  const QString id = f.chat(QString());
  f.turn(id, QStringLiteral("How do I bleed a radiator that has not been used for a whole summer?"));
  QVERIFY(f.chats().chat(id)->title.startsWith(QStringLiteral("How do I bleed a radiator")));
  QVERIFY(f.chats().chat(id)->title.size() <= 50);
}

void TestChatService::searchFinds() {
  ServiceFixture f;
  const QString id = f.chat();
  f.turn(id, QStringLiteral("a question about marmalade"));
  QSignalSpy found(&f.chats(), &ChatService::searchFinished);
  f.chats().search(QStringLiteral("marmal"), 7);
  QVERIFY(found.wait());
  const auto hits = found[0][0].value<QVector<SearchHit>>();
  QCOMPARE(hits.size(), 1);
  QCOMPARE(hits[0].chatId, id);
  QCOMPARE(found[0][1].toULongLong(), 7ULL);
}

void TestChatService::searchFindsNothing() {
  ServiceFixture f;
  QSignalSpy found(&f.chats(), &ChatService::searchFinished);
  f.chats().search(QStringLiteral("nowhere"), 8);
  QVERIFY(found.wait());
  QVERIFY(found[0][0].value<QVector<SearchHit>>().isEmpty());
}

void TestChatService::settingsSurvive() {
  ServiceFixture f;
  GenerationSettings s;
  s.system = QStringLiteral("Be brief.");
  s.temperature = 0.25;
  s.seed = 18446744073709551615ULL;
  s.stop = {QStringLiteral("END")};
  s.onFull = QStringLiteral("drop-oldest");
  const QString id = f.chat(QStringLiteral("a"), s);
  f.reopen();
  const GenerationSettings again = f.chats().settings(id);
  QCOMPARE(again.system, s.system);
  QCOMPARE(again.temperature, s.temperature);
  QCOMPARE(again.seed, s.seed);
  QCOMPARE(again.stop, s.stop);
  QCOMPARE(again.onFull, s.onFull);
}

void TestChatService::modelChangeKeepsTheText() {
  ServiceFixture f;
  const QString id = f.chat();
  f.turn(id, QStringLiteral("go"));
  const QStringList before = f.texts(id);
  f.chats().setModel(id, QStringLiteral("other.gguf"));
  QCOMPARE(f.texts(id), before);
  f.turn(id, QStringLiteral("again"));
  QCOMPARE(f.chats().messages(id).size(), 4);
}

void TestChatService::attachmentsStayInThePrompt() {
  ServiceFixture f;
  const QString path = f.profile() + QStringLiteral("/notes.txt");
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write("the boiler pressure is one point five bar");
  file.close();
  const QString id = f.chat();
  f.chats().send(id, QStringLiteral("What is the pressure?"), {path});
  QTRY_VERIFY(f.chats().liveTurn(id));
  f.finish(id);
  QFile::remove(path);
  f.turn(id, QStringLiteral("and again?"));
  const auto messages = f.chats().messages(id);
  QCOMPARE(messages[0].attachments, QStringList{QStringLiteral("notes.txt")});
  for (const RecordSegment& s : messages[3].record->segments) {
    if (s.kind == QLatin1String("document")) QVERIFY(s.tokens > 8);
  }
  QVERIFY(!messages[3].record->cache.miss);
}

void TestChatService::binaryAttachmentIsRefused() {
  ServiceFixture f;
  const QString path = f.profile() + QStringLiteral("/photo.png");
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write("\x89PNG\r\n\x1a\n\0\0\0", 11);
  file.close();
  const QString id = f.chat();
  QSignalSpy failed(&f.chats(), &ChatService::failed);
  f.chats().send(id, QStringLiteral("look"), {path});
  QVERIFY(failed.wait());
  QCOMPARE(failed[0][1].toString(), QStringLiteral("photo.png is not text."));
  QCOMPARE(f.chats().messages(id).size(), 0);
  QCOMPARE(f.chats().draft(id), QStringLiteral("look"));
}

void TestChatService::limitOfTheAnswer() {
  ServiceFixture f;
  GenerationSettings s;
  s.maxTokens = 4;
  const QString id = f.chat(QStringLiteral("a"), s);
  f.turn(id, QStringLiteral("go"));
  const MessageInfo answer = f.chats().messages(id).last();
  QCOMPARE(answer.state, TurnState::Length);
  QCOMPARE(*answer.record->output, 4);
  QCOMPARE(answer.record->finishReason, QStringLiteral("length"));
}

void TestChatService::thinkingIsCountedApart() {
  ServiceFixture f;
  f.engine().script().thoughts = {QStringLiteral("I compare the days.")};
  const QString id = f.chat();
  f.turn(id, QStringLiteral("go"));
  const MessageInfo answer = f.chats().messages(id).last();
  QCOMPARE(answer.thinkingText, QStringLiteral("I compare the days."));
  QCOMPARE(*answer.record->thinking, 4);
  QVERIFY(*answer.record->output > 4);
}

void TestChatService::evictionIsNamed() {
  ServiceFixture f;
  const QString id = f.chat();
  f.turn(id, QStringLiteral("go"));
  QSignalSpy changed(&f.chats(), &ChatService::chatChanged);
  f.chats().evict(id);
  QVERIFY(changed.wait());
  QCOMPARE(f.chats().chat(id)->tier, ChatTier::Cold);
  QVERIFY(f.chats().chat(id)->tokensToRead > 0);
  f.turn(id, QStringLiteral("again"));
  QCOMPARE(f.chats().messages(id).last().record->cache.miss->cause, QStringLiteral("evicted"));
  QCOMPARE(f.chats().messages(id).last().record->cache.miss->evictedBy, QStringLiteral("user"));
}

QTEST_GUILESS_MAIN(TestChatService)
#include "tst_chat_service.moc"
