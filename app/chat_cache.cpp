// Tiers of a chat: keep, evict, pin. What may wait for a disk runs off the service's thread.
#include "app/chat_service_impl.h"
#include "app/error_words.h"

namespace tg {

void ChatServiceImpl::keep(const QString& chatId, ChatTier tier) {
  const Tier to = tier == ChatTier::Gpu ? Tier::gpu : tier == ChatTier::Disk ? Tier::disk : Tier::ram;
  engine_->background([this, chatId, to] { return engine_->keep(chatId, to); },
                      [this, chatId](const Status& status) {
                        if (!status) Q_EMIT failed(chatId, words::sentence(status.error()), {});
                        Q_EMIT chatChanged(chatId);
                      });
}

void ChatServiceImpl::prefetch(const QString& chatId) { engine_->prefetch(chatId); }

void ChatServiceImpl::evict(const QString& chatId) {
  engine_->background([this, chatId] { return engine_->evict(chatId); },
                      [this, chatId](const Status& status) {
                        if (!status) Q_EMIT failed(chatId, words::sentence(status.error()), {});
                        Q_EMIT chatChanged(chatId);
                      });
}

void ChatServiceImpl::pin(const QString& chatId, bool pinned) {
  ChatState* chat = find(chatId);
  if (!chat) return;
  chat->row.pinned = pinned;
  save(store_, chatId, [chatId, pinned](storage::ChatStore& store) { return store.setPinned(chatId, pinned); });
  // A chat whose cache is cold is pinned all the same: the mark counts from its next turn on.
  engine_->background([this, chatId, pinned] { return engine_->pin(chatId, pinned); }, [this, chatId](const Status&) { Q_EMIT chatChanged(chatId); });
}

void ChatServiceImpl::setKeepOnClose(const QString& chatId, ChatKeep keep) {
  ChatState* chat = find(chatId);
  if (!chat || chat->settings.keepOnClose == keep) return;
  chat->settings.keepOnClose = keep;
  storeSettings(*chat);
  // A cold chat hears of it with its next turn.
  engine_->background([this, chatId, keep] { return engine_->keepOnClose(chatId, engine_keep(keep)); }, [this, chatId](const Status&) { Q_EMIT chatChanged(chatId); });
}

}  // namespace tg
