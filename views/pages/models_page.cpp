#include "views/pages/models_page.h"

#include <QFileDialog>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

#include "app/format.h"
#include "views/pages/page_parts.h"
#include "views/theme/icons.h"

namespace tg {
namespace {

QString parametersText(quint64 n) {
  if (n == 0) return format::unknown();
  return n >= 1000000000 ? ModelsPage::tr("%1 billion").arg(double(n) / 1e9, 0, 'f', 1) : ModelsPage::tr("%1 million").arg(n / 1000000);
}

}  // namespace

ModelsTable::ModelsTable(ModelCatalogue& catalogue, QObject* parent) : QAbstractTableModel(parent), models_(catalogue.models()) {
  connect(&catalogue, &ModelCatalogue::changed, this, [this, &catalogue] {
    beginResetModel();
    models_ = catalogue.models();
    endResetModel();
  });
}

int ModelsTable::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(models_.size()); }
int ModelsTable::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : Columns; }
const ModelInfo* ModelsTable::at(int row) const { return row >= 0 && row < models_.size() ? &models_[row] : nullptr; }

QString ModelsTable::text(const ModelInfo& model, int column) const {
  switch (column) {
    case Name: return model.name;
    case Size: return format::bytes(model.fileBytes);
    case FormatColumn: return model.format;
    case Parameters: return parametersText(model.parameters);
    case Window: return model.contextLength > 0 ? format::count(model.contextLength) : format::unknown();
    case TokenBytes: return model.kvBytesPerToken > 0 ? format::bytes(qint64(model.kvBytesPerToken)) : format::unknown();
    case Template: return model.hasTemplate ? tr("in the file") : tr("none");
    case State: return !model.refusal.isEmpty() ? model.refusal : model.loaded ? tr("loaded") : tr("ready to load");
    default: return {};
  }
}

QVariant ModelsTable::data(const QModelIndex& index, int role) const {
  const ModelInfo* model = at(index.row());
  if (!model) return {};
  switch (role) {
    case Qt::DisplayRole: return text(*model, index.column());
    case Qt::ToolTipRole: return index.column() == State ? text(*model, State) : model->path;
    case Qt::DecorationRole: return index.column() == State && !model->refusal.isEmpty() ? QVariant(icon(QStringLiteral("warning"), Role::WarnText)) : QVariant();
    case Qt::TextAlignmentRole: return index.column() >= Size && index.column() <= TokenBytes && index.column() != FormatColumn ? QVariant(Qt::AlignRight | Qt::AlignVCenter) : QVariant();
    case Qt::AccessibleTextRole: return QString(headerData(index.column(), Qt::Horizontal, Qt::DisplayRole).toString() + QLatin1Char(' ') + text(*model, index.column()));
    default: return {};
  }
}

QVariant ModelsTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  const QString names[] = {tr("Name"), tr("Size"), tr("Format"), tr("Parameters"), tr("Window"), tr("One token of cache"), tr("Template"), tr("State")};
  return section >= 0 && section < Columns ? QVariant(names[section]) : QVariant();
}

