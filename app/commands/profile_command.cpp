#include "app/commands/profile_command.h"

#include "app/commands/options.h"
#include "app/error_words.h"

namespace tg {

std::shared_ptr<QCommandLineParser> profile_command_parser() {
  auto parser = std::make_shared<QCommandLineParser>();
  const auto tr = [](const char* text) { return QCoreApplication::translate("Chats", text); };
  parser->setApplicationDescription(tr("chat send|list|show|export|import|rename|delete|fork|search\ncache list|keep|evict|pin|unpin|budget|clear\nexplain --turn ID"));
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
  if (words_.isEmpty() && args.value(0) != QLatin1String("explain") && refusal_.isEmpty()) refusal_ = QCoreApplication::translate("Chats", "Say what to do: %1 --help lists it.").arg(args.value(0));
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
