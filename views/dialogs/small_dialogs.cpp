#include "views/dialogs/small_dialogs.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>

#include "views/pages/page_parts.h"
#include "views/theme/theme.h"

namespace tg {
namespace {

constexpr qint64 kDaysInBin = 30;

QTableWidget* makeTable(const QString& name, const QString& spoken, const QStringList& headings, QWidget* parent) {
  auto* table = new QTableWidget(0, int(headings.size()), parent);
  table->setObjectName(name);
  table->setAccessibleName(spoken);
  table->setHorizontalHeaderLabels(headings);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->setSelectionMode(QAbstractItemView::SingleSelection);
  table->setTabKeyNavigation(false);
  table->setShowGrid(false);
  table->verticalHeader()->hide();
  table->verticalHeader()->setDefaultSectionSize(int(2.3 * em(table->font())));
  table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  table->horizontalHeader()->setStretchLastSection(true);
  return table;
}

QPushButton* addButton(QHBoxLayout* row, const QString& name, const QString& text, QWidget* parent) {
  auto* made = new QPushButton(text, parent);
  made->setObjectName(name);
  made->setAutoDefault(false);
  row->addWidget(made);
  return made;
}

}  // namespace

ShortcutSheet::ShortcutSheet(QVector<Key> keys, QWidget* parent) : QDialog(parent), keys_(std::move(keys)) {
  setObjectName(QStringLiteral("shortcutSheet"));
  setWindowTitle(tr("Keys"));
  auto* layout = new QVBoxLayout(this);
  auto* search = new QLineEdit(this);
  search->setObjectName(QStringLiteral("shortcutSearch"));
  search->setPlaceholderText(tr("Search keys"));
  search->setAccessibleName(tr("Search keys"));
  layout->addWidget(search);
  table_ = makeTable(QStringLiteral("shortcutTable"), tr("Keys by area"), {tr("Area"), tr("Action"), tr("Keys")}, this);
  for (const Key& key : std::as_const(keys_)) {
    const int row = table_->rowCount();
    table_->insertRow(row);
    const QString cells[] = {key.area, key.action, key.keys};
    for (int c = 0; c < 3; ++c) table_->setItem(row, c, new QTableWidgetItem(cells[c]));
  }
  table_->resizeColumnsToContents();
  layout->addWidget(table_, 1);
  auto* foot = new QHBoxLayout;
  auto* copy = addButton(foot, QStringLiteral("shortcutCopy"), tr("Copy as text"), this);
  foot->addStretch(1);
  auto* close = addButton(foot, QStringLiteral("shortcutClose"), tr("Close"), this);
  layout->addLayout(foot);
  connect(copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(asText()); });
  connect(close, &QPushButton::clicked, this, &QDialog::accept);
  connect(search, &QLineEdit::textChanged, this, &ShortcutSheet::filter);
  resize(int(46 * em(font())), int(40 * em(font())));
}

QVector<ShortcutSheet::Key> ShortcutSheet::keysOf(const QList<QAction*>& actions, const QString& area) {
  QVector<Key> keys;
  for (const QAction* action : actions) {
    if (action->isSeparator() || action->text().isEmpty()) continue;
    QStringList texts;
    for (const QKeySequence& sequence : action->shortcuts()) texts.append(sequence.toString(QKeySequence::NativeText));
    keys.append({area, QString(action->text()).remove(QLatin1Char('&')), texts.join(QStringLiteral(", "))});
  }
  return keys;
}

QString ShortcutSheet::asText() const {
  QString text;
  for (const Key& key : keys_)
    if (!key.keys.isEmpty()) text += key.area + QLatin1Char('\t') + key.action + QLatin1Char('\t') + key.keys + QLatin1Char('\n');
  return text;
}

void ShortcutSheet::filter(const QString& words) {
  for (int row = 0; row < keys_.size(); ++row) {
    const Key& key = keys_[row];
    const QString line = key.area + QLatin1Char(' ') + key.action + QLatin1Char(' ') + key.keys;
    table_->setRowHidden(row, !line.contains(words.trimmed(), Qt::CaseInsensitive));
  }
}

