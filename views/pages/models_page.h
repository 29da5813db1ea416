// Models: what is in the watched folders, what each file is, and why one cannot be used. Files stay where they are.
// Thread: GUI; the catalogue scans elsewhere and says changed().
#pragma once
#include <QAbstractTableModel>
#include <QWidget>

#include "app/application.h"

class QLabel;
class QPushButton;
class QTableView;

namespace tg {

class ModelsTable : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Name, Size, FormatColumn, Parameters, Window, TokenBytes, Template, State, Columns };
  explicit ModelsTable(ModelCatalogue& catalogue, QObject* parent);
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  const ModelInfo* at(int row) const;

 private:
  QString text(const ModelInfo& model, int column) const;
  QVector<ModelInfo> models_;
};

class ModelsPage : public QWidget {
  Q_OBJECT
 public:
  ModelsPage(ModelCatalogue& catalogue, QWidget* parent);

 Q_SIGNALS:
  void useInChat(const QString& path);
  void openFolder(const QString& path);

 private:
  QWidget* buildDetail();
  void showCurrent();
  void addFile();
  void addFolder();
  QString currentPath() const;

  ModelCatalogue& catalogue_;
  ModelsTable* table_ = nullptr;
  QTableView* view_ = nullptr;
  QLabel* detail_ = nullptr;
  QLabel* empty_ = nullptr;
  QPushButton* use_ = nullptr;
  QPushButton* show_ = nullptr;
  QPushButton* remove_ = nullptr;
};

}  // namespace tg
