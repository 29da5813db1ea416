// The wiring behind application.h, also used by the command line. Thread: main thread. Ownership: owns store, engine and services, gone in reverse order.
#pragma once
#include <QLockFile>
#include <QTimer>

#include "app/application.h"
#include "app/cache_overview_impl.h"
#include "app/chat_service_impl.h"
#include "app/instance.h"
#include "app/model_catalogue.h"
#include "app/paths.h"
#include "app/settings.h"

namespace tg {

class ApplicationImpl : public Application {
  Q_OBJECT
 public:
  // Null and a sentence in ERROR; BUSY (may be null) is set when another program has the profile.
  static std::unique_ptr<ApplicationImpl> open(const AppOptions& options, QString* error, bool* busy = nullptr);
  ~ApplicationImpl() override;

  ChatService& chats() override { return *chats_; }
  ModelCatalogue& models() override { return *models_; }
  CacheOverview& cache() override { return *cache_; }
  Settings& settings() override { return *settings_; }
  DeviceStatus deviceStatus() const override;
  QString profileNotice() const override { return notice_; }
  QStringList priceRows() const override;
  QString priceBookDate() const override;
  void checkData(quint64 request) override;
  void backUpData(const QString& target, quint64 request) override;
  void restoreData(const QString& backup, quint64 request) override;
  QString backupFolder() const override { return paths_.root + QStringLiteral("/backups"); }
  void shutdown() override;

  ChatServiceImpl& service() { return *chats_; }
  FolderCatalogue& catalogue() { return *models_; }
  EnginePort& engine() { return *engine_; }
  storage::StoreThread& store() { return *store_; }
  const ProfilePaths& paths() const { return paths_; }
  InstanceServer& server() { return server_; }
  bool readOnly() const { return read_only_; }

 private:
  ApplicationImpl() = default;
  bool lock(const AppOptions& options, QString* error, bool* busy);
  void restoreWaiting();                     // what restoreData() left for this start
  bool openStore(QString* error);
  void openEngine(const QString& script);
  void openServices();
  KeepRules keep_rules() const;
  void applySettings();

  ProfilePaths paths_;
  std::unique_ptr<QLockFile> lock_;
  std::unique_ptr<Settings> settings_;
  std::unique_ptr<storage::StoreThread> store_;
  std::unique_ptr<EnginePort> engine_;
  std::unique_ptr<FolderCatalogue> models_;
  std::unique_ptr<ChatServiceImpl> chats_;
  std::unique_ptr<CacheOverviewImpl> cache_;
  QTimer idle_;
  InstanceServer server_;
  QString notice_;
  bool read_only_ = false, shut_down_ = false;
};

}  // namespace tg
