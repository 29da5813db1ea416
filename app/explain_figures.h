// The arithmetic behind app/explain: shares of the measured limits, what bounds a phase, what a step reads. Private to explain*.cpp.
#pragma once
#include <QCoreApplication>
#include <optional>

#include "app/turn_record.h"

namespace tg::explaining {

inline QString tr(const char* text) { return QCoreApplication::translate("Explain", text); }

enum class Bound { Unknown, Memory, Arithmetic };

// One phase against the limits of its time.
struct Phase {
  RecordPhase work;
  std::optional<double> memoryShare, arithmeticShare;   // percent; unset: not measured
  Bound bound = Bound::Unknown;
  std::optional<double> busyThreads;                    // on average; unset: not known, or not threads of a processor

  bool known() const { return work.steps > 0 && work.ms >= 0.001; }
  std::optional<double> share() const { return bound == Bound::Unknown ? std::nullopt : bound == Bound::Memory ? memoryShare : arithmeticShare; }
  bool nearLimit() const { return share().value_or(0) >= 50; }
};

Phase reading(const TurnRecord& record);
Phase writing(const TurnRecord& record);
bool keptWaiting(const Phase& phase, const TurnRecord& record);   // other programs took a core for a good part of it

double bytesPerStep(const Phase& phase);
double cacheBytesPerStep(const TurnRecord& record, const Phase& writing);   // what is not weights
std::optional<double> savedMs(const TurnRecord& record);          // of reading the cached tokens, by this turn's reading speed
std::optional<double> savedAtLeastMs(const TurnRecord& record);   // the same at the measured peak: no machine state is faster

constexpr int kTokensForARate = 32;   // fresh tokens below which a reading speed says more about one pass than about tokens

}  // namespace tg::explaining
