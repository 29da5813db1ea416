#include "views/pages/first_run_page.h"

#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>
#include <utility>

#include "app/format.h"
#include "views/pages/page_parts.h"
#include "views/theme/icons.h"

namespace tg {
namespace {

constexpr double kSizes[] = {1e9, 4e9, 8e9, 14e9};  // parameters
enum Column { kSize, kFits, kWrites, kReads, kColumns };

QWidget* card(QWidget* parent, const QString& iconName, const QString& heading, QLabel* text, QPushButton* button, bool strong) {
  auto* panel = new Card(parent, strong);
  auto* layout = new QVBoxLayout(panel);
  layout->setContentsMargins(16, 16, 16, 16);
  layout->setSpacing(8);
  auto* top = new QHBoxLayout;
  auto* mark = new QLabel(panel);
  mark->setPixmap(icon(iconName).pixmap(int(1.4 * em(mark->font()))));
  top->addWidget(mark);
  top->addWidget(cardHeading(heading, panel), 1);
  layout->addLayout(top);
  layout->addWidget(text, 1, Qt::AlignTop);
  layout->addWidget(button, 0, Qt::AlignLeft);
  return panel;
}

QString fitsText(const HardwareEstimate& e) {
  if (!e.fits) return FirstRunPage::tr("does not fit in free memory");
  return e.roomForLongChats ? FirstRunPage::tr("fits, room for long chats") : FirstRunPage::tr("fits, short chats");
}

}  // namespace

FirstRunPage::FirstRunPage(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("firstRunPage"));
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  auto* scroll = new QScrollArea(this);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);
  auto* body = new QWidget(scroll);
  body->setAutoFillBackground(true);
  body->setBackgroundRole(QPalette::Base);
  auto* centred = new QHBoxLayout(body);
  auto* column = new QVBoxLayout;
  column->setSpacing(16);
  column->setContentsMargins(16, 32, 16, 16);
  column->addWidget(pageTitle(tr("Ready. Nothing to sign up for, nothing to download."), body));
  column->addWidget(mutedNote(tr("A small demo model is installed with the program. What you type stays on this computer."), body));
  column->addWidget(buildCards());
  column->addWidget(buildStarters());
  column->addWidget(buildHardwareCard());
  column->addWidget(mutedNote(tr("Below each answer you will see one line: how many tokens were read, how many of them were still in memory from "
                                 "before, how long it took, and what it would cost elsewhere."), body));
  column->addStretch(1);
  centred->addStretch(1);
  centred->addLayout(column, 8);
  centred->addStretch(1);
  scroll->setWidget(body);
  outer->addWidget(scroll);
}

QWidget* FirstRunPage::buildCards() {
  auto* row = new QWidget(this);
  auto* layout = new QHBoxLayout(row);
  layout->setContentsMargins(0, 8, 0, 0);
  layout->setSpacing(16);
  demoText_ = mutedNote(QString(), row);
  demoButton_ = primaryButton(tr("Start chatting"), row);
  demoButton_->setObjectName(QStringLiteral("startDemoButton"));
  demoButton_->setAccessibleName(tr("Start chatting with the demo model"));
  demoButton_->setAutoDefault(true);
  connect(demoButton_, &QPushButton::clicked, this, &FirstRunPage::startDemo);
  layout->addWidget(card(row, QStringLiteral("nav-chats"), tr("Chat with the demo model"), demoText_, demoButton_, true), 1);
  auto* file = new QPushButton(tr("Choose file …"), row);
  file->setObjectName(QStringLiteral("chooseFileButton"));
  file->setAutoDefault(true);
  connect(file, &QPushButton::clicked, this, &FirstRunPage::chooseFile);
  auto* fileText = mutedNote(tr("Drop a .gguf file anywhere on this window, or choose one. It is used where it lies; nothing is copied."), row);
  layout->addWidget(card(row, QStringLiteral("folder"), tr("Use a model file you have"), fileText, file, false), 1);
  return row;
}

