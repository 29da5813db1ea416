// Everything behind one window or one command: profile, storage, engine and services, wired once.
// Thread: created and used on the main thread. Ownership: owns all services.
#pragma once
#include <QObject>
#include <QString>
#include <QVector>
#include <memory>
#include <optional>

#include "app/chat_service.h"

namespace tg {

struct ModelInfo {
  QString path, name, architecture, format, template_, licence, fingerprint;
  qint64 fileBytes = 0;
  quint64 parameters = 0;
  int contextLength = 0;
  double kvBytesPerToken = 0;
  QString refusal;                   // one sentence: why it cannot be used; empty: usable
  bool hasTemplate = true, loaded = false;
  bool thinks = false;               // by its template
};

// Models in the folders the user named. Scanned off the main thread, watched.
class ModelCatalogue : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  virtual QVector<ModelInfo> models() const = 0;
  virtual QStringList folders() const = 0;
  virtual void addFolder(const QString& folder) = 0;
  virtual void addFile(const QString& path) = 0;
  virtual void removeFromList(const QString& path) = 0;
  virtual void rescan() = 0;
  virtual QString defaultModel() const = 0;          // what a new chat uses; empty: none there
 Q_SIGNALS:
  void changed();
};

struct DeviceStatus {
  QString device, fallback;          // in real use, from the engine; fallback: reason, empty: none
  qint64 memoryUsed = 0, memoryTotal = 0;
  QStringList connections;           // hosts of real sockets; empty: offline
  QString activity;
};

// How a check, backup or restore of the chat file ended.
struct DataAnswer {
  quint64 request = 0;
  bool ok = false;
  QString sentence, file;            // sentence: for the user; file: that was written
  QStringList details;               // faults found
};

struct AppOptions {
  QString profile;                   // folder of all data; empty: XDG folders
  QString scriptedEngine;            // tests, --self-test and demos without a model: name of a script; empty: the real engine
  bool readOnly = false;
  QStringList openFiles;             // handed to the running instance when this profile is in use
};

class CacheOverview;                 // app/cache_overview.h
class Settings;                      // app/settings.h

class Application : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  // A profile that cannot be opened gives null and ERROR one sentence.
  static std::unique_ptr<Application> create(const AppOptions& options, QString* error);
  virtual ChatService& chats() = 0;
  virtual ModelCatalogue& models() = 0;
  virtual CacheOverview& cache() = 0;
  virtual Settings& settings() = 0;
  virtual DeviceStatus deviceStatus() const = 0;
  virtual QString profileNotice() const = 0;         // recovery, quarantine, read-only: a sentence, or empty
  virtual QStringList priceRows() const = 0;         // "provider/model" of the book in force
  virtual QString priceBookDate() const = 0;
  // ---- the chat file. None of them waits -> dataAnswered.
  virtual void checkData(quint64 request) { Q_UNUSED(request) }
  virtual void backUpData(const QString& target, quint64 request) { Q_UNUSED(target) Q_UNUSED(request) }    // empty target: into the profile's backups
  virtual void restoreData(const QString& backup, quint64 request) { Q_UNUSED(backup) Q_UNUSED(request) }  // takes effect at the next start
  virtual QString backupFolder() const { return {}; }
  virtual void shutdown() = 0;                       // stops turns, commits, at most 1 s
 Q_SIGNALS:
  void deviceStatusChanged();
  void dataAnswered(const tg::DataAnswer& answer);
  void openRequested(const QStringList& files);      // another start of the program handed its files over; also with none: come to the front
};

}  // namespace tg
