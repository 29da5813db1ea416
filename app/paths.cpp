#include "app/paths.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

namespace tg {

QString data_folder() { return QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) + QStringLiteral("/turnglass"); }

ProfilePaths profile_paths(const QString& profile) {
  return {QDir::cleanPath(QFileInfo(profile.isEmpty() ? data_folder() : profile).absoluteFilePath())};
}

QString ProfilePaths::socketName() const {
  const QString real = QFileInfo(root).canonicalFilePath();
  const QByteArray key = (real.isEmpty() ? root : real).toUtf8() + '\0' + QDir::homePath().toUtf8();
  return QStringLiteral("turnglass-") + QString::fromLatin1(QCryptographicHash::hash(key, QCryptographicHash::Sha1).toHex().left(20));
}

QStringList default_model_folders(const ProfilePaths& paths) {
  QStringList folders{paths.models(), data_folder() + QStringLiteral("/models")};
  if (QCoreApplication::instance()) folders << QDir::cleanPath(QCoreApplication::applicationDirPath() + QStringLiteral("/../share/turnglass/models"));
  folders.removeDuplicates();
  return folders;
}

QString resolve_model(const QString& name, const QStringList& folders) {
  if (name.isEmpty() || name.contains(QLatin1Char('/')) || QFileInfo::exists(name)) return name;
  for (const QString& folder : folders) {
    for (const QString& file : QStringList{name, name + QStringLiteral(".gguf")}) {
      const QFileInfo info(QDir(folder), file);
      if (info.isFile()) return info.absoluteFilePath();
    }
  }
  return name;
}

}  // namespace tg
