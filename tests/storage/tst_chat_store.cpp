// Chats, the message tree, turns and search through ChatStore and StoreThread.
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QUuid>
#include <QtTest>

#include "storage/store_thread.h"

using namespace tg::storage;

namespace {

QString newId() { return QUuid::createUuid().toString(QUuid::WithoutBraces); }

Chat chatCalled(const QString& id, qint64 lastUsedMs = 0) {
  Chat chat;
  chat.id = chat.title = id;
  chat.lastUsedMs = lastUsedMs;
  return chat;
}

Message message(const QString& id, const QString& parentId, const QString& role, const QString& text) {
  Message m;
  m.id = id;
  m.chatId = QStringLiteral("a");
  m.parentId = parentId;
  m.role = role;
  m.text = text;
  return m;
}

Turn fullTurn(const QString& messageId) {
  Turn t;
  t.messageId = messageId;
  t.chatId = QStringLiteral("a");
  t.turn = 2;
  t.finishedMs = 1234567890123;
  t.model = QStringLiteral("m.gguf");
  t.inputTotal = 412;
  t.inputCached = 380;
  t.inputFresh = 32;
  t.output = 57;
  t.thinking = 0;
  t.ttftMs = 41.25;
  t.kvBytes = 5'000'000'000;
  t.miss.cause = QStringLiteral("prefix_changed");
  t.miss.atToken = 37;
  t.miss.was = QStringLiteral("old \"text\"");
  t.costPico = QStringLiteral("1351079888211150675000");
  t.costCurrency = QStringLiteral("USD");
  t.warnings = QStringList{QStringLiteral("prompt_jump"), QStringLiteral("a, b")};
  t.segments = {{QStringLiteral("system"), 24}, {QStringLiteral("new"), 388}};
  t.costLines = {{QStringLiteral("fresh"), 412, QStringLiteral("0.5"), QStringLiteral("206000000")}};
  t.samples = {91.5f, 90.25f};
  return t;
}

QStringList idsOf(const QVector<Message>& messages) {
  QStringList ids;
  for (const Message& m : messages) ids.append(m.id);
  return ids;
}

const QString kUser = QStringLiteral("user"), kAssistant = QStringLiteral("assistant");

}  // namespace

class ChatStoreTest : public QObject {
  Q_OBJECT
  std::unique_ptr<QTemporaryDir> dir_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<ChatStore> store_;

  OpenOptions options() const {
    OpenOptions o;
    o.folder = dir_->path();
    return o;
  }
  void reopen() {
    store_.reset();
    database_.reset();
    auto database = Database::open(options());
    QVERIFY(database.ok());
    database_ = std::move(*database);
    store_ = std::make_unique<ChatStore>(database_.get());
  }
  QStringList hits(const QString& words) {
    QStringList ids;
    const auto found = store_->search(words);
    if (!found) return {QStringLiteral("failed: ") + found.failure().details};
    for (const SearchRow& row : *found) ids.append(row.messageId.isEmpty() ? row.chatId : row.messageId);
    return ids;
  }

 private Q_SLOTS:
  void init() {
    database_.reset();
    dir_ = std::make_unique<QTemporaryDir>();
    reopen();
    QVERIFY(store_->createChat(chatCalled(QStringLiteral("a"))).ok());
  }

  void listIsByLastUse() {
    QVERIFY(store_->createChat(chatCalled(QStringLiteral("b"), 20)).ok());
    QVERIFY(store_->createChat(chatCalled(QStringLiteral("c"), 10)).ok());
    QCOMPARE(store_->chats()->first().id, QStringLiteral("b"));
    QVERIFY(store_->touch(QStringLiteral("a"), 30).ok());
    QVERIFY(store_->touch(QStringLiteral("a"), 5).ok());  // a clock set back
    const auto chats = store_->chats();
    QCOMPARE(chats->at(0).id, QStringLiteral("a"));
    QCOMPARE(chats->at(0).lastUsedMs, 30);
    QCOMPARE(chats->at(2).id, QStringLiteral("c"));
  }

