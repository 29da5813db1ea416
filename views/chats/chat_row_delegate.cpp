#include "views/chats/chat_row_delegate.h"

#include <QLineEdit>
#include <QPainter>
#include <QPainterPath>

#include "views/chats/chat_list_model.h"
#include "views/theme/fill.h"
#include "views/theme/icons.h"

namespace tg {

QSize ChatRowDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const qreal unit = em(option.font);
  return {100, qRound(unit * (index.data(ChatListModel::IsFolderRole).toBool() ? 2.2 : 3.3))};
}

void ChatRowDelegate::paint(QPainter* p, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const qreal unit = em(option.font), ratio = p->device()->devicePixelRatioF();
  const bool folder = index.data(ChatListModel::IsFolderRole).toBool(), selected = option.state & QStyle::State_Selected;
  const bool rtl = option.direction == Qt::RightToLeft;
  p->save();
  p->setRenderHint(QPainter::Antialiasing);
  // The whole width of the list is the row, whatever the depth.
  QRectF row(option.rect);
  if (option.widget) row = QRectF(6, option.rect.top() + 1, option.widget->width() - 12, option.rect.height() - 2);
  if (selected && !folder) {
    QPainterPath path;
    path.addRoundedRect(row, 5, 5);
    p->fillPath(path, color(Role::Selection));
    p->setClipPath(path);
    p->fillRect(QRectF(rtl ? row.right() - 3 : row.left(), row.top(), 3, row.height()), color(Role::Accent));
    p->setClipping(false);
  } else if (option.state & QStyle::State_MouseOver && !folder) {
    QPainterPath path;
    path.addRoundedRect(row, 5, 5);
    p->fillPath(path, color(Role::Sunken));
  }
  if (option.state & QStyle::State_HasFocus) {
    p->setPen(QPen(color(Role::Focus), 2));
    p->drawRoundedRect(row.adjusted(1, 1, -1, -1), 5, 5);
  }
  const qreal left = row.left() + unit * 1.3;
  const auto mirrored = [&](const QRectF& r) { return rtl ? QRectF(row.left() + row.right() - r.right(), r.top(), r.width(), r.height()) : r; };
  const int align = Qt::AlignVCenter | (rtl ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignAbsolute;
  if (folder) {
    const int side = qRound(unit * 1.15);
    const QRectF mark = mirrored(QRectF(row.left() + unit * 0.2, row.center().y() - side / 2.0, side, side));
    const bool open = option.state & QStyle::State_Open;
    p->drawPixmap(mark.topLeft(), iconPixmap(open ? QStringLiteral("chevron-down") : QStringLiteral("chevron-right"), side, color(Role::Muted), ratio));
    const QRectF shape = mirrored(QRectF(left, row.center().y() - side / 2.0, side, side));
    p->drawPixmap(shape.topLeft(), iconPixmap(QStringLiteral("folder"), side, color(Role::Muted), ratio));
    p->setFont(scaled(option.font, 1, true));
    p->setPen(color(Role::Muted));
    p->drawText(mirrored(QRectF(left + side + 5, row.top(), row.right() - left - side - 8, row.height())), align, index.data(ChatListModel::TitleRole).toString());
    p->restore();
    return;
  }
  const qreal side = unit * 0.78, text = left + unit * 1.45, right = row.right() - unit * (index.data(ChatListModel::PinnedRole).toBool() ? 1.9 : 0.6);
  const qreal half = row.height() / 2;
  paintTier(*p, mirrored(QRectF(left, row.top() + half * 0.55 - side / 2, side, side)), static_cast<ChatTier>(index.data(ChatListModel::TierRole).toInt()), color(Role::Text));
  const QFont title = selected ? scaled(option.font, 1, true) : option.font;
  p->setFont(title);
  p->setPen(color(Role::Text));
  p->drawText(mirrored(QRectF(text, row.top() + unit * 0.18, right - text, half - unit * 0.05)), align,
              QFontMetricsF(title).elidedText(index.data(ChatListModel::TitleRole).toString(), Qt::ElideRight, right - text));
  const QFont small = captionFont(option.font);
  p->setFont(small);
  p->setPen(color(Role::Muted));
  p->drawText(mirrored(QRectF(text, row.top() + half - unit * 0.08, right - text, half - unit * 0.15)), align,
              QFontMetricsF(small).elidedText(index.data(ChatListModel::SecondLineRole).toString(), Qt::ElideRight, right - text));
  if (index.data(ChatListModel::PinnedRole).toBool()) {
    const int pin = qRound(unit * 1.05);
    p->drawPixmap(mirrored(QRectF(row.right() - unit * 1.6, row.top() + half * 0.6 - pin / 2.0, pin, pin)).topLeft(), iconPixmap(QStringLiteral("pin"), pin, color(Role::Muted), ratio));
  }
  p->restore();
}

QWidget* ChatRowDelegate::createEditor(QWidget* parent, const QStyleOptionViewItem&, const QModelIndex&) const {
  auto* edit = new QLineEdit(parent);
  edit->setObjectName(QStringLiteral("chatRenameEdit"));
  edit->setAccessibleName(tr("Title of the chat"));
  return edit;
}

void ChatRowDelegate::setEditorData(QWidget* editor, const QModelIndex& index) const {
  if (auto* edit = qobject_cast<QLineEdit*>(editor)) edit->setText(index.data(ChatListModel::TitleRole).toString());
}

}  // namespace tg
