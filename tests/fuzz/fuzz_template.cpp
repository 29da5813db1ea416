// Any bytes as a chat template, rendered with a small conversation; a template also as one message of it.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "engine/chat_template/chat_template.h"

namespace {

using namespace tg;

Json context_with(const std::string& content) {
  return Json{{"messages", Json::array({{{"role", "user"}, {"content", content}},
                                        {{"role", "assistant"}, {"content", "ok"}, {"reasoning_content", "why"}}})},
              {"tools", Json::array({{{"type", "function"}, {"function", {{"name", "f"}, {"parameters", {{"a", 1}, {"b", {1.5, nullptr}}}}}}}})},
              {"add_generation_prompt", true}, {"bos_token", "<s>"}, {"x", 3}, {"s", "a \xC3\xA9 b"}, {"turnglass_now", "2026-11-29T12:00:00"}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto parsed = ChatTemplate::parse(text);
  if (!parsed) return 0;
  const auto rendered = (*parsed)->render(context_with(std::string(text.begin(), text.end())));
  if (!rendered) return 0;
  std::size_t end = 0;  // segments cover the text
  for (const TextSegment& s : rendered->segments) {
    if (s.begin != end || s.end <= s.begin) std::abort();
    end = s.end;
  }
  if (end != rendered->text.size()) std::abort();
  return 0;
}
