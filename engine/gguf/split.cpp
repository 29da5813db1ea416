#include "engine/gguf/split.h"

#include <cstdio>
#include <string_view>

namespace tg {
namespace {

constexpr std::int64_t kMaxParts = 99999;  // five digits in the name

std::string part_suffix(std::int64_t index, std::int64_t count) {
  char text[40];
  std::snprintf(text, sizeof text, "-%05lld-of-%05lld.gguf", static_cast<long long>(index + 1),
                static_cast<long long>(count));
  return text;
}

}  // namespace

SplitKeys split_keys(const GgufPart& part) {
  SplitKeys keys;
  for (const auto& [key, value] : part.metadata) {
    const auto* number = std::get_if<std::int64_t>(&value.value);
    if (number == nullptr) continue;
    if (key == "split.no") keys.index = *number;
    if (key == "split.count") keys.count = *number;
    if (key == "split.tensors.count") keys.n_tensors = *number;
  }
  return keys;
}

Result<std::vector<std::string>> split_names(const std::string& path, const SplitKeys& keys) {
  if (keys.count <= 1 && keys.index == 0) return std::vector{path};
  if (keys.index < 0 || keys.index >= keys.count || keys.count > kMaxParts) {
    return make_error(ErrorCode::bad_file, "The keys split.no and split.count contradict each other.");
  }
  const std::string which = "part " + std::to_string(keys.index + 1) + " of " + std::to_string(keys.count);
  if (keys.index != 0) {
    return make_error(ErrorCode::bad_file, "This is " + which + " of a split model: open the first part instead.");
  }
  const std::string suffix = part_suffix(0, keys.count);
  if (!std::string_view(path).ends_with(suffix)) {
    return make_error(ErrorCode::bad_file,
                      "This is " + which + " of a split model, but its name does not end in " + suffix + ".");
  }
  std::vector<std::string> names{path};
  const std::string stem = path.substr(0, path.size() - suffix.size());
  for (std::int64_t i = 1; i < keys.count; ++i) names.push_back(stem + part_suffix(i, keys.count));
  return names;
}

}  // namespace tg
