#include "views/inspector/explain_tab.h"

#include <QLabel>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>

#include "app/explain.h"
#include "views/theme/theme.h"
#include "views/turn/facts.h"

namespace tg {

using namespace Qt::StringLiterals;

namespace {

QLabel* paragraph(const QString& text, QWidget* parent, bool muted = false) {
  auto* label = new QLabel(text, parent);
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  label->setFocusPolicy(Qt::NoFocus);
  if (muted) label->setProperty("kind", u"muted"_s);
  return label;
}

QLabel* title(const QString& text, QWidget* parent) {
  QLabel* label = paragraph(text, parent);
  label->setFont(scaled(label->font(), 1, true));
  return label;
}

}  // namespace

ExplainTab::ExplainTab(QWidget* parent) : QWidget(parent) {
  setObjectName(u"tabExplain"_s);
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  empty_ = paragraph(tr("Send a message: its figures appear here."), this, true);
  empty_->setObjectName(u"tabExplainEmpty"_s);
  empty_->setAlignment(Qt::AlignHCenter | Qt::AlignTop);
  empty_->setContentsMargins(16, 24, 16, 0);
  outer->addWidget(empty_, 1);
  scroll_ = new QScrollArea(this);
  scroll_->setObjectName(u"explainView"_s);
  scroll_->setAccessibleName(tr("This turn explained"));
  scroll_->setWidgetResizable(true);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setStyleSheet(u"QScrollArea { background: transparent; border: none; }"_s);
  scroll_->viewport()->setAutoFillBackground(false);
  outer->addWidget(scroll_, 1);
  show(std::nullopt);
}

void ExplainTab::show(const std::optional<TurnRecord>& record) {
  empty_->setVisible(!record);
  scroll_->setVisible(record.has_value());
  if (!record) {
    text_.clear();
    return;
  }
  const Explanation explanation = explain(*record);
  const QString text = explanation.text();
  if (text == text_ && scroll_->widget()) return;   // keeps what is selected and where it was scrolled to
  text_ = text;
  scroll_->setWidget(page(explanation));
  scroll_->widget()->setAutoFillBackground(false);
  scroll_->setAccessibleDescription(text);
}

QWidget* ExplainTab::page(const Explanation& explanation) {
  auto* page = new QWidget;
  page->setObjectName(u"explainBody"_s);
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(14, 12, 14, 14);
  column->setSpacing(6);
  const auto facts = [&](const QString& name) {
    auto* list = new Facts(page);
    list->setObjectName(name);
    list->setWrapping(true);
    column->addWidget(list);
    column->addSpacing(8);
    return list;
  };
  for (const ExplainPart& part : explanation.parts) {
    column->addWidget(title(part.title, page));
    QLabel* words = paragraph(part.sentences.join(u' '), page);
    words->setObjectName(u"explain-"_s + part.id);
    column->addWidget(words);
    Facts* figures = facts(u"explainFigures-"_s + part.id);
    for (const ExplainFigure& f : part.figures) figures->set(f.name, f.value, false, tr("not known of this turn"));
  }
  column->addWidget(title(tr("What would make it faster"), page));
  QLabel* faster = paragraph(explanation.faster, page);
  faster->setObjectName(u"explain-faster"_s);
  column->addWidget(faster);
  Facts* levers = facts(u"explainLevers"_s);
  for (const ExplainLever& l : explanation.levers) levers->set(l.lever, l.effect);
  for (const QString& note : {explanation.leftOut, explanation.limits}) {
    if (!note.isEmpty()) column->addWidget(paragraph(note, page, true));
  }
  column->addStretch(1);
  return page;
}

}  // namespace tg
