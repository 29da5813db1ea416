// One turn as arithmetic in words (UI.md 7 "Explain"): the same text in the inspector and of `explain --turn`. All from the record.
// Pure functions, any thread; needs no engine header.
#pragma once
#include <QString>
#include <QStringList>
#include <QVector>

#include "app/turn_record.h"

namespace tg {

struct ExplainFigure { QString name, value; };     // value format::unknown(): the record does not know it

struct ExplainPart {
  QString id;                         // reading writing cache first_token memory
  QString title;
  QStringList sentences;
  QVector<ExplainFigure> figures;
};

struct ExplainLever { QString lever, effect; };    // effects are estimates

struct Explanation {
  QVector<ExplainPart> parts;
  QString faster;                     // what would have made this turn faster, one sentence
  QVector<ExplainLever> levers;
  QString leftOut;                    // levers whose effect cannot be told from this record; empty: none
  QString limits;                     // of which machine the shares are and when it was measured, or why there are none

  QString text() const;               // for copying and the command line
};

Explanation explain(const TurnRecord& record);

}  // namespace tg
