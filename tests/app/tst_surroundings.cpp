// What the program meets outside itself: folders that change, a second process, a file system that cannot be written.
#include <QCryptographicHash>
#include <QDirIterator>
#include <QElapsedTimer>
#include <QProcess>
#include <QThread>
#include <QJsonDocument>
#include <QJsonObject>

#include "app/model_catalogue.h"
#include "tests/support/service_fixture.h"

using namespace tg;
using namespace tg::test;

namespace {

void write(const QString& path, const QByteArray& bytes) {
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  QCOMPARE(file.write(bytes), bytes.size());
}

QByteArray fingerprint_of(const QString& folder) {
  QCryptographicHash hash(QCryptographicHash::Sha256);
  QStringList files;
  for (QDirIterator it(folder, QDir::Files | QDir::Hidden, QDirIterator::Subdirectories); it.hasNext();) files << it.next();
  files.sort();
  for (const QString& path : std::as_const(files)) {
    QFile file(path);
    hash.addData(path.toUtf8());
    if (file.open(QIODevice::ReadOnly)) hash.addData(&file);
  }
  return hash.result();
}

bool ran(const QString& program, const QStringList& args) {
  QProcess process;
  process.start(program, args);
  return process.waitForFinished(10000) && process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0;
}

// FOLDER mounted read-only over itself; not possible without the right to mount.
class ReadOnlyMount {
 public:
  explicit ReadOnlyMount(const QString& folder) : folder_(folder) {
    mounted_ = ran(QStringLiteral("mount"), {QStringLiteral("--bind"), folder, folder});
    ok_ = mounted_ && ran(QStringLiteral("mount"), {QStringLiteral("-o"), QStringLiteral("remount,bind,ro"), folder});
  }
  ~ReadOnlyMount() {
    if (mounted_) ran(QStringLiteral("umount"), {folder_});
  }
  bool ok() const { return ok_; }

 private:
  QString folder_;
  bool mounted_ = false, ok_ = false;
};

}  // namespace

class TestSurroundings : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void newModelFileIsListed();
  void sendGoesToTheRunningInstance();
  void readOnlyFileSystem();
};

void TestSurroundings::newModelFileIsListed() {
  QTemporaryDir dir;
  const QString models = dir.filePath(QStringLiteral("models"));
  QVERIFY(QDir().mkpath(models));
  Settings settings(dir.filePath(QStringLiteral("settings.ini")));
  FolderCatalogue catalogue(&settings, {models});
  QSignalSpy changed(&catalogue, &ModelCatalogue::changed);
  catalogue.rescan();
  QVERIFY(changed.wait());
  QVERIFY(catalogue.models().isEmpty());
  write(models + QStringLiteral("/new.gguf"), "this is no model");
  QElapsedTimer clock;
  clock.start();
  QTRY_COMPARE_WITH_TIMEOUT(catalogue.models().size(), 1, 3000);
  qInfo("listed after %lld ms", clock.elapsed());
  QCOMPARE(catalogue.models()[0].name, QStringLiteral("new"));
  QVERIFY(!catalogue.models()[0].refusal.isEmpty());
  QVERIFY(QFile::remove(models + QStringLiteral("/new.gguf")));
  QTRY_VERIFY_WITH_TIMEOUT(catalogue.models().isEmpty(), 3000);
}

void TestSurroundings::sendGoesToTheRunningInstance() {
  ServiceFixture f(QStringLiteral("instant"));
  QSignalSpy started(&f.chats(), &ChatService::turnStarted), finished(&f.chats(), &ChatService::turnFinished);
  QByteArray out, err;
  std::optional<int> code;
  const QStringList args{QStringLiteral("chat"), QStringLiteral("send"), QStringLiteral("--chat"), QStringLiteral("from outside"),
                         QStringLiteral("--text"), QStringLiteral("hello there"), QStringLiteral("--json")};
  // The first instance answers from its event loop; the second waits on a thread of its own as another process would.
  std::unique_ptr<QThread> cli(QThread::create([&] {
    code = hand_over_command(profile_paths(f.profile()).socketName(), args, {[&](const QByteArray& line) { out += line; }, [&](const QByteArray& line) { err += line; }, nullptr});
  }));
  cli->start();
  QTRY_VERIFY(cli->isFinished());
  QVERIFY2(code && *code == 0, err.constData());
  QCOMPARE(started.size(), 1);               // it ran here, where the model is loaded
  QCOMPARE(finished.size(), 1);
  const QJsonObject record = QJsonDocument::fromJson(out).object();
  QCOMPARE(record.value(QLatin1String("chat")).toString(), QStringLiteral("from outside"));
  QCOMPARE(record.value(QLatin1String("text")).toString(), finished[0][1].value<MessageInfo>().text);
  QVERIFY(record.value(QLatin1String("input_total")).toInt() > 0);
  const QString id = f.chats().idOf(QStringLiteral("from outside"));
  QCOMPARE(f.texts(id).value(0), QStringLiteral("hello there"));
}

void TestSurroundings::readOnlyFileSystem() {
  ServiceFixture f(QStringLiteral("instant"));
  const QString id = f.chat();
  f.turn(id, QStringLiteral("hello"));
  f.app().shutdown();
  const ReadOnlyMount mount(f.profile());
  if (!mount.ok()) {
    qInfo("Mounting is not allowed here; the profile was not looked at on a read-only file system.");
    return;
  }
  const QByteArray before = fingerprint_of(f.profile());
  AppOptions options;
  options.profile = f.profile();
  options.scriptedEngine = QStringLiteral("instant");
  QString error;
  {
    const auto reader = ApplicationImpl::open(options, &error);
    QVERIFY2(reader != nullptr, qPrintable(error));
    QVERIFY(reader->readOnly());
    QVERIFY2(reader->profileNotice().contains(QStringLiteral("read-only")), qPrintable(reader->profileNotice()));
    QSignalSpy opened(&reader->service(), &ChatService::chatOpened), failed(&reader->service(), &ChatService::failed);
    reader->service().openChat(id);
    QVERIFY(opened.wait());
    QCOMPARE(reader->service().messages(id).size(), 2);
    QVERIFY(reader->service().messages(id)[1].record.has_value());
    reader->service().send(id, QStringLiteral("more"), {});
    QCOMPARE(failed.size(), 1);
    QCOMPARE(reader->service().draft(id), QStringLiteral("more"));
  }
  QCOMPARE(fingerprint_of(f.profile()), before);
}

QTEST_GUILESS_MAIN(TestSurroundings)
#include "tst_surroundings.moc"
