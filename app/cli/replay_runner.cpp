#include "app/cli/replay_runner.h"

#include <QEventLoop>
#include <QJsonArray>
#include <QThread>
#include <algorithm>

#include "app/cli/console.h"
#include "app/error_words.h"
#include "app/records_convert.h"
#include "app/turn_record_json.h"

namespace tg {
namespace {

// Pages move in the background; a step is done when they have, so that every run of a scenario says the same.
constexpr int kMostMs = 10000;

QString tr(const char* text) { return QCoreApplication::translate("Replay", text); }

QString text(const QJsonObject& o, const char* key) { return o.value(QLatin1String(key)).toString(); }

QString refused(const Status& status) { return status ? QString() : words::sentence(status.error()); }

}  // namespace

QString ReplayRunner::open() {
  AppOptions options;
  options.profile = profile_;
  QString error;
  app_ = ApplicationImpl::open(options, &error);
  if (!app_) return error;
  app_->engine().setLoadDefaults(defaults_.load);
  if (budget_) app_->engine().setBudget(*budget_);
  return {};
}

bool ReplayRunner::step(int number, const QJsonObject& step) {
  if (step.size() != 1) return done(number, tr("A step has exactly one key."));
  return dispatch(number, step.begin().key(), step.begin().value());
}

bool ReplayRunner::dispatch(int number, const QString& kind, const QJsonValue& value) {
  const QJsonObject o = value.toObject();
  if (kind == QLatin1String("send") || kind == QLatin1String("send_ids")) return send(number, {QJsonObject{{kind, o}}});
  if (kind == QLatin1String("parallel")) return send(number, value.toArray());
  if (kind == QLatin1String("edit")) return turn(number, [&](Send& s, int* left, QEventLoop* loop) { return edit(o, s, left, loop); });
  if (kind == QLatin1String("regenerate")) return turn(number, [&](Send& s, int* left, QEventLoop* loop) { return regenerate(o, s, left, loop); });
  if (kind == QLatin1String("fork")) return done(number, fork(o));
  if (kind == QLatin1String("budget")) return done(number, budget(o));
  if (kind == QLatin1String("set")) return done(number, set(o));
  if (kind == QLatin1String("cancel_after")) return done(number, cancel_after(o));
  if (kind == QLatin1String("cache")) return use_cache_ = value.toBool(true), done(number, {});
  if (kind == QLatin1String("restart")) return done(number, restart());
  if (kind == QLatin1String("unload")) return done(number, unload());
  if (kind == QLatin1String("integrity")) return done(number, integrity());
  if (kind == QLatin1String("keep") || kind == QLatin1String("evict") || kind == QLatin1String("pin") || kind == QLatin1String("unpin")) {
    return done(number, cache_step(kind, o));
  }
  return done(number, tr("There is no step named %1.").arg(kind));
}

bool ReplayRunner::done(int number, const QString& error) {
  Json line{{"step", number}, {"ok", error.isEmpty()}};
  if (!error.isEmpty()) line["error"] = error.toStdString();
  console::json(line);
  return error.isEmpty();
}

bool ReplayRunner::print(int number, const Send& send) {
  if (!send.result.record || !send.result.error.isEmpty()) return done(number, send.result.error.isEmpty() ? tr("Nothing was measured.") : send.result.error);
  Json line = to_ordered_json(*send.result.record);
  line["output_ids"] = std::vector<int>(send.result.record->outputIds.begin(), send.result.record->outputIds.end());
  if (!send.result.record->logitsSha.isEmpty()) line["logits_sha"] = send.result.record->logitsSha.toStdString();
  console::json(line);
  return true;
}

void ReplayRunner::drive(const QString& chatId, const std::function<void()>& start, Send& send, int* left, QEventLoop* loop) {
  if (cancel_prefill_ > 0 || cancel_output_ > 0) app_->engine().cancelAfter(chatId, std::exchange(cancel_prefill_, 0), std::exchange(cancel_output_, 0));
  TurnDriver::drive(*app_, chatId, start, [&send, left, loop](const TurnResult& result) {
    send.result = result;
    if (--*left == 0) loop->quit();
  });
}

bool ReplayRunner::turn(int number, const std::function<QString(Send&, int*, QEventLoop*)>& start) {
  QEventLoop loop;
  Send send;
  int left = 1;
  const QString error = start(send, &left, &loop);
  if (!error.isEmpty()) return done(number, error);
  if (left > 0) loop.exec();
  return print(number, send);
}

bool ReplayRunner::send(int number, const QJsonArray& steps) {
  QEventLoop loop;
  std::vector<Send> sends(static_cast<std::size_t>(steps.size()));
  std::vector<QString> errors(sends.size());
  int left = static_cast<int>(sends.size());
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const QJsonObject step = steps[static_cast<qsizetype>(i)].toObject();
    const QString kind = step.isEmpty() ? QString() : step.begin().key();
    errors[i] = begin(kind, step.value(kind).toObject(), sends[i], &left, &loop);
    if (!errors[i].isEmpty()) --left;
  }
  if (left > 0) loop.exec();
  bool ok = true;
  for (std::size_t i = 0; i < sends.size(); ++i) ok = (errors[i].isEmpty() ? print(number, sends[i]) : done(number, errors[i])) && ok;
  return ok;
}

