// Waits, without blocking, for the one turn that a command started, and says how it ended.
// Thread: the service's. Ownership: lives until it has answered once.
#pragma once
#include <functional>
#include <optional>

#include "app/application_impl.h"

namespace tg {

struct TurnResult {
  std::optional<MessageInfo> answer;         // on disk; unset: nothing was sent
  std::optional<TurnRecord> record;
  QString error;                             // one sentence; empty: done
  int exit = 0;                              // CLI.md "Exit codes"
};

class TurnDriver : public QObject {
  Q_OBJECT
 public:
  // START begins a turn in CHAT, DONE is called when it is on disk or was not sent. TEXT (may be null) gets what the answer grew by.
  static void drive(ApplicationImpl& app, const QString& chat, const std::function<void()>& start, std::function<void(TurnResult)> done,
                    std::function<void(const QString& delta)> text = nullptr);

 private:
  TurnDriver(ApplicationImpl& app, QString chat, std::function<void(TurnResult)> done, std::function<void(const QString&)> text);
  void finished(const MessageInfo& message);
  void answer(const TurnResult& result);

  ApplicationImpl& app_;
  QString chat_, shown_;
  std::function<void(TurnResult)> done_;
  std::function<void(const QString&)> text_;
};

}  // namespace tg
