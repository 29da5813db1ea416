#include "views/cache/cache_events_view.h"

#include <QHeaderView>
#include <QResizeEvent>

#include "app/cache_words.h"
#include "views/theme/theme.h"

namespace tg {

namespace {
constexpr qsizetype kMostShown = 30;
}

void CacheEventsModel::set(const QVector<CacheEventInfo>& events) {
  beginResetModel();
  events_ = events.mid(0, kMostShown);
  endResetModel();
}

int CacheEventsModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(events_.size()); }
int CacheEventsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : Columns; }

QVariant CacheEventsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= events_.size()) return {};
  const CacheEventInfo& e = events_[index.row()];
  const QString when = words::longWhen(e.at, QDateTime::currentDateTime());
  if (role == Qt::AccessibleTextRole) return QString(when + QStringLiteral(", ") + e.movement + QStringLiteral(", ") + e.reason);
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignLeft | Qt::AlignTop);
  if (role == Qt::ForegroundRole && index.column() == When) return color(Role::Muted);
  if (role == Qt::FontRole && index.column() == Movement) {
    QFont font;
    font.setWeight(QFont::DemiBold);
    return font;
  }
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
  return index.column() == When ? when : index.column() == Movement ? e.movement : e.reason;
}

QVariant CacheEventsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  const QString names[] = {tr("When"), tr("Movement"), tr("Reason")};
  return section >= 0 && section < Columns ? QVariant(names[section]) : QVariant();
}

CacheEventsView::CacheEventsView(QWidget* parent) : QTableView(parent), model_(new CacheEventsModel(this)) {
  setObjectName(QStringLiteral("cacheEvents"));
  setAccessibleName(tr("What happened to this cache"));
  setModel(model_);
  setFont(smallFont(font()));
  setShowGrid(false);
  setWordWrap(true);
  setTabKeyNavigation(false);
  setSelectionMode(QAbstractItemView::SingleSelection);
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setFrameShape(QFrame::NoFrame);
  setProperty("kind", QStringLiteral("plain"));
  setProperty("lines", true);
  verticalHeader()->hide();
  horizontalHeader()->hide();
  horizontalHeader()->setStretchLastSection(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  connect(&Theme::get(), &Theme::changed, this, &CacheEventsView::fit);
  fit();
}

void CacheEventsView::set(const QVector<CacheEventInfo>& events) {
  model_->set(events);
  fit();
}

void CacheEventsView::fit() {
  resizeColumnToContents(CacheEventsModel::When);
  resizeColumnToContents(CacheEventsModel::Movement);
  resizeRowsToContents();
  int height = 2 * frameWidth() + 4;
  for (int row = 0; row < model_->rowCount(); ++row) height += rowHeight(row);
  setFixedHeight(height);
  setVisible(model_->rowCount() > 0);
}

void CacheEventsView::resizeEvent(QResizeEvent* event) {
  QTableView::resizeEvent(event);
  if (event->size().width() != event->oldSize().width()) fit();
}

}  // namespace tg
