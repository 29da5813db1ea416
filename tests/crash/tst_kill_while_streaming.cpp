// A program killed at 50 random moments while answers are being written: no finished message is lost, of a half one at most what was not yet drafted,
// and the profile opens cleanly every time. The child is this program itself with a scripted engine.
#include <QElapsedTimer>
#include <QProcess>
#include <QRandomGenerator>
#include <cstdio>

#include "tests/support/service_fixture.h"

using namespace tg;

namespace {

constexpr int kKills = 50;
constexpr int kLostAtMostMs = 250, kNoiseMs = 400;  // a loaded machine may hold the child's disk for a moment

// Sends one message after another and says on stdout what it knows to be on disk.
class Child : public QObject {
 public:
  explicit Child(const QString& profile) {
    AppOptions options;
    options.profile = profile;
    options.scriptedEngine = QStringLiteral("plain");
    QString error;
    app_ = ApplicationImpl::open(options, &error);
    if (!app_) return;
    qobject_cast<ScriptedEngine*>(&app_->engine())->script().decodeTps = 250;
    const auto chats = app_->service().chats();
    chat_ = chats.isEmpty() ? app_->service().createChat(QStringLiteral("killed"), QStringLiteral("scripted.gguf"), {}) : chats.first().id;
    clock_.start();
    connect(&app_->service(), &ChatService::turnFinished, this, [this](const QString&, const MessageInfo& m) {
      say(QStringLiteral("finished %1 %2").arg(m.id).arg(m.text.size()));
      app_->service().send(chat_, QStringLiteral("and then?"), {});
    });
    connect(&app_->engine(), &EnginePort::events, this, [this] {
      if (const auto live = app_->service().liveTurn(chat_)) say(QStringLiteral("live %1 %2 %3").arg(live->messageId).arg(live->text.size()).arg(clock_.elapsed()));
    });
    connect(&app_->service(), &ChatService::failed, this, [](const QString&, const QString& sentence, const QString& details) { say(QStringLiteral("failed ") + sentence + details); });
    connect(&app_->service(), &ChatService::overflow, this, [] { say(QStringLiteral("overflow")); });
    connect(&app_->service(), &ChatService::chatOpened, this, [this] { app_->service().send(chat_, QStringLiteral("go"), {}); });
    app_->service().openChat(chat_);
  }
  bool ok() const { return app_ != nullptr; }

 private:
  static void say(const QString& line) {
    std::printf("%s\n", line.toUtf8().constData());
    std::fflush(stdout);
  }
  std::unique_ptr<ApplicationImpl> app_;
  QString chat_;
  QElapsedTimer clock_;
};

}  // namespace

class TestKill : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void nothingFinishedIsLost();

 private:
  void run_and_kill(const QString& profile, int ms, QHash<QString, int>& finished, QHash<QString, QVector<QPair<int, int>>>& live);
};

void TestKill::run_and_kill(const QString& profile, int ms, QHash<QString, int>& finished, QHash<QString, QVector<QPair<int, int>>>& live) {
  QProcess child;
  child.start(QCoreApplication::applicationFilePath(), {QStringLiteral("--child"), profile});
  QVERIFY(child.waitForStarted());
  QVERIFY2(child.waitForReadyRead(20000), child.readAllStandardError().constData());  // it streams; the kill falls somewhere after that
  QElapsedTimer clock;
  clock.start();
  QByteArray out;
  while (clock.elapsed() < ms) {
    child.waitForReadyRead(std::max(1, ms - static_cast<int>(clock.elapsed())));
    out += child.readAllStandardOutput();
  }
  child.kill();
  QVERIFY(child.waitForFinished());
  out += child.readAllStandardOutput();
  const QStringList lines = QString::fromUtf8(out).split(QLatin1Char('\n'));
  for (const QString& line : lines) {
    const QStringList w = line.split(QLatin1Char(' '));
    QVERIFY2(w[0] != QLatin1String("failed") && w[0] != QLatin1String("overflow"), qPrintable(line));
    if (w.size() == 3 && w[0] == QLatin1String("finished")) finished[w[1]] = w[2].toInt();
    if (w.size() == 4 && w[0] == QLatin1String("live")) live[w[1]].push_back({w[2].toInt(), w[3].toInt()});
  }
}

void TestKill::nothingFinishedIsLost() {
  QTemporaryDir dir;
  QHash<QString, int> finished;
  QRandomGenerator random(20261129);
  for (int i = 0; i < kKills; ++i) {
    QHash<QString, QVector<QPair<int, int>>> live;
    run_and_kill(dir.path(), static_cast<int>(random.bounded(10, 300)), finished, live);
    storage::OpenOptions options;
    options.folder = dir.path();
    storage::StoreThread store(options);
    QVERIFY(store.opened().result().ok());
    QCOMPARE(store.opened().result()->quarantined, QString());
    const auto chats = store.run([](storage::ChatStore& s) { return s.chats(); }).result();
    QCOMPARE(chats->size(), 1);
    const auto messages = store.run([id = chats->first().id](storage::ChatStore& s) { return s.messages(id); }).result();
    const auto turns = store.run([id = chats->first().id](storage::ChatStore& s) { return s.turns(id); }).result();
    QHash<QString, storage::Message> by_id;
    for (const storage::Message& m : *messages) by_id.insert(m.id, m);
    QSet<QString> measured;
    for (const storage::Turn& t : *turns) measured.insert(t.messageId);
    for (auto it = finished.constBegin(); it != finished.constEnd(); ++it) {
      QVERIFY(by_id.contains(it.key()));
      QCOMPARE(by_id[it.key()].text.size(), qsizetype(it.value()));
      QVERIFY(measured.contains(it.key()));
    }
    for (auto it = live.constBegin(); it != live.constEnd(); ++it) {
      const int end = it->last().second;
      for (const auto& [length, ms] : *it) {
        if (ms <= end - kLostAtMostMs - kNoiseMs) QVERIFY(by_id[it.key()].text.size() >= length);
      }
    }
  }
  qInfo("%d kills, %d finished answers, none lost", kKills, static_cast<int>(finished.size()));
}

int main(int argc, char** argv) {
  QCoreApplication app(argc, argv);
  if (argc == 3 && QByteArray(argv[1]) == "--child") {
    const Child child(QString::fromLocal8Bit(argv[2]));
    return child.ok() ? QCoreApplication::exec() : 1;
  }
  TestKill test;
  return QTest::qExec(&test, argc, argv);
}
#include "tst_kill_while_streaming.moc"