ModelsPage::ModelsPage(ModelCatalogue& catalogue, QWidget* parent) : QWidget(parent), catalogue_(catalogue) {
  setObjectName(QStringLiteral("modelsPage"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(16, 16, 16, 16);
  auto* top = new QHBoxLayout;
  top->addWidget(pageTitle(tr("Models"), this), 1);
  const auto addButton = [&](const QString& name, const QString& text, auto slot) {
    auto* made = new QPushButton(text, this);
    made->setObjectName(name);
    connect(made, &QPushButton::clicked, this, slot);
    top->addWidget(made);
  };
  addButton(QStringLiteral("addFileButton"), tr("Add file …"), [this] { addFile(); });
  addButton(QStringLiteral("addFolderButton"), tr("Add folder …"), [this] { addFolder(); });
  addButton(QStringLiteral("rescanButton"), tr("Look again"), [this] { catalogue_.rescan(); });
  layout->addLayout(top);
  layout->addWidget(mutedNote(tr("Files stay where they are. Drop a .gguf file anywhere on this window to add it."), this));
  table_ = new ModelsTable(catalogue, this);
  view_ = new QTableView(this);
  view_->setObjectName(QStringLiteral("modelTable"));
  view_->setAccessibleName(tr("Models"));
  view_->setModel(table_);
  view_->setSelectionBehavior(QAbstractItemView::SelectRows);
  view_->setSelectionMode(QAbstractItemView::SingleSelection);
  view_->setTabKeyNavigation(false);
  view_->setShowGrid(false);
  view_->verticalHeader()->hide();
  view_->verticalHeader()->setDefaultSectionSize(int(2.3 * em(font())));
  view_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  view_->horizontalHeader()->setStretchLastSection(true);
  layout->addWidget(view_, 1);
  empty_ = mutedNote(tr("No model yet. Add a .gguf file or a folder."), this);
  layout->addWidget(empty_);
  layout->addWidget(buildDetail());
  connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &ModelsPage::showCurrent);
  connect(view_, &QTableView::activated, this, [this] {
    if (use_->isEnabled()) Q_EMIT useInChat(currentPath());
  });
  connect(table_, &QAbstractItemModel::modelReset, this, &ModelsPage::showCurrent);
  if (table_->rowCount() > 0) view_->selectRow(0);
  showCurrent();
}

QWidget* ModelsPage::buildDetail() {
  auto* panel = new Card(this);
  auto* layout = new QVBoxLayout(panel);
  layout->setContentsMargins(16, 12, 16, 12);
  detail_ = new QLabel(panel);
  detail_->setObjectName(QStringLiteral("modelDetail"));
  detail_->setWordWrap(true);
  detail_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  detail_->setTextFormat(Qt::PlainText);
  layout->addWidget(detail_);
  auto* row = new QHBoxLayout;
  use_ = primaryButton(tr("Use in this chat"), panel);
  use_->setObjectName(QStringLiteral("useInChatButton"));
  show_ = new QPushButton(tr("Show in folder"), panel);
  show_->setObjectName(QStringLiteral("showInFolderButton"));
  remove_ = new QPushButton(tr("Remove from list"), panel);
  remove_->setObjectName(QStringLiteral("removeFromListButton"));
  remove_->setToolTip(tr("The file is not deleted."));
  connect(use_, &QPushButton::clicked, this, [this] { Q_EMIT useInChat(currentPath()); });
  connect(show_, &QPushButton::clicked, this, [this] { Q_EMIT openFolder(currentPath()); });
  connect(remove_, &QPushButton::clicked, this, [this] { catalogue_.removeFromList(currentPath()); });
  for (QPushButton* each : {use_, show_, remove_}) row->addWidget(each);
  row->addStretch(1);
  layout->addLayout(row);
  return panel;
}

QString ModelsPage::currentPath() const {
  const ModelInfo* model = table_->at(view_->currentIndex().row());
  return model ? model->path : QString();
}

void ModelsPage::showCurrent() {
  empty_->setVisible(table_->rowCount() == 0);
  const ModelInfo* model = table_->at(view_->currentIndex().row());
  detail_->parentWidget()->setVisible(model != nullptr);
  if (!model) return;
  QStringList lines = {model->path};
  if (!model->refusal.isEmpty()) {
    lines.append(model->refusal);
  } else {
    lines.append(tr("Architecture %1 · fingerprint %2").arg(model->architecture, model->fingerprint));
    lines.append(tr("Licence: %1").arg(model->licence.isEmpty() ? tr("not stated in the file") : model->licence));
    if (!model->hasTemplate) lines.append(tr("This model brings no chat template. Choose one when you start a chat."));
  }
  detail_->setText(lines.join(QLatin1Char('\n')));
  use_->setEnabled(model->refusal.isEmpty());
}

void ModelsPage::addFile() {
  auto* dialog = new QFileDialog(this, tr("Add a model"), QString(), tr("Models (*.gguf)"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::ExistingFiles);
  connect(dialog, &QFileDialog::filesSelected, this, [this](const QStringList& files) {
    for (const QString& file : files) catalogue_.addFile(file);
  });
  dialog->open();
}

void ModelsPage::addFolder() {
  auto* dialog = new QFileDialog(this, tr("Add a folder of models"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::Directory);
  dialog->setOption(QFileDialog::ShowDirsOnly);
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& folder) { catalogue_.addFolder(folder); });
  dialog->open();
}

}  // namespace tg
