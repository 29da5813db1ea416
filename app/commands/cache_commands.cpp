#include "app/commands/cache_commands.h"

#include "app/error_words.h"
#include "app/format.h"

namespace tg {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Chats", text); }

constexpr qint64 kMostIdleMinutes = 60 * 24 * 365;

QString title_of(ApplicationImpl& app, const std::string& id) {
  const auto chat = app.service().chat(QString::fromStdString(id));
  return chat ? chat->title : QString::fromStdString(id);
}

void list(ApplicationImpl& app, const ProfileCommand& c) {
  Json rows = Json::array();
  QStringList lines;
  for (const CacheState& s : app.engine().cacheStates()) {
    const QString title = title_of(app, s.sequence);
    rows.push_back({{"chat", title.toStdString()}, {"id", s.sequence}, {"tokens", s.tokens}, {"bytes", s.bytes}, {"tier", name_of(s.tier)}, {"pinned", s.pinned},
                    {"last_use", QDateTime::fromMSecsSinceEpoch(s.last_use_ms, Qt::UTC).toString(Qt::ISODate).toStdString()}, {"fingerprint", s.fingerprint}, {"reason", s.reason},
                    {"on_close", name_of(s.keep_on_close)}, {"stays_on_close", s.stays_on_close}});
    lines << title + QStringLiteral("  ·  ") + format::count(s.tokens) + QStringLiteral(" tok  ·  ") + format::bytes(static_cast<qint64>(s.bytes));
  }
  c.say(Json{{"chats", rows}}, lines.join(QLatin1Char('\n')));
}

void budget(ApplicationImpl& app, const ProfileCommand& c) {
  Settings& settings = app.settings();
  for (const auto& [option, key] : {std::pair{"gpu", Setting::BudgetGpuBytes}, std::pair{"ram", Setting::BudgetRamBytes}, std::pair{"disk", Setting::BudgetDiskBytes}}) {
    if (!c.isSet(option)) continue;
    bool ok = false;
    const qint64 bytes = c.value(option).toLongLong(&ok);
    if (!ok || bytes < 0) return c.fail(tr("A budget is a number of bytes."), 2);
    settings.set(key, bytes);
  }
  for (const auto& [option, key] : {std::pair{"keep-max", Setting::KeepOnCloseMaxBytes}, std::pair{"idle", Setting::IdleMinutes}}) {
    if (!c.isSet(option)) continue;
    bool ok = false;
    const qint64 value = c.value(option).toLongLong(&ok);
    if (!ok || value < 0 || (key == Setting::IdleMinutes && value > kMostIdleMinutes)) return c.fail(tr("%1 takes a whole number from 0 on.").arg(QStringLiteral("--") + QLatin1String(option)), 2);
    settings.set(key, value);
  }
  const CacheBudget b = app.engine().budget();
  c.say(Json{{"gpu", b.gpu}, {"ram", b.ram}, {"disk", b.disk}, {"keep_max", settings.get(Setting::KeepOnCloseMaxBytes).toLongLong()}, {"idle_minutes", settings.get(Setting::IdleMinutes).toInt()}},
        tr("RAM %1, disk %2").arg(format::bytes(static_cast<qint64>(b.ram)), format::bytes(static_cast<qint64>(b.disk))));
}

std::optional<Tier> tier_named(const QString& name) {
  if (name.isEmpty() || name == QLatin1String("ram")) return Tier::ram;
  if (name == QLatin1String("gpu")) return Tier::gpu;
  return name == QLatin1String("disk") ? std::optional<Tier>(Tier::disk) : std::nullopt;
}

}  // namespace

void cache_command(ApplicationImpl& app, const ProfileCommand& c) {
  const QString verb = c.verb();
  if (verb == QLatin1String("list")) return list(app, c);
  if (verb == QLatin1String("budget")) return budget(app, c);
  EnginePort& engine = app.engine();
  const auto done = [c](const Status& status) {
    if (!status) return c.fail(words::sentence(status.error()), words::exit_code(status.error()));
    c.say(Json{{"ok", true}}, {});
  };
  if (verb == QLatin1String("clear")) return engine.background([&engine] { return engine.clearCache(); }, done);
  const QString name = c.isSet("chat") ? c.value("chat") : c.positional(0);
  const QString id = app.service().idOf(name);
  if (id.isEmpty()) return c.fail(tr("There is no chat named “%1”.").arg(name), 2);
  const std::optional<Tier> tier = tier_named(c.value("tier"));
  if (!tier) return c.fail(tr("The tier is gpu, ram or disk."), 2);
  if (verb == QLatin1String("keep") && c.isSet("on-close")) {
    const std::optional<ChatKeep> keep = chat_keep_named(c.value("on-close"));
    if (!keep) return c.fail(tr("--on-close is by-size, always or never."), 2);
    app.service().setKeepOnClose(id, *keep);
    if (!c.isSet("tier")) return engine.background([] { return Status(Ok{}); }, [c, &app](const Status&) { c.settled(app, Json{{"ok", true}}); });
  }
  if (verb == QLatin1String("keep")) return engine.background([&engine, id, tier] { return engine.keep(id, *tier); }, done);
  if (verb == QLatin1String("evict")) return engine.background([&engine, id] { return engine.evict(id); }, done);
  app.service().pin(id, verb == QLatin1String("pin"));
  c.settled(app, Json{{"ok", true}});
}

}  // namespace tg
