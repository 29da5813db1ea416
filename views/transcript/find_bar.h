// Find in the open chat: a bar with count, Enter for the next hit, Shift+Enter for the one before, Esc leaves.
#pragma once
#include <QFrame>

class QLabel;
class QLineEdit;

namespace tg {

class TranscriptView;

class FindBar : public QFrame {
  Q_OBJECT
 public:
  FindBar(TranscriptView* view, QWidget* parent);
  void open(const QString& words = {});
  void close();

 Q_SIGNALS:
  void closed();

 private:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void search();
  void step(int by);
  TranscriptView* view_;
  QLineEdit* edit_;
  QLabel* count_;
  int hits_ = 0, current_ = -1;
};

}  // namespace tg
