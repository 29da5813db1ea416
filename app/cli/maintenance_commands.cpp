#include "app/cli/maintenance_commands.h"

#include <QCommandLineParser>
#include <QCryptographicHash>
#include <QFile>
#include <QFileInfo>
#include <QLockFile>

#include "app/application_impl.h"
#include "app/cli/console.h"
#include "app/cli/download.h"
#include "app/commands/chat_commands.h"
#include "app/format.h"
#include "app/model_catalogue.h"
#include "app/paths.h"
#include "storage/database.h"

namespace tg {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Cli", text); }

// Parses one of these small commands; unset: nothing to run, CODE says how to end.
struct Parsed {
  QCommandLineParser parser;
  QStringList words;
  std::optional<int> code;
  bool json() const { return parser.isSet(QStringLiteral("json")); }
  QString value(const char* name) const { return parser.value(QString::fromLatin1(name)); }
};

void parse(Parsed& p, const QString& name, const QStringList& arguments, const QString& what, std::initializer_list<const char*> values) {
  p.parser.setApplicationDescription(what);
  const QCommandLineOption help = p.parser.addHelpOption();
  p.parser.addOption({QStringLiteral("json"), tr("JSON on stdout")});
  p.parser.addOption({QStringLiteral("quiet"), tr("Nothing on stderr but errors")});
  p.parser.addOption({QStringLiteral("profile"), tr("Folder of all data"), QStringLiteral("DIR")});
  for (const char* value : values) p.parser.addOption({QString::fromLatin1(value), {}, QStringLiteral("VALUE")});
  const bool ok = p.parser.parse(QStringList{name} + arguments);
  p.words = p.parser.positionalArguments();
  if (!ok) {
    p.code = console::refuse(p.parser.errorText() + QLatin1Char('.'));
  } else if (p.parser.isSet(help)) {
    console::line(p.parser.helpText().toUtf8());
    p.code = 0;
  } else if (p.words.isEmpty()) {
    p.code = console::refuse(tr("Say what to do: %1 --help lists it.").arg(name));
  }
}

Json model_json(const ModelInfo& m) {
  return {{"path", m.path.toStdString()},       {"name", m.name.toStdString()},         {"architecture", m.architecture.toStdString()},
          {"format", m.format.toStdString()},   {"file_bytes", m.fileBytes},            {"parameters", m.parameters},
          {"context_length", m.contextLength},  {"kv_bytes_per_token", m.kvBytesPerToken}, {"template", m.hasTemplate},
          {"licence", m.licence.toStdString()}, {"fingerprint", m.fingerprint.toStdString()},
          {"refusal", m.refusal.isEmpty() ? Json(nullptr) : Json(m.refusal.toStdString())}};
}

int print_models(const QStringList& folders, bool json) {
  Json models = Json::array();
  QStringList seen;
  for (const QString& folder : folders) {
    for (const QString& file : model_files(folder)) {
      const QString real = QFileInfo(file).canonicalFilePath();
      if (seen.contains(real)) continue;
      seen << real;
      const ModelInfo m = describe_file(file);
      models.push_back(model_json(m));
      if (!json) console::line((m.name + QStringLiteral("  ·  ") + format::bytes(m.fileBytes) + QStringLiteral("  ·  ") + (m.refusal.isEmpty() ? m.format : m.refusal)).toUtf8());
    }
  }
  if (json) console::json(Json{{"models", models}});
  return 0;
}

int verify_model(const QString& path, const QString& expected, bool json) {
  const ModelInfo info = describe_file(path);
  if (!info.refusal.isEmpty()) return console::refuse(info.refusal);
  QFile file(path);
  QCryptographicHash hash(QCryptographicHash::Sha256);
  if (!file.open(QIODevice::ReadOnly) || !hash.addData(&file)) return console::refuse(tr("The file is gone or cannot be read: %1.").arg(path));
  const QString sha = QString::fromLatin1(hash.result().toHex());
  if (!expected.isEmpty() && expected.toLower() != sha) return console::refuse(tr("The checksum of %1 differs from the one expected.").arg(QFileInfo(path).fileName()), 1);
  Json out = model_json(info);
  out["sha256"] = sha.toStdString();
  if (json) {
    console::json(out);
  } else {
    console::line((sha + QStringLiteral("  ") + path).toUtf8());
  }
  return 0;
}

int db_failure(const storage::Failure& failure) { return console::refuse(failure.sentence, 1); }

int db_check(storage::Database& database, bool json) {
  const auto faults = database.check();
  if (!faults) return db_failure(faults.failure());
  Json list = Json::array();
  for (const QString& fault : *faults) list.push_back(fault.toStdString());
  if (json) {
    console::json(Json{{"ok", faults->isEmpty()}, {"faults", list}});
  } else {
    console::line(faults->isEmpty() ? tr("The chat file is sound.").toUtf8() : faults->join(QLatin1Char('\n')).toUtf8());
  }
  return faults->isEmpty() ? 0 : 1;
}

int db_restore(const QString& folder, QString backup) {
  if (backup.isEmpty()) backup = storage::Database::backups(folder).value(0);
  if (backup.isEmpty()) return console::refuse(tr("There is no backup to restore."));
  const auto done = storage::Database::restore(folder, backup);
  if (!done) return db_failure(done.failure());
  console::json(Json{{"ok", true}, {"restored", backup.toStdString()}});
  return 0;
}

}  // namespace

