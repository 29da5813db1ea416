#include "views/shell/nav_rail.h"

#include <QToolButton>
#include <QVBoxLayout>

#include "views/theme/icons.h"

namespace tg {

using namespace Qt::StringLiterals;

NavRail::NavRail(QWidget* parent) : QFrame(parent), column_(new QVBoxLayout(this)) {
  setObjectName(u"navRail"_s);
  setAccessibleName(tr("Pages"));
  setAttribute(Qt::WA_StyledBackground);
  column_->setContentsMargins(4, 6, 4, 6);
  column_->setSpacing(2);
  column_->addStretch(1);
  setMinimumWidth(qRound(em(font()) * 4.6));
}

int NavRail::add(const QString& objectName, const QString& iconName, const QString& word, bool atEnd) {
  auto* b = new QToolButton(this);
  b->setObjectName(objectName);
  b->setProperty("kind", u"nav"_s);
  b->setIcon(icon(iconName));
  b->setText(word);
  b->setToolTip(word);
  b->setAccessibleName(word);
  b->setCheckable(true);
  b->setFocusPolicy(Qt::StrongFocus);
  b->setToolButtonStyle(Qt::ToolButtonTextUnderIcon);
  b->setFont(captionFont(font()));
  b->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  const int unit = qRound(em(font()));
  b->setIconSize({unit * 3 / 2, unit * 3 / 2});
  const int number = static_cast<int>(buttons_.size());
  buttons_.append(b);
  if (atEnd) column_->addWidget(b);
  else column_->insertWidget(column_->count() - 1, b);
  connect(b, &QToolButton::clicked, this, [this, number] { Q_EMIT chosen(number); });
  connect(&Theme::get(), &Theme::changed, b, [this, b] {
    const int side = qRound(em(font()) * 1.5);
    b->setFont(captionFont(font()));
    b->setIconSize({side, side});
  });
  return number;
}

void NavRail::setCurrent(int number) {
  for (int i = 0; i < buttons_.size(); ++i) buttons_[i]->setChecked(i == number);
}

void NavRail::setNarrow(bool narrow) {
  setMinimumWidth(narrow ? 0 : qRound(em(font()) * 4.6));
  for (QToolButton* b : buttons_) b->setToolButtonStyle(narrow ? Qt::ToolButtonIconOnly : Qt::ToolButtonTextUnderIcon);
}

void NavRail::setShown(int number, bool shown) { buttons_[number]->setVisible(shown); }

}  // namespace tg
