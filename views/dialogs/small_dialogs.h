// The small windows: keys, about, recently deleted chats, and the question before closing while answers are written.
// Thread: GUI. None of them runs a nested event loop: they are open()ed and answer by signal, so tests can drive them.
#pragma once
#include <QDialog>
#include <QVector>

#include "app/chat_service.h"

class QAction;
class QLineEdit;
class QTableWidget;

namespace tg {

// All keys by area, searchable, made from the real actions.
class ShortcutSheet : public QDialog {
  Q_OBJECT
 public:
  struct Key { QString area, action, keys; };
  ShortcutSheet(QVector<Key> keys, QWidget* parent);
  static QVector<Key> keysOf(const QList<QAction*>& actions, const QString& area);
  QString asText() const;

 private:
  void filter(const QString& words);
  QVector<Key> keys_;
  QTableWidget* table_ = nullptr;
};

// Version, build, device, licences; "Copy system report" holds no texts and no paths.
class AboutDialog : public QDialog {
  Q_OBJECT
 public:
  AboutDialog(const QString& device, QWidget* parent);
};

// Chats deleted within 30 days: restore, or delete now.
class RecentlyDeletedDialog : public QDialog {
  Q_OBJECT
 public:
  RecentlyDeletedDialog(ChatService& chats, QWidget* parent);

 private:
  void fill();
  QString current() const;
  ChatService& chats_;
  QTableWidget* table_ = nullptr;
  QVector<ChatInfo> shown_;
};

// "2 answers are being written." Stop and close, keep writing, cancel.
class CloseDialog : public QDialog {
  Q_OBJECT
 public:
  CloseDialog(int answers, QWidget* parent);

 Q_SIGNALS:
  void stopAndClose();
  void keepWriting();  // the window hides and closes by itself after the last answer
};

}  // namespace tg
