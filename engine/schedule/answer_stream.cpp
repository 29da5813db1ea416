#include "engine/schedule/answer_stream.h"

#include <algorithm>
#include <utility>

namespace tg {

AnswerStream::AnswerStream(const Tokenizer& tokenizer, const ThinkingStream& thinking, std::vector<std::string> stop)
    : tokenizer_(tokenizer), thinking_(thinking), answer_(std::move(stop)) {}

std::vector<AnswerStream::Piece> AnswerStream::pass(const std::vector<TextRun>& runs) {
  std::vector<Piece> out;
  for (const TextRun& run : runs) {
    if (run.all_before_was_thinking) taken_back_ = answer_.text();
    std::string shown = run.thinking ? thought_.feed(run.text) : answer_.feed(run.text);
    if (!shown.empty()) out.push_back({std::move(shown), run.thinking});
  }
  return out;
}

std::vector<AnswerStream::Piece> AnswerStream::add(TokenId id) {
  const bool control = tokenizer_.kind(id) == TokenKind::control;
  std::vector<TextRun> runs;
  thinking_.feed(tokenizer_.piece(id, control), control, runs);
  return pass(runs);
}

std::vector<AnswerStream::Piece> AnswerStream::finish() {
  std::vector<TextRun> runs;
  thinking_.finish(runs);
  std::vector<Piece> out = pass(runs);
  if (std::string rest = thought_.finish(); !rest.empty()) out.push_back({std::move(rest), true});
  if (std::string rest = answer_.finish(); !rest.empty()) out.push_back({std::move(rest), false});
  return out;
}

void AnswerStream::settle(bool model_ended) {
  final_text = answer_.text().substr(taken_back_.size());
  final_thinking = taken_back_ + thought_.text();
  const bool empty = std::all_of(final_text.begin(), final_text.end(), [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; });
  if (empty && model_ended && !final_thinking.empty()) final_text = std::exchange(final_thinking, {});
}

}  // namespace tg
