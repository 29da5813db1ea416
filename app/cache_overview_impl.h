// The cache overview over the real services: figures of the engine, gathered off the window's thread, joined with the list of chats.
// Thread: the service's. Ownership: borrows services and engine, which outlive it.
#pragma once
#include <QHash>
#include <QTimer>

#include "app/application.h"
#include "app/cache_overview.h"
#include "app/engine_port.h"

namespace tg {

class CacheOverviewImpl : public CacheOverview {
  Q_OBJECT
 public:
  // FOLDER: where the caches on disk are.
  CacheOverviewImpl(ChatService* chats, EnginePort* engine, ModelCatalogue* models, Settings* settings, QString folder, QObject* parent = nullptr);
  ~CacheOverviewImpl() override;

  const CacheSnapshot& snapshot() const override { return snapshot_; }
  void refresh() override;
  QVector<CacheEventInfo> events(const QString& chatId) override;
  void toTier(const QString& chatId, ChatTier tier) override;
  void pin(const QString& chatId, bool pinned) override { chats_->pin(chatId, pinned); }
  void evict(const QString& chatId) override;
  void clear() override;
  void setBudget(ChatTier tier, qint64 bytes) override;
  void checkIntegrity() override;

 private:
  // What the engine says, taken at one moment.
  struct Facts {
    CacheUse use;
    std::vector<CacheState> states;
    QHash<QString, qint64> reason_at;       // Unix ms, by chat
    CacheBudget budget;
    qint64 memory = 0, disk_free = 0;
  };
  void steer(std::function<Status()> work);
  void build();
  CacheRow rowOf(const ChatInfo& chat, const QHash<QString, const CacheState*>& states, const QHash<QString, const ChatUse*>& uses, const QHash<QString, QString>& titles) const;
  QVector<CacheEventInfo> turnEvents(const QString& chatId) const;

  ChatService* chats_;
  EnginePort* engine_;
  ModelCatalogue* models_;
  Settings* settings_;
  QString folder_;
  CacheSnapshot snapshot_;
  std::shared_ptr<const Facts> facts_;
  QHash<QString, std::vector<CacheEvent>> events_;
  QTimer soon_;                             // chats change in bursts
  bool gathering_ = false, again_ = false;
};

}  // namespace tg
