// How full the window of the chat is: a ring with the percent beside it; click or Enter opens the parts as bar and table. GUI thread.
#pragma once
#include <QAbstractButton>

#include "app/chat_service.h"
#include "views/theme/theme.h"

namespace tg {

class ContextRing : public QAbstractButton {
  Q_OBJECT
 public:
  explicit ContextRing(QWidget* parent = nullptr);
  void setCount(const DraftCount& count);
  int percent() const;
  Role ink() const;                 // accent, from 80 % warning, from 95 % error
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void openPopover();
  DraftCount count_;
};

}  // namespace tg
