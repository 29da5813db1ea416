// Where a message is written: text, attachments, the live count of tokens and the context ring; Send and Stop in one place.
// Typing is possible in every state; counting is asked of the service 150 ms after the last key and never waited for. GUI thread.
#pragma once
#include <QFrame>
#include <QPlainTextEdit>
#include <QTimer>

#include "app/chat_service.h"

class QHBoxLayout;
class QLabel;
class QPushButton;
class QStackedLayout;
class QToolButton;

namespace tg {

class Actions;
class ContextRing;

// Sends on Enter (or Ctrl+Enter); an Enter that ends an input-method composition never does.
class ComposerEdit : public QPlainTextEdit {
  Q_OBJECT
 public:
  explicit ComposerEdit(QWidget* parent);
  void setSendWithCtrl(bool on) { ctrlSends_ = on; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;
  void setMostHeight(int pixels);
  bool isComposing() const { return composing_; }

 Q_SIGNALS:
  void sendWanted();
  void editLastWanted();
  void filesDropped(const QStringList& paths);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void inputMethodEvent(QInputMethodEvent* event) override;
  bool canInsertFromMimeData(const QMimeData* source) const override;
  void insertFromMimeData(const QMimeData* source) override;

 private:
  bool ctrlSends_ = false, composing_ = false;
  int mostHeight_ = 300;
};

class Composer : public QFrame {
  Q_OBJECT
 public:
  Composer(ChatService& service, QWidget* parent = nullptr);
  void setChat(const QString& chatId);                 // restores its draft
  void setRunning(bool running);                       // Stop instead of Send
  void setModel(const QString& name, bool loaded, bool thinks);
  void setSendWithCtrl(bool on);
  void setText(const QString& text);
  QString text() const { return edit_->toPlainText(); }
  QStringList attachments() const { return attachments_; }
  void clear();
  void focusEdit() { edit_->setFocus(); }
  ComposerEdit* edit() const { return edit_; }
  const DraftCount& count() const { return count_; }
  void attach();                                       // asks for a file
  void addAttachment(const QString& path);
  void recount();
  void setQueued(const std::optional<QString>& text);
  void setMostHeight(int pixels) { edit_->setMostHeight(pixels); }

 Q_SIGNALS:
  void send(const QString& text, const QStringList& attachments);
  void stop();
  void editLast();
  void takeBack();
  void counted(const tg::DraftCount& count);
  void refused(const QString& sentence);

 private:
  QWidget* queuedRow();
  QHBoxLayout* toolsRow();
  void trySend();
  void ask();
  void showCount(const DraftCount& count);
  void updateButtons();
  void rebuildAttachments();
  void rebuildThinkingMenu();
  void setThinking(const QString& mode);

  ChatService& service_;
  ComposerEdit* edit_;
  QLabel *draft_, *queuedText_;
  QWidget *queued_, *attachmentBar_;
  QToolButton *attach_, *thinking_;
  ContextRing* ring_;
  QPushButton *send_, *stop_;
  QStackedLayout* place_;
  QTimer delay_;
  QString chatId_;
  QStringList attachments_;
  DraftCount count_;
  quint64 request_ = 0;
  bool running_ = false, restoring_ = false, hasModel_ = false;
};

}  // namespace tg
