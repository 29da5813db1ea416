// One turn from submit to "on disk": gathers the engine's events, writes drafts of the streaming text, and saves message and figures in one transaction.
// Thread: the service's. Ownership: owned by its chat; the engine port and the store outlive it.
#pragma once
#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include "app/chat_service.h"
#include "app/engine_port.h"
#include "storage/store_thread.h"

namespace tg {

class TurnRunner : public QObject {
  Q_OBJECT
 public:
  // MESSAGE: the assistant message, on disk in state Streaming; its text is what an earlier part of the answer left (Continue).
  TurnRunner(storage::StoreThread* store, storage::Message message, std::optional<double> predicted_ms, QObject* parent = nullptr);
  ~TurnRunner() override;

  void setTurn(quint64 turn) { turn_ = turn; }
  quint64 turn() const { return turn_; }
  const storage::Message& message() const { return message_; }
  LiveTurn live() const;
  QString activity() const;                 // "reading" "writing" "queued" "loading"

  void apply(const PortEvent& event);       // not Finished
  // The engine is done: REPORT's text and ids go into the message. Gives the final message, not yet saved.
  storage::Message conclude(const TurnReport& report, storage::MessageState state, const QString& error);
  // Saves; tries again every two seconds while the disk refuses. TURN unset: there is nothing measured to keep.
  void save(const std::optional<storage::Turn>& turn);

  static constexpr int kDraftMs = 200;      // at most 250 ms of a stream are lost when the program is killed

 Q_SIGNALS:
  void saved();
  void saveRefused(const tg::storage::Failure& failure);  // once; kept in memory and tried again

 private:
  void writeDraft();
  void trySave();

  storage::StoreThread* store_;
  storage::Message message_;
  QString base_text_, base_thinking_;
  LiveTurn live_;
  quint64 turn_ = 0;
  QElapsedTimer clock_;
  double loaded_at_ms_ = 0;                 // the first token is counted from here: a load is told apart
  QTimer draft_timer_, retry_timer_;
  bool dirty_ = false, writing_draft_ = false, concluded_ = false, refused_ = false;
  std::optional<storage::Turn> row_;
};

}  // namespace tg