int models_command(const QStringList& arguments) {
  Parsed p;
  parse(p, QStringLiteral("models"), arguments, tr("models list | scan DIR | verify FILE [--sha256 S] | get URL --sha256 S"), {"sha256"});
  if (p.code) return *p.code;
  const ProfilePaths paths = profile_paths(p.value("profile"));
  QStringList folders = default_model_folders(paths);
  if (p.words[0] == QLatin1String("list")) {
    folders += Settings(paths.settings()).get(Setting::ModelFolders).toStringList();
    return print_models(folders, p.json());
  }
  if (p.words.size() < 2) return console::refuse(tr("models --help lists what can be done."));
  if (p.words[0] == QLatin1String("scan")) return print_models({p.words[1]}, p.json());
  if (p.words[0] == QLatin1String("verify")) return verify_model(resolve_model(p.words[1], folders), p.value("sha256"), p.json());
  if (p.words[0] == QLatin1String("get")) return download_model(p.words[1], p.value("sha256"), paths.models());
  return console::refuse(tr("There is no command “models %1”.").arg(p.words[0]));
}

int db_command(const QStringList& arguments) {
  Parsed p;
  parse(p, QStringLiteral("db"), arguments, tr("db check | backup [FILE] | restore [FILE]"), {});
  if (p.code) return *p.code;
  const ProfilePaths paths = profile_paths(p.value("profile"));
  QLockFile lock(paths.lock());
  lock.setStaleLockTime(0);
  if (!lock.tryLock(0) && lock.error() == QLockFile::LockFailedError) return console::refuse(tr("Another Turnglass uses this profile. Close it first."), 1);
  const QString file = p.words.value(1).isEmpty() ? QString() : QFileInfo(p.words.value(1)).absoluteFilePath();
  if (p.words[0] == QLatin1String("restore")) return db_restore(paths.root, file);
  storage::OpenOptions options;
  options.folder = paths.root;
  const auto database = storage::Database::open(options);
  if (!database) return db_failure(database.failure());
  if (p.words[0] == QLatin1String("check")) return db_check(**database, p.json());
  if (p.words[0] != QLatin1String("backup")) return console::refuse(tr("There is no command “db %1”.").arg(p.words[0]));
  const auto written = (*database)->backup(file);
  if (!written) return db_failure(written.failure());
  console::json(Json{{"ok", true}, {"file", written->toStdString()}});
  return 0;
}

int energy_command(const QStringList& arguments) {
  Parsed p;
  parse(p, QStringLiteral("energy"), arguments, tr("energy set --idle W --busy W --price P --currency C"), {"idle", "busy", "price", "currency"});
  if (p.code) return *p.code;
  if (p.words[0] != QLatin1String("set")) return console::refuse(tr("There is no command “energy %1”.").arg(p.words[0]));
  Settings settings(profile_paths(p.value("profile")).settings());
  for (const auto& [name, key] : {std::pair{"idle", Setting::IdleWatts}, std::pair{"busy", Setting::BusyWatts}, std::pair{"price", Setting::KwhPrice}}) {
    if (!p.parser.isSet(QString::fromLatin1(name))) continue;
    bool ok = false;
    const double value = p.value(name).toDouble(&ok);
    if (!ok || value < 0) return console::refuse(tr("%1 is not a number that can be used here.").arg(p.value(name)));
    settings.set(key, key == Setting::KwhPrice ? QVariant(p.value(name)) : QVariant(value));
  }
  if (p.parser.isSet(QStringLiteral("currency"))) settings.set(Setting::KwhCurrency, p.value("currency"));
  const auto number = [&](Setting key) { return settings.get(key).isNull() ? Json(nullptr) : Json(settings.get(key).toDouble()); };
  console::json(Json{{"idle_watts", number(Setting::IdleWatts)}, {"busy_watts", number(Setting::BusyWatts)}, {"kwh_price", settings.get(Setting::KwhPrice).toString().toStdString()},
                     {"currency", settings.get(Setting::KwhCurrency).toString().toStdString()}});
  return 0;
}

}  // namespace tg
