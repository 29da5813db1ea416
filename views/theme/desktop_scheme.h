// Light or dark as the desktop portal says it (org.freedesktop.appearance), asked without waiting. Qt 6.4 has no API for it.
#pragma once
#include <QDBusVariant>
#include <QObject>

namespace tg {

class DesktopScheme : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  void start();  // asks once and listens; silent when there is no session bus

 Q_SIGNALS:
  void found(bool known, bool dark);

 private Q_SLOTS:
  void settingChanged(const QString& group, const QString& key, const QDBusVariant& value);
};

}  // namespace tg
