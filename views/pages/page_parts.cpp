#include "views/pages/page_parts.h"

#include <QPainter>

#include "views/theme/theme.h"

namespace tg {

QLabel* pageTitle(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setFont(titleFont(label->font()));
  label->setWordWrap(true);
  return label;
}

QLabel* cardHeading(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setFont(headingFont(label->font()));
  return label;
}

QLabel* mutedNote(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setProperty("kind", QStringLiteral("muted"));
  label->setWordWrap(true);
  return label;
}

QPushButton* primaryButton(const QString& text, QWidget* parent) {
  auto* button = new QPushButton(text, parent);
  button->setProperty("kind", QStringLiteral("primary"));
  return button;
}

Card::Card(QWidget* parent, bool strong) : QFrame(parent), strong_(strong) {}

void Card::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const qreal width = strong_ ? 2 : 1;
  painter.setPen(QPen(color(strong_ ? Role::Accent : Role::Border), width));
  painter.setBrush(color(Role::Base));
  painter.drawRoundedRect(QRectF(rect()).adjusted(width / 2, width / 2, -width / 2, -width / 2), 8, 8);
}

}  // namespace tg
