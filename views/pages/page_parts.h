// Small parts that pages and dialogs share, so that cards, headings and muted notes look alike everywhere.
#pragma once
#include <QFrame>
#include <QLabel>
#include <QPushButton>

namespace tg {

QLabel* pageTitle(const QString& text, QWidget* parent);
QLabel* cardHeading(const QString& text, QWidget* parent);
QLabel* mutedNote(const QString& text, QWidget* parent);           // wraps
QPushButton* primaryButton(const QString& text, QWidget* parent);

// A raised panel with an edge and rounded corners; `strong` draws the accent edge.
class Card : public QFrame {
  Q_OBJECT
 public:
  explicit Card(QWidget* parent, bool strong = false);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  bool strong_;
};

}  // namespace tg
