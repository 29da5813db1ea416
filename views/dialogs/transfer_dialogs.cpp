#include "views/dialogs/transfer_dialogs.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFontDatabase>
#include <QFormLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QVBoxLayout>

#include "app/format.h"
#include "views/pages/page_parts.h"
#include "views/theme/theme.h"

namespace tg {
namespace {

using namespace Qt::StringLiterals;

// Requests of these dialogs, apart from others' numbers.
quint64 nextRequest() {
  static quint64 last = quint64{2} << 48;
  return ++last;
}

QPushButton* button(const QString& name, const QString& text, QWidget* parent) {
  auto* made = new QPushButton(text, parent);
  made->setObjectName(name);
  made->setAutoDefault(false);
  return made;
}

QComboBox* combo(const QString& name, const QString& spoken, const QVector<QPair<QString, QString>>& values, QWidget* parent) {
  auto* made = new QComboBox(parent);
  made->setObjectName(name);
  made->setAccessibleName(spoken);
  for (const auto& [value, text] : values) made->addItem(text, value);
  return made;
}

QLabel* wrapped(const QString& name, QWidget* parent) {
  auto* made = new QLabel(parent);
  made->setObjectName(name);
  made->setWordWrap(true);
  return made;
}

// A title as a file name: without what file systems refuse.
QString fileName(const QString& title, const QString& format) {
  static const QRegularExpression bad(u"[\\\\/:*?\"<>|\\x00-\\x1f]+"_s);
  QString name = QString(title).replace(bad, u" "_s).simplified().left(80);
  while (name.startsWith(u'.')) name.remove(0, 1);
  return (name.isEmpty() ? ExportDialog::tr("chat") : name) + u'.' + format;
}

}  // namespace

ExportDialog::ExportDialog(ChatService& chats, const QString& chatId, QWidget* parent) : QDialog(parent), chats_(chats), chatId_(chatId) {
  setObjectName(u"exportDialog"_s);
  setWindowTitle(tr("Export this chat"));
  if (const auto info = chats.chat(chatId)) title_ = info->title;
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(24, 16, 24, 16);
  auto* form = new QFormLayout;
  what_ = combo(u"exportWhat"_s, tr("What to export"), {{u"both"_s, tr("Chat and figures")}, {u"chat"_s, tr("Chat only")}, {u"figures"_s, tr("Figures only, no texts")}}, this);
  format_ = combo(u"exportFormat"_s, tr("Format"), {{u"json"_s, tr("JSON: can be imported again")}, {u"md"_s, tr("Markdown: for reading")}, {u"csv"_s, tr("CSV: figures, one line a turn")}}, this);
  thinking_ = new QCheckBox(tr("With the text of thinking"), this);
  thinking_->setObjectName(u"exportThinking"_s);
  thinking_->setChecked(true);
  form->addRow(tr("&What"), what_);
  form->addRow(tr("&Format"), format_);
  form->addRow(thinking_);
  layout->addLayout(form);
  preview_ = new QPlainTextEdit(this);
  preview_->setObjectName(u"exportPreview"_s);
  preview_->setAccessibleName(tr("The first ten lines"));
  preview_->setReadOnly(true);
  preview_->setTabChangesFocus(true);
  preview_->setLineWrapMode(QPlainTextEdit::NoWrap);
  preview_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  layout->addWidget(preview_, 1);
  note_ = wrapped(u"exportNote"_s, this);
  layout->addWidget(note_);
  auto* foot = new QHBoxLayout;
  save_ = primaryButton(tr("Save as …"), this);
  save_->setObjectName(u"exportSave"_s);
  auto* cancel = button(u"exportCancel"_s, tr("Cancel"), this);
  foot->addStretch(1);
  foot->addWidget(cancel);
  foot->addWidget(save_);
  layout->addLayout(foot);
  connect(what_, &QComboBox::currentIndexChanged, this, &ExportDialog::ask);
  connect(format_, &QComboBox::currentIndexChanged, this, &ExportDialog::ask);
  connect(thinking_, &QCheckBox::toggled, this, &ExportDialog::ask);
  connect(save_, &QPushButton::clicked, this, &ExportDialog::chooseFile);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(&chats_, &ChatService::exported, this, &ExportDialog::show);
  resize(int(44 * em(font())), int(32 * em(font())));
  ask();
}

ExportWish ExportDialog::wish() const {
  ExportWish wish{what_->currentData().toString(), format_->currentData().toString(), thinking_->isChecked()};
  if (wish.format == u"csv"_s) wish.what = u"figures"_s;
  if (wish.what == u"figures"_s && wish.format == u"md"_s) wish.format = u"csv"_s;
  return wish;
}

void ExportDialog::ask() {
  const ExportWish wanted = wish();
  const bool figures = wanted.what == u"figures"_s;
  thinking_->setEnabled(!figures);
  if (figures && what_->currentData() != u"figures"_s) note_->setText(tr("CSV holds the figures only."));
  else if (wanted.format != format_->currentData().toString()) note_->setText(tr("Markdown without texts would be empty, so this is CSV."));
  else note_->setText(figures ? tr("No texts of the chat are in it.") : QString());
  request_ = nextRequest();
  chats_.exportChat(chatId_, wanted, {}, request_);
}

void ExportDialog::chooseFile() {
  auto* dialog = new QFileDialog(this, tr("Export this chat"), fileName(title_, wish().format));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  dialog->setDefaultSuffix(wish().format);
  connect(dialog, &QFileDialog::fileSelected, this, &ExportDialog::saveTo);
  dialog->open();
}

void ExportDialog::saveTo(const QString& path) {
  save_->setEnabled(false);
  saving_ = nextRequest();
  chats_.exportChat(chatId_, wish(), path, saving_);
}

void ExportDialog::show(const ExportResult& result) {
  if (result.request == request_) preview_->setPlainText(result.error.isEmpty() ? result.preview : result.error);
  if (result.request != saving_ || saving_ == 0) return;
  save_->setEnabled(true);
  if (!result.error.isEmpty()) {
    note_->setText(result.error);
    return;
  }
  Q_EMIT saved(result.file);
  accept();
}

ImportDialog::ImportDialog(ChatService& chats, QWidget* parent) : QDialog(parent), chats_(chats) {
  setObjectName(u"importDialog"_s);
  setWindowTitle(tr("Import chats"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(24, 16, 24, 16);
  layout->setSpacing(8);
  layout->addWidget(mutedNote(tr("Exports of Turnglass, and of other chat programs as JSON. The file is only read."), this));
  auto* choose = button(u"importChoose"_s, tr("Choose a file …"), this);
  layout->addWidget(choose, 0, Qt::AlignLeft);
  kind_ = wrapped(u"importKind"_s, this);
  counts_ = wrapped(u"importCounts"_s, this);
  titles_ = wrapped(u"importTitles"_s, this);
  titles_->setProperty("kind", u"muted"_s);
  titles_->setTextFormat(Qt::PlainText);
  duplicates_ = new QCheckBox(this);
  duplicates_->setObjectName(u"importDuplicates"_s);
  duplicates_->hide();
  note_ = wrapped(u"importNote"_s, this);
  for (QWidget* part : {static_cast<QWidget*>(kind_), static_cast<QWidget*>(counts_), static_cast<QWidget*>(titles_), static_cast<QWidget*>(duplicates_), static_cast<QWidget*>(note_)}) layout->addWidget(part);
  layout->addStretch(1);
  auto* foot = new QHBoxLayout;
  import_ = primaryButton(tr("Import"), this);
  import_->setObjectName(u"importStart"_s);
  import_->setEnabled(false);
  auto* cancel = button(u"importCancel"_s, tr("Cancel"), this);
  foot->addStretch(1);
  foot->addWidget(cancel);
  foot->addWidget(import_);
  layout->addLayout(foot);
  connect(choose, &QPushButton::clicked, this, &ImportDialog::chooseFile);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(duplicates_, &QCheckBox::toggled, this, [this](bool on) { import_->setEnabled(found_.chats > (on ? 0 : found_.duplicates)); });
  connect(import_, &QPushButton::clicked, this, [this] {
    import_->setEnabled(false);
    importing_ = nextRequest();
    chats_.importChats(file_, duplicates_->isChecked(), importing_);
  });
  connect(&chats_, &ChatService::importPreviewed, this, &ImportDialog::show);
  connect(&chats_, &ChatService::imported, this, [this](const ImportResult& result) {
    if (result.request != importing_ || importing_ == 0) return;
    if (!result.error.isEmpty()) {
      note_->setText(result.error);
      import_->setEnabled(true);
      return;
    }
    Q_EMIT done(result.chats, result.firstChatId);
    accept();
  });
  choose->setFocus();
  resize(int(36 * em(font())), int(20 * em(font())));
}

void ImportDialog::chooseFile() {
  auto* dialog = new QFileDialog(this, tr("Import chats"), QString(), tr("Exports (*.json);;All files (*)"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this, &ImportDialog::read);
  dialog->open();
}

void ImportDialog::read(const QString& path) {
  file_ = path;
  import_->setEnabled(false);
  duplicates_->hide();
  duplicates_->setChecked(false);
  for (QLabel* label : {counts_, titles_, note_}) label->clear();
  kind_->setText(tr("Reading %1 …").arg(QFileInfo(path).fileName()));
  request_ = nextRequest();
  chats_.previewImport(path, request_);
}

void ImportDialog::show(const ImportPreview& preview) {
  if (preview.request != request_) return;
  found_ = preview;
  const QString name = QFileInfo(preview.file).fileName();
  kind_->setText(preview.kind.isEmpty() ? name : tr("%1: %2.").arg(name, preview.kind));
  if (!preview.error.isEmpty()) {
    note_->setText(preview.error);
    return;
  }
  counts_->setText(tr("%1 chats, %2 messages, figures of %3 turns.").arg(format::count(preview.chats), format::count(preview.messages), format::count(preview.turns)));
  titles_->setText(preview.titles.join(u'\n') + (preview.chats > preview.titles.size() ? u"\n…"_s : QString()));
  if (preview.duplicates > 0) {
    note_->setText(tr("%1 of them are here already and are left out.").arg(format::count(preview.duplicates)));
    duplicates_->setText(tr("Import these once more, as copies"));
    duplicates_->show();
  }
  import_->setEnabled(preview.chats > preview.duplicates);
}

}  // namespace tg
