#include "app/turn_runner.h"

namespace tg {
namespace {

constexpr int kRetryMs = 2000;

}  // namespace

TurnRunner::TurnRunner(storage::StoreThread* store, storage::Message message, std::optional<double> predicted_ms, QObject* parent)
    : QObject(parent), store_(store), message_(std::move(message)), base_text_(message_.text), base_thinking_(message_.thinkingText) {
  live_.messageId = message_.id;
  live_.state = TurnState::Queued;
  live_.text = base_text_;
  live_.thinkingText = base_thinking_;
  live_.predictedMs = predicted_ms;
  clock_.start();
  draft_timer_.setInterval(kDraftMs);
  connect(&draft_timer_, &QTimer::timeout, this, &TurnRunner::writeDraft);
  retry_timer_.setInterval(kRetryMs);
  retry_timer_.setSingleShot(true);
  connect(&retry_timer_, &QTimer::timeout, this, &TurnRunner::trySave);
}

TurnRunner::~TurnRunner() = default;

LiveTurn TurnRunner::live() const {
  LiveTurn out = live_;
  out.elapsedMs = static_cast<double>(clock_.elapsed());
  return out;
}

QString TurnRunner::activity() const {
  switch (live_.state) {
    case TurnState::Queued: return QStringLiteral("queued");
    case TurnState::Loading: return QStringLiteral("loading");
    case TurnState::Reading: return QStringLiteral("reading");
    default: return QStringLiteral("writing");
  }
}

void TurnRunner::apply(const PortEvent& event) {
  if (live_.state == TurnState::Loading && event.kind != PortEvent::Kind::Loading) loaded_at_ms_ = static_cast<double>(clock_.elapsed());
  switch (event.kind) {
    case PortEvent::Kind::Queued:
      if (event.predictedMs) live_.predictedMs = event.predictedMs;
      live_.state = TurnState::Queued;
      live_.queuePosition = event.position;
      break;
    case PortEvent::Kind::Loading:
      live_.state = TurnState::Loading;
      live_.loadDone = event.done;
      live_.loadTotal = event.total;
      break;
    case PortEvent::Kind::Reading:
      live_.state = TurnState::Reading;
      live_.readDone = event.progress.done;
      live_.readTotal = event.progress.total;
      live_.readCached = event.progress.cached;
      live_.readTps = event.progress.tokens_per_second;
      break;
    case PortEvent::Kind::Text:
      if (!live_.ttftMs) live_.ttftMs = static_cast<double>(clock_.elapsed()) - loaded_at_ms_;
      live_.state = TurnState::Writing;
      live_.text += event.text;
      live_.thinkingText += event.thinkingText;
      live_.output = event.output;
      live_.thinking = event.thinking;
      live_.writeTps = event.tokensPerSecond;
      dirty_ = true;
      if (!draft_timer_.isActive()) draft_timer_.start();
      break;
    case PortEvent::Kind::Finished: break;
  }
}

// A slow disk gets one draft at a time; the next one carries all that came meanwhile.
void TurnRunner::writeDraft() {
  if (!dirty_ || writing_draft_ || concluded_) return;
  dirty_ = false;
  writing_draft_ = true;
  store_->run([id = message_.id, text = live_.text, thinking = live_.thinkingText](storage::ChatStore& store) { return store.saveAnswerDraft(id, text, thinking); })
      .then(this, [this](const storage::Status& status) {
        writing_draft_ = false;
        if (!status) dirty_ = true;
      });
}

storage::Message TurnRunner::conclude(const TurnReport& report, storage::MessageState state, const QString& error) {
  concluded_ = true;
  draft_timer_.stop();
  message_.text = base_text_ + QString::fromStdString(report.text);
  message_.thinkingText = base_thinking_ + QString::fromStdString(report.thinking_text);
  const bool continued = !base_text_.isEmpty() || !base_thinking_.isEmpty();
  if (!continued) message_.generatedIds.clear();
  // Without the ids of the first part those of the second would not stand for the whole answer.
  if (!continued || !message_.generatedIds.isEmpty()) {
    message_.generatedIds += QVector<int>(report.output_ids.begin(), report.output_ids.end());
  }
  message_.state = state;
  message_.error = error;
  live_.text = message_.text;
  live_.thinkingText = message_.thinkingText;
  return message_;
}

void TurnRunner::save(const std::optional<storage::Turn>& turn) {
  row_ = turn;
  trySave();
}

void TurnRunner::trySave() {
  store_->run([message = message_, turn = row_](storage::ChatStore& store) { return turn ? store.finishTurn(message, *turn) : store.updateMessage(message); })
      .then(this, [this](const storage::Status& status) {
        if (status) {
          Q_EMIT saved();
          return;
        }
        retry_timer_.start();
        if (!std::exchange(refused_, true)) Q_EMIT saveRefused(status.failure());
      });
}

}  // namespace tg
