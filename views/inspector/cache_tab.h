// Inspector tab Cache (UI.md 7): what the turn reused and from where, the chat's pages, where it is with what can be done, what happened. GUI thread.
#pragma once
#include <QWidget>

#include "app/application.h"

class QLabel;
class QToolButton;

namespace tg {

class CacheActions;
class CacheEventsView;
class Facts;

class CacheTab : public QWidget {
  Q_OBJECT
 public:
  CacheTab(Application& app, QWidget* parent);
  // RECORD: of the turn shown; none: it has no figures (yet).
  void show(const QString& chatId, const std::optional<TurnRecord>& record);
  QString text() const;                // all figures, for copying

 private:
  void refresh();
  void fillTurn();
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

  CacheOverview& cache_;
  QString chatId_;
  std::optional<TurnRecord> record_;
  QMetaObject::Connection live_;
  QLabel *empty_, *tier_, *turnTitle_, *eventsTitle_;
  QWidget* body_;
  Facts *turn_, *facts_;
  CacheActions* actions_;
  CacheEventsView* events_;
};

}  // namespace tg
