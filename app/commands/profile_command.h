// The parsed words of one `chat …`, `cache …` or `explain …` command and where its answer goes. Thread: the application's. A value; copies share the parser.
#pragma once
#include <QCommandLineParser>
#include <memory>

#include "app/application_impl.h"

namespace tg {

class ProfileCommand {
 public:
  ProfileCommand(const QStringList& args, CommandOutput output);

  QString refusal() const { return refusal_; }         // one sentence; empty: parsed
  QString verb() const { return words_.value(0); }
  QString positional(qsizetype i) const { return words_.value(i + 1); }
  bool isSet(const char* option) const { return parser_->isSet(QString::fromLatin1(option)); }
  QString value(const char* option) const { return parser_->value(QString::fromLatin1(option)); }
  const QCommandLineParser& parser() const { return *parser_; }
  const CommandOutput& output() const { return output_; }

  void fail(const QString& sentence, int code) const;
  void exit(int code) const { output_.exit(code); }
  void say(const Json& json, const QString& text) const;     // one of the two, then exit 0
  void settled(ApplicationImpl& app, const Json& json) const;  // after everything given to the store is on disk

 private:
  std::shared_ptr<QCommandLineParser> parser_;
  QStringList words_;
  CommandOutput output_;
  QString refusal_;
};

// The parser of these commands, for --help.
std::shared_ptr<QCommandLineParser> profile_command_parser();

}  // namespace tg
