#include "views/transcript/row_action_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QToolButton>

#include "views/theme/icons.h"

namespace tg {

RowActionBar::RowActionBar(QWidget* parent) : QFrame(parent) {
  setObjectName(QStringLiteral("rowActionBar"));
  setAccessibleName(tr("Actions of the message"));
  setCursor(Qt::ArrowCursor);
  setAutoFillBackground(false);
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(2, 0, 2, 0);
  line->setSpacing(0);
  edit_ = button(QStringLiteral("rowEdit"), QStringLiteral("edit"), tr("Edit this message"));
  copy_ = button(QStringLiteral("rowCopy"), QStringLiteral("copy"), tr("Copy this message"));
  regenerate_ = button(QStringLiteral("rowRegenerate"), QStringLiteral("regenerate"), tr("Write this answer again"));
  prev_ = button(QStringLiteral("rowVersionPrev"), QStringLiteral("version-prev"), tr("Version before"));
  versionLabel_ = new QLabel(this);
  versionLabel_->setObjectName(QStringLiteral("rowVersionLabel"));
  line->addWidget(versionLabel_);
  next_ = button(QStringLiteral("rowVersionNext"), QStringLiteral("version-next"), tr("Version after"));
  details_ = button(QStringLiteral("rowDetails"), QStringLiteral("details"), tr("Figures of this turn"));
  more_ = button(QStringLiteral("rowMore"), QStringLiteral("more"), tr("More for this message"));
  auto* menu = new QMenu(more_);
  menu->addAction(tr("Fork here"), this, [this] { Q_EMIT fork(message_); });
  menu->addAction(tr("Quote"), this, [this] { Q_EMIT quote(message_); });
  more_->setMenu(menu);
  more_->setPopupMode(QToolButton::InstantPopup);
  connect(edit_, &QToolButton::clicked, this, [this] { Q_EMIT edit(message_); });
  connect(copy_, &QToolButton::clicked, this, [this] { Q_EMIT copy(message_); });
  connect(regenerate_, &QToolButton::clicked, this, [this] { Q_EMIT regenerate(message_); });
  connect(prev_, &QToolButton::clicked, this, [this] { Q_EMIT version(message_, version_ - 1); });
  connect(next_, &QToolButton::clicked, this, [this] { Q_EMIT version(message_, version_ + 1); });
  connect(details_, &QToolButton::clicked, this, [this] { Q_EMIT details(message_); });
  hide();
}

QToolButton* RowActionBar::button(const QString& name, const QString& iconName, const QString& verb) {
  auto* b = new QToolButton(this);
  b->setObjectName(name);
  b->setIcon(icon(iconName, Role::Muted));
  b->setAccessibleName(verb);
  b->setToolTip(verb);
  layout()->addWidget(b);
  return b;
}

void RowActionBar::showFor(const MessageInfo& m, bool busy) {
  message_ = m.id;
  version_ = m.version;
  const bool user = m.role == QStringLiteral("user"), answer = m.role == QStringLiteral("assistant");
  edit_->setVisible(user);
  edit_->setEnabled(!busy);
  regenerate_->setVisible(answer);
  regenerate_->setEnabled(!busy);
  details_->setVisible(answer && m.record.has_value());
  for (QWidget* w : {static_cast<QWidget*>(prev_), static_cast<QWidget*>(versionLabel_), static_cast<QWidget*>(next_)}) w->setVisible(m.versions > 1);
  prev_->setEnabled(m.version > 1);
  next_->setEnabled(m.version < m.versions);
  versionLabel_->setText(tr("%1 / %2").arg(m.version).arg(m.versions));
  versionLabel_->setAccessibleName(tr("Version %1 of %2").arg(m.version).arg(m.versions));
  more_->setVisible(m.role != QStringLiteral("notice"));
  setVisible(m.role != QStringLiteral("notice"));
  layout()->invalidate();
  resize(sizeHint());
  raise();
}

}  // namespace tg
