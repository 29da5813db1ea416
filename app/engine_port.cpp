#include "app/engine_port.h"

#include <QMutex>
#include <utility>

namespace tg {

struct PortEventBuffer::Private {
  QMutex mutex;
  QVector<PortEvent> waiting;
  EnginePort* port = nullptr;               // null once the buffer is gone: late engine threads add to nobody
  bool queued = false;
};

namespace {

bool joins(const PortEvent& last, const PortEvent& next) {
  if (last.turn != next.turn || last.kind != next.kind) return false;
  return next.kind != PortEvent::Kind::Finished;
}

void join(PortEvent& last, PortEvent&& next) {
  if (next.kind == PortEvent::Kind::Text) {
    next.text.prepend(last.text);
    next.thinkingText.prepend(last.thinkingText);
  }
  if (!next.predictedMs) next.predictedMs = last.predictedMs;
  last = std::move(next);
}

}  // namespace

PortEventBuffer::PortEventBuffer(EnginePort* port) : d_(std::make_shared<Private>()) { d_->port = port; }

PortEventBuffer::~PortEventBuffer() {
  const QMutexLocker lock(&d_->mutex);
  d_->port = nullptr;
}

void PortEventBuffer::add(PortEvent event) {
  const QMutexLocker lock(&d_->mutex);
  if (!d_->port) return;
  // Turns interleave; the newest event of the same turn is within the last few.
  for (auto i = d_->waiting.size(); i-- > 0;) {
    if (d_->waiting[i].turn != event.turn) continue;
    if (joins(d_->waiting[i], event)) {
      join(d_->waiting[i], std::move(event));
      return;
    }
    break;
  }
  d_->waiting.push_back(std::move(event));
  if (std::exchange(d_->queued, true)) return;
  QMetaObject::invokeMethod(d_->port, [this, alive = std::weak_ptr<Private>(d_)] { if (alive.lock()) flush(); }, Qt::QueuedConnection);
}

void PortEventBuffer::flush() {
  QVector<PortEvent> batch;
  EnginePort* port = nullptr;
  {
    const QMutexLocker lock(&d_->mutex);
    d_->queued = false;
    batch.swap(d_->waiting);
    port = d_->port;
  }
  if (port && !batch.isEmpty()) Q_EMIT port->events(batch);
}

}  // namespace tg
