#include "views/cache/cache_table.h"

#include <QHeaderView>
#include <QPainter>
#include <QResizeEvent>
#include <QStyledItemDelegate>

#include "app/cache_words.h"
#include "app/format.h"
#include "views/chats/chat_list_model.h"
#include "views/theme/fill.h"
#include "views/theme/icons.h"

namespace tg {

using namespace Qt::StringLiterals;

namespace {

bool isFigure(int column) { return column == CacheTableModel::Tokens || column == CacheTableModel::Size || column == CacheTableModel::Shared || column == CacheTableModel::ReadyIn; }

// The pin stands behind the title; the chosen chat is bold.
class RowDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* p, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyleOptionViewItem o = option;
    o.state &= ~QStyle::State_HasFocus;
    const int pad = qRound(em(o.font) * 0.65);
    if (option.state & QStyle::State_Selected) p->fillRect(option.rect, color(Role::Selection));
    o.rect.adjust(pad, 0, -pad, 0);
    if (index.column() == CacheTableModel::Chat && (option.state & QStyle::State_Selected)) o.font.setWeight(QFont::DemiBold);
    QStyledItemDelegate::paint(p, o, index);
    if (index.column() != CacheTableModel::Chat || !index.data(CacheTableModel::PinnedRole).toBool()) return;
    const qreal unit = em(o.font);
    const int side = qRound(unit * 1.05), width = QFontMetrics(o.font).horizontalAdvance(index.data().toString());
    const int x = qMin(o.rect.left() + width + qRound(unit * 0.8), option.rect.right() - side);
    p->drawPixmap(QPointF(option.direction == Qt::RightToLeft ? option.rect.left() + option.rect.right() - x - side : x, option.rect.center().y() - side / 2.0),
                  iconPixmap(u"pin"_s, side, color(Role::Text), p->device()->devicePixelRatioF()));
  }
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QSize size = QStyledItemDelegate::sizeHint(option, index);
    size.rwidth() += qRound(em(option.font) * (index.column() == CacheTableModel::Chat ? 3 : 1.7));
    return size;
  }
};

}  // namespace

void CacheTableModel::set(const CacheSnapshot& snapshot) {
  for (int i = static_cast<int>(rows_.size()) - 1; i >= 0; --i) {
    if (snapshot.row(rows_[i].chat.id)) continue;
    beginRemoveRows({}, i, i);
    rows_.remove(i);
    endRemoveRows();
  }
  for (const CacheRow& row : snapshot.rows) {
    const int at = rowOf(row.chat.id);
    if (at >= 0) {
      rows_[at] = row;
      continue;
    }
    beginInsertRows({}, static_cast<int>(rows_.size()), static_cast<int>(rows_.size()));
    rows_.append(row);
    endInsertRows();
  }
  if (!rows_.isEmpty()) Q_EMIT dataChanged(index(0, 0), index(static_cast<int>(rows_.size()) - 1, Columns - 1));
}

int CacheTableModel::rowOf(const QString& chatId) const {
  for (int i = 0; i < rows_.size(); ++i) {
    if (rows_[i].chat.id == chatId) return i;
  }
  return -1;
}

int CacheTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(rows_.size()); }
int CacheTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : Columns; }

QString CacheTableModel::text(const CacheRow& row, int column) const {
  const ChatInfo& c = row.chat;
  const QDateTime now = QDateTime::currentDateTime();
  switch (column) {
    case Chat: return shownTitle(c.title);
    case Where: return c.partly ? tr("partly %1").arg(tierWord(c.tier)) : tierWord(c.tier);
    case Tokens: return format::count(row.tokens());
    case Size: return c.tier == ChatTier::Unknown ? format::unknown() : c.tokensHeld > 0 ? format::bytes(c.bytesHeld) : u"0"_s;
    case Shared: return row.sharedBytes > 0 ? format::bytes(row.sharedBytes) : u"0"_s;
    case LastUsed: return words::shortWhen(c.lastUsed.toLocalTime(), now);
    case ReadyIn: return words::readyIn(row);
    case Why: return words::cacheReason(row, now);
    default: return {};
  }
}

QVariant CacheTableModel::sortKey(const CacheRow& row, int column) const {
  const ChatInfo& c = row.chat;
  switch (column) {
    case Where: return static_cast<int>(c.tier);
    case Tokens: return row.tokens();
    case Size: return c.tokensHeld > 0 ? c.bytesHeld.value_or(0) : qint64(0);
    case Shared: return row.sharedBytes;
    case LastUsed: return c.lastUsed.toMSecsSinceEpoch();
    case ReadyIn: return c.waitMs ? *c.waitMs + c.loadMs.value_or(0) : 1e15;
    default: return text(row, column).toLower();
  }
}

