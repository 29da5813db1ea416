// The program's sentences about turns, tiers and errors (UI.md section 12), in one place and translated. Pure functions, any thread; needs no engine header.
#pragma once
#include <QString>
#include <optional>

#include "app/chat_service.h"
#include "app/turn_record.h"

namespace tg::words {

// Tokens that were read although they could have been reused, or had been in the prompt before: the N of the sentences.
int readAgain(const TurnRecord& record);
QString missShort(const TurnRecord& record);     // for the footer; empty: nothing to say
QString missSentence(const TurnRecord& record);

QString tierBadge(const ChatInfo& chat);         // "in RAM", "partly in RAM, 8 192 of 12 892", "cold"
QString tierSentence(const ChatInfo& chat);
QString movementReason(const QString& code);     // UI.md 12.3 from the engine's code
QString turnState(TurnState state);              // one word for a chip; empty: None
QString finishReason(const QString& code);       // "end of the answer", "limit of the answer reached", ...

}  // namespace tg::words
