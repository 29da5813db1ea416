// `models get` against a server on the loopback that drops, ignores or mistakes the range, sends other bytes, or refuses.
#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTemporaryDir>
#include <QTest>

#include "app/cli/download.h"

namespace {

QByteArray model_bytes() {
  QByteArray out;
  for (int i = 0; i < 100000; ++i) out += static_cast<char>((i * 31 + i / 251) & 0xff);
  return out;
}

// Answers one request per connection; runs in the test's thread, inside the download's event loop.
class Server : public QTcpServer {
 public:
  enum Mode { Whole, DropsOnce, IgnoresRange, WrongRangeOnce, OtherBytes, Refuses, RangeRefused };
  explicit Server(Mode mode) : mode_(mode), body_(model_bytes()) {
    if (mode == OtherBytes) body_[500] = static_cast<char>(body_[500] ^ 1);
    connect(this, &QTcpServer::newConnection, this, [this] {
      while (QTcpSocket* socket = nextPendingConnection()) {
        connect(socket, &QTcpSocket::readyRead, this, [this, socket] { answer(socket); });
        connect(socket, &QTcpSocket::disconnected, socket, &QObject::deleteLater);
      }
    });
    listen(QHostAddress::LocalHost);
  }
  QString url() const { return QStringLiteral("http://127.0.0.1:%1/small.gguf").arg(serverPort()); }
  QStringList ranges;                        // of all requests; empty: from the start

 private:
  void answer(QTcpSocket* socket) {
    const QString request = QString::fromLatin1(socket->readAll());
    static const QRegularExpression wanted(QStringLiteral("Range: bytes=(\\d+)-"), QRegularExpression::CaseInsensitiveOption);
    const QString range = wanted.match(request).captured(1);
    ranges << range;
    qint64 from = range.toLongLong();
    QByteArray head = range.isEmpty() ? "HTTP/1.1 200 OK" : "HTTP/1.1 206 Partial Content";
    if (mode_ == Refuses) return send(socket, "HTTP/1.1 404 Not Found", "<html>no such page</html>", -1);
    if (mode_ == RangeRefused && !range.isEmpty()) return send(socket, "HTTP/1.1 416 Range Not Satisfiable", "<html>no</html>", -1);
    if (mode_ == IgnoresRange) head = "HTTP/1.1 200 OK", from = 0;
    if (mode_ == WrongRangeOnce && !range.isEmpty()) from = 0;  // says 206 and sends from the start
    if (!range.isEmpty() && mode_ != IgnoresRange) head += "\r\nContent-Range: bytes " + QByteArray::number(from) + "-" + QByteArray::number(body_.size() - 1) + "/" + QByteArray::number(body_.size());
    const bool drops = ranges.size() == 1 && mode_ == DropsOnce;
    send(socket, head, body_.mid(from), drops ? body_.size() * 96 / 100 : -1);
  }
  static void send(QTcpSocket* socket, const QByteArray& head, const QByteArray& body, qint64 only) {
    socket->write(head + "\r\nContent-Length: " + QByteArray::number(body.size()) + "\r\nConnection: close\r\n\r\n" + (only < 0 ? body : body.left(only)));
    socket->disconnectFromHost();
  }
  Mode mode_;
  QByteArray body_;
};

QByteArray read(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void write(const QString& path, const QByteArray& bytes) {
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  QCOMPARE(file.write(bytes), bytes.size());
}

QString sha() { return QString::fromLatin1(QCryptographicHash::hash(model_bytes(), QCryptographicHash::Sha256).toHex()); }

}  // namespace

class TestDownload : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void arrives();
  void goesOnWhereItWasDropped();
  void startsAgain_data();
  void startsAgain();
  void otherBytesAreSetAside();
  void refusalLeavesThePart();
  void checksumIsAsked();

 private:
  QString target() const { return dir_->path() + QStringLiteral("/small.gguf"); }
  QString part() const { return target() + QStringLiteral(".part"); }
  std::unique_ptr<QTemporaryDir> dir_;
 private Q_SLOTS:
  void init() { dir_ = std::make_unique<QTemporaryDir>(); }
};

void TestDownload::arrives() {
  Server server(Server::Whole);
  QCOMPARE(tg::download_model(server.url(), sha(), dir_->path()), 0);
  QCOMPARE(read(target()), model_bytes());
  QVERIFY(!QFile::exists(part()));
  QCOMPARE(tg::download_model(server.url(), sha(), dir_->path()), 0);  // there already: nothing is asked for
  QCOMPARE(server.ranges.size(), 1);
}

void TestDownload::goesOnWhereItWasDropped() {
  Server server(Server::DropsOnce);
  QCOMPARE(tg::download_model(server.url(), sha(), dir_->path()), 0);
  QCOMPARE(read(target()), model_bytes());
  QCOMPARE(server.ranges, (QStringList{QString(), QStringLiteral("96000")}));
}

void TestDownload::startsAgain_data() {
  QTest::addColumn<int>("mode");
  QTest::newRow("range ignored") << static_cast<int>(Server::IgnoresRange);
  QTest::newRow("another range") << static_cast<int>(Server::WrongRangeOnce);
  QTest::newRow("range refused") << static_cast<int>(Server::RangeRefused);
}

void TestDownload::startsAgain() {
  QFETCH(int, mode);
  write(part(), QByteArray(40000, 'x'));     // of an earlier try, and of another file
  Server server(static_cast<Server::Mode>(mode));
  QCOMPARE(tg::download_model(server.url(), sha(), dir_->path()), 0);
  QCOMPARE(server.ranges[0], QStringLiteral("40000"));
  QCOMPARE(read(target()), model_bytes());
}

void TestDownload::otherBytesAreSetAside() {
  Server server(Server::OtherBytes);
  QCOMPARE(tg::download_model(server.url(), sha(), dir_->path()), 1);
  QVERIFY(!QFile::exists(target()));
  QVERIFY(!QFile::exists(part()));
  QVERIFY(QFile::exists(target() + QStringLiteral(".wrong-checksum")));
}

void TestDownload::refusalLeavesThePart() {
  write(part(), model_bytes().left(5000));
  Server server(Server::Refuses);
  QCOMPARE(tg::download_model(server.url(), sha(), dir_->path()), 1);
  QVERIFY(!QFile::exists(target()));
  QCOMPARE(read(part()), model_bytes().left(5000));  // an error page is no part of the file
}

void TestDownload::checksumIsAsked() {
  QCOMPARE(tg::download_model(QStringLiteral("http://127.0.0.1:9/small.gguf"), QString(), dir_->path()), 2);
  QCOMPARE(tg::download_model(QStringLiteral("ftp://127.0.0.1/small.gguf"), sha(), dir_->path()), 2);
}

QTEST_GUILESS_MAIN(TestDownload)
#include "tst_download.moc"
