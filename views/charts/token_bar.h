// A bar of token shares, or of times, in the four fills. Left to right in every language. GUI thread.
#pragma once
#include <QWidget>

#include "views/theme/fill.h"

namespace tg {

class TokenBar : public QWidget {
  Q_OBJECT
 public:
  explicit TokenBar(QWidget* parent = nullptr);
  void setShares(const QVector<PartShare>& shares, qint64 whole);
  void setMarks(const QVector<qint64>& marks);     // thin lines, in the shares' unit (borders of passes)
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QVector<PartShare> shares_;
  QVector<qint64> marks_;
  qint64 whole_ = 0;
};

}  // namespace tg
