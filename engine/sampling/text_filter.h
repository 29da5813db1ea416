// From bytes of tokens to text that may be shown: whole UTF-8 characters only, and never the beginning of a stop text.
// Thread: one filter belongs to one turn.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tg {

class TextFilter {
 public:
  explicit TextFilter(std::vector<std::string> stop = {});
  // Bytes that arrived; returns what may be shown now. After a stop text was met nothing more is.
  std::string feed(std::string_view bytes);
  std::string finish();  // what was held back, if no stop text was met
  bool stopped() const { return stopped_; }
  const std::string& text() const { return text_; }  // all that was shown

 private:
  std::string release(std::size_t n);
  std::vector<std::string> stop_;
  std::string held_, text_;
  bool stopped_ = false;
};

}  // namespace tg
