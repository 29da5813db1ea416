// The chats and their caches as a table that sorts and filters: the twin of the map. Rows keep their identity while figures change. GUI thread.
#pragma once
#include <QAbstractTableModel>
#include <QSortFilterProxyModel>
#include <QTableView>

#include "app/cache_overview.h"

namespace tg {

class CacheTableModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Chat, Where, Tokens, Size, Shared, LastUsed, ReadyIn, Why, Columns };
  enum DataRole { IdRole = Qt::UserRole + 1, SortRole, PinnedRole };
  using QAbstractTableModel::QAbstractTableModel;
  void set(const CacheSnapshot& snapshot);
  const CacheRow* at(int row) const { return row >= 0 && row < rows_.size() ? &rows_[row] : nullptr; }
  int rowOf(const QString& chatId) const;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  QString text(const CacheRow& row, int column) const;
  QVariant sortKey(const CacheRow& row, int column) const;
  QVector<CacheRow> rows_;
};

class CacheTable : public QTableView {
  Q_OBJECT
 public:
  explicit CacheTable(QWidget* parent);
  void set(const CacheSnapshot& snapshot);
  void filter(const QString& words);
  QString current() const;                     // id of the chat; empty: none
  void select(const QString& chatId);
  CacheTableModel* rows() const { return model_; }

 Q_SIGNALS:
  void currentChanged(const QString& chatId);

 private:
  void fit();
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  CacheTableModel* model_ = nullptr;
  QSortFilterProxyModel* sorted_ = nullptr;
};

}  // namespace tg
