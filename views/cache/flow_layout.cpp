#include "views/cache/flow_layout.h"

#include <QWidget>

namespace tg {

FlowLayout::FlowLayout(QWidget* parent, int gap) : QLayout(parent), gap_(gap) { setContentsMargins(0, 0, 0, 0); }

FlowLayout::~FlowLayout() { qDeleteAll(items_); }

void FlowLayout::setGeometry(const QRect& rect) {
  QLayout::setGeometry(rect);
  arrange(rect, true);
}

QSize FlowLayout::minimumSize() const {
  QSize size;
  for (const QLayoutItem* item : items_) size = size.expandedTo(item->minimumSize());
  return size;
}

int FlowLayout::arrange(const QRect& rect, bool move) const {
  const bool rtl = parentWidget() && parentWidget()->isRightToLeft();
  int x = rect.left(), y = rect.top(), line = 0;
  for (QLayoutItem* item : items_) {
    if (item->isEmpty()) continue;
    const QSize size = item->sizeHint();
    if (x > rect.left() && x + size.width() > rect.right() + 1) {
      x = rect.left();
      y += line + gap_;
      line = 0;
    }
    if (move) item->setGeometry(QRect(rtl ? rect.left() + rect.right() + 1 - x - size.width() : x, y, size.width(), size.height()));
    x += size.width() + gap_;
    line = qMax(line, size.height());
  }
  return y + line - rect.top();
}

}  // namespace tg
