// One program per profile: the first listens on a local socket, later ones hand over what they were asked to do and go.
// Wire: one JSON object a line. Request {"open":[files]} or {"command":[args]}; answer {"out":line}*, {"err":line}*, then {"exit":code}.
// Thread: main thread. Only this user may connect.
#pragma once
#include <QLocalServer>
#include <QObject>
#include <QStringList>
#include <functional>
#include <optional>

namespace tg {

// Where a command's lines go; called any number of times, exit last and once.
struct CommandOutput {
  std::function<void(const QByteArray& line)> out, err;
  std::function<void(int code)> exit;
};

class InstanceServer : public QObject {
  Q_OBJECT
 public:
  explicit InstanceServer(QObject* parent = nullptr);
  bool listen(const QString& name);
  void setCommandHandler(std::function<void(const QStringList& args, CommandOutput output)> handler) { handler_ = std::move(handler); }

 Q_SIGNALS:
  void openRequested(const QStringList& files);

 private:
  void serve(class QLocalSocket* socket);
  QLocalServer server_;
  std::function<void(const QStringList&, CommandOutput)> handler_;
};

// To the running instance, waiting at most two seconds for it to take the files. False: nobody listens.
bool hand_over_files(const QString& socketName, const QStringList& files);
// Runs ARGS there and writes its lines to OUTPUT as they come; gives the exit code, or nothing when nobody listens.
std::optional<int> hand_over_command(const QString& socketName, const QStringList& args, const CommandOutput& output);

}  // namespace tg
