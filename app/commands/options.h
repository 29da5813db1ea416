// Options that chat commands and replay share: generation, engine and turn options by the names of CLI.md.
// Thread: any. Errors: one sentence in REFUSAL.
#pragma once
#include <QCommandLineParser>
#include <QJsonObject>

#include "app/chat_settings.h"
#include "app/chat_state.h"

namespace tg {

// What one command line or one "options" object asks for, beyond the chat's own settings.
struct RunOptions {
  GenerationSettings generation;
  LoadOptions load;
  TurnExtras extras;
  QString templateFile, toolsFile;
  QStringList attach;
  int window = 0;                            // of the chats; 0: as loaded
};

// Applies NAME (with underscores) = VALUE; gives a sentence when it is refused.
QString apply_option(RunOptions& options, const QString& name, const QJsonValue& value);
QString apply_options(RunOptions& options, const QJsonObject& object);

void add_run_options(QCommandLineParser& parser);            // --json and --quiet too
QString read_run_options(const QCommandLineParser& parser, RunOptions& options);

}  // namespace tg
