#include "views/dialogs/quick_switcher.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>

#include "views/theme/icons.h"

namespace tg {
namespace {

constexpr int kMostShown = 60;

// Every word of the query begins somewhere in the title; -1: no match, else smaller is better.
int rank(const QString& title, const QStringList& words) {
  const QString text = title.toCaseFolded();
  int worst = 0;
  for (const QString& word : words) {
    const int at = int(text.indexOf(word));
    if (at < 0) return -1;
    worst += at == 0 || !text[at - 1].isLetterOrNumber() ? at : at + 100;
  }
  return worst;
}

}  // namespace

QuickSwitcher::QuickSwitcher(QVector<Entry> entries, QWidget* parent) : QDialog(parent), entries_(std::move(entries)) {
  setObjectName(QStringLiteral("quickSwitcher"));
  setWindowTitle(tr("Go to"));
  auto* layout = new QVBoxLayout(this);
  edit_ = new QLineEdit(this);
  edit_->setObjectName(QStringLiteral("quickSwitcherEdit"));
  edit_->setPlaceholderText(tr("Chat, page or action"));
  edit_->setAccessibleName(tr("Chat, page or action"));
  edit_->installEventFilter(this);
  list_ = new QListWidget(this);
  list_->setObjectName(QStringLiteral("quickSwitcherList"));
  list_->setAccessibleName(tr("Results"));
  layout->addWidget(edit_);
  layout->addWidget(list_);
  connect(edit_, &QLineEdit::textChanged, this, &QuickSwitcher::show);
  connect(edit_, &QLineEdit::returnPressed, this, &QuickSwitcher::openCurrent);
  connect(list_, &QListWidget::itemActivated, this, &QuickSwitcher::openCurrent);
  show(QString());
  edit_->setFocus();
  resize(int(40 * em(font())), int(28 * em(font())));
}

void QuickSwitcher::show(const QString& words) {
  const QStringList wanted = words.toCaseFolded().split(QLatin1Char(' '), Qt::SkipEmptyParts);
  QVector<QPair<int, int>> hits;  // rank, entry
  for (int i = 0; i < entries_.size(); ++i) {
    const int r = rank(entries_[i].title, wanted);
    if (r >= 0) hits.append({r, i});
  }
  std::stable_sort(hits.begin(), hits.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  list_->clear();
  for (const auto& [r, i] : hits.mid(0, kMostShown)) {
    const Entry& entry = entries_[i];
    auto* item = new QListWidgetItem(icon(entry.iconName), entry.detail.isEmpty() ? entry.title : entry.title + QStringLiteral("   ") + entry.detail, list_);
    item->setData(Qt::UserRole, i);
  }
  list_->setCurrentRow(0);
}

void QuickSwitcher::openCurrent() {
  const QListWidgetItem* item = list_->currentItem();
  if (!item) return;
  const std::function<void()> open = entries_[item->data(Qt::UserRole).toInt()].open;
  accept();
  open();
}

bool QuickSwitcher::eventFilter(QObject* watched, QEvent* event) {
  if (watched == edit_ && event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    const int step = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : key == Qt::Key_PageDown ? 8 : key == Qt::Key_PageUp ? -8 : 0;
    if (step != 0 && list_->count() > 0) {
      list_->setCurrentRow(qBound(0, list_->currentRow() + step, list_->count() - 1));
      return true;
    }
  }
  return QDialog::eventFilter(watched, event);
}

}  // namespace tg
