#include "engine/sampling/text_filter.h"

#include <algorithm>
#include <utility>

#include "engine/base/text.h"

namespace tg {
namespace {

// Length of the beginning of TEXT that holds no unfinished character.
std::size_t whole_characters(std::string_view text) {
  const std::size_t look = std::min<std::size_t>(3, text.size());
  for (std::size_t back = 1; back <= look; ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) return text.size();
    if (byte >= 0xC0) {
      const std::size_t needed = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
      return needed > back ? text.size() - back : text.size();
    }
  }
  return text.size();
}

std::string repaired(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint c = decode_utf8(bytes, at);
    append_utf8(out, c.valid ? c.value : 0xFFFD);
    at += std::max<std::size_t>(c.length, 1);
  }
  return out;
}

}  // namespace

TextFilter::TextFilter(std::vector<std::string> stop) : stop_(std::move(stop)) {
  std::erase_if(stop_, [](const std::string& s) { return s.empty(); });
}

std::string TextFilter::release(std::size_t n) {
  std::string shown = repaired(std::string_view(held_).substr(0, n));
  held_.erase(0, n);
  text_ += shown;
  return shown;
}

std::string TextFilter::feed(std::string_view bytes) {
  if (stopped_) return {};
  held_ += bytes;
  std::size_t first = std::string::npos;
  for (const std::string& s : stop_) first = std::min(first, held_.find(s));
  if (first != std::string::npos) {
    stopped_ = true;
    std::string shown = release(first);
    held_.clear();
    return shown;
  }
  std::size_t keep = 0;
  for (const std::string& s : stop_)
    for (std::size_t n = std::min(s.size() - 1, held_.size()); n > keep; --n)
      if (std::string_view(held_).ends_with(std::string_view(s).substr(0, n))) {
        keep = n;
        break;
      }
  return release(whole_characters(std::string_view(held_).substr(0, held_.size() - keep)));
}

std::string TextFilter::finish() { return stopped_ ? std::string{} : release(held_.size()); }

}  // namespace tg
