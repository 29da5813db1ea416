// What the chat service keeps in memory of one chat, and of one send on its way from the composer to the engine.
// Thread: the service's. Values and one owned runner.
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "app/chat_settings.h"
#include "app/conversation.h"
#include "app/engine_port.h"
#include "app/overflow.h"
#include "app/turn_runner.h"

namespace tg {

// What only the command line asks of a turn.
struct TurnExtras {
  bool useCache = true, logitsSha = false, ignoreEos = false;
  std::optional<std::vector<TokenId>> ids;  // sent as they are, instead of messages
  Json tools, templateArguments = Json::object();
  QString jsonSchema;                       // text; empty: the answer is free
};

struct Pending {
  enum class Kind { Send, Edit, Regenerate, Continue };
  Kind kind = Kind::Send;
  QString chatId, text, targetId;           // targetId: the message edited, regenerated or continued
  QStringList files;                        // still to be read
  QVector<storage::Attachment> attachments;
  PromptCut cut;                            // in force for this send
  int window = 0;                           // of the chat; 0: default
  std::optional<DropPlan> dropped;          // the cut is new with this send
  QString removedDocumentOf;                // likewise, by the choice "remove document"
  bool settled = false;                     // the user (or the chat's policy) has chosen; what does not fit now is refused
  bool storePolicy = false;                 // "always": on_full of the chat becomes POLICY
  QString policy;
  TurnExtras extras;
  PromptOutput prompt;
};

struct ChatState {
  enum class Opened { No, Opening, Yes };
  storage::Chat row;
  ChatSettings settings;
  Conversation conversation;
  Opened opened = Opened::No;
  QVector<std::function<void()>> when_open;
  std::unique_ptr<TurnRunner> running;
  bool preparing = false;                   // a send is being counted or written down
  bool stop_wanted = false;                 // stop() came while preparing
  std::optional<Pending> queued;
  QString last_activity;                    // "stopped" "error" or empty
  int last_exit = 0;                        // exit code of the command line for the last turn
  TurnExtras next_extras;                   // for the next send only
  bool busy() const { return preparing || running != nullptr; }
};

}  // namespace tg