  void everyFieldOfAChatSurvives() {
    QVERIFY(store_->putFolder({QStringLiteral("f"), QStringLiteral("Work"), 1}).ok());
    QVERIFY(store_->renameChat(QStringLiteral("a"), QStringLiteral("Zoë 测试")).ok());
    QVERIFY(store_->moveToFolder(QStringLiteral("a"), QStringLiteral("f")).ok());
    QVERIFY(store_->setModel(QStringLiteral("a"), QStringLiteral("/m/é.gguf"), QStringLiteral("é")).ok());
    QVERIFY(store_->setSettings(QStringLiteral("a"), QStringLiteral("{}")).ok());
    QVERIFY(store_->setDraft(QStringLiteral("a"), QStringLiteral("half a thought")).ok());
    QVERIFY(store_->setPinned(QStringLiteral("a"), true).ok());
    QVERIFY(store_->setNow(QStringLiteral("a"), QStringLiteral("2026-11-29")).ok());
    reopen();
    const auto found = store_->chatNamed(QStringLiteral("Zoë 测试"));
    QVERIFY(found.ok() && found->has_value());
    const Chat chat = **found;
    QCOMPARE(chat.folderId, QStringLiteral("f"));
    QCOMPARE(chat.modelPath, QStringLiteral("/m/é.gguf"));
    QCOMPARE(chat.draft, QStringLiteral("half a thought"));
    QCOMPARE(chat.nowIso, QStringLiteral("2026-11-29"));
    QVERIFY(chat.pinned);
    QVERIFY(store_->removeFolder(QStringLiteral("f")).ok());
    QCOMPARE((*store_->chat(QStringLiteral("a")))->folderId, QString());
    QCOMPARE(store_->renameChat(QStringLiteral("zz"), QString()).failure().kind, FailureKind::NotFound);
  }

  void editsBranchAndNothingIsDestroyed() {
    QVERIFY(store_->addMessage(message(QStringLiteral("u1"), QString(), kUser, QStringLiteral("one"))).ok());
    QVERIFY(store_->addMessage(message(QStringLiteral("a1"), QStringLiteral("u1"), kAssistant, QStringLiteral("answer"))).ok());
    QVERIFY(store_->addMessage(message(QStringLiteral("a2"), QStringLiteral("u1"), kAssistant, QStringLiteral("other answer"))).ok());
    QVERIFY(store_->addMessage(message(QStringLiteral("u2"), QStringLiteral("a2"), kUser, QStringLiteral("two"))).ok());
    QVERIFY(store_->addMessage(message(QStringLiteral("v1"), QString(), kUser, QStringLiteral("one, edited"))).ok());
    QCOMPARE(idsOf(shownPath(*store_->messages(QStringLiteral("a")))), QStringList{QStringLiteral("v1")});
    QVERIFY(store_->selectVersion(QStringLiteral("u1")).ok());
    QCOMPARE(idsOf(shownPath(*store_->messages(QStringLiteral("a")))), (QStringList{QStringLiteral("u1"), QStringLiteral("a2"), QStringLiteral("u2")}));
    QVERIFY(store_->removeMessage(QStringLiteral("a2")).ok());
    QCOMPARE(idsOf(shownPath(*store_->messages(QStringLiteral("a")))), (QStringList{QStringLiteral("u1"), QStringLiteral("a1")}));
    QCOMPARE(store_->messages(QStringLiteral("a"))->size(), 3);
    QVERIFY(!store_->addMessage(message(QStringLiteral("x"), QStringLiteral("nobody"), kUser, QString())).ok());
    QVERIFY(database_->check()->isEmpty());
  }

  void turnSurvivesWithAllItsLists() {
    Message answer = message(QStringLiteral("a1"), QString(), kAssistant, QString());
    answer.state = MessageState::Streaming;
    answer.attachments = {{QStringLiteral("doc.txt"), QStringLiteral("/doc.txt"), QStringLiteral("text\n"), 5}};
    QVERIFY(store_->addMessage(answer).ok());
    QVERIFY(store_->saveAnswerDraft(QStringLiteral("a1"), QStringLiteral("half"), QStringLiteral("hm")).ok());
    answer.text = QStringLiteral("whole");
    answer.thinkingText = QStringLiteral("hm, yes");
    answer.generatedIds = {1, 128000, 0x7fffffff};
    answer.state = MessageState::Length;
    QVERIFY(store_->finishTurn(answer, fullTurn(answer.id)).ok());
    QVERIFY(store_->finishTurn(answer, fullTurn(answer.id)).ok());  // again, after a failure that was none
    reopen();
    const Message read = store_->messages(QStringLiteral("a"))->first();
    QCOMPARE(read.text, answer.text);
    QCOMPARE(read.thinkingText, answer.thinkingText);
    QCOMPARE(read.generatedIds, answer.generatedIds);
    QCOMPARE(read.state, MessageState::Length);
    QCOMPARE(read.attachments.size(), 1);
    QCOMPARE(read.attachments[0].text, QStringLiteral("text\n"));
    const auto found = store_->turn(QStringLiteral("a1"));
    QVERIFY(found.ok() && found->has_value());
    const Turn turn = **found, want = fullTurn(QStringLiteral("a1"));
    QCOMPARE(turn.inputTotal, want.inputTotal);
    QCOMPARE(turn.ttftMs, want.ttftMs);
    QVERIFY(!turn.predictedTtftMs.has_value());
    QCOMPARE(turn.kvBytes, want.kvBytes);
    QCOMPARE(turn.miss.atToken, want.miss.atToken);
    QVERIFY(!turn.miss.message.has_value());
    QCOMPARE(turn.miss.was, want.miss.was);
    QCOMPARE(turn.costPico, want.costPico);
    QCOMPARE(turn.ownCostPico, QString());
    QCOMPARE(turn.warnings, want.warnings);
    QCOMPARE(turn.samples, want.samples);
    QCOMPARE(turn.segments.size(), 2);
    QCOMPARE(turn.segments[1].tokens, 388);
    QCOMPARE(turn.costLines.size(), 1);
    QCOMPARE(turn.costLines[0].costPico, QStringLiteral("206000000"));
    QCOMPARE(store_->turns(QStringLiteral("a"))->size(), 1);
    QCOMPARE(store_->saveAnswerDraft(QStringLiteral("a1"), QString(), QString()).failure().kind, FailureKind::NotFound);  // a late draft never undoes a final text
  }

