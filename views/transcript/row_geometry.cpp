#include "views/transcript/row_geometry.h"

#include <algorithm>

namespace tg {

void RowGeometry::set(int row, int height, bool isMeasured) {
  if (rows_[row].height != height) valid_ = std::min(valid_, row);
  rows_[row] = {height, isMeasured};
}

void RowGeometry::insert(int row, int count) {
  rows_.insert(row, count, Row{});
  valid_ = std::min(valid_, row);
}

void RowGeometry::remove(int row, int count) {
  rows_.remove(row, count);
  valid_ = std::min(valid_, row);
}

void RowGeometry::reset(int count) {
  rows_.clear();
  rows_.resize(count);
  valid_ = 0;
}

void RowGeometry::sum(int upTo) const {
  if (tops_.size() != rows_.size() + 1) tops_.resize(rows_.size() + 1);
  tops_[0] = 0;
  for (int i = valid_; i < upTo; ++i) tops_[i + 1] = tops_[i] + rows_[i].height;
  valid_ = std::max(valid_, upTo);
}

qint64 RowGeometry::top(int row) const {
  sum(row);
  return tops_[row];
}

int RowGeometry::rowAt(qint64 y) const {
  if (rows_.isEmpty()) return -1;
  sum(count());
  const auto found = std::upper_bound(tops_.cbegin(), tops_.cend(), y);
  return std::clamp(static_cast<int>(found - tops_.cbegin()) - 1, 0, count() - 1);
}

}  // namespace tg
