#include "views/dialogs/overflow_dialog.h"

#include <QButtonGroup>
#include <QCheckBox>
#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QRadioButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include "app/format.h"
#include "views/dialogs/overflow_bar.h"
#include "views/pages/page_parts.h"
#include "views/theme/theme.h"

namespace tg {
namespace {

enum Column { kChoice, kSpin, kPrompt, kRead, kWait, kSees, kColumns };

struct Wording { QString name, title, button; };

Wording wordingOf(const OverflowChoice& choice) {
  const auto is = [&](const char* kind) { return choice.kind == QLatin1String(kind); };
  if (is("widen")) return {QStringLiteral("choiceWiden"), OverflowDialog::tr("Widen the window of this chat to %1").arg(format::count(choice.window)), OverflowDialog::tr("Widen and send")};
  if (is("drop-oldest")) return {QStringLiteral("choiceDropOldest"), OverflowDialog::tr("Drop the oldest turns"), OverflowDialog::tr("Drop and send")};
  if (is("head-tail")) return {QStringLiteral("choiceHeadTail"), OverflowDialog::tr("Keep the beginning and the end"), OverflowDialog::tr("Keep both ends and send")};
  return {QStringLiteral("choiceRemoveDocument"), OverflowDialog::tr("Take the attached document out"), OverflowDialog::tr("Take out and send")};
}

QString seesText(const OverflowChoice& choice) {
  if (choice.kind == QLatin1String("widen")) return OverflowDialog::tr("everything");
  if (choice.kind == QLatin1String("remove-document")) return OverflowDialog::tr("all turns");
  if (choice.lastTurn < 0) return format::unknown();
  if (choice.kind == QLatin1String("head-tail")) return OverflowDialog::tr("turns up to %1, from %2 on").arg(choice.firstTurn - 1).arg(choice.lastTurn + 1);
  return OverflowDialog::tr("turns from %1 on").arg(choice.lastTurn + 1);
}

}  // namespace

OverflowDialog::OverflowDialog(QWidget* parent) : QDialog(parent) {
  setObjectName(QStringLiteral("overflowDialog"));
  setWindowTitle(tr("This message does not fit"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(24, 16, 24, 16);
  layout->setSpacing(12);
  sentence_ = new QLabel(this);
  sentence_->setObjectName(QStringLiteral("overflowSentence"));
  sentence_->setWordWrap(true);
  layout->addWidget(sentence_);
  bar_ = new OverflowBar(this);
  layout->addWidget(bar_);
  table_ = new QWidget(this);
  grid_ = new QGridLayout(table_);
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setHorizontalSpacing(16);
  grid_->setColumnStretch(kChoice, 1);
  layout->addWidget(table_, 1);
  hint_ = mutedNote(QString(), this);
  layout->addWidget(hint_);
  group_ = new QButtonGroup(this);
  connect(group_, &QButtonGroup::idClicked, this, &OverflowDialog::select);
  auto* foot = new QHBoxLayout;
  always_ = new QCheckBox(tr("Always do this in this chat (shown in the transcript each time)"), this);
  always_->setObjectName(QStringLiteral("overflowAlways"));
  foot->addWidget(always_, 1);
  auto* cancel = new QPushButton(tr("Cancel"), this);
  cancel->setObjectName(QStringLiteral("overflowCancel"));
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  send_ = primaryButton(tr("Send"), this);
  send_->setObjectName(QStringLiteral("overflowSend"));
  send_->setDefault(true);
  connect(send_, &QPushButton::clicked, this, &QDialog::accept);
  foot->addWidget(cancel);
  foot->addWidget(send_);
  layout->addLayout(foot);
  resize(int(62 * em(font())), int(36 * em(font())));
}

void OverflowDialog::setChoices(const QVector<OverflowChoice>& choices, const DraftCount& count) {
  const QString before = group_->checkedId() >= 0 ? choices_.value(group_->checkedId()).kind : QString();
  choices_ = choices;
  count_ = count;
  const int together = count.promptTokens + count.answerKept, over = together - count.window;
  sentence_->setText(tr("Nothing has been sent. The prompt has <b>%1</b> tokens and <b>%2</b> are kept free for the answer: together %3, which is "
                        "<b><nobr><font color=\"%5\">%4 more</font></nobr></b> than the window of this chat holds.")
                         .arg(format::count(count.promptTokens), format::count(count.answerKept), format::count(together), format::count(over),
                              color(Role::ErrorText).name()));
  bar_->setCount(count);
  hint_->setText(count.draftTokens > over ? tr("Shortening the message is enough: take out %1 tokens or more.").arg(format::count(over))
                                          : tr("Shortening the message is not enough alone: it has %1 tokens, and %2 are too many.")
                                                .arg(format::count(count.draftTokens), format::count(over)));
  dropCount_ = nullptr;
  while (QLayoutItem* item = grid_->takeAt(0)) {
    if (auto* button = qobject_cast<QRadioButton*>(item->widget())) group_->removeButton(button);
    delete item->widget();
    delete item;
  }
  const QStringList headings = {tr("What to do"), QString(), tr("Prompt"), tr("Read again + new"), tr("Wait"), tr("The model sees")};
  for (int c = 0; c < kColumns; ++c) grid_->addWidget(mutedNote(headings[c], table_), 0, c, c >= kPrompt ? Qt::AlignRight : Qt::AlignLeft);
  for (int i = 0; i < choices.size(); ++i) addChoice(i, choices[i]);
  int index = preselected();
  for (int i = 0; i < choices.size(); ++i)
    if (choices[i].kind == before && choices[i].possible) index = i;
  if (auto* button = group_->button(index)) button->setChecked(true);
  select(index);
}

void OverflowDialog::addChoice(int index, const OverflowChoice& choice) {
  const Wording words = wordingOf(choice);
  const int row = 1 + 2 * index;
  auto* radio = new QRadioButton(words.title, table_);
  radio->setObjectName(words.name);
  radio->setAccessibleDescription(choice.reason);
  radio->setEnabled(choice.possible);
  QFont bold = radio->font();
  bold.setWeight(QFont::DemiBold);
  radio->setFont(bold);
  group_->addButton(radio, index);
  grid_->addWidget(radio, row, kChoice);
  if (choice.kind == QLatin1String("drop-oldest") && choice.possible) {
    dropCount_ = new QSpinBox(table_);
    dropCount_->setObjectName(QStringLiteral("dropCountSpin"));
    dropCount_->setAccessibleName(tr("Number of turns to drop"));
    dropCount_->setRange(1, qMax(1, choice.lastTurn + 16));
    dropCount_->setValue(choice.lastTurn - qMax(choice.firstTurn, 1) + 1);
    connect(dropCount_, &QSpinBox::valueChanged, this, &OverflowDialog::dropTurnsChanged);
    grid_->addWidget(dropCount_, row, kSpin);
  }
  const QString read = format::count(choice.readAgain + choice.fresh);
  const QStringList figures = {choice.possible ? format::count(choice.prompt) : format::unknown(), choice.possible ? read : format::unknown(),
                               choice.possible ? format::expectedTime(choice.waitMs) : format::unknown(), choice.possible ? seesText(choice) : format::unknown()};
  for (int c = 0; c < figures.size(); ++c) grid_->addWidget(new QLabel(figures[c], table_), row, kPrompt + c, Qt::AlignRight);
  auto* why = mutedNote(choice.reason, table_);
  why->setContentsMargins(24, 0, 0, 8);
  grid_->addWidget(why, row + 1, kChoice, 1, kColumns);
}

int OverflowDialog::preselected() const {
  for (const char* kind : {"widen", "drop-oldest", "head-tail", "remove-document"})
    for (int i = 0; i < choices_.size(); ++i)
      if (choices_[i].possible && choices_[i].kind == QLatin1String(kind)) return i;
  return -1;
}

void OverflowDialog::select(int index) {
  send_->setEnabled(index >= 0 && index < choices_.size() && choices_[index].possible);
  if (!send_->isEnabled()) return;
  send_->setText(wordingOf(choices_[index]).button);
  Q_EMIT choiceShown(choices_[index]);
}

OverflowChoice OverflowDialog::chosen() const { return choices_.value(group_->checkedId()); }
bool OverflowDialog::always() const { return always_->isChecked(); }

}  // namespace tg
