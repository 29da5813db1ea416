// What a turn tells while it runs. Part of the facade engine/engine.h.
// Thread: called on the engine's worker; an implementation returns at once.
#pragma once
#include <string>

#include "engine/schedule/turn_types.h"

namespace tg {

struct TurnProgress { int done = 0, total = 0, cached = 0; double tokens_per_second = 0; };
struct TurnToken { TokenId id = 0; std::string text; bool thinking = false; int n_output = 0, n_thinking = 0; double tokens_per_second = 0; };

class TurnListener {
 public:
  virtual ~TurnListener() = default;
  virtual void queued(int position) { static_cast<void>(position); }
  virtual void reading(const TurnProgress& progress) = 0;  // first within 500 ms, then at least twice a second
  virtual void token(const TurnToken& token) = 0;          // text: whole UTF-8 characters, stop text never shown
  virtual void finished(const TurnReport& report) = 0;     // last call, also after cancel and error
};

}  // namespace tg