  void failedTransactionWritesNothing() {
    const auto done = store_->atomically([&]() -> Status {
      if (auto added = store_->addMessage(message(QStringLiteral("u1"), QString(), kUser, QStringLiteral("x"))); !added) return added;
      return store_->finishTurn(message(QStringLiteral("u2"), QStringLiteral("u1"), QStringLiteral("nonsense role"), QString()), fullTurn(QStringLiteral("u2")));
    });
    QVERIFY(!done.ok());
    QVERIFY(store_->messages(QStringLiteral("a"))->isEmpty());
    QVERIFY(store_->turns(QStringLiteral("a"))->isEmpty());
  }

  void leftoversAreRecovered() {
    Message answer = message(QStringLiteral("a1"), QString(), kAssistant, QString());
    answer.state = MessageState::Streaming;
    QVERIFY(store_->addMessage(answer).ok());
    QVERIFY(store_->saveAnswerDraft(QStringLiteral("a1"), QStringLiteral("rescued words"), QString()).ok());
    QVERIFY(hits(QStringLiteral("rescued")).isEmpty());
    store_.reset();
    database_.reset();
    {
      StoreThread thread(options());
      QCOMPARE(thread.opened().result()->interrupted, 1);
      const auto messages = thread.run([](ChatStore& s) { return s.messages(QStringLiteral("a")); }).result();
      QCOMPARE(messages->first().state, MessageState::Interrupted);
      QCOMPARE(messages->first().text, QStringLiteral("rescued words"));
    }
    reopen();
    QCOMPARE(hits(QStringLiteral("rescued")), QStringList{QStringLiteral("a1")});
  }

  void forkCopiesThePath() {
    QVERIFY(store_->addMessage(message(QStringLiteral("u1"), QString(), kUser, QStringLiteral("one"))).ok());
    QVERIFY(store_->finishTurn(message(QStringLiteral("a1"), QStringLiteral("u1"), kAssistant, QStringLiteral("answer")), fullTurn(QStringLiteral("a1"))).ok());
    QVERIFY(store_->addMessage(message(QStringLiteral("u2"), QStringLiteral("a1"), kUser, QStringLiteral("two"))).ok());
    QVERIFY(store_->fork(QStringLiteral("a"), QStringLiteral("a1"), chatCalled(QStringLiteral("b"))).ok());
    const auto copies = shownPath(*store_->messages(QStringLiteral("b")));
    QCOMPARE(copies.size(), 2);
    QCOMPARE(copies[1].text, QStringLiteral("answer"));
    QCOMPARE(copies[1].parentId, copies[0].id);
    QCOMPARE(store_->messages(QStringLiteral("a"))->size(), 3);
    QVERIFY(!store_->fork(QStringLiteral("a"), QStringLiteral("zz"), chatCalled(QStringLiteral("c"))).ok());
    QCOMPARE(store_->chats()->size(), 2);
  }

