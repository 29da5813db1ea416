// Pictures of a test's window, looked at by people when TG_PICTURES names a folder. Include after <QtTest>.
#pragma once
#include <QCoreApplication>
#include <QPixmap>
#include <QWidget>

namespace tg::test {

// False where the widget gave no picture.
inline bool savePicture(QWidget* widget, const char* name) {
  for (int i = 0; i < 5; ++i) QCoreApplication::processEvents();
  const QPixmap picture = widget->grab();
  const QString folder = qEnvironmentVariable("TG_PICTURES");
  return !picture.isNull() && (folder.isEmpty() || picture.save(folder + QLatin1Char('/') + QLatin1String(name) + QStringLiteral(".png")));
}

}  // namespace tg::test
