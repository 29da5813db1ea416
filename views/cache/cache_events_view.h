// What happened to the cache of one chat: time, movement, reason, newest first. As high as its rows: the panel around it scrolls. GUI thread.
#pragma once
#include <QAbstractTableModel>
#include <QTableView>

#include "app/cache_overview.h"

namespace tg {

class CacheEventsModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { When, Movement, Reason, Columns };
  using QAbstractTableModel::QAbstractTableModel;
  void set(const QVector<CacheEventInfo>& events);
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  QVector<CacheEventInfo> events_;
};

class CacheEventsView : public QTableView {
  Q_OBJECT
 public:
  explicit CacheEventsView(QWidget* parent);
  void set(const QVector<CacheEventInfo>& events);
  CacheEventsModel* events() const { return model_; }

 private:
  void fit();
  void resizeEvent(QResizeEvent* event) override;
  CacheEventsModel* model_;
};

}  // namespace tg
