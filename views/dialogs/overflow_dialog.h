// "This message does not fit": what would help, what each choice costs, and nothing sent until one is taken (UI.md 10.1).
// Thread: GUI. The choices come from ChatService::overflowReady; changing the number of turns to drop asks for them again.
#pragma once
#include <QDialog>
#include <QVector>

#include "app/chat_service.h"

class QButtonGroup;
class QCheckBox;
class QGridLayout;
class QLabel;
class QPushButton;
class QSpinBox;

namespace tg {

class OverflowBar;

class OverflowDialog : public QDialog {
  Q_OBJECT
 public:
  explicit OverflowDialog(QWidget* parent);
  void setChoices(const QVector<OverflowChoice>& choices, const DraftCount& count);
  OverflowChoice chosen() const;
  bool always() const;

 Q_SIGNALS:
  void dropTurnsChanged(int turns);
  void choiceShown(const tg::OverflowChoice& choice);  // focus or click: the transcript marks what would leave

 private:
  void addChoice(int row, const OverflowChoice& choice);
  void select(int index);
  int preselected() const;

  QVector<OverflowChoice> choices_;
  DraftCount count_;
  QLabel* sentence_ = nullptr;
  QLabel* hint_ = nullptr;
  OverflowBar* bar_ = nullptr;
  QWidget* table_ = nullptr;
  QGridLayout* grid_ = nullptr;
  QButtonGroup* group_ = nullptr;
  QSpinBox* dropCount_ = nullptr;
  QCheckBox* always_ = nullptr;
  QPushButton* send_ = nullptr;
};

}  // namespace tg
