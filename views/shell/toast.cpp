#include "views/shell/toast.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

namespace tg {

Toast::Toast(QWidget* window) : QFrame(window) {
  setObjectName(QStringLiteral("toast"));
  setAttribute(Qt::WA_StyledBackground);
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(14, 8, 10, 8);
  text_ = new QLabel(this);
  button_ = new QPushButton(this);
  button_->setObjectName(QStringLiteral("toastButton"));
  line->addWidget(text_);
  line->addWidget(button_);
  timer_.setSingleShot(true);
  timer_.setInterval(8000);
  connect(&timer_, &QTimer::timeout, this, &QWidget::hide);
  connect(button_, &QPushButton::clicked, this, [this] {
    hide();
    if (action_) action_();
  });
  hide();
}

void Toast::say(const QString& sentence, const QString& button, std::function<void()> action) {
  text_->setText(sentence);
  setAccessibleName(sentence);
  button_->setText(button);
  button_->setVisible(!button.isEmpty());
  action_ = std::move(action);
  adjustSize();
  move((parentWidget()->width() - width()) / 2, parentWidget()->height() - height() - 48);
  show();
  raise();
  timer_.start();
}

}  // namespace tg
