// What can leave a prompt that is larger than its window, worked out from the sizes of its messages. Pure functions, any thread.
#pragma once
#include <QHash>
#include <QString>
#include <QVector>

#include "app/chat_service.h"
#include "app/chat_settings.h"
#include "engine/chat_template/chat_template.h"
#include "storage/records.h"

namespace tg {

// Share of the window that a prompt may have after turns were dropped in one step, so that the next turns hit the cache again.
inline constexpr double kFillAfterDrop = 0.85;

// Tokens kept free for the answer: the answer's limit, at most a quarter of the window (a small window would hold nothing else).
int answer_kept(int max_tokens, int window);

// A turn of the prompt: one user message with what answers it.
struct PromptTurn {
  int number = 0;                  // 1, 2 … within the chat, as the reader counts
  QString firstMessage, nextMessage;  // ids: of its user message; of the first message after it (empty: none)
  int tokens = 0;
};

// PATH without the new message; PROMPT built of it (and the new message) with CUT in force and a system text when HAS_SYSTEM.
QVector<PromptTurn> prompt_turns(const QVector<storage::Message>& path, const Prompt& prompt, const PromptCut& cut, bool has_system);

struct DropPlan {
  bool possible = false;
  int turns = 0, tokens = 0, firstTurn = -1, lastTurn = -1;
  PromptCut cut;                   // to be in force afterwards
};
// Drops the oldest turns (KEEP_FIRST: not the very first one). DROP_TURNS 0: the fewest that bring prompt + answer down to kFillAfterDrop of the window.
DropPlan plan_drop(const QVector<PromptTurn>& turns, const PromptCut& now, int prompt, int answer, int window, bool keep_first, int drop_turns);

// Smallest window that holds PROMPT + ANSWER by doubling WINDOW, at most MODEL_WINDOW; 0: none does.
int widened(int prompt, int answer, int window, int model_window);

}  // namespace tg