QWidget* FirstRunPage::buildStarters() {
  auto* row = new QWidget(this);
  auto* layout = new QHBoxLayout(row);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(mutedNote(tr("Or begin with:"), row));
  const QStringList starters = {tr("Explain what a token is"), tr("Write a short thank-you note"), tr("Give me five names for a cat")};
  for (int i = 0; i < starters.size(); ++i) {
    auto* button = new QPushButton(starters[i], row);
    button->setObjectName(QStringLiteral("starterButton%1").arg(i + 1));
    button->setAutoDefault(true);
    connect(button, &QPushButton::clicked, this, [this, text = starters[i]] { Q_EMIT starterChosen(text); });
    layout->addWidget(button);
  }
  layout->addStretch(1);
  return row;
}

QWidget* FirstRunPage::buildHardwareCard() {
  auto* panel = new Card(this);
  panel->setObjectName(QStringLiteral("hardwareCard"));
  auto* layout = new QVBoxLayout(panel);
  layout->setContentsMargins(16, 12, 16, 12);
  auto* top = new QHBoxLayout;
  top->addWidget(cardHeading(tr("This computer"), panel));
  hardwareText_ = mutedNote(QString(), panel);
  hardwareText_->setObjectName(QStringLiteral("hardwareText"));
  top->addWidget(hardwareText_, 1);
  measureButton_ = new QPushButton(tr("Measure"), panel);
  measureButton_->setObjectName(QStringLiteral("measureButton"));
  measureButton_->setToolTip(tr("A test of memory and arithmetic that takes about two seconds"));
  connect(measureButton_, &QPushButton::clicked, this, &FirstRunPage::measure);
  top->addWidget(measureButton_);
  layout->addLayout(top);
  table_ = new QGridLayout;
  table_->setHorizontalSpacing(24);
  table_->setColumnStretch(kFits, 1);
  const QStringList headings = {tr("Model size"), tr("On this computer"), tr("Writes"), tr("Reads a page")};
  for (int c = 0; c < kColumns; ++c) table_->addWidget(mutedNote(headings[c], panel), 0, c, c >= kWrites ? Qt::AlignRight : Qt::AlignLeft);
  for (int r = 0; r < int(std::size(kSizes)); ++r) {
    QVector<QLabel*> row;
    for (int c = 0; c < kColumns; ++c) {
      row.append(new QLabel(panel));
      row.last()->setObjectName(QStringLiteral("hardwareCell%1_%2").arg(r).arg(c));
      table_->addWidget(row.last(), r + 1, c, c >= kWrites ? Qt::AlignRight : Qt::AlignLeft);
    }
    cells_.append(row);
  }
  layout->addLayout(table_);
  hardwareNote_ = mutedNote(tr("Estimates for files with about 4.5 bits per parameter. A page is taken as 600 tokens."), panel);
  layout->addWidget(hardwareNote_);
  return panel;
}

void FirstRunPage::setDemoModel(const QString& about, const QString& refusal) {
  demoText_->setText(refusal.isEmpty() ? about : refusal);
  demoButton_->setEnabled(refusal.isEmpty());
}

void FirstRunPage::focusStart() {
  if (demoButton_->isEnabled()) demoButton_->setFocus();
}

void FirstRunPage::setHardware(const HardwareReport& report, bool measuring) {
  hardwareText_->setText((report.cores == 1 ? tr("1 core") : tr("%1 cores").arg(report.cores)) + QStringLiteral(" · ") +
                         tr("%1 memory, %2 free").arg(format::bytes(report.memoryTotal), format::bytes(report.memoryFree)) +
                         (measuring ? QStringLiteral(" · ") + tr("measuring …") : QString()));
  measureButton_->setEnabled(!measuring);
  setProperty("measuring", measuring);
  for (int r = 0; r < cells_.size(); ++r) {
    const HardwareEstimate e = estimate(report, kSizes[r]);
    const QString size = tr("%1 billion").arg(kSizes[r] / 1e9);
    cells_[r][kSize]->setText(r == 0 ? tr("up to %1").arg(size) : size);
    cells_[r][kFits]->setText(fitsText(e));
    const bool known = !measuring && e.fits;
    cells_[r][kWrites]->setText(known && e.writeTokensPerSecond ? QStringLiteral("≈ ") + format::rate(e.writeTokensPerSecond) : format::unknown());
    cells_[r][kReads]->setText(known ? format::expectedTime(e.readPageMs) : format::unknown());
  }
}

void FirstRunPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  focusStart();
  if (!std::exchange(measuredOnce_, true)) QMetaObject::invokeMethod(this, &FirstRunPage::measure, Qt::QueuedConnection);
}

}  // namespace tg
