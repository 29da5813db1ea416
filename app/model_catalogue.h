// The catalogue behind application.h: folders scanned on a pool thread, watched, files that are refused keep their sentence.
#pragma once
#include <QFileSystemWatcher>
#include <QThreadPool>
#include <QTimer>

#include "app/application.h"
#include "app/settings.h"

namespace tg {

// What a file says of itself, or why it cannot be used. Reads headers only; any thread.
ModelInfo describe_file(const QString& path);
// The .gguf files of FOLDER; of a split model only its first part.
QStringList model_files(const QString& folder);

class FolderCatalogue : public ModelCatalogue {
  Q_OBJECT
 public:
  // BASEFOLDERS are always searched; Settings names further folders and single files.
  FolderCatalogue(Settings* settings, QStringList baseFolders, QObject* parent = nullptr);
  ~FolderCatalogue() override;

  QVector<ModelInfo> models() const override;
  QStringList folders() const override;
  void addFolder(const QString& folder) override;
  void addFile(const QString& path) override;
  void removeFromList(const QString& path) override;
  void rescan() override;
  QString defaultModel() const override;

  QString fingerprintOf(const QString& path) const;  // empty: not scanned yet
  QString nameOf(const QString& path) const;   // as listed, else the file's name without ".gguf"
  void setLoaded(const QString& path);         // empty: none

 private:
  void scanned(const QVector<ModelInfo>& models);
  QStringList sources() const;                 // folders and single files
  Settings* settings_;
  QStringList base_;
  QVector<ModelInfo> models_;
  QString loaded_;
  QFileSystemWatcher watcher_;
  QTimer debounce_;
  QThreadPool pool_;
  bool scanning_ = false, again_ = false;
};

}  // namespace tg