AboutDialog::AboutDialog(const QString& device, QWidget* parent) : QDialog(parent) {
  setObjectName(QStringLiteral("aboutDialog"));
  setWindowTitle(tr("About Turnglass"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(24, 24, 24, 16);
  layout->setSpacing(12);
  layout->addWidget(pageTitle(tr("Turnglass"), this));
  layout->addWidget(mutedNote(tr("A see-through glass on every turn: chat with local models and see what the machine really did."), this));
  const QString facts = tr("Version %1\nQt %2\nDevice: %3").arg(QStringLiteral(TG_VERSION), QString::fromLatin1(qVersion()), device.isEmpty() ? tr("no model loaded") : device);
  auto* text = new QLabel(facts, this);
  text->setObjectName(QStringLiteral("aboutFacts"));
  text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  layout->addWidget(text);
  layout->addWidget(mutedNote(tr("Licence: Apache-2.0. Made with Qt (LGPL-3.0), SQLite (public domain), nlohmann-json (MIT), utf8proc (MIT), xxHash (BSD-2-Clause) and "
                                 "CLI11 (BSD-3-Clause). Demo model SmolLM2-135M-Instruct: Apache-2.0."), this));
  auto* foot = new QHBoxLayout;
  auto* copy = addButton(foot, QStringLiteral("copySystemReport"), tr("Copy system report"), this);
  foot->addStretch(1);
  auto* close = addButton(foot, QStringLiteral("aboutClose"), tr("Close"), this);
  layout->addLayout(foot);
  connect(copy, &QPushButton::clicked, this, [facts] { QApplication::clipboard()->setText(facts); });
  connect(close, &QPushButton::clicked, this, &QDialog::accept);
  setMinimumWidth(int(34 * em(font())));
}

RecentlyDeletedDialog::RecentlyDeletedDialog(ChatService& chats, QWidget* parent) : QDialog(parent), chats_(chats) {
  setObjectName(QStringLiteral("recentlyDeletedDialog"));
  setWindowTitle(tr("Recently deleted"));
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(mutedNote(tr("Deleted chats stay here for %1 days.").arg(kDaysInBin), this));
  table_ = makeTable(QStringLiteral("deletedTable"), tr("Recently deleted chats"), {tr("Chat"), tr("Days left")}, this);
  layout->addWidget(table_, 1);
  auto* foot = new QHBoxLayout;
  auto* restore = addButton(foot, QStringLiteral("restoreChatButton"), tr("Restore"), this);
  auto* remove = addButton(foot, QStringLiteral("deleteNowButton"), tr("Delete now"), this);
  foot->addStretch(1);
  auto* close = addButton(foot, QStringLiteral("deletedClose"), tr("Close"), this);
  layout->addLayout(foot);
  connect(restore, &QPushButton::clicked, this, [this] { if (!current().isEmpty()) chats_.restoreChat(current()); });
  connect(remove, &QPushButton::clicked, this, [this] { if (!current().isEmpty()) chats_.deleteForever(current()); });
  connect(close, &QPushButton::clicked, this, &QDialog::accept);
  connect(&chats_, &ChatService::chatsChanged, this, &RecentlyDeletedDialog::fill);
  fill();
  resize(int(36 * em(font())), int(24 * em(font())));
}

QString RecentlyDeletedDialog::current() const { return shown_.value(table_->currentRow()).id; }

void RecentlyDeletedDialog::fill() {
  shown_ = chats_.deletedChats();
  table_->setRowCount(int(shown_.size()));
  for (int row = 0; row < shown_.size(); ++row) {
    const ChatInfo& chat = shown_[row];
    const qint64 gone = chat.lastUsed.isValid() ? chat.lastUsed.daysTo(QDateTime::currentDateTime()) : 0;
    table_->setItem(row, 0, new QTableWidgetItem(chat.title));
    table_->setItem(row, 1, new QTableWidgetItem(QString::number(qBound(qint64{0}, kDaysInBin - gone, kDaysInBin))));
  }
  if (!shown_.isEmpty()) table_->selectRow(0);
}

CloseDialog::CloseDialog(int answers, QWidget* parent) : QDialog(parent) {
  setObjectName(QStringLiteral("closeDialog"));
  setWindowTitle(tr("Close Turnglass"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(24, 16, 24, 16);
  auto* text = new QLabel(answers == 1 ? tr("One answer is being written. The text so far is kept in every case.") : tr("%1 answers are being written. The text so far is kept in every case.").arg(answers), this);
  text->setWordWrap(true);
  layout->addWidget(text);
  auto* foot = new QHBoxLayout;
  auto* stop = addButton(foot, QStringLiteral("closeStop"), tr("Stop them and close"), this);
  auto* keep = addButton(foot, QStringLiteral("closeKeepWriting"), tr("Keep writing"), this);
  auto* cancel = addButton(foot, QStringLiteral("closeCancel"), tr("Cancel"), this);
  layout->addLayout(foot);
  connect(stop, &QPushButton::clicked, this, [this] { accept(); Q_EMIT stopAndClose(); });
  connect(keep, &QPushButton::clicked, this, [this] { accept(); Q_EMIT keepWriting(); });
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  cancel->setDefault(true);
}

}  // namespace tg
