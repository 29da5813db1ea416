#include "views/composer/context_ring.h"

#include <QFrame>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QTableWidget>
#include <QVBoxLayout>

#include "app/format.h"

namespace tg {

using namespace Qt::StringLiterals;

namespace {

QString partWord(const QString& kind) {
  if (kind == u"system"_s) return ContextRing::tr("system");
  if (kind == u"tools"_s) return ContextRing::tr("tools");
  if (kind == u"document"_s) return ContextRing::tr("document");
  if (kind == u"history"_s) return ContextRing::tr("history");
  if (kind == u"thinking"_s) return ContextRing::tr("thinking");
  return kind == u"new"_s ? ContextRing::tr("new") : kind;
}

Role partRole(const QString& kind) {
  if (kind == u"system"_s) return Role::SegSystem;
  if (kind == u"tools"_s) return Role::SegTools;
  if (kind == u"document"_s) return Role::SegDocument;
  if (kind == u"thinking"_s) return Role::ThinkingTint;
  return kind == u"new"_s ? Role::SegNew : Role::SegHistory;
}

// The parts to scale, each with an edge, so that neighbours differ without colour.
class PartsBar : public QWidget {
 public:
  PartsBar(const DraftCount& count, QWidget* parent) : QWidget(parent), count_(count) { setFixedHeight(qRound(em(font()) * 1.2)); }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter p(this);
    p.fillRect(rect(), color(Role::Sunken));
    const qreal whole = qMax(count_.window, count_.promptTokens + count_.answerKept);
    qreal x = 0;
    const auto part = [&](int tokens, const QBrush& fill) {
      const qreal w = whole > 0 ? width() * tokens / whole : 0;
      p.setPen(color(Role::ControlBorder));
      p.setBrush(fill);
      p.drawRect(QRectF(x + 0.5, 0.5, qMax(0.0, w - 1), height() - 1.0));
      x += w;
    };
    for (const RecordSegment& s : count_.parts) part(s.tokens, color(partRole(s.kind)));
    part(count_.answerKept, QBrush(color(Role::Output), Qt::BDiagPattern));
    p.setPen(QPen(color(Role::ErrorText), 2));
    const qreal edge = whole > 0 ? width() * count_.window / whole : 0;
    if (count_.window < whole) p.drawLine(QPointF(edge, 0), QPointF(edge, height()));
  }

 private:
  DraftCount count_;
};

}  // namespace

ContextRing::ContextRing(QWidget* parent) : QAbstractButton(parent) {
  setObjectName(u"contextRing"_s);
  setFocusPolicy(Qt::StrongFocus);
  setCursor(Qt::PointingHandCursor);
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  connect(this, &QAbstractButton::clicked, this, &ContextRing::openPopover);
  connect(&Theme::get(), &Theme::changed, this, [this] { update(); });
  setCount({});
}

int ContextRing::percent() const {
  if (count_.window <= 0) return 0;
  const double share = 100.0 * count_.promptTokens / count_.window;
  const int shown = qRound(share);
  return share > 0 && shown == 0 ? 1 : share < 100 && shown == 100 ? 99 : shown;
}

Role ContextRing::ink() const { return percent() >= 95 ? Role::ErrorText : percent() >= 80 ? Role::WarnText : Role::Accent; }

void ContextRing::setCount(const DraftCount& count) {
  count_ = count;
  const QString words = tr("Window: %1 of %2 tokens used, %3 percent").arg(count.promptTokens).arg(count.window).arg(percent());
  setAccessibleName(words);
  setToolTip(words);
  updateGeometry();
  update();
}

QSize ContextRing::sizeHint() const {
  QFont bold = font();
  bold.setWeight(QFont::DemiBold);
  const int side = qRound(em(font()) * 1.8);
  return {side + 8 + QFontMetrics(bold).horizontalAdvance(u"000 %"_s), qRound(em(font()) * 2.1)};
}

void ContextRing::paintEvent(QPaintEvent*) {
  QPainter p(this);
  p.setRenderHint(QPainter::Antialiasing);
  const qreal side = em(font()) * 1.7, line = em(font()) * 0.36;
  const QRectF ring(2 + line / 2, (height() - side) / 2 + line / 2, side - line, side - line);
  p.setPen(QPen(color(Role::Sunken), line, Qt::SolidLine, Qt::FlatCap));
  p.drawEllipse(ring);
  p.setPen(QPen(color(ink()), line, Qt::SolidLine, Qt::FlatCap));
  p.drawArc(ring, 90 * 16, -qRound(qMin(100, percent()) * 3.6 * 16));
  QFont bold = font();
  bold.setWeight(QFont::DemiBold);
  p.setFont(bold);
  p.setPen(color(percent() >= 80 ? ink() : Role::Text));
  p.drawText(QRectF(side + 8, 0, width() - side - 8, height()), Qt::AlignVCenter | Qt::AlignLeft, QString::number(percent()) + u"\u00A0%"_s);
  if (hasFocus()) {
    p.setPen(QPen(color(Role::Focus), 2));
    p.setBrush(Qt::NoBrush);
    p.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 5, 5);
  }
}

void ContextRing::openPopover() {
  auto* popover = new QFrame(this, Qt::Popup);
  popover->setObjectName(u"contextPopover"_s);
  popover->setAccessibleName(tr("What fills the window"));
  popover->setAttribute(Qt::WA_DeleteOnClose);
  auto* column = new QVBoxLayout(popover);
  column->setContentsMargins(12, 12, 12, 12);
  column->addWidget(new QLabel(tr("<b>%1 of %2 tokens</b> of the window").arg(format::count(count_.promptTokens), format::count(count_.window)), popover));
  column->addWidget(new PartsBar(count_, popover));
  QVector<QPair<QString, int>> rows;
  for (const RecordSegment& s : count_.parts) rows.append({partWord(s.kind), s.tokens});
  rows.append({tr("prompt in all"), count_.promptTokens});
  rows.append({tr("answer kept free"), count_.answerKept});
  rows.append({tr("free"), qMax(0, count_.window - count_.promptTokens - count_.answerKept)});
  auto* table = new QTableWidget(static_cast<int>(rows.size()), 2, popover);
  table->setObjectName(u"contextTable"_s);
  table->setAccessibleName(tr("Parts of the window in tokens"));
  table->setHorizontalHeaderLabels({tr("Part"), tr("Tokens")});
  table->verticalHeader()->hide();
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
  for (int i = 0; i < rows.size(); ++i) {
    table->setItem(i, 0, new QTableWidgetItem(rows[i].first));
    auto* n = new QTableWidgetItem(format::count(rows[i].second));
    n->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    table->setItem(i, 1, n);
  }
  table->setFixedHeight(table->horizontalHeader()->sizeHint().height() + table->rowHeight(0) * static_cast<int>(rows.size()) + 4);
  column->addWidget(table);
  popover->setFixedWidth(qRound(em(font()) * 24));
  popover->adjustSize();
  popover->move(mapToGlobal(QPoint(width() - popover->width(), -popover->height() - 6)));
  popover->show();
  table->setFocus();
}

}  // namespace tg
