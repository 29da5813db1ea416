// Ctrl+K: one field for chats, pages and actions. Arrows choose, Enter opens, Esc leaves.
#pragma once
#include <QDialog>
#include <QVector>
#include <functional>

class QLineEdit;
class QListWidget;

namespace tg {

class QuickSwitcher : public QDialog {
  Q_OBJECT
 public:
  struct Entry { QString title, detail, iconName; std::function<void()> open; };
  QuickSwitcher(QVector<Entry> entries, QWidget* parent);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void show(const QString& words);
  void openCurrent();

  QVector<Entry> entries_;
  QLineEdit* edit_ = nullptr;
  QListWidget* list_ = nullptr;
};

}  // namespace tg