  void bundleRoundTrip() {
    QVERIFY(store_->addMessage(message(QStringLiteral("u1"), QString(), kUser, QStringLiteral("one"))).ok());
    QVERIFY(store_->finishTurn(message(QStringLiteral("a1"), QStringLiteral("u1"), kAssistant, QStringLiteral("answer")), fullTurn(QStringLiteral("a1"))).ok());
    const auto bundle = store_->bundle(QStringLiteral("a"));
    QVERIFY(store_->removeChat(QStringLiteral("a")).ok());
    QVERIFY(store_->insertBundle(*bundle).ok());
    QVERIFY(!store_->insertBundle(*bundle).ok());
    QCOMPARE(idsOf(*store_->messages(QStringLiteral("a"))), (QStringList{QStringLiteral("u1"), QStringLiteral("a1")}));
    QCOMPARE(store_->turns(QStringLiteral("a"))->first().costPico, fullTurn(QString()).costPico);
  }

  void binKeepsAndForgets() {
    QVERIFY(store_->addMessage(message(QStringLiteral("u1"), QString(), kUser, QStringLiteral("unrepeatable-secret"))).ok());
    QVERIFY(store_->deleteChat(QStringLiteral("a"), 1000).ok());
    QVERIFY(store_->chats()->isEmpty());
    QCOMPARE(store_->deletedChats()->size(), 1);
    QVERIFY(hits(QStringLiteral("secret")).isEmpty());
    QVERIFY(store_->restoreChat(QStringLiteral("a")).ok());
    QCOMPARE(hits(QStringLiteral("secret")), QStringList{QStringLiteral("u1")});
    QVERIFY(store_->deleteChat(QStringLiteral("a"), 1000).ok());
    QCOMPARE(*store_->emptyBin(1000), 0);
    QCOMPARE(*store_->emptyBin(1001), 1);
    QVERIFY(store_->deletedChats()->isEmpty());
    QVERIFY(database_->check()->isEmpty());
    const QDir folder(dir_->path());
    for (const QString& name : folder.entryList(QDir::Files)) {
      QFile file(folder.filePath(name));
      QVERIFY(file.open(QIODevice::ReadOnly));
      QVERIFY2(!file.readAll().contains("unrepeatable"), qPrintable(name));  // gone from file, log and index
    }
  }

  void searchTakesAnyInput_data() {
    QTest::addColumn<QString>("words");
    QTest::addColumn<bool>("found");
    QTest::newRow("word") << QStringLiteral("brown") << true;
    QTest::newRow("prefix of the last word") << QStringLiteral("quick bro") << true;
    QTest::newRow("other order") << QStringLiteral("fox quick") << true;
    QTest::newRow("case and accents") << QStringLiteral("CAFE") << true;
    QTest::newRow("one word missing") << QStringLiteral("quick zebra") << false;
    QTest::newRow("operators are words") << QStringLiteral("quick OR zebra") << false;
    QTest::newRow("quotes") << QStringLiteral("\"quick\" \"") << true;
    QTest::newRow("syntax") << QStringLiteral("text:(quick* NEAR ^fox)") << false;
    QTest::newRow("column filter") << QStringLiteral("-quick") << true;
    QTest::newRow("empty") << QStringLiteral("   ") << false;
    QTest::newRow("NUL") << QString(QChar(0)) << false;
    QTest::newRow("only signs") << QStringLiteral("*** %_\\ '") << false;
  }

  void searchTakesAnyInput() {
    QFETCH(QString, words);
    QFETCH(bool, found);
    QVERIFY(store_->addMessage(message(QStringLiteral("u1"), QString(), kUser, QStringLiteral("The quick brown fox met a zebra-less café."))).ok());
    if (words.contains(QStringLiteral("zebra")))
      QVERIFY(store_->updateMessage(message(QStringLiteral("u1"), QString(), kUser, QStringLiteral("The quick brown fox."))).ok());
    QCOMPARE(hits(words), found ? QStringList{QStringLiteral("u1")} : QStringList{});
  }

  void searchFollowsChangesAndMarksHits() {
    QVERIFY(store_->addMessage(message(QStringLiteral("u1"), QString(), kUser, QStringLiteral("first text"))).ok());
    QVERIFY(store_->renameChat(QStringLiteral("a"), QStringLiteral("100% plan")).ok());
    QVERIFY(store_->updateMessage(message(QStringLiteral("u1"), QString(), kUser, QStringLiteral("second text"))).ok());
    QVERIFY(hits(QStringLiteral("first")).isEmpty());
    QCOMPARE(store_->search(QStringLiteral("second"))->first().snippet, QStringLiteral("\x02second\x03 text"));
    QCOMPARE(hits(QStringLiteral("100%")), QStringList{QStringLiteral("a")});
    QVERIFY(database_->repairSearch().ok());
    QCOMPARE(hits(QStringLiteral("second")), QStringList{QStringLiteral("u1")});
    QVERIFY(database_->check()->isEmpty());
  }

