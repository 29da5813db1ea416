// A JSON schema as a graph the automaton walks.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace tg {

inline constexpr int kMaxSchemaNodes = 10'000;

struct SchemaNode {
  enum class Kind : std::uint8_t { any, object, array, string, number, integer, literal, choice } kind = Kind::any;
  struct Property {
    std::string key;  // as JSON text between its quotes
    int node = 0;
    bool required = false;
  };
  std::vector<Property> properties;
  int others = -1;                    // node of further properties or of items; -1: none allowed
  std::vector<std::string> literals;  // JSON texts
  std::vector<int> choices;           // nodes
  int min_items = 0, max_items = -1;  // of an array, or characters of a string; -1: no limit
  std::optional<std::int64_t> minimum, maximum;  // of an integer
};

// Node 0 is the root. Node 1 takes any value.
Result<std::vector<SchemaNode>> compile_schema(const nlohmann::ordered_json& schema);

// Keywords that SCHEMA uses and that the automaton does not hold a text to (pattern, format, multipleOf, ...), each once.
std::vector<std::string> unenforced_words(const nlohmann::ordered_json& schema);

}  // namespace tg
