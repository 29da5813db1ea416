#include "app/settings.h"

#include <QSettings>
#include <QStringList>
#include <array>

namespace tg {
namespace {

struct Row {
  Setting key;
  const char* name;
  QVariant fallback;
};

const std::array<Row, static_cast<std::size_t>(Setting::Count)>& table() {
  constexpr qint64 gib = qint64{1} << 30;
  static const std::array<Row, static_cast<std::size_t>(Setting::Count)> rows{{
      {Setting::Theme, "window/theme", QStringLiteral("system")},
      {Setting::FontPercent, "window/font_percent", 100},
      {Setting::DeveloperMode, "window/developer_mode", false},
      {Setting::SendWithCtrlEnter, "composer/send_with_ctrl_enter", false},
      {Setting::FooterLine, "footer/line", true},
      {Setting::FooterMoney, "footer/money", QStringLiteral("hosted")},
      {Setting::DigitGroups, "window/digit_groups", QStringLiteral("thin")},
      {Setting::ModelFolders, "models/folders", QStringList()},
      {Setting::DefaultModel, "models/default", QString()},
      {Setting::DefaultPricedAs, "prices/priced_as", QString()},
      {Setting::Threads, "engine/threads", 0},
      {Setting::ChunkRows, "engine/chunk_rows", 0},
      {Setting::KvTypeK, "engine/kv_type_k", QStringLiteral("f16")},
      {Setting::KvTypeV, "engine/kv_type_v", QStringLiteral("f16")},
      {Setting::ContextTokens, "engine/context", 8192},
      {Setting::BudgetGpuBytes, "cache/budget_gpu", qint64{0}},
      {Setting::BudgetRamBytes, "cache/budget_ram", 2 * gib},
      {Setting::BudgetDiskBytes, "cache/budget_disk", 8 * gib},
      {Setting::KeepOnClose, "cache/keep_on_close", true},
      {Setting::KeepOnCloseMaxBytes, "cache/keep_on_close_max", 4 * gib},
      {Setting::IdleMinutes, "cache/idle_minutes", 0},
      {Setting::IdleWatts, "energy/idle_watts", QVariant()},
      {Setting::BusyWatts, "energy/busy_watts", QVariant()},
      {Setting::KwhPrice, "energy/kwh_price", QString()},
      {Setting::KwhCurrency, "energy/currency", QString()},
      {Setting::LoadModelAtStart, "models/load_at_start", false},
      {Setting::WindowGeometry, "window/geometry", QByteArray()},
      {Setting::SplitterState, "window/splitters", QByteArray()},
      {Setting::LastChat, "window/last_chat", QString()},
      {Setting::HiddenModels, "models/hidden", QStringList()},
  }};
  return rows;
}

const Row& row(Setting key) { return table()[static_cast<std::size_t>(key)]; }

// An INI file holds texts; a value edited by hand that does not read as the default's type counts as not set.
QVariant typed(QVariant value, const QVariant& fallback) {
  if (!value.isValid()) return fallback;
  if (!fallback.isValid()) {
    bool ok = false;
    const double number = value.toDouble(&ok);
    return ok ? QVariant(number) : QVariant();
  }
  if (fallback.typeId() == QMetaType::QStringList && value.typeId() == QMetaType::QString) {
    return value.toString().isEmpty() ? QStringList() : QStringList{value.toString()};
  }
  return value.convert(fallback.metaType()) ? value : fallback;
}

}  // namespace

struct Settings::Private {
  explicit Private(const QString& path) : ini(path, QSettings::IniFormat) {}
  QSettings ini;
};

Settings::Settings(const QString& iniPath, QObject* parent) : QObject(parent), d_(std::make_unique<Private>(iniPath)) {}
Settings::~Settings() = default;

QString Settings::name(Setting key) { return QString::fromLatin1(row(key).name); }
QVariant Settings::defaultValue(Setting key) { return row(key).fallback; }

QVariant Settings::get(Setting key) const { return typed(d_->ini.value(name(key)), row(key).fallback); }

void Settings::set(Setting key, const QVariant& value) {
  if (get(key) == value && d_->ini.contains(name(key))) return;
  d_->ini.setValue(name(key), value);
  Q_EMIT changed(key);
}

void Settings::reset(Setting key) {
  if (!d_->ini.contains(name(key))) return;
  d_->ini.remove(name(key));
  Q_EMIT changed(key);
}

}  // namespace tg
