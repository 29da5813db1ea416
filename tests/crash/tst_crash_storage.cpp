// kill -9 at fifty random moments while chats are written: what was acknowledged is there afterwards, the file is sound, and a half-written
// answer is kept as recovered. The test starts itself again as the writer that gets killed.
#include <QCoreApplication>
#include <QElapsedTimer>
#include <QProcess>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QtTest>
#include <cstdio>

#include "storage/store_thread.h"

using namespace tg::storage;

namespace {

constexpr int kKills = 50;
const QString kChat = QStringLiteral("chat");

OpenOptions at(const QString& folder) {
  OpenOptions options;
  options.folder = folder;
  return options;
}

Message messageOf(const QString& id, const QString& parent, const QString& role, MessageState state) {
  Message m;
  m.id = id;
  m.chatId = kChat;
  m.parentId = parent;
  m.role = role;
  m.state = state;
  return m;
}

void acknowledge(const char* what, const QString& id) {
  std::printf("%s %s\n", what, qPrintable(id));
  std::fflush(stdout);
}

// One conversation turn as the program writes it: question, drafts, answer with its figures. Each line is printed after the disk has it.
bool writeTurn(StoreThread& thread, const QString& id, const QString& parent) {
  const QString answerId = id + QStringLiteral("a");
  Message question = messageOf(id, parent, QStringLiteral("user"), MessageState::Done);
  question.text = QStringLiteral("question ") + id;
  if (!thread.run([question](ChatStore& s) { return s.addMessage(question); }).result().ok()) return false;
  acknowledge("message", id);
  Message answer = messageOf(answerId, id, QStringLiteral("assistant"), MessageState::Streaming);
  if (!thread.run([answer](ChatStore& s) { return s.addMessage(answer); }).result().ok()) return false;
  for (int i = 1; i <= 5; ++i) {
    const QString text = QStringLiteral("words ").repeated(i * 40);
    if (!thread.run([=](ChatStore& s) { return s.saveAnswerDraft(answerId, text, QString()); }).result().ok()) return false;
    acknowledge("draft", answerId + QLatin1Char(' ') + QString::number(text.size()));
  }
  answer.state = MessageState::Done;
  answer.text = QStringLiteral("final ") + id;
  Turn turn;
  turn.messageId = answerId;
  turn.chatId = kChat;
  turn.segments = {{QStringLiteral("new"), 3}};
  turn.samples = {1.0f, 2.0f};
  if (!thread.run([=](ChatStore& s) { return s.finishTurn(answer, turn); }).result().ok()) return false;
  acknowledge("turn", answerId);
  return true;
}

int writeUntilKilled(const QString& folder, const QString& run) {
  StoreThread thread(at(folder));
  if (!thread.opened().result().ok()) return 1;
  Chat chat;
  chat.id = chat.title = kChat;
  (void)thread.run([chat](ChatStore& s) { return s.createChat(chat); }).result().ok();  // there already from the second run on
  QString parent;
  for (int i = 0; i < 100000; ++i) {
    const QString id = run + QLatin1Char('-') + QString::number(i);
    if (!writeTurn(thread, id, parent)) return 1;
    parent = id + QStringLiteral("a");
  }
  return 0;
}

}  // namespace

class CrashStorageTest : public QObject {
  Q_OBJECT
  QSet<QString> messages_, turns_;
  QHash<QString, int> drafts_;

  void remember(const QByteArray& line) {
    const QStringList words = QString::fromUtf8(line).trimmed().split(QLatin1Char(' '));
    if (words.size() < 2) return;
    if (words[0] == QStringLiteral("message")) messages_.insert(words[1]);
    if (words[0] == QStringLiteral("turn")) turns_.insert(words[1]);
    if (words[0] == QStringLiteral("draft") && words.size() == 3) drafts_.insert(words[1], words[2].toInt());
  }

  void writeAndKill(const QString& folder, int run, int acknowledgements) {
    QProcess writer;
    writer.start(QCoreApplication::applicationFilePath(), {QStringLiteral("--write"), folder, QString::number(run)});
    QVERIFY(writer.waitForStarted());
    int seen = 0;
    while (seen < acknowledgements) {
      QVERIFY(writer.canReadLine() || writer.waitForReadyRead(20000));
      while (writer.canReadLine() && seen < acknowledgements) {
        remember(writer.readLine());
        ++seen;
      }
    }
    writer.kill();  // SIGKILL: no destructor, no checkpoint
    writer.waitForFinished();
    for (const QByteArray& line : writer.readAll().split('\n')) remember(line);
  }

  void verifyNothingLost(const QString& folder) {
    StoreThread thread(at(folder));
    const auto report = thread.opened().result();
    QVERIFY(report.ok());
    QCOMPARE(report->state, OpenState::Opened);
    QVERIFY(report->interrupted <= 1);
    const auto bundle = thread.run([](ChatStore& s) { return s.bundle(kChat); }).result();
    QVERIFY(bundle.ok());
    QHash<QString, Message> found;
    for (const Message& m : bundle->messages) found.insert(m.id, m);
    QSet<QString> turns;
    for (const Turn& turn : bundle->turns) turns.insert(turn.messageId);
    for (const QString& id : std::as_const(messages_)) QVERIFY2(found.contains(id), qPrintable(id));
    for (const QString& id : std::as_const(turns_)) QVERIFY2(turns.contains(id) && found.value(id).state == MessageState::Done, qPrintable(id));
    for (const Message& m : std::as_const(found)) {
      QVERIFY(m.state != MessageState::Streaming);
      if (m.state == MessageState::Interrupted) QVERIFY(m.text.size() >= drafts_.value(m.id));
      if (m.role == QStringLiteral("assistant") && m.state == MessageState::Done) QVERIFY(turns.contains(m.id));  // both or neither
    }
  }

 private Q_SLOTS:
  void killedFiftyTimes() {
    QTemporaryDir dir;
    QRandomGenerator random(20261129);
    for (int run = 0; run < kKills; ++run) {
      writeAndKill(dir.path(), run, 1 + static_cast<int>(random.bounded(25u)));
      if (QTest::currentTestFailed()) return;
      verifyNothingLost(dir.path());
      if (QTest::currentTestFailed()) return;
    }
    StoreThread thread(at(dir.path()));
    const auto problems = thread.run([](ChatStore& s) { return s.database()->check(); }).result();
    QVERIFY(problems.ok() && problems->isEmpty());
    qInfo("%d kills, %lld messages and %lld turns acknowledged, none lost", kKills, static_cast<long long>(messages_.size()), static_cast<long long>(turns_.size()));
    QVERIFY(turns_.size() > kKills / 2);
  }
};

int main(int argc, char** argv) {
  QCoreApplication app(argc, argv);
  const QStringList arguments = app.arguments();
  if (arguments.size() == 4 && arguments[1] == QStringLiteral("--write")) return writeUntilKilled(arguments[2], arguments[3]);
  CrashStorageTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "tst_crash_storage.moc"
