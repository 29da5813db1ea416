#include "engine/chat_template/text.h"

#include <algorithm>

#include "engine/base/text.h"

namespace tg::jinja {

Origin Text::origin_at(std::size_t at) const {
  if (runs_.empty()) return uniform_;
  const auto run = std::upper_bound(runs_.begin(), runs_.end(), at,
                                    [](std::size_t position, const Run& r) { return position < r.end; });
  return run == runs_.end() ? runs_.back().origin : run->origin;
}

std::vector<Run> Text::runs() const {
  if (!runs_.empty() || bytes_.empty()) return runs_;
  return {Run{bytes_.size(), uniform_}};
}

void Text::append(std::string_view bytes, Origin origin) {
  if (bytes.empty()) return;
  if (runs_.empty()) {
    if (bytes_.empty()) uniform_ = origin;
    if (uniform_ == origin) {
      bytes_.append(bytes);
      return;
    }
    runs_.push_back(Run{bytes_.size(), uniform_});
  }
  bytes_.append(bytes);
  if (runs_.back().origin == origin) {
    runs_.back().end = bytes_.size();
  } else {
    runs_.push_back(Run{bytes_.size(), origin});
  }
}

void Text::append(const Text& other, std::size_t begin, std::size_t end) {
  if (&other == this) return append(Text(other), begin, end);
  end = std::min(end, other.size());
  if (begin >= end) return;
  const std::string_view bytes = other.bytes_;
  if (other.runs_.empty()) return append(bytes.substr(begin, end - begin), other.uniform_);
  auto run = std::upper_bound(other.runs_.begin(), other.runs_.end(), begin,
                              [](std::size_t position, const Run& r) { return position < r.end; });
  for (; begin < end && run != other.runs_.end(); ++run) {
    const std::size_t stop = std::min(end, run->end);
    append(bytes.substr(begin, stop - begin), run->origin);
    begin = stop;
  }
}

Text Text::slice(std::size_t begin, std::size_t end) const {
  Text part;
  part.append(*this, begin, end);
  part.markup_ = markup_;
  return part;
}

void Text::claim(Origin origin) {
  if (runs_.empty()) {
    if (uniform_.plain()) uniform_ = origin;
    return;
  }
  for (Run& run : runs_) {
    if (run.origin.plain()) run.origin = origin;
  }
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += decode_utf8(text, at).length) ++count;
  return count;
}

std::size_t offset_of_character(std::string_view text, std::size_t index) {
  std::size_t at = 0;
  for (; index > 0 && at < text.size(); --index) at += decode_utf8(text, at).length;
  return at;
}

std::vector<std::size_t> character_offsets(std::string_view text) {
  std::vector<std::size_t> offsets;
  offsets.reserve(text.size() + 1);
  for (std::size_t at = 0; at < text.size(); at += decode_utf8(text, at).length) offsets.push_back(at);
  offsets.push_back(text.size());
  return offsets;
}

Text trimmed(const Text& text, const CharacterPredicate& strip, bool left, bool right) {
  const std::string_view bytes = text.bytes();
  std::size_t begin = 0;
  while (left && begin < bytes.size()) {
    const CodePoint c = decode_utf8(bytes, begin);
    if (!strip(c.value)) break;
    begin += c.length;
  }
  std::size_t end = bytes.size();
  while (right && end > begin) {
    std::size_t start = end - 1;  // back over continuation bytes; a stray one is a character of its own
    while (start > begin && end - start < 4 && (static_cast<unsigned char>(bytes[start]) & 0xC0U) == 0x80U) --start;
    CodePoint c = decode_utf8(bytes, start);
    if (start + c.length != end) c = CodePoint{};
    if (!strip(c.value)) break;
    end -= c.length;
  }
  return text.slice(begin, end);
}

Text replaced(const Text& text, std::string_view from, const Text& to, std::ptrdiff_t count) {
  Text result;
  const std::string_view bytes = text.bytes();
  std::size_t done = 0;
  if (from.empty()) {  // as Python: between all characters and at both ends
    for (std::size_t at = 0; count != 0 && result.size() <= kMaxTextBytes; --count) {
      result.append(to);
      if (at >= bytes.size()) return result;
      const std::size_t next = at + decode_utf8(bytes, at).length;
      result.append(text, at, next);
      done = at = next;
    }
  } else {
    for (; count != 0 && result.size() <= kMaxTextBytes; --count) {
      const std::size_t hit = bytes.find(from, done);
      if (hit == std::string_view::npos) break;
      result.append(text, done, hit);
      result.append(to);
      done = hit + from.size();
    }
  }
  result.append(text, done, bytes.size());
  return result;
}

Text mapped(const Text& text, const std::function<void(std::uint32_t, std::string_view, std::string&)>& map) {
  Text result;
  const std::string_view bytes = text.bytes();
  std::string out;
  std::size_t at = 0;
  for (const Run& run : text.runs()) {
    out.clear();
    while (at < run.end) {
      const CodePoint c = decode_utf8(bytes, at);
      map(c.value, bytes.substr(at, c.length), out);
      at += c.length;
    }
    result.append(out, run.origin);
  }
  return result;
}

Text escaped(const Text& text) {
  Text result = mapped(text, [](std::uint32_t c, std::string_view bytes, std::string& out) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&#34;"; break;
      case '\'': out += "&#39;"; break;
      default: out.append(bytes);
    }
  });
  result.set_markup(true);
  return result;
}

}  // namespace tg::jinja
