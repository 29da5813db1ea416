// The pages of the settings dialog: one function each, rows in reading order.
#include <QComboBox>
#include <QDate>
#include <QFileDialog>
#include <QFormLayout>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>

#include "app/format.h"
#include "views/dialogs/settings_dialog.h"
#include "views/pages/page_parts.h"
#include "views/theme/theme.h"

namespace tg {
namespace {

QString notANumber(const QString& text) {
  bool ok = false;
  const double value = QString(text).replace(QLatin1Char(','), QLatin1Char('.')).toDouble(&ok);
  return ok && value >= 0 ? QString() : SettingsDialog::tr("“%1” is not a number of 0 or more.").arg(text);
}

QString notACurrency(const QString& text) {
  static const QRegularExpression code(QStringLiteral("^[A-Z]{3}$"));
  return text.contains(code) ? QString() : SettingsDialog::tr("A currency is a code of three capital letters, for example EUR.");
}

}  // namespace

void SettingsDialog::buildGeneral() {
  QFormLayout* form = addPage(QStringLiteral("generalPage"), tr("General"), QStringLiteral("nav-settings"));
  addCheck(form, Setting::SendWithCtrlEnter, tr("Send with Ctrl+Enter; Enter begins a new line"));
  addCheck(form, Setting::LoadModelAtStart, tr("Load the model of the last chat at the start"), tr("Otherwise it is loaded with the first message."));
  addCheck(form, Setting::DeveloperMode, tr("Developer mode"), tr("Adds the inspector's tabs and the pages for measuring. The figures are the same."));
}

void SettingsDialog::buildAppearance() {
  QFormLayout* form = addPage(QStringLiteral("appearancePage"), tr("Appearance"), QStringLiteral("view-table"));
  addChoice(form, Setting::Theme, tr("Theme"), {{QStringLiteral("system"), tr("As the system")}, {QStringLiteral("light"), tr("Light")}, {QStringLiteral("dark"), tr("Dark")}});
  addNumber(form, Setting::FontPercent, tr("Font size"), 50, 300, 10, QStringLiteral(" %"));
  addChoice(form, Setting::DigitGroups, tr("Groups of digits"), {{QStringLiteral("thin"), tr("Thin space: 4 812")}, {QStringLiteral("system"), tr("As the system")}});
  addCheck(form, Setting::FooterLine, tr("Figures below every answer"));
  addChoice(form, Setting::FooterMoney, tr("Money in that line"),
            {{QStringLiteral("hosted"), tr("Price on a hosted list")}, {QStringLiteral("own"), tr("Own electricity")}, {QStringLiteral("both"), tr("Both, apart")}, {QStringLiteral("none"), tr("None")}});
}

void SettingsDialog::buildModels() {
  QFormLayout* form = addPage(QStringLiteral("modelsSettingsPage"), tr("Models and folders"), QStringLiteral("nav-models"));
  auto* folders = new QListWidget(this);
  folders->setObjectName(QStringLiteral("modelFolderList"));
  folders->setAccessibleName(tr("Folders with models"));
  folders->setMaximumHeight(int(8 * em(folders->font())));
  const auto fill = [this, folders] {
    folders->clear();
    folders->addItems(application_.models().folders());
  };
  fill();
  connect(&application_.models(), &ModelCatalogue::changed, folders, fill);
  form->addRow(tr("Folders that are watched"), folders);
  QVector<QPair<QString, QString>> models{{QString(), tr("The first that works")}};
  for (const ModelInfo& model : application_.models().models())
    if (model.refusal.isEmpty()) models.append({model.path, model.name});
  addChoice(form, Setting::DefaultModel, tr("Model of a new chat"), models);
  QVector<QPair<QString, QString>> rows{{QString(), tr("None: amounts stay –")}};
  for (const QString& row : application_.priceRows()) rows.append({row, row});
  addChoice(form, Setting::DefaultPricedAs, tr("Priced as"), rows);
  form->addRow(mutedNote(tr("Price list of %1. Counts are those of the local tokenizer, so amounts are approximate.").arg(application_.priceBookDate()), this));
}

void SettingsDialog::buildBudgets() {
  QFormLayout* form = addPage(QStringLiteral("budgetsPage"), tr("Cache budgets"), QStringLiteral("nav-cache"));
  form->addRow(mutedNote(tr("What chats may hold between turns. When a budget is full, the chat used longest ago makes room; pinned chats stay."), this));
  addBytes(form, Setting::BudgetRamBytes, tr("Memory"));
  addBytes(form, Setting::BudgetDiskBytes, tr("Disk"));
  addCheck(form, Setting::KeepOnClose, tr("Keep caches on disk when the program closes"), tr("A chat opened next week is then ready at once."));
  addBytes(form, Setting::KeepOnCloseMaxBytes, tr("“By its size” keeps up to"));
  form->addRow(mutedNote(tr("For chats whose own choice, on the page Cache, is “by its size”."), this));
  addNumber(form, Setting::IdleMinutes, tr("Leaves memory when unused for"), 0, 7 * 24 * 60, 5, tr(" min"), tr("Never"));
}

void SettingsDialog::buildEnergy() {
  QFormLayout* form = addPage(QStringLiteral("energyPage"), tr("Energy"), QStringLiteral("memory"));
  form->addRow(mutedNote(tr("This computer's own electricity, shown apart from hosted prices. Empty means unknown: the figures then show –."), this));
  addText(form, Setting::IdleWatts, tr("Power when idle, in watts"), tr("unknown"), notANumber);
  addText(form, Setting::BusyWatts, tr("Power when computing, in watts"), tr("unknown"), notANumber);
  addText(form, Setting::KwhPrice, tr("Price of one kWh"), tr("unknown"), notANumber);
  addText(form, Setting::KwhCurrency, tr("Currency"), tr("unknown"), notACurrency);
}

void SettingsDialog::buildPrivacy() {
  QFormLayout* form = addPage(QStringLiteral("privacyPage"), tr("Privacy and data"), QStringLiteral("licence"));
  form->addRow(mutedNote(tr("Everything stays on this computer. Turnglass opens no connection by itself."), this));
  auto* bin = new QPushButton(tr("Recently deleted chats …"), this);
  bin->setObjectName(QStringLiteral("openBinButton"));
  connect(bin, &QPushButton::clicked, this, &SettingsDialog::recentlyDeletedRequested);
  form->addRow(bin);
  buildDataButtons(form);
}

// Check, back up, restore: each answers with one sentence below the buttons.
void SettingsDialog::buildDataButtons(QFormLayout* form) {
  auto* row = new QWidget(this);
  auto* line = new QHBoxLayout(row);
  line->setContentsMargins(0, 0, 0, 0);
  const auto make = [&](const QString& name, const QString& text) {
    auto* made = new QPushButton(text, row);
    made->setObjectName(name);
    made->setAutoDefault(false);
    line->addWidget(made);
    return made;
  };
  auto* check = make(QStringLiteral("checkDataButton"), tr("Check the chat file"));
  auto* backup = make(QStringLiteral("backupButton"), tr("Back up now …"));
  auto* restore = make(QStringLiteral("restoreButton"), tr("Restore a backup …"));
  line->addStretch(1);
  form->addRow(row);
  auto* answer = new QLabel(this);
  answer->setObjectName(QStringLiteral("dataAnswer"));
  answer->setWordWrap(true);
  answer->setTextInteractionFlags(Qt::TextSelectableByMouse);
  answer->setFocusPolicy(Qt::NoFocus);
  form->addRow(answer);
  connect(&application_, &Application::dataAnswered, answer, [answer](const DataAnswer& said) {
    answer->setText(said.details.isEmpty() ? said.sentence : said.sentence + QLatin1Char('\n') + said.details.mid(0, 5).join(QLatin1Char('\n')));
  });
  connect(check, &QPushButton::clicked, this, [this, answer] {
    answer->setText(tr("Checking …"));
    application_.checkData(++dataRequest_);
  });
  connect(backup, &QPushButton::clicked, this, [this, answer] {
    const QString name = QStringLiteral("turnglass-%1.sqlite").arg(QDate::currentDate().toString(Qt::ISODate));
    auto* dialog = new QFileDialog(this, tr("Back up the chats"), application_.backupFolder() + QLatin1Char('/') + name);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    openFileDialog(dialog, [this, answer](const QString& path) {
      answer->setText(tr("Backing up …"));
      application_.backUpData(path, ++dataRequest_);
    });
  });
  connect(restore, &QPushButton::clicked, this, [this, answer] {
    auto* dialog = new QFileDialog(this, tr("Restore a backup"), application_.backupFolder(), tr("Backups (*.sqlite *.db);;All files (*)"));
    dialog->setFileMode(QFileDialog::ExistingFile);
    openFileDialog(dialog, [this, answer](const QString& path) {
      answer->setText(tr("Checking the backup …"));
      application_.restoreData(path, ++dataRequest_);
    });
  });
}

void SettingsDialog::openFileDialog(QFileDialog* dialog, const std::function<void(const QString&)>& then) {
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QFileDialog::fileSelected, this, then);
  dialog->open();
}

void SettingsDialog::buildAdvanced() {
  QFormLayout* form = addPage(QStringLiteral("advancedPage"), tr("Advanced"), QStringLiteral("details"));
  form->addRow(mutedNote(tr("These count when a model is loaded the next time."), this));
  addNumber(form, Setting::ContextTokens, tr("Window of a chat, in tokens"), 0, 1 << 20, 1024, QString(), tr("The model's own"));
  addNumber(form, Setting::Threads, tr("Threads"), 0, 256, 1, QString(), tr("All physical cores"));
  addNumber(form, Setting::ChunkRows, tr("Prompt tokens read in one pass"), 0, 4096, 32, QString(), tr("Chosen by time"));
  const QVector<QPair<QString, QString>> types = {{QStringLiteral("f16"), tr("f16 (usual)")}, {QStringLiteral("q8_0"), tr("q8_0 (about half the memory)")},
                                                  {QStringLiteral("bf16"), QStringLiteral("bf16")}, {QStringLiteral("f32"), QStringLiteral("f32")}};
  addChoice(form, Setting::KvTypeK, tr("Cache format, keys"), types);
  addChoice(form, Setting::KvTypeV, tr("Cache format, values"), types);
}

}  // namespace tg
