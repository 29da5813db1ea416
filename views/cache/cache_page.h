// Cache: what every tier holds, where each chat is and why, and what can be done about it (UI.md 8.1). Follows the cache live while it is shown.
// Thread: GUI thread. Ownership: Qt parents; the Application outlives it.
#pragma once
#include <QWidget>

#include "app/application.h"
#include "app/cache_words.h"

class QBoxLayout;
class QFrame;
class QLabel;
class QLineEdit;
class QPushButton;
class QScrollArea;
class QToolButton;

namespace tg {

class CacheDetail;
class CacheMap;
class CacheTable;

class CachePage : public QWidget {
  Q_OBJECT
 public:
  CachePage(Application& app, QWidget* parent);
  QString chatId() const { return chatId_; }
  void choose(const QString& chatId);
  bool act(words::CacheAction action);          // on the chosen chat; false: off
  void openBudgets();
  void checkIntegrity();
  void askClear();
  void focusTable();

 Q_SIGNALS:
  void chatWanted(const QString& chatId);       // double click: open it

 private:
  QWidget* buildHeader();
  QWidget* buildMain();
  void refresh();
  void say(const QString& sentence, const char* kind);  // kind: ok warning
  void contextMenu(const QPoint& point);
  void layoutParts();
  bool keyAction(int key);
  bool eventFilter(QObject* watched, QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

  Application& app_;
  CacheOverview& cache_;
  QString chatId_;
  QMetaObject::Connection live_;
  QBoxLayout *head_, *body_;
  QLabel *summary_, *noteText_, *hint_;
  QFrame* strip_;
  QLineEdit* filter_;
  QPushButton *budgets_, *check_, *clear_;
  CacheMap* map_;
  CacheTable* table_;
  QScrollArea *side_, *scroll_;
  QWidget* main_;
  CacheDetail* detail_;
  bool narrow_ = false, arranged_ = false;
};

}  // namespace tg
