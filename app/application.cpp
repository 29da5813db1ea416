#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QDir>
#include <QFileInfo>

#include "app/application_impl.h"
#include "app/commands/chat_commands.h"
#include "app/error_words.h"
#include "app/local_engine.h"
#include "app/scripted_engine.h"
#include "app/turn_cost.h"
#include "engine/base/platform.h"

namespace tg {

namespace {

constexpr int kShutdownMs = 800;             // of the one second that closing may take
constexpr int kEndingMs = 500;               // for a program that does not answer any more to be gone
constexpr qint64 kBinDays = 30;
constexpr int kIdleLookMs = 20000;           // how often idle chats are looked for

KvType kv_type(const QString& name) {
  for (const KvType type : {KvType::f32, KvType::bf16, KvType::q8_0}) {
    if (name.toStdString() == name_of(type)) return type;
  }
  return KvType::f16;
}

std::optional<double> number(const QVariant& value) { return value.isValid() && !value.isNull() ? std::optional<double>(value.toDouble()) : std::nullopt; }

void join(QString& sentences, const QString& more) {
  if (more.isEmpty()) return;
  sentences += (sentences.isEmpty() ? QString() : QStringLiteral(" ")) + more;
}

}  // namespace

std::unique_ptr<Application> Application::create(const AppOptions& options, QString* error) { return ApplicationImpl::open(options, error); }

std::unique_ptr<ApplicationImpl> ApplicationImpl::open(const AppOptions& options, QString* error, bool* busy) {
  make_file_size_limit_a_write_error();
  std::unique_ptr<ApplicationImpl> app(new ApplicationImpl);
  app->paths_ = profile_paths(options.profile);
  app->read_only_ = options.readOnly;
  if (!app->lock(options, error, busy)) return nullptr;
  app->restoreWaiting();
  if (!app->openStore(error)) return nullptr;
  app->settings_ = std::make_unique<Settings>(app->paths_.settings());
  app->openEngine(options.scriptedEngine);
  app->openServices();
  return app;
}

bool ApplicationImpl::lock(const AppOptions& options, QString* error, bool* busy) {
  if (!QDir().mkpath(paths_.root)) {
    *error = tr("The profile folder %1 cannot be made.").arg(paths_.root);
    return false;
  }
  lock_ = std::make_unique<QLockFile>(paths_.lock());
  lock_->setStaleLockTime(0);                // only a dead process makes it stale, not a long-lived one
  bool locked = lock_->tryLock(0);
  if (!locked && lock_->error() == QLockFile::LockFailedError) {
    if (busy) *busy = true;
    if (hand_over_files(paths_.socketName(), options.openFiles)) {
      *error = tr("Another Turnglass uses this profile. It was brought to the front.");
      return false;
    }
    if (!lock_->tryLock(kEndingMs)) {
      *error = tr("Another Turnglass uses this profile.");
      return false;
    }
    locked = true;
    if (busy) *busy = false;
  }
  if (locked) {
    if (server_.listen(paths_.socketName())) {
      connect(&server_, &InstanceServer::openRequested, this, &Application::openRequested);
      server_.setCommandHandler([this](const QStringList& args, const CommandOutput& output) { run_profile_command(*this, args, output); });
    }
    return true;
  }
  read_only_ = true;                         // no lock file can be written here
  lock_.reset();
  join(notice_, tr("This profile cannot be written, so it is opened read-only: you can read your chats, and nothing is saved."));
  return true;
}

bool ApplicationImpl::openStore(QString* error) {
  storage::OpenOptions options;
  options.folder = paths_.root;
  options.readOnly = read_only_;
  store_ = std::make_unique<storage::StoreThread>(options);
  const storage::Outcome<storage::OpenReport> report = store_->opened().result();
  if (!report) {
    *error = report.failure().sentence;
    return false;
  }
  if (!read_only_) join(notice_, report->sentence);
  read_only_ = read_only_ || !report->writable();
  return true;
}

void ApplicationImpl::openEngine(const QString& script) {
  if (!script.isEmpty()) {
    engine_ = std::make_unique<ScriptedEngine>(Script::named(script));
  } else {
    EngineOptions options;
    if (!read_only_ && settings_->get(Setting::KeepOnClose).toBool()) options.cache_dir = paths_.cache().toStdString();
    options.keep = keep_rules();
    if (!read_only_) options.curves_file = paths_.curves().toStdString();
    if (!read_only_) options.tuning_file = paths_.tuning().toStdString();
    engine_ = std::make_unique<LocalEngine>(options);
  }
  applySettings();
  idle_.setInterval(kIdleLookMs);
  connect(&idle_, &QTimer::timeout, this, [this] { engine_->leaveIdle(QDateTime::currentMSecsSinceEpoch()); });
  idle_.start();
  connect(settings_.get(), &Settings::changed, this, &ApplicationImpl::applySettings);
}

KeepRules ApplicationImpl::keep_rules() const {
  constexpr qint64 kMinuteMs = 60 * 1000;
  KeepRules rules;
  rules.max_bytes = static_cast<std::uint64_t>(std::max<qint64>(0, settings_->get(Setting::KeepOnCloseMaxBytes).toLongLong()));
  rules.idle_ms = std::max(0, settings_->get(Setting::IdleMinutes).toInt()) * kMinuteMs;
  return rules;
}

void ApplicationImpl::applySettings() {
  LoadOptions load = engine_->loadDefaults();
  load.threads = settings_->get(Setting::Threads).toInt();
  load.chunk = settings_->get(Setting::ChunkRows).toInt();
  load.context = settings_->get(Setting::ContextTokens).toInt();
  load.k_type = kv_type(settings_->get(Setting::KvTypeK).toString());
  load.v_type = kv_type(settings_->get(Setting::KvTypeV).toString());
  engine_->setLoadDefaults(load);
  const auto bytes = [this](Setting key) { return static_cast<std::uint64_t>(settings_->get(key).toLongLong()); };
  engine_->setKeepRules(keep_rules());
  engine_->setBudget({bytes(Setting::BudgetGpuBytes), bytes(Setting::BudgetRamBytes), bytes(Setting::BudgetDiskBytes)});
}

void ApplicationImpl::openServices() {
  models_ = std::make_unique<FolderCatalogue>(settings_.get(), default_model_folders(paths_));
  ServiceHooks hooks;
  const bool scripted = qobject_cast<ScriptedEngine*>(engine_.get()) != nullptr;
  hooks.defaultModel = [this, scripted] {
    const QString model = models_->defaultModel();
    return model.isEmpty() && scripted ? QStringLiteral("scripted.gguf") : model;
  };
  hooks.modelName = [this](const QString& path) { return models_->nameOf(path); };
  hooks.fingerprint = [this](const QString& path) { return models_->fingerprintOf(path); };
  hooks.cost = [this](const TurnRecord& record, const QString& priced_as) {
    return hosted_cost(record, priced_as.isEmpty() ? settings_->get(Setting::DefaultPricedAs).toString() : priced_as);
  };
  hooks.own = [this](const TurnRecord& record) {
    return own_cost(record, {number(settings_->get(Setting::BusyWatts)), settings_->get(Setting::KwhPrice).toString(), settings_->get(Setting::KwhCurrency).toString()});
  };
  chats_ = std::make_unique<ChatServiceImpl>(store_.get(), engine_.get(), std::move(hooks), read_only_);
  const qint64 bin_limit = QDateTime::currentMSecsSinceEpoch() - kBinDays * 24 * 3600 * 1000;
  if (!read_only_) store_->run([bin_limit](storage::ChatStore& store) { return store.emptyBin(bin_limit); });
  struct Rows { storage::Outcome<QVector<storage::Chat>> chats, deleted; storage::Outcome<QVector<storage::Folder>> folders; };
  const Rows rows = store_->run([](storage::ChatStore& store) { return Rows{store.chats(), store.deletedChats(), store.folders()}; }).result();
  if (rows.chats && rows.deleted && rows.folders) {
    chats_->load(*rows.chats, *rows.deleted, *rows.folders);
  } else {
    join(notice_, tr("The list of chats could not be read."));
  }
  connect(engine_.get(), &EnginePort::modelsChanged, this, [this] {
    models_->setLoaded(engine_->loadedModel());
    Q_EMIT deviceStatusChanged();
  });
  cache_ = std::make_unique<CacheOverviewImpl>(chats_.get(), engine_.get(), models_.get(), settings_.get(), paths_.cache());
  connect(chats_.get(), &ChatService::chatChanged, this, &Application::deviceStatusChanged);
  models_->rescan();
}

ApplicationImpl::~ApplicationImpl() { shutdown(); }

DeviceStatus ApplicationImpl::deviceStatus() const {
  DeviceStatus out;
  out.device = engine_ ? engine_->deviceInUse() : QString();
  if (const auto memory = main_memory()) {
    out.memoryUsed = static_cast<qint64>(memory->total - memory->free);
    out.memoryTotal = static_cast<qint64>(memory->total);
  }
  return out;                                // connections: this program opens none
}

QStringList ApplicationImpl::priceRows() const { return price_rows(); }
QString ApplicationImpl::priceBookDate() const { return price_book_date(); }

void ApplicationImpl::shutdown() {
  if (std::exchange(shut_down_, true)) return;
  if (chats_) {
    chats_->stopAll();
    const QDeadlineTimer deadline(kShutdownMs);
    while (chats_->anyTurnRunning() && !deadline.hasExpired()) QCoreApplication::processEvents(QEventLoop::ExcludeUserInputEvents, 10);
  }
  cache_.reset();
  chats_.reset();
  models_.reset();
  engine_.reset();                           // keeps what is to be kept on disk
  if (store_) store_->close();
  if (lock_) lock_->unlock();
}

}  // namespace tg
