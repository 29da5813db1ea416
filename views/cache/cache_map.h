// The map of the cache: a bar per tier as long as its budget, a block per chat to scale. Arrows walk the blocks, Enter selects. Its table twin is
// cacheTable. Bars run left to right in every language. GUI thread.
#pragma once
#include <QWidget>

#include "app/cache_overview.h"

namespace tg {

class CacheMap : public QWidget {
  Q_OBJECT
 public:
  struct Piece {
    ChatTier tier = ChatTier::Ram;
    CacheBlock block;
    QRectF rect;        // of the block in the bar
    QRectF name;        // where its name stands; empty: no room
  };
  explicit CacheMap(QWidget* parent);
  void set(const CacheSnapshot& snapshot);
  void setSelected(const QString& chatId);
  const QVector<Piece>& pieces() const { return pieces_; }
  int current() const { return current_; }     // index of the block the arrows stand on; -1: none
  QString sentence(const Piece& piece) const;  // read aloud, and the tooltip
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void chosen(const QString& chatId);          // Enter, click
  void walked(const QString& sentence);        // arrows; for the screen reader

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Line {
    CacheTier tier;
    QRectF bar, label, figures;
    qreal cut = 0;                             // x where the free rest is shortened; 0: it is to scale as well
  };
  void arrange();
  void placeNames(int from, int to, qreal right);
  void go(int to);
  int nearest(ChatTier tier, qreal x) const;
  int at(const QPointF& point) const;
  bool stacked() const;                        // too narrow for figures beside the bar
  qreal lineHeight() const;
  QString title(const CacheBlock& block) const;
  void paintBlock(QPainter& p, const Piece& piece) const;
  void paintCut(QPainter& p, const Line& line) const;
  void paintFigures(QPainter& p, const Line& line) const;

  CacheSnapshot snapshot_;
  QVector<Line> lines_;
  QVector<Piece> pieces_;
  QString selected_;
  int current_ = -1;
};

}  // namespace tg
