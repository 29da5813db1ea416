// Models split over files named NAME-00001-of-0000N.gguf. Internal to engine/gguf.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/gguf/parser.h"

namespace tg {

struct SplitKeys {
  std::int64_t index = 0;                 // split.no, from 0
  std::int64_t count = 1;                 // split.count; a whole file is its only part
  std::optional<std::int64_t> n_tensors;  // split.tensors.count, of all parts
};
SplitKeys split_keys(const GgufPart& part);

// Paths of all parts, PATH first. Refuses a PATH that is not the first part or is not named like one.
Result<std::vector<std::string>> split_names(const std::string& path, const SplitKeys& keys);

}  // namespace tg
