// Settings (Ctrl+,): list of pages on the left, pages on the right, search on top. Changes count at once; "Undo change" takes the last one back.
// Thread: GUI. Each page is a function that fills a form; the dialog owns the rows and the undo stack.
#pragma once
#include <QDialog>
#include <QVector>
#include <functional>

#include "app/application.h"
#include "app/settings.h"

class QFileDialog;
class QFormLayout;
class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;
class QStackedWidget;

namespace tg {

class SettingsDialog : public QDialog {
  Q_OBJECT
 public:
  SettingsDialog(Application& application, QWidget* parent);
  void showPage(const QString& objectName);

 Q_SIGNALS:
  void recentlyDeletedRequested();

 private:
  // One row of a page: the widget follows the setting and writes it.
  void addCheck(QFormLayout* form, Setting key, const QString& label, const QString& help = {});
  void addChoice(QFormLayout* form, Setting key, const QString& label, const QVector<QPair<QString, QString>>& values);
  void addNumber(QFormLayout* form, Setting key, const QString& label, int least, int most, int step, const QString& suffix, const QString& zero = {});
  void addBytes(QFormLayout* form, Setting key, const QString& label);
  void addText(QFormLayout* form, Setting key, const QString& label, const QString& hint, const std::function<QString(const QString&)>& refusal);
  void addRow(QFormLayout* form, Setting key, const QString& label, QWidget* field);
  void follow(Setting key, QObject* owner, const std::function<void()>& show);
  void write(Setting key, const QVariant& value);

  QFormLayout* addPage(const QString& objectName, const QString& title, const QString& iconName);
  void buildGeneral();
  void buildAppearance();
  void buildModels();
  void buildBudgets();
  void buildEnergy();
  void buildPrivacy();
  void buildDataButtons(QFormLayout* form);
  void openFileDialog(QFileDialog* dialog, const std::function<void(const QString&)>& then);
  void buildAdvanced();
  void filter(const QString& words);
  void undo();

  struct Row { int page; QString words; QWidget* label; QWidget* field; };
  Application& application_;
  Settings& settings_;
  QLineEdit* search_ = nullptr;
  QListWidget* list_ = nullptr;
  QStackedWidget* stack_ = nullptr;
  QPushButton* undoButton_ = nullptr;
  QVector<Row> rows_;
  QVector<QPair<Setting, QVariant>> undo_;
  quint64 dataRequest_ = 0;
};

}  // namespace tg
