// Inspector tab Turn (UI.md 7): where the time went, what was read and from where, the speed curve, the cache, the cost. GUI thread.
#pragma once
#include <QScrollArea>

#include "app/turn_record.h"

class QLabel;
class QToolButton;

namespace tg {

class ChartBox;
class Facts;
class KvChart;
class RateChart;
class TokenBar;

class TurnTab : public QWidget {
  Q_OBJECT
 public:
  explicit TurnTab(QWidget* parent = nullptr);
  // No record: TURN is being answered or there is none (0).
  void show(const std::optional<TurnRecord>& record, int turn, int turns, bool running);
  QString text() const;            // all figures, for copying

 Q_SIGNALS:
  void turnWanted(int turn);

 private:
  QWidget* head();
  QWidget* body();
  void fill(const TurnRecord& record);
  void fillCost(const TurnRecord& record);
  void fillBox(const TurnRecord& record);

  QLabel *title_, *empty_, *timeFigures_, *readFigure_, *legendCached_, *legendFresh_, *boxText_, *was_;
  QFrame* box_;
  QToolButton *previous_, *next_;
  QScrollArea* scroll_;
  TokenBar *timeBar_, *readBar_;
  Facts *readFacts_, *writeFacts_, *costFacts_;
  RateChart* rate_;
  KvChart* kv_;
  ChartBox *rateBox_, *kvBox_;
  int turn_ = 0;
};

}  // namespace tg
