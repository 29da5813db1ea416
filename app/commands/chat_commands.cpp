#include "app/commands/chat_commands.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <algorithm>

#include "app/commands/cache_commands.h"
#include "app/commands/chat_transfer.h"
#include "app/commands/explain_command.h"
#include "app/commands/options.h"
#include "app/commands/profile_command.h"
#include "app/commands/turn_driver.h"
#include "app/error_words.h"
#include "app/format.h"
#include "app/turn_record_json.h"
#include "app/words.h"

namespace tg {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Chats", text); }

QByteArray dumped(const Json& object) { return QByteArray::fromStdString(object.dump(-1, ' ', false, Json::error_handler_t::replace)); }

Json null_or(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

const char* tier_name(ChatTier tier) {
  static const char* const names[] = {"gpu", "ram", "disk", "none", "unknown"};
  return names[static_cast<int>(tier)];
}

Json chat_json(const ChatInfo& c) {
  return {{"id", c.id.toStdString()},
          {"title", c.title.toStdString()},
          {"model", c.modelName.toStdString()},
          {"last_used", c.lastUsed.toUTC().toString(Qt::ISODate).toStdString()},
          {"tier", tier_name(c.tier)},
          {"warm", c.tier != ChatTier::Cold && c.tier != ChatTier::Unknown},
          {"tokens", c.tokensHeld},
          {"tokens_to_read", c.tokensToRead},
          {"bytes", c.bytesHeld ? Json(*c.bytesHeld) : Json(nullptr)},
          {"pinned", c.pinned},
          {"wait_ms", null_or(c.waitMs)},
          {"load_ms", null_or(c.loadMs)},
          {"model_loaded", c.modelLoaded}};
}

void send_finished(const ProfileCommand& c, const TurnResult& result) {
  if (!result.error.isEmpty()) c.fail(result.error, result.exit);
  if (result.error.isEmpty() && c.isSet("json")) {
    Json record = result.record ? to_ordered_json(*result.record) : Json::object();
    record["text"] = result.answer->text.toStdString();
    c.output().out(dumped(record));
  } else if (result.error.isEmpty()) {
    c.output().out(result.answer->text.toUtf8());
    if (result.record && !c.isSet("quiet")) {
      const TurnRecord& r = *result.record;
      c.output().err(tr("in %1 = %2 cached + %3 fresh, out %4, first %5, %6")
                         .arg(format::count(r.inputTotal.value_or(0)), format::count(r.inputCached.value_or(0)), format::count(r.inputFresh.value_or(0)),
                              format::count(r.output.value_or(0)), r.ttftMs ? format::measuredTime(*r.ttftMs) : format::unknown(), format::rate(r.decodeTps))
                         .toUtf8());
    }
  }
  if (result.error.isEmpty()) c.exit(0);
}

// The chat to send in: made when there is none of this name.
QString chat_for_send(ApplicationImpl& app, const ProfileCommand& c, const RunOptions& options, QString* error) {
  ChatServiceImpl& service = app.service();
  const QString name = c.value("chat");
  QString model = c.isSet("model") ? resolve_model(c.value("model"), app.models().folders()) : QString();
  if (!model.isEmpty() && !QFile::exists(model)) {
    *error = tr("The file is gone or cannot be read: %1.").arg(model);
    return {};
  }
  QString id = service.idOf(name);
  if (id.isEmpty()) id = service.createChat(name, model.isEmpty() ? app.models().defaultModel() : model, options.generation);
  if (!model.isEmpty()) service.setModel(id, model);
  return id;
}

void send(ApplicationImpl& app, const ProfileCommand& c) {
  ChatServiceImpl& service = app.service();
  if (c.value("chat").isEmpty() || !c.isSet("text")) return c.fail(tr("A send needs --chat and --text."), 2);
  RunOptions options;
  const QString known = service.idOf(c.value("chat"));
  if (!known.isEmpty()) options.generation = service.settings(known);
  const LoadOptions before = app.engine().loadDefaults();
  options.load = before;
  if (const QString refused = read_run_options(c.parser(), options); !refused.isEmpty()) return c.fail(refused, 2);
  if (c.value("text").trimmed().isEmpty() && options.attach.isEmpty()) return c.fail(tr("There is nothing to send."), 2);
  QString error;
  const QString id = chat_for_send(app, c, options, &error);
  if (id.isEmpty()) return c.fail(error, 2);
  app.engine().setLoadDefaults(options.load);
  service.whenOpen(id, [&app, c, id, options, before] {
    ChatServiceImpl& s = app.service();
    s.setSettings(id, options.generation);
    if (!options.templateFile.isEmpty()) s.setChatWindow(id, 0, options.templateFile);
    s.setNextExtras(id, options.extras);
    TurnDriver::drive(app, id, [&] { s.send(id, c.value("text"), options.attach); },
                      [&app, c, before](const TurnResult& result) {
                        app.engine().setLoadDefaults(before);
                        send_finished(c, result);
                      });
  });
}

void list(ApplicationImpl& app, const ProfileCommand& c) {
  Json chats = Json::array();
  const QVector<ChatInfo> all = app.service().chats();
  for (const ChatInfo& chat : all) {
    chats.push_back(chat_json(chat));
    if (!c.isSet("json")) c.output().out((chat.title + QStringLiteral("  ·  ") + words::tierBadge(chat) + QStringLiteral("  ·  ") + chat.modelName).toUtf8());
  }
  if (c.isSet("json")) c.output().out(dumped(Json{{"chats", chats}}));
  c.exit(0);
}

Json message_json(const MessageInfo& m, int number) {
  Json out{{"number", number > 0 ? Json(number) : Json(nullptr)}, {"id", m.id.toStdString()}, {"role", m.role.toStdString()}, {"text", m.text.toStdString()},
           {"thinking_text", m.thinkingText.toStdString()}, {"version", m.version}, {"versions", m.versions}, {"state", words::turnState(m.state).toStdString()}};
  if (!m.error.isEmpty()) out["error"] = m.error.toStdString();
  out["record"] = m.record ? to_ordered_json(*m.record) : Json(nullptr);
  return out;
}

void show(ApplicationImpl& app, const ProfileCommand& c, const QString& id) {
  app.service().whenOpen(id, [&app, c, id] {
    Json messages = Json::array();
    int number = 0;
    const QVector<MessageInfo> shown = app.service().messages(id);
    for (const MessageInfo& m : shown) {
      messages.push_back(message_json(m, m.role == QLatin1String("notice") ? 0 : ++number));
      if (!c.isSet("json")) c.output().out((m.role + QStringLiteral(": ") + m.text).toUtf8());
    }
    if (c.isSet("json")) {
      Json out = chat_json(*app.service().chat(id));
      out["messages"] = messages;
      c.output().out(dumped(out));
    }
    c.exit(0);
  });
}

void export_chat(ApplicationImpl& app, const ProfileCommand& c, const QString& id) {
  const QString format = c.value("format").isEmpty() ? QStringLiteral("json") : c.value("format");
  if (format != QLatin1String("json") && format != QLatin1String("md") && format != QLatin1String("csv")) return c.fail(tr("The format is json, md or csv."), 2);
  app.store().run([id](storage::ChatStore& store) { return store.bundle(id); }).then(&app, [c, format](const storage::Outcome<storage::ChatBundle>& bundle) {
    if (!bundle) return c.fail(words::sentence(bundle.failure(), false), 1);
    const QByteArray bytes = format == QLatin1String("md") ? export_markdown(*bundle) : format == QLatin1String("csv") ? export_csv(*bundle) : export_json(*bundle);
    if (!c.isSet("out")) {
      c.output().out(bytes);
      return c.exit(0);
    }
    QFile file(c.value("out"));
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.flush()) return c.fail(tr("The file cannot be written: %1.").arg(c.value("out")), 1);
    c.exit(0);
  });
}

void import_file(ApplicationImpl& app, const ProfileCommand& c) {
  QFile file(c.positional(0));
  if (!file.open(QIODevice::ReadOnly)) return c.fail(tr("The file is gone or cannot be read: %1.").arg(c.positional(0)), 2);
  QString sentence;
  const QVector<storage::ChatBundle> bundles = import_chats(file.readAll(), &sentence);
  if (bundles.isEmpty()) return c.fail(sentence, 2);
  const auto write = [bundles](storage::ChatStore& store) {
    return store.atomically([&]() -> storage::Status {
      for (const storage::ChatBundle& b : bundles) {
        if (auto done = store.insertBundle(b); !done) return done;
      }
      return storage::Done{};
    });
  };
  app.store().run(write).then(&app, [&app, c, bundles](const storage::Status& status) {
    if (!status) return c.fail(words::sentence(status.failure(), false), 1);
    Json imported = Json::array();
    for (const storage::ChatBundle& b : bundles) {
      app.service().addImported(b);
      imported.push_back({{"id", b.chat.id.toStdString()}, {"title", b.chat.title.toStdString()}, {"messages", b.messages.size()}});
    }
    c.say(Json{{"imported", imported}}, tr("%1 chats imported.").arg(bundles.size()));
  });
}

void fork(ApplicationImpl& app, const ProfileCommand& c, const QString& id) {
  app.service().whenOpen(id, [&app, c, id] {
    const QVector<MessageInfo> shown = app.service().messages(id);
    const int last = static_cast<int>(std::count_if(shown.begin(), shown.end(), [](const MessageInfo& m) { return m.role != QLatin1String("notice"); }));
    const QString after = app.service().messageIdOfNumber(id, c.isSet("after") ? c.value("after").toInt() : last);
    if (after.isEmpty()) return c.fail(tr("This chat has no such message."), 2);
    const QString title = c.isSet("as") ? c.value("as") : tr("%1 (fork)").arg(app.service().chat(id)->title);
    const QString copy = app.service().forkAs(id, after, title);
    c.say(Json{{"id", copy.toStdString()}, {"title", title.toStdString()}}, title);
  });
}

void search(ApplicationImpl& app, const ProfileCommand& c) {
  const QString words = c.positional(0);
  app.store().run([words](storage::ChatStore& store) { return store.search(words); }).then(&app, [c, words](const storage::Outcome<QVector<storage::SearchRow>>& rows) {
    if (!rows) return c.fail(words::sentence(rows.failure(), false), 1);
    Json hits = Json::array();
    QStringList lines;
    for (const storage::SearchRow& row : *rows) {
      QString snippet = row.snippet;
      snippet.remove(QChar(2)).remove(QChar(3));
      hits.push_back({{"chat", row.chatTitle.toStdString()}, {"chat_id", row.chatId.toStdString()}, {"message_id", row.messageId.toStdString()}, {"snippet", snippet.toStdString()}});
      lines << row.chatTitle + QStringLiteral(": ") + snippet;
    }
    c.say(Json{{"hits", hits}}, lines.isEmpty() ? tr("No chat contains “%1”.").arg(words) : lines.join(QLatin1Char('\n')));
  });
}

void chat(ApplicationImpl& app, const ProfileCommand& c) {
  const QString verb = c.verb();
  if (verb == QLatin1String("send")) return send(app, c);
  if (verb == QLatin1String("list")) return list(app, c);
  if (verb == QLatin1String("import")) return import_file(app, c);
  if (verb == QLatin1String("search")) return search(app, c);
  const QString name = c.isSet("chat") ? c.value("chat") : c.positional(0);
  const QString id = app.service().idOf(name);
  if (id.isEmpty()) return c.fail(tr("There is no chat named “%1”.").arg(name), 2);
  if (verb == QLatin1String("show")) return show(app, c, id);
  if (verb == QLatin1String("export")) return export_chat(app, c, id);
  if (verb == QLatin1String("fork")) return fork(app, c, id);
  if (verb == QLatin1String("rename")) {
    const QString title = c.isSet("title") ? c.value("title") : c.positional(c.isSet("chat") ? 0 : 1);
    if (title.trimmed().isEmpty()) return c.fail(tr("A chat needs a name."), 2);
    app.service().renameChat(id, title);
  } else {  // delete
    app.service().deleteChat(id);
  }
  c.settled(app, Json{{"ok", true}});
}

}  // namespace

QString profile_of(const QStringList& args) {
  for (qsizetype i = 0; i < args.size(); ++i) {
    if (args[i] == QLatin1String("--profile") && i + 1 < args.size()) return args[i + 1];
    if (args[i].startsWith(QLatin1String("--profile="))) return args[i].mid(10);
  }
  return {};
}

void run_profile_command(ApplicationImpl& app, const QStringList& args, const CommandOutput& output) {
  const ProfileCommand c(args, output);
  if (!c.refusal().isEmpty()) return c.fail(c.refusal(), 2);
  if (args.value(0) == QLatin1String("cache")) return cache_command(app, c);
  if (args.value(0) == QLatin1String("explain")) return explain_command(app, c);
  chat(app, c);
}

}  // namespace tg
