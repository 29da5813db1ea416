// A constraint for the answer alone: thinking and the headers of messages before it stay free.
// Thread: belongs to one turn.
#pragma once
#include <memory>

#include "engine/sampling/sampler.h"
#include "engine/sampling/thinking_stream.h"
#include "engine/tokenizer/tokenizer.h"

namespace tg {

// STREAM: as the turn begins. Before the answer's first mark the model may open thinking where it does so by a token of its own (MAY_THINK).
// While it thinks it may not end the turn, nor write a token that ends thinking and goes on with text, which nothing would hold to the answer's form.
std::unique_ptr<TokenConstraint> constrain_answer(std::unique_ptr<TokenConstraint> answer, std::shared_ptr<const Tokenizer> tokenizer,
                                                  const ThinkingStream& stream, bool may_think);

}  // namespace tg
