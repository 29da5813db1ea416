// Budgets of the tiers: a slider and a number each, in bytes and in tokens of the model in use, and what would leave at once. GUI thread.
#pragma once
#include <QDialog>
#include <QVector>

#include "app/cache_overview.h"

class QDoubleSpinBox;
class QLabel;
class QPushButton;
class QSlider;
class QVBoxLayout;

namespace tg {

class BudgetsDialog : public QDialog {
  Q_OBJECT
 public:
  BudgetsDialog(CacheOverview& cache, QWidget* parent);
  qint64 chosen(ChatTier tier) const;          // bytes; -1: no such tier

 private:
  struct Line {
    ChatTier tier;
    QSlider* slider;
    QDoubleSpinBox* spin;
    QLabel *tokens, *used, *leaves;
    qint64 bytes, before;
  };
  void addTier(QVBoxLayout* column, const CacheTier& tier);
  void choose(int line, qint64 bytes);
  void tell(Line& line);
  void apply();

  CacheOverview& cache_;
  QVector<Line> lines_;
  QPushButton* apply_;
  bool setting_ = false;
};

}  // namespace tg
