// From sampled tokens to what the user reads: thinking apart from the answer, whole characters, stop texts cut off.
// Thread: the worker's; one stream belongs to one turn.
#pragma once
#include <string>
#include <vector>

#include "engine/sampling/text_filter.h"
#include "engine/sampling/thinking_stream.h"
#include "engine/tokenizer/tokenizer.h"

namespace tg {

class AnswerStream {
 public:
  struct Piece { std::string text; bool thinking = false; };
  AnswerStream(const Tokenizer& tokenizer, const ThinkingStream& thinking, std::vector<std::string> stop);

  std::vector<Piece> add(TokenId id);  // what may be shown now
  std::vector<Piece> finish();
  bool stopped() const { return answer_.stopped(); }
  bool thinking() const { return thinking_.thinking(); }
  int thinking_tokens() const { return thinking_.thinking_tokens(); }
  std::string closing_text() const { return thinking_.closing_text(); }

  const std::string& text() const { return answer_.text(); }
  const std::string& thinking_text() const { return thought_.text(); }
  // A block that never ended although the model did: what it wrote is the answer.
  void settle(bool model_ended);
  std::string final_text, final_thinking;  // after settle()

 private:
  std::vector<Piece> pass(const std::vector<TextRun>& runs);
  const Tokenizer& tokenizer_;
  ThinkingStream thinking_;
  TextFilter answer_, thought_;
  std::string taken_back_;  // answer text that turned out to be thinking
};

}  // namespace tg
