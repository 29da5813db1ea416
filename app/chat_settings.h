// What a chat remembers beside its messages: generation settings (UI) and the state of its prompt. Kept as one JSON text in the chat's row.
// Pure functions, any thread.
#pragma once
#include <QJsonObject>
#include <QString>
#include <QStringList>

#include "app/chat_service.h"
#include "engine/chat_template/chat_template.h"
#include "engine/engine.h"

namespace tg {

// What leaves the prompt of a chat although it stays readable.
struct PromptCut {
  QString firstKept;               // id of the first message that is still sent; empty: all
  bool keepFirstTurn = false;      // head-tail: the first turn stays
  QStringList withoutDocuments;    // ids of messages whose documents were taken out
};

struct ChatSettings {
  GenerationSettings generation;
  PromptCut cut;
  int window = 0;                  // tokens; 0: the default
  QString templateFile;            // empty: the model's own
  ChatKeep keepOnClose = ChatKeep::BySize;
  int lastTokens = 0;              // of the last prompt and its answer: what a cold chat reads again
  QString fingerprint;             // of the model file that answered last; empty: none did
};

QJsonObject to_json(const GenerationSettings& settings);
GenerationSettings generation_from_json(const QJsonObject& json);  // unknown keys ignored, missing ones keep their default
QString to_text(const ChatSettings& settings);
ChatSettings chat_settings_from_text(const QString& text);

KeepOnClose engine_keep(ChatKeep keep);
std::optional<ChatKeep> chat_keep_named(const QString& name);      // by-size always never; unset: no such name

SamplingOptions sampling_of(const GenerationSettings& settings);
PromptOptions prompt_options_of(const GenerationSettings& settings);

// Sets one option by its name on the command line with underscores (CLI.md "options"); gives one sentence when the value is refused, or empty.
QString set_option(GenerationSettings& settings, const QString& name, const QJsonValue& value);
bool is_generation_option(const QString& name);

}  // namespace tg