QString ReplayRunner::begin(const QString& kind, const QJsonObject& o, Send& send, int* left, QEventLoop* loop) {
  const bool ids = kind == QLatin1String("send_ids");
  if (!ids && kind != QLatin1String("send")) return tr("Only sends can run side by side.");
  const QString name = text(o, "chat");
  if (name.isEmpty()) return tr("A send names its chat.");
  TurnExtras extras;
  QStringList attach;
  if (const QString refusal = prepare(name, o.value(QLatin1String("options")).toObject(), o, &extras, &attach); !refusal.isEmpty()) return refusal;
  QString said = text(o, "text");
  if (ids) {
    std::vector<TokenId> tokens;
    const QJsonArray array = o.value(QLatin1String("tokens")).toArray();
    for (const QJsonValue& v : array) tokens.push_back(v.toInt(-1));
    if (tokens.empty()) return tr("There are no tokens to send.");
    said = tr("%1 token ids").arg(tokens.size());
    extras.ids = std::move(tokens);
  }
  if (said.trimmed().isEmpty() && attach.isEmpty()) return tr("There is nothing to send.");
  const QString id = chats_.value(name);
  app_->service().setNextExtras(id, extras);
  drive(id, [&, id] { app_->service().send(id, said, attach); }, send, left, loop);
  return {};
}

// The chat NAME exists afterwards, with the settings of this send: the scenario's defaults, then the step's own options.
QString ReplayRunner::prepare(const QString& name, const QJsonObject& options, const QJsonObject& object, TurnExtras* extras, QStringList* attach) {
  RunOptions run = defaults_;
  if (const QString refusal = apply_options(run, options); !refusal.isEmpty()) return refusal;
  if (object.contains(QLatin1String("max_tokens"))) {
    if (const QString refusal = apply_option(run, QStringLiteral("max_tokens"), object.value(QLatin1String("max_tokens"))); !refusal.isEmpty()) return refusal;
  }
  ChatServiceImpl& service = app_->service();
  if (!chats_.contains(name)) {
    const QString known = service.idOf(name);
    chats_.insert(name, known.isEmpty() ? service.createChat(name, model_, run.generation) : known);
  }
  const QString id = chats_.value(name);
  if (const QString error = open_chat(id); !error.isEmpty()) return error;
  service.setSettings(id, run.generation);
  service.setChatWindow(id, run.load.context == defaults_.load.context ? 0 : run.load.context, run.templateFile);
  *extras = run.extras;
  extras->useCache = extras->useCache && use_cache_;
  // Documents named for the whole scenario come with the first message only.
  const bool own = options.contains(QLatin1String("attach"));
  if (own || service.messages(id).isEmpty()) *attach = run.attach;
  return {};
}

QString ReplayRunner::open_chat(const QString& chatId) {
  QEventLoop loop;
  QString error;
  const auto failed = QObject::connect(&app_->service(), &ChatService::failed, &loop, [&](const QString& id, const QString& sentence, const QString&) {
    if (id != chatId) return;
    error = sentence;
    loop.quit();
  });
  app_->service().whenOpen(chatId, [&loop] { loop.quit(); });
  loop.exec();
  QObject::disconnect(failed);
  return error;
}

QString ReplayRunner::edit(const QJsonObject& o, Send& send, int* left, QEventLoop* loop) {
  TurnExtras extras;
  QStringList attach;
  if (const QString refusal = prepare(text(o, "chat"), o.value(QLatin1String("options")).toObject(), {}, &extras, &attach); !refusal.isEmpty()) return refusal;
  const QString id = chats_.value(text(o, "chat"));
  const QString message = app_->service().messageIdOfNumber(id, o.value(QLatin1String("message")).toInt());
  const QVector<MessageInfo> shown = app_->service().messages(id);
  const bool user = std::any_of(shown.begin(), shown.end(), [&](const MessageInfo& m) { return m.id == message && m.role == QLatin1String("user"); });
  if (!user) return tr("This chat has no message of the user with that number.");
  if (text(o, "text").trimmed().isEmpty()) return tr("There is nothing to send.");
  app_->service().setNextExtras(id, extras);
  drive(id, [&] { app_->service().edit(id, message, text(o, "text")); }, send, left, loop);
  return {};
}

