// What can be done with the cache of one chat: a button each, and below them what the focused one would do, or why it is off. GUI thread.
#pragma once
#include <QVector>
#include <QWidget>

#include "app/cache_words.h"

class QFrame;
class QLabel;
class QPushButton;

namespace tg {

class CacheActions : public QWidget {
  Q_OBJECT
 public:
  // NAMES: the buttons carry the names of UI.md 8.1; false in the inspector, where they get a prefix to stay unique in the window.
  CacheActions(CacheOverview& cache, bool names, QWidget* parent);
  void setRow(const CacheRow* row, const CacheSnapshot& all);  // null: nothing is chosen
  bool trigger(words::CacheAction action);                     // false: it is off
  QString sentence() const;

 private:
  struct Button { words::CacheAction action; QPushButton* widget; };
  void show();
  void tell(words::CacheAction action);
  bool eventFilter(QObject* watched, QEvent* event) override;

  CacheOverview& cache_;
  QVector<Button> buttons_;
  QLabel* sentence_;
  QFrame* box_;
  std::optional<CacheRow> row_;
  CacheSnapshot all_;
  words::CacheAction told_ = words::CacheAction::Evict;
};

}  // namespace tg
