// The buttons of one message: they float at its upper right corner while the pointer or the keyboard is on it. Child of the transcript's viewport.
#pragma once
#include <QFrame>

#include "app/chat_service.h"

class QLabel;
class QToolButton;

namespace tg {

class RowActionBar : public QFrame {
  Q_OBJECT
 public:
  explicit RowActionBar(QWidget* parent);
  void showFor(const MessageInfo& message, bool busy);
  QString messageId() const { return message_; }

 Q_SIGNALS:
  void edit(const QString& messageId);
  void copy(const QString& messageId);
  void regenerate(const QString& messageId);
  void version(const QString& messageId, int version);
  void details(const QString& messageId);
  void fork(const QString& messageId);
  void quote(const QString& messageId);

 private:
  QToolButton* button(const QString& name, const QString& iconName, const QString& verb);
  QString message_;
  int version_ = 1;
  QToolButton *edit_, *copy_, *regenerate_, *prev_, *next_, *details_, *more_;
  QLabel* versionLabel_;
};

}  // namespace tg
