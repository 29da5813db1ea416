#include "engine/sampling/thinking_stream.h"

#include <algorithm>
#include <array>

namespace tg {
namespace {

enum class Role { opener, closer, header, header_end, message_end };

struct Marker {
  std::string_view text;
  Role role;
  std::string_view closing;  // openers: what a model of this family writes to end the block
};

constexpr std::string_view kHarmonyClosing = "<|end|><|start|>assistant<|channel|>final<|message|>";

constexpr std::array kMarkers{
    Marker{"<think>", Role::opener, "\n</think>\n\n"},
    Marker{"</think>", Role::closer, {}},
    Marker{"<thinking>", Role::opener, "\n</thinking>\n\n"},
    Marker{"</thinking>", Role::closer, {}},
    Marker{"<thought>", Role::opener, "\n</thought>\n\n"},
    Marker{"</thought>", Role::closer, {}},
    Marker{"<reasoning>", Role::opener, "\n</reasoning>\n\n"},
    Marker{"</reasoning>", Role::closer, {}},
    Marker{"[THINK]", Role::opener, "[/THINK]"},
    Marker{"[/THINK]", Role::closer, {}},
    Marker{"<seed:think>", Role::opener, "</seed:think>"},
    Marker{"</seed:think>", Role::closer, {}},
    Marker{"<|START_THINKING|>", Role::opener, "<|END_THINKING|><|START_RESPONSE|>"},
    Marker{"<|END_THINKING|>", Role::closer, {}},
    Marker{"<|inner_prefix|>", Role::opener, "<|inner_suffix|>"},
    Marker{"<|inner_suffix|>", Role::closer, {}},
    Marker{"\u25C1think\u25B7", Role::opener, "\u25C1/think\u25B7"},
    Marker{"\u25C1/think\u25B7", Role::closer, {}},
    Marker{"<|channel>", Role::header, "<channel|>"},  // Gemma 4: the name ends at the newline
    Marker{"<channel|>", Role::closer, {}},
    Marker{"<|channel|>", Role::header, kHarmonyClosing},
    Marker{"<|start|>", Role::header, kHarmonyClosing},
    Marker{"<|message|>", Role::header_end, {}},
    Marker{"<|end|>", Role::message_end, {}},
};

const Marker& marker_at(int i) { return kMarkers[static_cast<std::size_t>(i)]; }
bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool all_space(std::string_view text) { return std::all_of(text.begin(), text.end(), is_space); }

std::string_view trimmed_end(std::string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool names_thinking(std::string_view channel) {
  return channel.find("analysis") != std::string_view::npos || channel.find("thought") != std::string_view::npos ||
         channel.find("think") != std::string_view::npos;
}

}  // namespace

ThinkingStream::ThinkingStream(bool starts_inside, std::string_view opener) {
  if (!starts_inside) return;
  std::string_view closing = marker_at(0).closing;
  for (const Marker& m : kMarkers)
    if (!opener.empty() && m.text == opener && !m.closing.empty()) closing = m.closing;
  open(closing);
}

void ThinkingStream::open(std::string_view closing) {
  state_ = State::thinking;
  thought_ = true;
  skip_space_ = true;
  closing_ = closing;
}

std::string ThinkingStream::closing_text() const { return state_ == State::thinking ? closing_ : std::string{}; }

// Text of a model that merely writes about markers must pass: as plain text an opener counts only where the answer would begin, a closer
// only inside a block or, once, where none was opened.
bool ThinkingStream::relevant(int marker, bool control) const {
  const Role role = marker_at(marker).role;
  switch (state_) {
    case State::header: return role == Role::header_end || role == Role::message_end || role == Role::header;
    case State::thinking: return role == Role::closer || (closing_ == kHarmonyClosing && (role == Role::message_end || role == Role::header));
    case State::start: return role != Role::header_end;
    case State::answer: return control ? role != Role::header_end : role == Role::closer && !thought_;
  }
  return false;
}

ThinkingStream::Match ThinkingStream::find_marker(bool control) const {
  Match best;
  for (int i = 0; i < static_cast<int>(kMarkers.size()); ++i) {
    if (!relevant(i, control)) continue;
    const std::string_view text = marker_at(i).text;
    const std::size_t at = buffer_.find(text);
    if (at == std::string::npos || at > best.at || (at == best.at && text.size() < best.length)) continue;
    const std::string_view before = std::string_view(buffer_).substr(0, at);
    if (state_ == State::start && marker_at(i).role == Role::opener && !all_space(before)) continue;
    // A lone closer must stand at the start of a line.
    if (state_ == State::answer && !control && !(before.empty() ? at_line_start_ : before.back() == '\n')) continue;
    best = {at, text.size(), i};
  }
  return best;
}

// The longest end of the buffer that could still become a marker.
std::size_t ThinkingStream::held_length(bool control) const {
  std::size_t held = 0;
  for (int i = 0; i < static_cast<int>(kMarkers.size()); ++i) {
    if (!relevant(i, control)) continue;
    const std::string_view text = marker_at(i).text;
    for (std::size_t n = std::min(text.size() - 1, buffer_.size()); n > held; --n)
      if (buffer_.compare(buffer_.size() - n, n, text.substr(0, n)) == 0) {
        held = n;
        break;
      }
  }
  return held;
}

void ThinkingStream::count(bool is_thinking) {
  if (is_thinking) {
    thinking_tokens_ += pending_tokens_ + (token_is_thinking_ ? 0 : 1);
    token_is_thinking_ = true;
  }
  pending_tokens_ = 0;
}

void ThinkingStream::emit(std::string_view text, std::vector<TextRun>& out) {
  if (state_ == State::header) {
    header_ += text;
    return;
  }
  if (skip_space_)
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  if (state_ == State::thinking) count(true);
  if (text.empty()) return;
  skip_space_ = false;
  const bool thinking = state_ == State::thinking;
  std::string shown = thinking ? held_space_ : std::string{};
  if (thinking) {
    const std::string_view solid = trimmed_end(text);
    if (solid.empty()) {
      held_space_ += text;
      return;
    }
    held_space_ = text.substr(solid.size());
    text = solid;
  } else {
    wrote_ = true;
    at_line_start_ = text.back() == '\n';
    count(false);
  }
  shown += text;
  out.push_back({std::move(shown), thinking, false});
}

void ThinkingStream::end_header(std::vector<TextRun>& out) {
  const bool thinks = names_thinking(header_);
  header_.clear();
  if (thinks) {
    const std::string closing = closing_;
    open(closing);
    count(true);
  } else {
    state_ = State::answer;
    skip_space_ = !wrote_;
    count(false);
  }
  static_cast<void>(out);
}

void ThinkingStream::enter(int marker, std::vector<TextRun>& out) {
  const Marker& m = marker_at(marker);
  switch (m.role) {
    case Role::opener:
      open(m.closing);
      count(true);
      break;
    case Role::closer:
      if (state_ != State::thinking && !thought_) out.push_back({{}, true, true});
      [[fallthrough]];
    case Role::message_end:
      count(state_ == State::thinking || m.role == Role::closer);
      state_ = State::answer;
      thought_ = true;
      held_space_.clear();
      skip_space_ = true;
      wrote_ = false;
      break;
    case Role::header:
      if (state_ == State::thinking) count(true);
      state_ = State::header;
      held_space_.clear();
      header_.clear();
      header_ends_at_newline_ = m.text == "<|channel>";
      closing_ = m.closing;
      break;
    case Role::header_end:
      end_header(out);
      break;
  }
}

void ThinkingStream::feed(std::string_view piece, bool control, std::vector<TextRun>& out) {
  token_is_thinking_ = false;
  if (control && !buffer_.empty()) {  // a control token never continues plain text
    emit(buffer_, out);
    buffer_.clear();
    if (state_ == State::start && wrote_) state_ = State::answer;
  }
  buffer_ += piece;
  for (Match m = find_marker(control); m.marker >= 0; m = find_marker(control)) {
    if (m.at > 0 && !(state_ == State::start && all_space(std::string_view(buffer_).substr(0, m.at)))) emit(std::string_view(buffer_).substr(0, m.at), out);
    buffer_.erase(0, m.at + m.length);
    enter(m.marker, out);
  }
  if (control) {
    buffer_.clear();
    if (!token_is_thinking_ && state_ == State::header) ++pending_tokens_;
    if (!token_is_thinking_ && state_ == State::thinking) count(true);
    return;
  }
  if (state_ == State::header && header_ends_at_newline_) {
    const std::size_t end = buffer_.find('\n');
    if (end != std::string::npos) {
      header_ += buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      end_header(out);
    }
  }
  const std::size_t held = held_length(control);
  const std::string_view free = std::string_view(buffer_).substr(0, buffer_.size() - held);
  if (state_ == State::start) {
    if (all_space(free)) {  // undecided: the opener may follow
      ++pending_tokens_;
      return;
    }
    state_ = State::answer;
  }
  if (!free.empty()) emit(free, out);
  buffer_.erase(0, free.size());
  if (state_ == State::thinking) {
    count(true);
  } else if (!token_is_thinking_ && (held > 0 || state_ == State::header)) {
    ++pending_tokens_;
  }
}

void ThinkingStream::finish(std::vector<TextRun>& out) {
  if (state_ == State::start) state_ = State::answer;
  if (state_ != State::header && !buffer_.empty()) {
    token_is_thinking_ = true;  // its token is counted already
    emit(buffer_, out);
  }
  buffer_.clear();
}

std::vector<std::string_view> opening_markers() {
  std::vector<std::string_view> out;
  for (const Marker& m : kMarkers)
    if (m.role == Role::opener || m.role == Role::header) out.push_back(m.text);
  return out;
}

std::vector<std::string_view> closing_markers() {
  std::vector<std::string_view> out;
  for (const Marker& m : kMarkers)
    if (m.role == Role::closer) out.push_back(m.text);
  return out;
}

bool template_thinks(std::string_view source) {
  std::vector<std::string_view> words = closing_markers();
  for (const std::string_view marker : opening_markers())
    if (marker != "<|start|>") words.push_back(marker);  // a header of other families too
  words.insert(words.end(), {"thinking", "reasoning_content", "reasoning_effort"});
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return source.find(word) != std::string_view::npos; });
}

std::string open_thinking_marker(std::string_view prompt) {
  const std::string_view text = trimmed_end(prompt);
  for (const Marker& m : kMarkers)
    if (m.role == Role::opener && text.ends_with(m.text)) return std::string(m.text);
  if (text.ends_with("<|channel>thought")) return "<|channel>";
  if (text.ends_with("<|channel|>analysis<|message|>")) return "<|channel|>";
  return {};
}

}  // namespace tg
