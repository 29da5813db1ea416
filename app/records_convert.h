// Between the three forms of one turn: the engine's report, the record people read, and the row on disk. Pure functions, any thread.
#pragma once
#include "app/chat_service.h"
#include "app/engine_port.h"
#include "app/turn_record.h"
#include "storage/records.h"

namespace tg {

// Figures of the engine; what only the services know (chat, turn number, prediction, cost, own energy) is left as it was in RECORD.
void fill_from_report(TurnRecord& record, const TurnReport& report, const Prompt& prompt, const PortModel& model);

// Tokens by kind: system, tools (where there are any), document, history, new; they add up to the prompt. The generation prompt belongs to `new`.
QVector<RecordSegment> segments_of(const Prompt& prompt);

storage::Turn to_row(const TurnRecord& record, const QString& chatId, const QString& settingsJson);
TurnRecord from_row(const storage::Turn& row, const QString& chatTitle, const QVector<int>& outputIds);

TurnState state_of(const storage::Message& message, const storage::Turn* turn);
storage::MessageState state_of(FinishReason reason);

}  // namespace tg
