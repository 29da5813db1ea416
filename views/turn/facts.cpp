#include "views/turn/facts.h"

#include "app/format.h"

namespace tg {

Facts::Facts(QWidget* parent) : QWidget(parent), grid_(new QGridLayout(this)) {
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setVerticalSpacing(3);
  grid_->setColumnStretch(1, 1);
}

void Facts::set(const QString& key, const QString& value, bool bold, const QString& reason) {
  QLabel* label = nullptr;
  for (const Row& row : rows_) {
    if (row.key->text() == key) label = row.value;
  }
  if (!label) {
    auto* name = new QLabel(key, this);
    name->setProperty("kind", QStringLiteral("muted"));
    label = new QLabel(this);
    label->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setWordWrap(wraps_ || value.size() > 24);
    label->setFocusPolicy(Qt::NoFocus);
    const int at = static_cast<int>(rows_.size());
    name->setWordWrap(key.size() > 30);
    grid_->addWidget(name, at, 0, key.size() > 30 ? Qt::Alignment() : Qt::AlignTop);
    grid_->addWidget(label, at, 1);
    rows_.append(Row{name, label});
  }
  label->setText(value);
  QFont f = font();
  if (bold) f.setWeight(QFont::DemiBold);
  label->setFont(f);
  const bool unknown = value == format::unknown();
  label->setToolTip(unknown ? reason : QString());
  label->setAccessibleName(unknown ? tr("%1: unknown: %2").arg(key, reason) : tr("%1: %2").arg(key, value));
}

void Facts::keepOnly(const QStringList& keys) {
  for (qsizetype i = rows_.size() - 1; i >= 0; --i) {
    if (keys.contains(rows_[i].key->text())) continue;
    delete rows_[i].key;
    delete rows_[i].value;
    rows_.remove(i);
  }
}

QString Facts::text() const {
  QString all;
  for (const Row& row : rows_) all += row.key->text() + QStringLiteral(": ") + row.value->text() + QLatin1Char('\n');
  return all;
}

QString Facts::value(const QString& key) const {
  for (const Row& row : rows_) {
    if (row.key->text() == key) return row.value->text();
  }
  return {};
}

}  // namespace tg
