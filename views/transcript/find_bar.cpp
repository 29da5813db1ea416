#include "views/transcript/find_bar.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

#include "views/theme/icons.h"
#include "views/transcript/transcript_view.h"

namespace tg {

FindBar::FindBar(TranscriptView* view, QWidget* parent) : QFrame(parent), view_(view) {
  setObjectName(QStringLiteral("findBar"));
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(12, 4, 12, 4);
  edit_ = new QLineEdit(this);
  edit_->setObjectName(QStringLiteral("findEdit"));
  edit_->setAccessibleName(tr("Find in this chat"));
  edit_->setPlaceholderText(tr("Find in this chat"));
  edit_->addAction(icon(QStringLiteral("search"), Role::Muted), QLineEdit::LeadingPosition);
  edit_->installEventFilter(this);
  count_ = new QLabel(this);
  count_->setObjectName(QStringLiteral("findCount"));
  count_->setProperty("kind", QStringLiteral("muted"));
  line->addWidget(edit_, 1);
  line->addWidget(count_);
  const auto button = [&](const QString& name, const QString& iconName, const QString& verb) {
    auto* b = new QToolButton(this);
    b->setObjectName(name);
    b->setIcon(icon(iconName));
    b->setAccessibleName(verb);
    b->setToolTip(verb);
    line->addWidget(b);
    return b;
  };
  connect(button(QStringLiteral("findPrevious"), QStringLiteral("move-up"), tr("Hit before")), &QToolButton::clicked, this, [this] { step(-1); });
  connect(button(QStringLiteral("findNext"), QStringLiteral("move-down"), tr("Next hit")), &QToolButton::clicked, this, [this] { step(1); });
  connect(button(QStringLiteral("findClose"), QStringLiteral("close"), tr("Close find")), &QToolButton::clicked, this, &FindBar::close);
  connect(edit_, &QLineEdit::textChanged, this, &FindBar::search);
  hide();
}

void FindBar::open(const QString& words) {
  show();
  if (!words.isEmpty()) edit_->setText(words);
  edit_->setFocus();
  edit_->selectAll();
  search();
}

void FindBar::close() {
  if (!isVisible()) return;
  hide();
  view_->find({});
  Q_EMIT closed();
}

void FindBar::search() {
  hits_ = view_->find(edit_->text());
  current_ = hits_ > 0 ? 0 : -1;
  view_->showHit(current_);
  count_->setText(edit_->text().isEmpty() ? QString() : hits_ == 0 ? tr("not found") : tr("%1 of %2").arg(current_ + 1).arg(hits_));
}

void FindBar::step(int by) {
  if (hits_ == 0) return;
  current_ = (current_ + by + hits_) % hits_;
  view_->showHit(current_);
  count_->setText(tr("%1 of %2").arg(current_ + 1).arg(hits_));
}

bool FindBar::eventFilter(QObject* watched, QEvent* event) {
  if (watched == edit_ && event->type() == QEvent::KeyPress) {
    auto* key = static_cast<QKeyEvent*>(event);
    if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
      step(key->modifiers() & Qt::ShiftModifier ? -1 : 1);
      return true;
    }
  }
  return QFrame::eventFilter(watched, event);
}

}  // namespace tg
