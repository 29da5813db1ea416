#include "views/cache/cache_events_view.h"

#include <QHeaderView>
#include <QPainter>
#include <QResizeEvent>
#include <QStyledItemDelegate>

#include "app/cache_words.h"
#include "views/theme/theme.h"

namespace tg {

namespace {

constexpr qsizetype kMostShown = 30;

// A line below each row; reasons wrap.
class EventDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  static constexpr int kGap = 4;
  void paint(QPainter* p, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyleOptionViewItem o = option;
    initStyleOption(&o, index);
    p->save();
    if (o.state & QStyle::State_Selected) p->fillRect(o.rect, color(Role::Selection));
    p->setFont(o.font);
    p->setPen(color(index.column() == CacheEventsModel::When ? Role::Muted : Role::Text));
    p->drawText(o.rect.adjusted(kGap, kGap, -kGap, -kGap), Qt::TextWordWrap | int(QStyle::visualAlignment(o.direction, Qt::AlignLeft | Qt::AlignTop)), o.text);
    p->setPen(color(Role::Border));
    p->drawLine(o.rect.bottomLeft(), o.rect.bottomRight());
    p->restore();
  }
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyleOptionViewItem o = option;
    initStyleOption(&o, index);
    const auto* view = qobject_cast<const QTableView*>(o.widget);
    const bool wraps = index.column() == CacheEventsModel::Reason && view;
    const int width = wraps ? qMax(40, view->columnWidth(index.column()) - 2 * kGap) : 4000;
    const QRect box = QFontMetrics(o.font).boundingRect(QRect(0, 0, width, 4000), Qt::TextWordWrap, o.text);
    return {(wraps ? width : box.width()) + 2 * kGap + (wraps ? 0 : kGap), box.height() + 2 * kGap + 1};
  }
};

}  // namespace

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
  setItemDelegate(new EventDelegate(this));
  verticalHeader()->hide();
  verticalHeader()->setMinimumSectionSize(1);
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
