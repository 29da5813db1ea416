// Inspector tab Explain (UI.md 7): the turn as arithmetic in words, with all its figures in sight. GUI thread.
#pragma once
#include <QWidget>

#include "app/turn_record.h"

class QLabel;
class QScrollArea;

namespace tg {

struct Explanation;

class ExplainTab : public QWidget {
  Q_OBJECT
 public:
  explicit ExplainTab(QWidget* parent = nullptr);
  void show(const std::optional<TurnRecord>& record);   // none: the turn shown has no figures (yet)
  QString text() const { return text_; }                // for copying

 private:
  QWidget* page(const Explanation& explanation);

  QLabel* empty_;
  QScrollArea* scroll_;
  QString text_;
};

}  // namespace tg
