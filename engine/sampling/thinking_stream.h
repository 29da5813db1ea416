// Splits a model's output into thinking and answer while it streams. Understands <think>, <thinking>, [THINK] and relatives, harmony
// channels (<|channel|>analysis<|message|>...<|end|>), Gemma's <|channel>thought, a block that the prompt opened, and a closer without opener.
// Thread: one stream belongs to one turn.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tg {

struct TextRun {
  std::string text;
  bool thinking = false;
  bool all_before_was_thinking = false;  // a closer came without an opener: what was given out as answer so far was thinking
};

class ThinkingStream {
 public:
  // STARTS_INSIDE: the prompt ends inside a thinking block; OPENER: how it was opened (the text of its marker), "" where not known.
  explicit ThinkingStream(bool starts_inside = false, std::string_view opener = {});

  // PIECE: bytes of one token. A control token is shown to nobody; it may be a marker.
  void feed(std::string_view piece, bool control, std::vector<TextRun>& out);
  // No more tokens: gives out what was held back because it might have become a marker.
  void finish(std::vector<TextRun>& out);

  bool thinking() const { return state_ == State::thinking; }
  bool answering() const { return state_ == State::answer || state_ == State::start; }  // neither thinking nor in a header
  bool at_start() const { return state_ == State::start; }  // nothing but white space came: thinking may still be opened
  int thinking_tokens() const { return thinking_tokens_; }  // markers included
  // What ends the open block in this model's way, control tokens written as text. Empty when not thinking.
  std::string closing_text() const;

 private:
  enum class State { start, answer, thinking, header };
  struct Match { std::size_t at = std::string::npos, length = 0; int marker = -1; };

  Match find_marker(bool control) const;
  std::size_t held_length(bool control) const;
  bool relevant(int marker, bool control) const;
  void enter(int marker, std::vector<TextRun>& out);
  void end_header(std::vector<TextRun>& out);
  void emit(std::string_view text, std::vector<TextRun>& out);
  void open(std::string_view closing);
  void count(bool is_thinking);

  State state_ = State::start;
  std::string buffer_;           // not yet decided
  std::string header_;           // harmony: text between <|channel|> and <|message|>
  bool header_ends_at_newline_ = false;
  std::string closing_;
  std::string held_space_;       // white space at the end of thinking, given out only if thinking goes on
  bool skip_space_ = false;      // white space after a marker belongs to neither text
  bool thought_ = false;         // a block was seen
  bool wrote_ = false;           // answer text was given out
  bool at_line_start_ = true;    // and ended with a newline
  bool token_is_thinking_ = false;
  int pending_tokens_ = 0, thinking_tokens_ = 0;
};

// Texts that begin thinking or a message's header, for whoever looks for their tokens; and those that end thinking.
std::vector<std::string_view> opening_markers();
std::vector<std::string_view> closing_markers();

// Whether a chat template (its Jinja SOURCE) is one of a model that thinks: it has a switch for it, fills in earlier thinking, or knows the marks.
bool template_thinks(std::string_view source);

// The marker that PROMPT ends with when it leaves a thinking block open ("<think>" in "...assistant\n<think>\n"); empty: none.
std::string open_thinking_marker(std::string_view prompt);

}  // namespace tg
