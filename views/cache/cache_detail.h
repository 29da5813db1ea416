// The side panel of the cache page: one chat's cache in figures, what can be done with it, what happened to it. GUI thread.
#pragma once
#include <QFrame>

#include "app/application.h"
#include "app/cache_words.h"

class QComboBox;
class QLabel;

namespace tg {

class CacheActions;
class CacheEventsView;
class Facts;

// Rows of figures that the panel and the inspector show alike.
void fillCacheFacts(Facts& facts, const CacheRow& row);
QString restartWords(const CacheRow& row);      // where a turn can go on, for models that keep only part of the past; empty: anywhere

class CacheDetail : public QFrame {
  Q_OBJECT
 public:
  CacheDetail(Application& app, QWidget* parent);
  void setChat(const QString& chatId);          // empty: none
  void refresh();
  CacheActions* actions() const { return actions_; }

 private:
  QWidget* buildKeep();
  Application& app_;
  CacheOverview& cache_;
  QString chatId_;
  QLabel *title_, *about_, *empty_, *heading_;
  QWidget* body_;
  Facts* facts_;
  QComboBox* keep_;
  CacheActions* actions_;
  CacheEventsView* events_;
};

}  // namespace tg