QString ReplayRunner::regenerate(const QJsonObject& o, Send& send, int* left, QEventLoop* loop) {
  TurnExtras extras;
  QStringList attach;
  if (const QString refusal = prepare(text(o, "chat"), o.value(QLatin1String("options")).toObject(), {}, &extras, &attach); !refusal.isEmpty()) return refusal;
  const QString id = chats_.value(text(o, "chat"));
  const QVector<MessageInfo> shown = app_->service().messages(id);
  const auto last = std::find_if(shown.rbegin(), shown.rend(), [](const MessageInfo& m) { return m.role == QLatin1String("assistant"); });
  if (last == shown.rend()) return tr("This chat has no answer yet.");
  app_->service().setNextExtras(id, extras);
  drive(id, [&] { app_->service().regenerate(id, last->id); }, send, left, loop);
  return {};
}

QString ReplayRunner::fork(const QJsonObject& o) {
  const QString from = chats_.value(text(o, "chat"));
  const QString after = app_->service().messageIdOfNumber(from, o.value(QLatin1String("after")).toInt());
  if (after.isEmpty() || text(o, "as").isEmpty()) return tr("A fork names its chat, the message it goes up to, and the new chat.");
  chats_.insert(text(o, "as"), app_->service().forkAs(from, after, text(o, "as")));
  return {};
}

QString ReplayRunner::cache_step(const QString& kind, const QJsonObject& o) {
  const QString id = chats_.value(text(o, "chat"));
  if (id.isEmpty()) return tr("There is no chat of this name.");
  EnginePort& engine = app_->engine();
  if (kind == QLatin1String("evict")) return refused(engine.evict(id));
  if (kind != QLatin1String("keep")) {
    app_->service().pin(id, kind == QLatin1String("pin"));
    return refused(engine.pin(id, kind == QLatin1String("pin")));
  }
  if (o.contains(QLatin1String("on_close"))) {
    const std::optional<ChatKeep> keep = chat_keep_named(text(o, "on_close"));
    if (!keep) return tr("on_close is by-size, always or never.");
    app_->service().setKeepOnClose(id, *keep);
    const Status told = engine.keepOnClose(id, engine_keep(*keep));
    if (!o.contains(QLatin1String("tier"))) return refused(told);
  }
  if (!engine.cacheState(id)) return {};     // nothing is held: in a run without the cache these steps have nothing to do
  const QString tier = text(o, "tier");
  const Status kept = engine.keep(id, tier == QLatin1String("gpu") ? Tier::gpu : tier == QLatin1String("disk") ? Tier::disk : Tier::ram);
  engine.flushCache(kMostMs);
  return refused(kept);
}

QString ReplayRunner::budget(const QJsonObject& o) {
  CacheBudget b = app_->engine().budget();
  for (const auto& [key, target] : {std::pair{"gpu", &b.gpu}, std::pair{"ram", &b.ram}, std::pair{"disk", &b.disk}}) {
    const QJsonValue value = o.value(QLatin1String(key));
    if (value.isDouble()) *target = static_cast<std::uint64_t>(std::max<qint64>(0, value.toInteger()));
  }
  budget_ = b;
  app_->engine().setBudget(b);
  return {};
}

QString ReplayRunner::set(const QJsonObject& o) {
  if (const QString refusal = apply_options(defaults_, o); !refusal.isEmpty()) return refusal;
  app_->engine().setLoadDefaults(defaults_.load);
  return {};
}

QString ReplayRunner::cancel_after(const QJsonObject& o) {
  cancel_prefill_ = o.value(QLatin1String("prefill_tokens")).toInt();
  cancel_output_ = o.value(QLatin1String("output_tokens")).toInt();
  return cancel_prefill_ > 0 || cancel_output_ > 0 ? QString() : tr("Cancel after how many tokens: prefill_tokens or output_tokens.");
}

QString ReplayRunner::restart() {
  app_.reset();
  return open();
}

QString ReplayRunner::unload() {
  constexpr int kPauseMs = 2;
  EnginePort& engine = app_->engine();
  engine.unloadAll();
  const auto in_memory = [&] {
    const std::vector<CacheState> states = engine.cacheStates();
    return std::any_of(states.begin(), states.end(), [](const CacheState& s) { return s.tokens_ram > 0; });
  };
  for (int waited = 0; waited < kMostMs && in_memory(); waited += kPauseMs) QThread::msleep(kPauseMs);
  return {};
}

QString ReplayRunner::integrity() {
  const Result<std::string> result = app_->engine().checkIntegrity();
  return result ? QString() : words::sentence(result.error());
}

}  // namespace tg
