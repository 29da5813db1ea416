#include "app/commands/profile_command.h"

#include "app/commands/options.h"
#include "app/error_words.h"

namespace tg {
namespace {

constexpr auto kChatVerbs = "send|list|show|export|import|rename|delete|fork|search", kCacheVerbs = "list|keep|evict|pin|unpin|budget|clear";

// Why these words are no command; empty: they are one.
QString refusal_of(const QString& kind, const QStringList& words) {
  if (kind == QLatin1String("explain")) return {};
  const auto tr = [](const char* text) { return QCoreApplication::translate("Chats", text); };
  const QString verbs = QString::fromLatin1(kind == QLatin1String("cache") ? kCacheVerbs : kChatVerbs);
  if (words.isEmpty()) return tr("Say what to do: %1 %2.").arg(kind, verbs);
  if (!verbs.split(QLatin1Char('|')).contains(words[0])) return tr("There is no command “%1 %2”; %1 takes %3.").arg(kind, words[0], verbs);
  return {};
}

}  // namespace

std::shared_ptr<QCommandLineParser> profile_command_parser() {
  auto parser = std::make_shared<QCommandLineParser>();
  const auto tr = [](const char* text) { return QCoreApplication::translate("Chats", text); };
  parser->setApplicationDescription(QStringLiteral("chat %1\ncache %2\nexplain --turn ID").arg(QLatin1String(kChatVerbs), QLatin1String(kCacheVerbs)));
  parser->addPositionalArgument(QStringLiteral("VERB"), tr("What to do"));
  const QString name = QStringLiteral("NAME"), text = QStringLiteral("TEXT"), file = QStringLiteral("FILE"), bytes = QStringLiteral("BYTES");
  parser->addOption({QStringLiteral("chat"), tr("Title or id of the chat"), name});
  parser->addOption({QStringLiteral("model"), tr("Model file or name"), QStringLiteral("MODEL")});
  parser->addOption({QStringLiteral("text"), tr("Message to send"), text});
  parser->addOption({QStringLiteral("title"), tr("New title"), name});
  parser->addOption({QStringLiteral("as"), tr("Title of the fork"), name});
  parser->addOption({QStringLiteral("after"), tr("Last message a fork keeps"), QStringLiteral("N")});
  parser->addOption({QStringLiteral("format"), tr("json, md or csv"), QStringLiteral("FORMAT")});
  parser->addOption({QStringLiteral("out"), tr("File to write"), file});
  parser->addOption({QStringLiteral("on-close"), tr("Keep the chat's cache on disk when the program closes: by-size, always or never"), QStringLiteral("WHEN")});
  parser->addOption({QStringLiteral("keep-max"), tr("Largest cache that is kept by size"), QStringLiteral("BYTES")});
  parser->addOption({QStringLiteral("idle"), tr("A cache unused for so long leaves memory; 0: never"), QStringLiteral("MINUTES")});
  parser->addOption({QStringLiteral("turn"), tr("message_id of the turn to explain"), QStringLiteral("ID")});
  parser->addOption({QStringLiteral("tier"), tr("gpu, ram or disk"), QStringLiteral("TIER")});
  parser->addOption({QStringLiteral("gpu"), tr("Budget"), bytes});
  parser->addOption({QStringLiteral("ram"), tr("Budget"), bytes});
  parser->addOption({QStringLiteral("disk"), tr("Budget"), bytes});
  parser->addOption({QStringLiteral("profile"), tr("Folder of all data"), QStringLiteral("DIR")});
  parser->addHelpOption();
  add_run_options(*parser);
  return parser;
}

ProfileCommand::ProfileCommand(const QStringList& args, CommandOutput output) : parser_(profile_command_parser()), output_(std::move(output)) {
  if (!parser_->parse(args)) refusal_ = parser_->errorText() + QLatin1Char('.');
  words_ = parser_->positionalArguments();
  if (refusal_.isEmpty()) refusal_ = refusal_of(args.value(0), words_);
}

void ProfileCommand::fail(const QString& sentence, int code) const {
  output_.err(sentence.toUtf8());
  output_.exit(code);
}

void ProfileCommand::say(const Json& json, const QString& text) const {
  const bool as_json = isSet("json");
  if (as_json || !text.isEmpty()) output_.out(as_json ? QByteArray::fromStdString(json.dump(-1, ' ', false, Json::error_handler_t::replace)) : text.toUtf8());
  output_.exit(0);
}

void ProfileCommand::settled(ApplicationImpl& app, const Json& json) const {
  // Jobs run in order: when this one is done, so are those before it.
  app.store().run([](storage::ChatStore& store) { return store.database() != nullptr; }).then(&app, [c = *this, json](bool) { c.say(json, {}); });
}

}  // namespace tg
