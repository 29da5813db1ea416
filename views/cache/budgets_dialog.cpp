#include "views/cache/budgets_dialog.h"

#include <QDoubleSpinBox>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSlider>
#include <QVBoxLayout>
#include <cmath>

#include "app/cache_words.h"
#include "app/format.h"
#include "views/pages/page_parts.h"
#include "views/theme/theme.h"

namespace tg {

using namespace Qt::StringLiterals;

namespace {

constexpr qint64 kMib = qint64(1) << 20, kGib = qint64(1) << 30;
constexpr qint64 kStep = 64 * kMib;            // of the slider; the number is exact to a hundredth of a GiB

QString nameOf(ChatTier tier, const char* part) {
  const char* head = tier == ChatTier::Gpu ? "gpu" : tier == ChatTier::Ram ? "ram" : "disk";
  return QString::fromLatin1(head) + QString::fromLatin1(part);
}

int up(qint64 bytes) { return int((bytes + kStep - 1) / kStep); }

}  // namespace

BudgetsDialog::BudgetsDialog(CacheOverview& cache, QWidget* parent) : QDialog(parent), cache_(cache) {
  setObjectName(u"budgetsDialog"_s);
  setWindowTitle(tr("Budgets of the cache"));
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(16, 16, 16, 12);
  outer->setSpacing(12);
  outer->addWidget(mutedNote(tr("How much chats may hold between their turns. When a budget is full, the chat used longest ago makes room, from its end; pinned chats stay."), this));
  auto* scroll = new QScrollArea(this);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->setStyleSheet(u"QScrollArea { background: transparent; border: none; }"_s);
  auto* body = new QWidget;
  body->setAutoFillBackground(false);
  auto* column = new QVBoxLayout(body);
  column->setContentsMargins(0, 0, 4, 0);
  column->setSpacing(12);
  for (const CacheTier& t : cache.snapshot().tiers) {
    if (t.exists) addTier(column, t);
  }
  column->addStretch(1);
  scroll->setWidget(body);
  scroll->viewport()->setAutoFillBackground(false);
  outer->addWidget(scroll, 1);
  auto* row = new QHBoxLayout;
  row->addStretch(1);
  auto* cancel = new QPushButton(tr("Cancel"), this);
  cancel->setObjectName(u"budgetsCancelButton"_s);
  cancel->setAutoDefault(false);
  apply_ = primaryButton(tr("Use these budgets"), this);
  apply_->setObjectName(u"budgetsApplyButton"_s);
  apply_->setDefault(true);
  row->addWidget(cancel);
  row->addWidget(apply_);
  outer->addLayout(row);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(apply_, &QPushButton::clicked, this, &BudgetsDialog::apply);
  // What would leave follows what moves meanwhile.
  connect(&cache_, &CacheOverview::changed, this, [this] {
    for (int i = 0; i < lines_.size(); ++i) choose(i, lines_[i].bytes);
  });
  for (Line& line : lines_) tell(line);
  const int unit = qRound(em(font()));
  resize(unit * 44, qMin(unit * 46, unit * 9 + int(lines_.size()) * unit * 12));
}

void BudgetsDialog::addTier(QVBoxLayout* column, const CacheTier& t) {
  auto* card = new Card(this);
  auto* grid = new QGridLayout(card);
  grid->setContentsMargins(16, 12, 16, 12);
  grid->setHorizontalSpacing(12);
  auto* heading = cardHeading(words::tierName(t.tier), card);
  Line line{t.tier, new QSlider(Qt::Horizontal, card), new QDoubleSpinBox(card), new QLabel(card), new QLabel(card), new QLabel(card), t.budget, t.budget};
  const qint64 most = qMax(t.most > 0 ? t.most : qMax(4 * t.budget, 16 * kGib), t.budget), least = t.fixed;
  line.slider->setObjectName(nameOf(t.tier, "BudgetSlider"));
  line.slider->setAccessibleName(tr("Budget of the %1").arg(words::tierName(t.tier)));
  line.slider->setRange(up(least), int(most / kStep));
  line.slider->setPageStep(qMax(1, int(kGib / kStep)));
  line.spin->setObjectName(nameOf(t.tier, "BudgetSpin"));
  line.spin->setAccessibleName(tr("Budget of the %1, in GiB").arg(words::tierName(t.tier)));
  line.spin->setDecimals(2);
  line.spin->setSuffix(QChar(0xA0) + u"GiB"_s);
  line.spin->setSingleStep(0.25);
  line.spin->setRange(std::ceil(double(least) * 100 / double(kGib)) / 100, double(most) / double(kGib));
  line.tokens->setObjectName(nameOf(t.tier, "BudgetTokens"));
  line.used->setObjectName(nameOf(t.tier, "BudgetUsed"));
  line.leaves->setObjectName(nameOf(t.tier, "BudgetLeaves"));
  line.used->setProperty("kind", u"muted"_s);
  line.leaves->setWordWrap(true);
  line.used->setWordWrap(true);
  line.tokens->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  grid->addWidget(heading, 0, 0);
  grid->addWidget(line.tokens, 0, 1, 1, 2);
  grid->addWidget(line.slider, 1, 0, 1, 2);
  grid->addWidget(line.spin, 1, 2);
  grid->addWidget(line.used, 2, 0, 1, 3);
  grid->addWidget(line.leaves, 3, 0, 1, 3);
  grid->setColumnStretch(1, 1);
  column->addWidget(card);
  const int number = int(lines_.size());
  lines_.append(line);
  connect(line.slider, &QSlider::valueChanged, this, [this, number](int value) {
    if (!setting_) choose(number, value * kStep);
  });
  connect(line.spin, &QDoubleSpinBox::valueChanged, this, [this, number](double value) {
    if (!setting_) choose(number, qRound64(value * double(kGib)));
  });
  setting_ = true;
  line.slider->setValue(int(t.budget / kStep));
  line.spin->setValue(double(t.budget) / double(kGib));
  setting_ = false;
}

void BudgetsDialog::choose(int number, qint64 bytes) {
  Line& line = lines_[number];
  line.bytes = qMax(bytes, least_budget(cache_.snapshot(), line.tier));
  setting_ = true;
  line.slider->setMinimum(up(least_budget(cache_.snapshot(), line.tier)));
  line.slider->setValue(int(line.bytes / kStep));
  line.spin->setValue(double(line.bytes) / double(kGib));
  setting_ = false;
  tell(line);
}

void BudgetsDialog::tell(Line& line) {
  const CacheSnapshot& all = cache_.snapshot();
  const CacheTier* t = all.tier(line.tier);
  if (!t) return;
  QString text = format::bytes(line.bytes);
  if (all.tokenBytes > 0) text = tr("%1 = %2 tokens of this model").arg(text, format::count(qint64(double(line.bytes) / all.tokenBytes)));
  line.tokens->setText(text);
  QString used = tr("Used now: %1.").arg(format::bytes(t->used));
  if (t->fixed > 0) used += tr(" Never below %1: pinned, or in use by a running answer.").arg(format::bytes(t->fixed));
  line.used->setText(used);
  const BudgetPreview preview = preview_budget(all, line.tier, line.bytes);
  line.leaves->setText(words::budgetSentence(preview, line.tier));
  line.leaves->setProperty("kind", preview.bytes > 0 ? u"warning"_s : u"muted"_s);
  line.leaves->setStyleSheet(preview.bytes > 0 ? u"color: %1"_s.arg(color(Role::WarnText).name()) : u"color: %1"_s.arg(color(Role::Muted).name()));
  bool differs = false;
  for (const Line& each : lines_) differs = differs || each.bytes != each.before;
  apply_->setEnabled(differs);
}

qint64 BudgetsDialog::chosen(ChatTier tier) const {
  for (const Line& line : lines_) {
    if (line.tier == tier) return line.bytes;
  }
  return -1;
}

void BudgetsDialog::apply() {
  for (const Line& line : std::as_const(lines_)) {
    if (line.bytes != line.before) cache_.setBudget(line.tier, line.bytes);
  }
  accept();
}

}  // namespace tg
