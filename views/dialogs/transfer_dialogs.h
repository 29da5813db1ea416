// Chats into files and back: what goes out with a preview of ten lines, what comes in with counts and duplicates.
// Thread: GUI. open()ed, never exec()ed; the file itself is chosen with a file dialog that is open()ed too.
#pragma once
#include <QDialog>

#include "app/chat_service.h"

class QButtonGroup;
class QCheckBox;
class QComboBox;
class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace tg {

class ExportDialog : public QDialog {
  Q_OBJECT
 public:
  ExportDialog(ChatService& chats, const QString& chatId, QWidget* parent);
  void saveTo(const QString& path);    // what the file dialog gives

 Q_SIGNALS:
  void saved(const QString& path);

 private:
  ExportWish wish() const;
  void ask();                          // for a new preview
  void chooseFile();
  void show(const ExportResult& result);

  ChatService& chats_;
  QString chatId_, title_;
  QComboBox *what_, *format_;
  QCheckBox* thinking_;
  QPlainTextEdit* preview_;
  QLabel* note_;
  QPushButton* save_;
  quint64 request_ = 0, saving_ = 0;
};

class ImportDialog : public QDialog {
  Q_OBJECT
 public:
  ImportDialog(ChatService& chats, QWidget* parent);
  void read(const QString& path);

 Q_SIGNALS:
  void done(int chats, const QString& firstChatId);

 private:
  void chooseFile();
  void show(const ImportPreview& preview);

  ChatService& chats_;
  QString file_;
  QLabel *kind_, *counts_, *titles_, *note_;
  QCheckBox* duplicates_;
  QPushButton* import_;
  ImportPreview found_;
  quint64 request_ = 0, importing_ = 0;
};

}  // namespace tg