  void smallTables() {
    QVERIFY(!store_->value(QStringLiteral("k"))->has_value());
    QVERIFY(store_->setValue(QStringLiteral("k"), QString()).ok() && store_->setValue(QStringLiteral("k"), QStringLiteral("v")).ok());
    QCOMPARE(**store_->value(QStringLiteral("k")), QStringLiteral("v"));
    QVERIFY(store_->putModelFile({QStringLiteral("/m"), QStringLiteral("fp"), QStringLiteral("{}"), 5'000'000'000, 1, 2}).ok());
    QCOMPARE(store_->modelFiles()->first().bytes, 5'000'000'000);
    QVERIFY(store_->removeModelFile(QStringLiteral("/m")).ok() && store_->modelFiles()->isEmpty());
    QVERIFY(store_->putPriceBook({QStringLiteral("b"), QStringLiteral("2026-11-29"), QString(), QStringLiteral("{}"), 1}).ok());
    QCOMPARE(store_->priceBooks()->first().asOf, QStringLiteral("2026-11-29"));
    QVERIFY(store_->putSnapshot({QStringLiteral("s"), QStringLiteral("a"), QStringLiteral("fp"), 10, 20, 1, 2, true}).ok());
    QVERIFY(store_->snapshots()->first().pinned);
    QVERIFY(store_->removeSnapshot(QStringLiteral("s")).ok() && store_->snapshots()->isEmpty());
    QVERIFY(!store_->energyProfile()->idleWatts.has_value());
    QVERIFY(store_->setEnergyProfile({12.5, std::nullopt, QStringLiteral("0.31"), QStringLiteral("EUR"), QStringLiteral("declared")}).ok());
    QCOMPARE(store_->energyProfile()->idleWatts, std::optional<double>(12.5));
    QVERIFY(!store_->energyProfile()->busyWatts.has_value());
  }

  void closedStoreAnswersSentences() {
    ChatStore closed(nullptr);
    QVERIFY(!closed.chats().ok());
    QVERIFY(!closed.addMessage(message(QStringLiteral("u1"), QString(), kUser, QString())).ok());
    QVERIFY(!closed.chats().failure().sentence.isEmpty());
    QVERIFY(!closed.removeChat(QStringLiteral("a")).ok());
  }

  void threadKeepsOrderAndFinishesBeforeClosing() {
    store_.reset();
    database_.reset();
    QVector<QFuture<Status>> writes;
    {
      StoreThread thread(options());
      for (int i = 0; i < 200; ++i)
        writes.append(thread.run([i](ChatStore& s) { return s.setDraft(QStringLiteral("a"), QString::number(i)); }));
    }
    for (const auto& write : writes) QVERIFY(write.result().ok());
    reopen();
    QCOMPARE((*store_->chat(QStringLiteral("a")))->draft, QStringLiteral("199"));
  }

  void jobsAfterCloseAreCancelled() {
    store_.reset();
    database_.reset();
    StoreThread thread(options());
    thread.close();
    QVERIFY(thread.run([](ChatStore& s) { return s.chats(); }).isCanceled());
  }

  // 2 000 messages with 1 000 turns are read in under 100 ms and searched in under 50 ms; a chain this deep is also deletable.
  void bigChatIsQuick() {
    QString parent;
    QVERIFY(store_->atomically([&]() -> Status {
      for (int i = 0; i < 2000; ++i) {
        Message m = message(newId(), parent, i % 2 ? kAssistant : kUser, QStringLiteral("word number%1 ").arg(i).repeated(i % 2 ? 100 : 10));
        parent = m.id;
        auto done = i % 2 ? store_->finishTurn(m, fullTurn(m.id)) : store_->addMessage(m);
        if (!done) return done;
      }
      return Done{};
    }).ok());
    reopen();
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(shownPath(*store_->messages(QStringLiteral("a"))).size(), 2000);
    QCOMPARE(store_->turns(QStringLiteral("a"))->size(), 1000);
    const qint64 opened = timer.restart();
    QCOMPARE(store_->search(QStringLiteral("word num"))->size(), 50);
    const qint64 searched = timer.elapsed();
    qInfo("2000 messages and 1000 turns: %lld ms, search: %lld ms", opened, searched);
    QVERIFY(opened < 400);    // 100 on a quiet machine; room for a loaded one
    QVERIFY(searched < 200);  // 50 on a quiet machine
    QVERIFY(store_->removeChat(QStringLiteral("a")).ok());
    QVERIFY(database_->check()->isEmpty());
  }
};

QTEST_GUILESS_MAIN(ChatStoreTest)
#include "tst_chat_store.moc"