QVariant CacheTableModel::data(const QModelIndex& index, int role) const {
  const CacheRow* row = at(index.row());
  if (!row || !index.isValid()) return {};
  const int column = index.column();
  switch (role) {
    case Qt::DisplayRole: return text(*row, column);
    case Qt::ToolTipRole:
      if (column == ReadyIn && !row->chat.waitMs) return tr("unknown: not measured yet, send one message with this model");
      return column == Where ? words::cacheReason(*row, QDateTime::currentDateTime()) : text(*row, column);
    case Qt::TextAlignmentRole: return QVariant((isFigure(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::DecorationRole: return column == Where ? QVariant(icon(tierIcon(row->chat.tier))) : QVariant();
    case Qt::ForegroundRole: return column == Why ? QVariant(color(Role::Muted)) : QVariant();
    case Qt::AccessibleTextRole:
      if (column == Chat) return words::rowSentence(*row, QDateTime::currentDateTime());
      return QString(headerData(column, Qt::Horizontal, Qt::DisplayRole).toString() + u": "_s + text(*row, column));
    case IdRole: return row->chat.id;
    case SortRole: return sortKey(*row, column);
    case PinnedRole: return row->chat.pinned;
    default: return {};
  }
}

QVariant CacheTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= Columns) return {};
  if (role == Qt::TextAlignmentRole) return QVariant((isFigure(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  const QString names[] = {tr("Chat"), tr("Where"), tr("Tokens"), tr("Size"), tr("Shared"), tr("Last used"), tr("Ready in"), tr("Why it is there")};
  return names[section];
}

CacheTable::CacheTable(QWidget* parent) : QTableView(parent), model_(new CacheTableModel(this)), sorted_(new QSortFilterProxyModel(this)) {
  setObjectName(u"cacheTable"_s);
  setAccessibleName(tr("Chats and their caches"));
  sorted_->setSourceModel(model_);
  sorted_->setSortRole(CacheTableModel::SortRole);
  sorted_->setFilterKeyColumn(CacheTableModel::Chat);
  sorted_->setFilterCaseSensitivity(Qt::CaseInsensitive);
  setModel(sorted_);
  setItemDelegate(new RowDelegate(this));
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setSelectionMode(QAbstractItemView::SingleSelection);
  setTabKeyNavigation(false);
  setShowGrid(false);
  setWordWrap(false);
  setFrameShape(QFrame::NoFrame);
  setProperty("kind", u"plain"_s);
  setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  verticalHeader()->hide();
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setStretchLastSection(true);
  setSortingEnabled(true);
  sortByColumn(CacheTableModel::LastUsed, Qt::DescendingOrder);
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] { Q_EMIT currentChanged(current()); });
  connect(&Theme::get(), &Theme::changed, this, &CacheTable::fit);
}

void CacheTable::set(const CacheSnapshot& snapshot) {
  const QString was = current();
  model_->set(snapshot);
  if (current() != was && !was.isEmpty()) select(was);
  fit();
}

void CacheTable::filter(const QString& words) {
  sorted_->setFilterFixedString(words);
  fit();
}

QString CacheTable::current() const { return currentIndex().data(CacheTableModel::IdRole).toString(); }

void CacheTable::select(const QString& chatId) {
  const int row = model_->rowOf(chatId);
  const QModelIndex index = row < 0 ? QModelIndex() : sorted_->mapFromSource(model_->index(row, 0));
  if (!index.isValid()) return;
  setCurrentIndex(index);
  scrollTo(index);
}

// What a column needs; the title and the reason share the rest. Where that is too little, the least telling columns go first.
void CacheTable::fit() {
  const qreal unit = em(font());
  verticalHeader()->setDefaultSectionSize(qRound(2.3 * unit));
  setIconSize({qRound(unit * 1.15), qRound(unit * 1.15)});
  // No higher than its rows, so that what stands below is not far away.
  setMaximumHeight(qMax(minimumHeight(), horizontalHeader()->sizeHint().height() + qMax(1, sorted_->rowCount()) * verticalHeader()->defaultSectionSize() + 2 * frameWidth() + 8));
  const qreal room = viewport()->width() / unit;
  setColumnHidden(CacheTableModel::Shared, room < 78);
  setColumnHidden(CacheTableModel::LastUsed, room < 64);
  for (int column : {int(CacheTableModel::Where), int(CacheTableModel::Tokens), int(CacheTableModel::Size), int(CacheTableModel::Shared), int(CacheTableModel::LastUsed), int(CacheTableModel::ReadyIn)}) {
    resizeColumnToContents(column);
  }
  resizeColumnToContents(CacheTableModel::Chat);
  setColumnWidth(CacheTableModel::Chat, qBound(qRound(unit * 8), columnWidth(CacheTableModel::Chat), qMax(qRound(unit * 9), viewport()->width() / 4)));
  // The reason takes the rest; where that is too little the table scrolls.
  int others = 0;
  for (int column = 0; column < CacheTableModel::Why; ++column) others += isColumnHidden(column) ? 0 : columnWidth(column);
  const bool enough = viewport()->width() - others >= qRound(unit * 9);
  horizontalHeader()->setStretchLastSection(enough);
  if (!enough) setColumnWidth(CacheTableModel::Why, qRound(unit * 24));
}

void CacheTable::changeEvent(QEvent* event) {
  QTableView::changeEvent(event);
  if (event->type() == QEvent::FontChange && sorted_) fit();
}

void CacheTable::resizeEvent(QResizeEvent* event) {
  QTableView::resizeEvent(event);
  if (event->size().width() != event->oldSize().width()) fit();
}

}  // namespace tg
