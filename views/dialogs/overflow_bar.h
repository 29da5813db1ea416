// The prompt laid out against the window: system and document, each part, the new message, the answer kept free, and where the window ends.
#pragma once
#include <QWidget>

#include "app/chat_service.h"

namespace tg {

class OverflowBar : public QWidget {
  Q_OBJECT
 public:
  explicit OverflowBar(QWidget* parent);
  void setCount(const DraftCount& count);
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  DraftCount count_;
};

}  // namespace tg
