// Where everything of one user lies. Pure functions, any thread.
#pragma once
#include <QString>
#include <QStringList>

namespace tg {

struct ProfilePaths {
  QString root;                    // database, settings, lock
  QString cache() const { return root + QStringLiteral("/cache"); }
  QString settings() const { return root + QStringLiteral("/settings.ini"); }
  QString lock() const { return root + QStringLiteral("/turnglass.lock"); }
  QString tuning() const { return root + QStringLiteral("/tuning.txt"); }  // also read by turnglass-engine
  QString curves() const { return root + QStringLiteral("/curves.json"); }
  QString restore() const { return root + QStringLiteral("/restore-at-start.sqlite"); }  // a backup to put in place before the database is opened
  QString models() const { return root + QStringLiteral("/models"); }
  QString socketName() const;      // of the local server: one per user and profile
};

QString data_folder();             // $XDG_DATA_HOME/turnglass, else ~/.local/share/turnglass
ProfilePaths profile_paths(const QString& profile);  // empty: data_folder()
QStringList default_model_folders(const ProfilePaths& paths);  // of the profile, of the user, beside the program
// NAME is a path, or a file in one of FOLDERS with or without ".gguf"; gives NAME itself when nothing is found.
QString resolve_model(const QString& name, const QStringList& folders);

}  // namespace tg
