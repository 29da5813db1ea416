// A string that remembers where its bytes come from, so that a rendered prompt can say which of them a message brought.
// Thread: a plain value. Bytes are UTF-8 by convention; invalid bytes count as one character each and are kept.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tg::jinja {

// No text of a render grows longer; whoever makes one longer stops there and is refused.
inline constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20;

struct Origin {
  std::int32_t message = -1;  // index into `messages`; -1: none
  bool content = false;       // data of the context (message content, tools, documents): special tokens in it stay text
  bool tools = false;         // comes from the tool definitions
  bool operator==(const Origin&) const = default;
  bool plain() const { return message < 0 && !content && !tools; }
};

// Bytes up to `end` (from the end of the run before) have one origin.
struct Run {
  std::size_t end = 0;
  Origin origin;
};

class Text {
 public:
  Text() = default;
  explicit Text(std::string bytes, Origin origin = {}) : bytes_(std::move(bytes)), uniform_(origin) {}

  const std::string& bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  Origin origin_at(std::size_t at) const;
  // Runs of bytes [begin, end) in order, without gaps.
  std::vector<Run> runs() const;

  void append(std::string_view bytes, Origin origin = {});
  void append(const Text& other) { append(other, 0, other.size()); }
  void append(const Text& other, std::size_t begin, std::size_t end);
  Text slice(std::size_t begin, std::size_t end) const;  // bytes; clamped
  // Gives every run without an origin this one.
  void claim(Origin origin);
  // What the filters safe and escape make (Jinja's Markup): text added to it is escaped. Copies and slices keep the mark.
  bool is_markup() const { return markup_; }
  void set_markup(bool markup) { markup_ = markup; }

 private:
  std::string bytes_;
  Origin uniform_;         // while runs_ is empty: the origin of all bytes
  std::vector<Run> runs_;  // covers all bytes when not empty
  bool markup_ = false;
};

// ---- Characters ----------------------------------------------------------------------------------------------------
std::size_t count_characters(std::string_view text);
// Byte offset of character INDEX (clamped to the end).
std::size_t offset_of_character(std::string_view text, std::size_t index);
// Byte offsets of all characters, and the size at the end.
std::vector<std::size_t> character_offsets(std::string_view text);
bool is_space(std::uint32_t code_point);      // what Python's str.isspace() says
bool is_printable(std::uint32_t code_point);  // what Python's str.isprintable() says
bool is_letter(std::uint32_t code_point);
bool is_digit(std::uint32_t code_point);
bool is_upper(std::uint32_t code_point);
bool is_lower(std::uint32_t code_point);
bool is_cased(std::uint32_t code_point);

// ---- Operations that keep origins ----------------------------------------------------------------------------------
using CharacterPredicate = std::function<bool(std::uint32_t)>;
Text trimmed(const Text& text, const CharacterPredicate& strip, bool left, bool right);
Text replaced(const Text& text, std::string_view from, const Text& to, std::ptrdiff_t count);  // count < 0: all
enum class CaseChange : std::uint8_t { upper, lower, title, capitalize, swap };
Text with_case(const Text& text, CaseChange change);
// Maps each character to text with the character's origin.
Text mapped(const Text& text, const std::function<void(std::uint32_t, std::string_view, std::string&)>& map);
Text escaped(const Text& text);  // as HTML, whether it is markup or not; the result is markup

}  // namespace tg::jinja
