// Tiers of a chat: keep, evict, pin. What may wait for a disk runs off the service's thread, and may outlive the service: the program closes
// the chats before their engine.
#include "app/chat_service_impl.h"

#include <QPointer>

#include "app/error_words.h"

namespace tg {

// WORK must not touch the service.
void ChatServiceImpl::steer(const QString& chatId, std::function<Status()> work, bool tellFailure) {
  engine_->background(std::move(work), [self = QPointer(this), chatId, tellFailure](const Status& status) {
    if (!self) return;
    if (!status && tellFailure) Q_EMIT self->failed(chatId, words::sentence(status.error()), {});
    Q_EMIT self->chatChanged(chatId);
  });
}

void ChatServiceImpl::keep(const QString& chatId, ChatTier tier) {
  const Tier to = tier == ChatTier::Gpu ? Tier::gpu : tier == ChatTier::Disk ? Tier::disk : Tier::ram;
  steer(chatId, [engine = engine_, chatId, to] { return engine->keep(chatId, to); }, true);
}

void ChatServiceImpl::prefetch(const QString& chatId) { engine_->prefetch(chatId); }

void ChatServiceImpl::evict(const QString& chatId) {
  steer(chatId, [engine = engine_, chatId] { return engine->evict(chatId); }, true);
}

void ChatServiceImpl::pin(const QString& chatId, bool pinned) {
  ChatState* chat = find(chatId);
  if (!chat) return;
  chat->row.pinned = pinned;
  save(store_, chatId, [chatId, pinned](storage::ChatStore& store) { return store.setPinned(chatId, pinned); });
  // A chat whose cache is cold is pinned all the same: the mark counts from its next turn on.
  steer(chatId, [engine = engine_, chatId, pinned] { return engine->pin(chatId, pinned); }, false);
}

void ChatServiceImpl::setKeepOnClose(const QString& chatId, ChatKeep keep) {
  ChatState* chat = find(chatId);
  if (!chat || chat->settings.keepOnClose == keep) return;
  chat->settings.keepOnClose = keep;
  storeSettings(*chat);
  // A cold chat hears of it with its next turn.
  steer(chatId, [engine = engine_, chatId, keep] { return engine->keepOnClose(chatId, engine_keep(keep)); }, false);
}

}  // namespace tg
