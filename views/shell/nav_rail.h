// The pages of the program, icon above word; icons only on a narrow window. GUI thread.
#pragma once
#include <QFrame>
#include <QVector>

class QToolButton;
class QVBoxLayout;

namespace tg {

class NavRail : public QFrame {
  Q_OBJECT
 public:
  explicit NavRail(QWidget* parent = nullptr);
  // ATEND: below the stretch (Settings). Returns the button's number.
  int add(const QString& objectName, const QString& iconName, const QString& word, bool atEnd);
  void setCurrent(int number);
  void setNarrow(bool narrow);
  void setShown(int number, bool shown);
  QToolButton* button(int number) const { return buttons_[number]; }

 Q_SIGNALS:
  void chosen(int number);

 private:
  QVBoxLayout* column_;
  QVector<QToolButton*> buttons_;
};

}  // namespace tg
