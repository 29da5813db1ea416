// A short message over the window's lower edge with one thing to do; goes away by itself. GUI thread.
#pragma once
#include <QFrame>
#include <QTimer>
#include <functional>

class QLabel;
class QPushButton;

namespace tg {

class Toast : public QFrame {
  Q_OBJECT
 public:
  explicit Toast(QWidget* window);
  void say(const QString& sentence, const QString& button = {}, std::function<void()> action = {});

 private:
  QLabel* text_;
  QPushButton* button_;
  QTimer timer_;
  std::function<void()> action_;
};

}  // namespace tg
