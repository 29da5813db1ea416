// Where each row of the transcript is: heights, measured or estimated, and their sums. Pure; any thread. Heights in pixels.
#pragma once
#include <QVector>

namespace tg {

class RowGeometry {
 public:
  int count() const { return static_cast<int>(rows_.size()); }
  int height(int row) const { return rows_[row].height; }
  bool measured(int row) const { return rows_[row].measured; }
  void set(int row, int height, bool isMeasured);
  void insert(int row, int count);          // new rows: height 0, not measured
  void remove(int row, int count);
  void reset(int count);
  qint64 top(int row) const;                // sum of the heights above; row may be count()
  qint64 total() const { return top(count()); }
  int rowAt(qint64 y) const;                // the row that holds Y, clamped; -1 without rows

 private:
  struct Row { int height = 0; bool measured = false; };
  void sum(int upTo) const;
  QVector<Row> rows_;
  mutable QVector<qint64> tops_;            // tops_[i] valid for i <= valid_
  mutable int valid_ = 0;
};

}  // namespace tg
