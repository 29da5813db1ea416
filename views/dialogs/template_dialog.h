// A model without a chat template: the user chooses one, nothing is guessed. What the vocabulary suggests is marked as a suggestion only.
// Thread: GUI.
#pragma once
#include <QDialog>

#include "app/chat_service.h"

class QLabel;
class QListWidget;
class QPushButton;

namespace tg {

class MainWindow;

class TemplateDialog : public QDialog {
  Q_OBJECT
 public:
  explicit TemplateDialog(QWidget* parent);
  void setChoices(const QVector<TemplateChoice>& choices);
  QString chosen() const;              // name for ChatService::setTemplate(); empty: none

 private:
  QListWidget* list_;
  QLabel* reason_;
  QPushButton* use_;
};

// Shows the dialog whenever a chat needs a template, then sends what waited; cancelled, the text goes back into the composer.
void installTemplateChooser(MainWindow& window);
QDialog* exampleTemplateDialog(QWidget* parent);

}  // namespace tg
