// Editing a message where it stands, with what it will cost said live. Child of the transcript's viewport. Ctrl+Enter saves and sends, Esc leaves.
#pragma once
#include <QFrame>
#include <QTimer>

#include "app/chat_service.h"

class QLabel;
class QPlainTextEdit;

namespace tg {

class EditInPlace : public QFrame {
  Q_OBJECT
 public:
  EditInPlace(ChatService& service, QWidget* parent);
  void start(const QString& chatId, const MessageInfo& message);
  void cancel();
  bool isActive() const { return isVisible(); }
  QString messageId() const { return message_.id; }
  int wantedHeight() const;

 Q_SIGNALS:
  void heightChanged();
  void finished(const QString& messageId);  // saved or left

 private:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void save();
  void askPreview();
  void showPreview(const EditPreview& preview, quint64 request);

  ChatService& service_;
  QPlainTextEdit* edit_;
  QLabel* preview_;
  QTimer delay_;
  QString chatId_;
  MessageInfo message_;
  quint64 request_ = 0;
};

}  // namespace tg
