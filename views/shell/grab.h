// Pictures of every page, state and dialog, made off-screen: for the README, for tests and for reviewers.
#pragma once
#include <QString>
#include <QSize>

namespace tg {

class Application;

struct GrabOptions {
  QString folder;
  QString theme = QStringLiteral("light");
  int fontPercent = 100;
  QSize size{1440, 900};
  bool developer = false;
};

// Writes PAGE[-STATE].png into the folder. False and ERROR one sentence when a picture cannot be written.
bool grabPictures(Application& app, const GrabOptions& options, QString* error);

}  // namespace tg
