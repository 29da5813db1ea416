// Where the groups of the footer line stand and how they are painted (UI.md 6.4). Positions come from the groups' final form, so live
// figures never move anything. GUI thread.
#pragma once
#include <QPainter>
#include <QRectF>
#include <QVector>

#include "views/theme/fill.h"
#include "views/turn/turn_words.h"

namespace tg {

struct FooterPlace { FooterGroup::Kind kind; QRectF rect; };

class FooterLayout {
 public:
  FooterLayout(const QVector<FooterGroup>& finalForm, qreal width, const QFont& font);
  const QVector<FooterPlace>& places() const { return places_; }
  qreal height() const { return height_; }
  qreal lineHeight() const { return line_; }

 private:
  QVector<FooterPlace> places_;
  qreal height_ = 0, line_ = 0;
};

struct FooterContent {
  QVector<FooterGroup> groups;
  QVector<PartShare> bar;
  qint64 barWhole = 0;
  QString miss;
};

// RECT: the row's content box. Figures stay left to right in every language.
void paintFooter(QPainter& painter, const QRectF& rect, const FooterLayout& layout, const FooterContent& content, const QFont& font);
qreal groupWidth(const FooterGroup& group, const QFont& font);

}  // namespace tg
