// What a fresh profile shows: start with the demo model, use a file, or begin with a ready-made question; and what this computer can do.
// Thread: GUI. Never comes back once a chat exists.
#pragma once
#include <QWidget>

#include "app/hardware.h"

class QGridLayout;
class QLabel;
class QPushButton;

namespace tg {

class FirstRunPage : public QWidget {
  Q_OBJECT
 public:
  // DEMO: sentence about the demo model, for example its size; REFUSAL: why it cannot be used (then its card is off), empty: usable.
  explicit FirstRunPage(QWidget* parent = nullptr);
  void setDemoModel(const QString& about, const QString& refusal);
  void focusStart();                        // the demo button, when it can be used
  void setHardware(const HardwareReport& report, bool measuring);

 Q_SIGNALS:
  void startDemo();
  void chooseFile();
  void starterChosen(const QString& text);  // fills the composer, does not send
  void measure();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  QWidget* buildCards();
  QWidget* buildStarters();
  QWidget* buildHardwareCard();

  QLabel* demoText_ = nullptr;
  QPushButton* demoButton_ = nullptr;
  QLabel* hardwareText_ = nullptr;
  QLabel* hardwareNote_ = nullptr;
  QPushButton* measureButton_ = nullptr;
  QGridLayout* table_ = nullptr;
  QVector<QVector<QLabel*>> cells_;
  bool measuredOnce_ = false;  // the test starts by itself when the page is first seen
};

}  // namespace tg
