// User settings: one enum of keys, one table (name, default, range), one change signal. Stored as an INI file in the profile.
// Thread: main thread.
#pragma once
#include <QObject>
#include <QVariant>
#include <memory>

namespace tg {

enum class Setting {
  Theme,            // system light dark
  FontPercent,      // 100
  DeveloperMode,    // false
  SendWithCtrlEnter,// false
  FooterLine,       // true
  FooterMoney,      // hosted own both none
  DigitGroups,      // thin system
  ModelFolders,     // list
  DefaultModel,
  DefaultPricedAs,
  Threads, ChunkRows, KvTypeK, KvTypeV, ContextTokens,
  BudgetGpuBytes, BudgetRamBytes, BudgetDiskBytes, KeepOnClose,
  KeepOnCloseMaxBytes,  // a chat whose choice is "by size" stays on disk up to here
  IdleMinutes,          // unused for so long, a chat's cache leaves memory; 0: never
  IdleWatts, BusyWatts, KwhPrice, KwhCurrency,
  LoadModelAtStart,
  WindowGeometry, SplitterState, LastChat,
  HiddenModels,     // files taken off the list of models
  Count
};

class Settings : public QObject {
  Q_OBJECT
 public:
  explicit Settings(const QString& iniPath, QObject* parent = nullptr);
  ~Settings() override;
  QVariant get(Setting key) const;
  void set(Setting key, const QVariant& value);
  void reset(Setting key);
  static QString name(Setting key);
  static QVariant defaultValue(Setting key);

 Q_SIGNALS:
  void changed(tg::Setting key);

 private:
  struct Private;
  std::unique_ptr<Private> d_;
};

}  // namespace tg
