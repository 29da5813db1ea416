// What would have made a turn faster: one sentence about its longest part, and estimates by arithmetic. Private to explain*.cpp.
#pragma once
#include "app/explain.h"

namespace tg::explaining {

QString fasterSentence(const TurnRecord& record);
void addLevers(Explanation& out, const TurnRecord& record);

}  // namespace tg::explaining
