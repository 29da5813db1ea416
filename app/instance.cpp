#include "app/instance.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocalSocket>
#include <QPointer>

namespace tg {
namespace {

constexpr int kConnectMs = 1000, kAnswerMs = 2000;
constexpr qint64 kLongestRequest = 1 << 20;

void write_line(QLocalSocket* socket, const QJsonObject& object) {
  socket->write(QJsonDocument(object).toJson(QJsonDocument::Compact) + '\n');
  socket->flush();
}

QStringList strings(const QJsonValue& array) {
  QStringList out;
  const QJsonArray values = array.toArray();
  for (const QJsonValue& v : values) out << v.toString();
  return out;
}

bool connect_to(QLocalSocket& socket, const QString& name) {
  socket.connectToServer(name);
  return socket.waitForConnected(kConnectMs);
}

}  // namespace

InstanceServer::InstanceServer(QObject* parent) : QObject(parent) {
  server_.setSocketOptions(QLocalServer::UserAccessOption);
  connect(&server_, &QLocalServer::newConnection, this, [this] {
    while (QLocalSocket* socket = server_.nextPendingConnection()) serve(socket);
  });
}

bool InstanceServer::listen(const QString& name) {
  // The lock is ours, so a socket file of that name was left by a program that was killed.
  QLocalServer::removeServer(name);
  return server_.listen(name);
}

void InstanceServer::serve(QLocalSocket* socket) {
  connect(socket, &QLocalSocket::disconnected, socket, &QObject::deleteLater);
  connect(socket, &QLocalSocket::readyRead, this, [this, socket] {
    if (socket->bytesAvailable() > kLongestRequest && !socket->canReadLine()) return socket->abort();
    while (socket->canReadLine()) {
      const QJsonObject request = QJsonDocument::fromJson(socket->readLine()).object();
      if (request.contains(QLatin1String("open"))) {
        Q_EMIT openRequested(strings(request.value(QLatin1String("open"))));
        write_line(socket, {{QStringLiteral("exit"), 0}});
      } else if (request.contains(QLatin1String("command")) && handler_) {
        const QPointer<QLocalSocket> to(socket);
        const auto say = [to](const char* key) {
          return [to, key](const QByteArray& line) { if (to) write_line(to, {{QLatin1String(key), QString::fromUtf8(line)}}); };
        };
        handler_(strings(request.value(QLatin1String("command"))),
                 {say("out"), say("err"), [to](int code) { if (to) write_line(to, {{QStringLiteral("exit"), code}}); }});
      }
    }
  });
}

bool hand_over_files(const QString& socketName, const QStringList& files) {
  QLocalSocket socket;
  if (!connect_to(socket, socketName)) return false;
  write_line(&socket, {{QStringLiteral("open"), QJsonArray::fromStringList(files)}});
  return socket.waitForReadyRead(kAnswerMs);
}

std::optional<int> hand_over_command(const QString& socketName, const QStringList& args, const CommandOutput& output) {
  QLocalSocket socket;
  if (!connect_to(socket, socketName)) return std::nullopt;
  write_line(&socket, {{QStringLiteral("command"), QJsonArray::fromStringList(args)}});
  while (socket.canReadLine() || socket.waitForReadyRead(-1)) {
    while (socket.canReadLine()) {
      const QJsonObject answer = QJsonDocument::fromJson(socket.readLine()).object();
      if (answer.contains(QLatin1String("out"))) output.out(answer.value(QLatin1String("out")).toString().toUtf8());
      if (answer.contains(QLatin1String("err"))) output.err(answer.value(QLatin1String("err")).toString().toUtf8());
      if (answer.contains(QLatin1String("exit"))) return answer.value(QLatin1String("exit")).toInt();
    }
  }
  output.err("The running Turnglass ended before it had answered.");
  return 1;
}

}  // namespace tg
