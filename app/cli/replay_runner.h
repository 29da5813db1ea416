// Runs the steps of a scenario over the same services as the window. Blocks in a local event loop for each turn: for a program without a window only.
// Thread: main thread. Ownership: owns the application of its profile, closed and opened again by the step "restart".
#pragma once
#include <QHash>
#include <QJsonObject>
#include <memory>

#include "app/commands/options.h"
#include "app/commands/turn_driver.h"

namespace tg {

class ReplayRunner {
 public:
  ReplayRunner(QString profile, QString model, RunOptions defaults) : profile_(std::move(profile)), model_(std::move(model)), defaults_(std::move(defaults)) {}
  QString open();                            // a sentence when the profile cannot be opened
  // Prints the records of step NUMBER (from 1). False: the step failed.
  bool step(int number, const QJsonObject& step);

 private:
  struct Send { QString chat; TurnResult result; };

  bool dispatch(int number, const QString& kind, const QJsonValue& value);
  bool send(int number, const QJsonArray& sends);   // all side by side
  QString begin(const QString& kind, const QJsonObject& object, Send& send, int* left, class QEventLoop* loop);
  QString prepare(const QString& chat, const QJsonObject& options, const QJsonObject& object, TurnExtras* extras, QStringList* attach);
  QString edit(const QJsonObject& o, Send& send, int* left, QEventLoop* loop);
  QString regenerate(const QJsonObject& o, Send& send, int* left, QEventLoop* loop);
  bool turn(int number, const std::function<QString(Send&, int*, QEventLoop*)>& start);
  QString fork(const QJsonObject& o);
  QString cache_step(const QString& kind, const QJsonObject& o);
  QString budget(const QJsonObject& o);
  QString set(const QJsonObject& o);
  QString cancel_after(const QJsonObject& o);
  QString restart();
  QString integrity();
  QString unload();
  QString open_chat(const QString& chatId);
  bool print(int number, const Send& send);
  bool done(int number, const QString& error);
  void drive(const QString& chatId, const std::function<void()>& start, Send& send, int* left, QEventLoop* loop);

  QString profile_, model_;
  RunOptions defaults_;
  std::unique_ptr<ApplicationImpl> app_;
  QHash<QString, QString> chats_;            // id by name
  std::optional<CacheBudget> budget_;
  bool use_cache_ = true;
  int cancel_prefill_ = 0, cancel_output_ = 0;
};

}  // namespace tg
