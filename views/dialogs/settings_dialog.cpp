#include "views/dialogs/settings_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QScrollArea>
#include <QSpinBox>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "views/pages/page_parts.h"
#include "views/theme/icons.h"

namespace tg {

SettingsDialog::SettingsDialog(Application& application, QWidget* parent) : QDialog(parent), application_(application), settings_(application.settings()) {
  setObjectName(QStringLiteral("settingsDialog"));
  setWindowTitle(tr("Settings"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(16, 16, 16, 12);
  search_ = new QLineEdit(this);
  search_->setObjectName(QStringLiteral("settingsSearch"));
  search_->setPlaceholderText(tr("Search settings"));
  search_->setAccessibleName(tr("Search settings"));
  search_->setClearButtonEnabled(true);
  connect(search_, &QLineEdit::textChanged, this, &SettingsDialog::filter);
  layout->addWidget(search_);
  auto* middle = new QHBoxLayout;
  list_ = new QListWidget(this);
  list_->setObjectName(QStringLiteral("settingsList"));
  list_->setAccessibleName(tr("Pages of settings"));
  list_->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Expanding);
  stack_ = new QStackedWidget(this);
  connect(list_, &QListWidget::currentRowChanged, stack_, &QStackedWidget::setCurrentIndex);
  middle->addWidget(list_);
  middle->addWidget(stack_, 1);
  layout->addLayout(middle, 1);
  buildGeneral();
  buildAppearance();
  buildModels();
  buildBudgets();
  buildEnergy();
  buildPrivacy();
  buildAdvanced();
  list_->setFixedWidth(int(list_->sizeHintForColumn(0) + 2.5 * em(list_->font())));
  list_->setCurrentRow(0);
  auto* foot = new QHBoxLayout;
  undoButton_ = new QPushButton(tr("Undo change"), this);
  undoButton_->setObjectName(QStringLiteral("settingsUndo"));
  undoButton_->setEnabled(false);
  connect(undoButton_, &QPushButton::clicked, this, &SettingsDialog::undo);
  foot->addWidget(undoButton_);
  foot->addWidget(mutedNote(tr("Changes count at once."), this), 1);
  auto* close = new QPushButton(tr("Close"), this);
  close->setObjectName(QStringLiteral("settingsClose"));
  close->setDefault(true);
  connect(close, &QPushButton::clicked, this, &QDialog::accept);
  foot->addWidget(close);
  layout->addLayout(foot);
  search_->setFocus();
  resize(int(58 * em(font())), int(40 * em(font())));
}

void SettingsDialog::showPage(const QString& objectName) {
  for (int i = 0; i < stack_->count(); ++i)
    if (stack_->widget(i)->objectName() == objectName) list_->setCurrentRow(i);
}

QFormLayout* SettingsDialog::addPage(const QString& objectName, const QString& title, const QString& iconName) {
  auto* scroll = new QScrollArea(stack_);
  scroll->setObjectName(objectName);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);
  auto* page = new QWidget(scroll);
  auto* form = new QFormLayout(page);
  form->setContentsMargins(16, 8, 16, 8);
  form->setVerticalSpacing(12);
  form->setFieldGrowthPolicy(QFormLayout::FieldsStayAtSizeHint);
  form->setRowWrapPolicy(QFormLayout::WrapLongRows);
  form->addRow(cardHeading(title, page));
  scroll->setWidget(page);
  stack_->addWidget(scroll);
  new QListWidgetItem(icon(iconName), title, list_);
  return form;
}

// The setter of one setting: remembers the old value for "Undo change".
void SettingsDialog::write(Setting key, const QVariant& value) {
  const QVariant before = settings_.get(key);
  if (before == value) return;
  undo_.append({key, before});
  undoButton_->setEnabled(true);
  settings_.set(key, value);
}

void SettingsDialog::undo() {
  if (undo_.isEmpty()) return;
  const auto [key, value] = undo_.takeLast();
  settings_.set(key, value);
  undoButton_->setEnabled(!undo_.isEmpty());
}

void SettingsDialog::follow(Setting key, QObject* owner, const std::function<void()>& show) {
  show();
  connect(&settings_, &Settings::changed, owner, [key, show](Setting changed) {
    if (changed == key) show();
  });
}

void SettingsDialog::addRow(QFormLayout* form, Setting key, const QString& label, QWidget* field) {
  field->setObjectName(QStringLiteral("setting_") + Settings::name(key).replace(QLatin1Char('/'), QLatin1Char('_')));
  if (field->accessibleName().isEmpty()) field->setAccessibleName(label);
  QWidget* text = nullptr;
  if (qobject_cast<QCheckBox*>(field)) {
    form->addRow(field);
  } else {
    auto* caption = new QLabel(label, this);
    caption->setBuddy(field);
    form->addRow(caption, field);
    text = caption;
  }
  rows_.append({stack_->count() - 1, label.toCaseFolded(), text, field});
}

void SettingsDialog::addCheck(QFormLayout* form, Setting key, const QString& label, const QString& help) {
  auto* box = new QCheckBox(label, this);
  box->setToolTip(help);
  addRow(form, key, label, box);
  follow(key, box, [this, key, box] { box->setChecked(settings_.get(key).toBool()); });
  connect(box, &QCheckBox::clicked, this, [this, key](bool on) { write(key, on); });
}

void SettingsDialog::addChoice(QFormLayout* form, Setting key, const QString& label, const QVector<QPair<QString, QString>>& values) {
  auto* box = new QComboBox(this);
  for (const auto& [value, text] : values) box->addItem(text, value);
  addRow(form, key, label, box);
  follow(key, box, [this, key, box] { box->setCurrentIndex(qMax(0, box->findData(settings_.get(key).toString()))); });
  connect(box, &QComboBox::activated, this, [this, key, box] { write(key, box->currentData()); });
}

void SettingsDialog::addNumber(QFormLayout* form, Setting key, const QString& label, int least, int most, int step, const QString& suffix, const QString& zero) {
  auto* box = new QSpinBox(this);
  box->setRange(least, most);
  box->setSingleStep(step);
  box->setSuffix(suffix);
  box->setSpecialValueText(zero);
  box->setKeyboardTracking(false);
  addRow(form, key, label, box);
  follow(key, box, [this, key, box] {
    const QSignalBlocker block(box);
    box->setValue(settings_.get(key).toInt());
  });
  connect(box, &QSpinBox::valueChanged, this, [this, key](int value) { write(key, value); });
}

void SettingsDialog::addBytes(QFormLayout* form, Setting key, const QString& label) {
  auto* box = new QDoubleSpinBox(this);
  constexpr double gib = 1073741824.0;
  box->setRange(0, 4096);
  box->setDecimals(2);
  box->setSingleStep(0.25);
  box->setSuffix(QStringLiteral(" GiB"));
  box->setKeyboardTracking(false);
  addRow(form, key, label, box);
  follow(key, box, [this, key, box] {
    const QSignalBlocker block(box);
    box->setValue(double(settings_.get(key).toLongLong()) / gib);
  });
  connect(box, &QDoubleSpinBox::valueChanged, this, [this, key](double value) { write(key, qint64(value * gib)); });
}

void SettingsDialog::addText(QFormLayout* form, Setting key, const QString& label, const QString& hint, const std::function<QString(const QString&)>& refusal) {
  auto* field = new QWidget(this);
  auto* layout = new QVBoxLayout(field);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  auto* edit = new QLineEdit(field);
  edit->setPlaceholderText(hint);
  edit->setAccessibleName(label);
  auto* message = new QLabel(field);
  message->setWordWrap(true);
  message->setVisible(false);
  layout->addWidget(edit);
  layout->addWidget(message);
  addRow(form, key, label, field);
  field->setFocusProxy(edit);
  edit->setObjectName(field->objectName());
  field->setObjectName(edit->objectName() + QStringLiteral("_row"));
  follow(key, edit, [this, key, edit] { edit->setText(settings_.get(key).toString()); });
  connect(edit, &QLineEdit::editingFinished, this, [this, key, edit, message, refusal] {
    const QString text = edit->text().trimmed(), sentence = text.isEmpty() ? QString() : refusal(text);
    message->setText(sentence);
    message->setVisible(!sentence.isEmpty());
    if (sentence.isEmpty()) write(key, text.isEmpty() ? Settings::defaultValue(key) : QVariant(text));
  });
}

void SettingsDialog::filter(const QString& words) {
  const QString wanted = words.trimmed().toCaseFolded();
  int first = -1;
  for (const Row& row : std::as_const(rows_)) {
    const bool hit = wanted.isEmpty() || row.words.contains(wanted);
    if (hit && first < 0) first = row.page;
    for (QWidget* widget : {row.label, row.field})
      if (widget) widget->setEnabled(hit);
  }
  if (!wanted.isEmpty() && first >= 0) list_->setCurrentRow(first);
}

}  // namespace tg
