#include "engine/sampling/json_schema.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

namespace tg {
namespace {

using nlohmann::ordered_json;
constexpr int kMaxDepth = 100;

class Compiler {
 public:
  explicit Compiler(const ordered_json& root) : root_(root), nodes_(2) {}

  Result<std::vector<SchemaNode>> run() {
    nodes_[1].literals = {"true", "false", "null"};
    SchemaNode top;
    if (!root_.is_null()) fill(top, root_, 0);
    nodes_[0] = std::move(top);
    if (error_.empty()) check_choices();
    if (!error_.empty()) return make_error(ErrorCode::bad_argument, error_);
    return std::move(nodes_);
  }

 private:
  void refuse(const std::string& what) {
    if (error_.empty()) error_ = "The JSON schema " + what + ".";
  }

  int add(const ordered_json& schema, int depth) {
    if (schema.is_boolean()) {
      if (!schema.get<bool>()) refuse("allows no value in one place");
      return 1;
    }
    if (schema.is_object() && schema.contains("$ref")) return reference(schema["$ref"], depth);
    const int index = reserve();
    SchemaNode node;
    fill(node, schema, depth);
    nodes_[static_cast<std::size_t>(index)] = std::move(node);
    return index;
  }

  int reserve() {
    if (nodes_.size() >= kMaxSchemaNodes) refuse("is too large");
    if (!error_.empty()) return 1;
    nodes_.emplace_back();
    return static_cast<int>(nodes_.size()) - 1;
  }

  // A place that refers to itself gets the same node: recursion in the schema is a cycle in the graph.
  int reference(const ordered_json& target, int depth) {
    if (!target.is_string()) {
      refuse("has a $ref that is no text");
      return 1;
    }
    const std::string path = target.get<std::string>();
    if (path == "#") return 0;
    if (const auto known = references_.find(path); known != references_.end()) return known->second;
    const ordered_json* place = find(path);
    if (place == nullptr) {
      refuse("refers to " + path.substr(0, 60) + ", which is not in it");
      return 1;
    }
    const int index = reserve();
    references_[path] = index;
    SchemaNode node;
    if (place->is_object() && place->contains("$ref")) {
      node.kind = SchemaNode::Kind::choice;
      node.choices.push_back(add(*place, depth + 1));
    } else if (!place->is_boolean()) {
      fill(node, *place, depth + 1);
    }
    nodes_[static_cast<std::size_t>(index)] = std::move(node);
    return index;
  }

  const ordered_json* find(const std::string& path) const {
    for (const char* group : {"$defs", "definitions"}) {
      const std::string head = "#/" + std::string(group) + "/";
      if (!path.starts_with(head) || !root_.is_object()) continue;
      const auto defs = root_.find(group);
      if (defs == root_.end() || !defs->is_object()) continue;
      const auto found = defs->find(path.substr(head.size()));
      if (found != defs->end()) return &*found;
    }
    return nullptr;
  }

  void fill(SchemaNode& node, const ordered_json& schema, int depth) {
    if (schema.is_boolean() && schema.get<bool>()) return;
    if (depth > kMaxDepth) return refuse("is nested too deeply");
    if (!schema.is_object()) return refuse("has a part that is no object");
    for (const char* word : {"allOf", "not", "if", "patternProperties", "dependentSchemas", "prefixItems", "$dynamicRef"}) {
      if (schema.contains(word)) return refuse("uses " + std::string(word) + ", which is not supported");
    }
    if (schema.contains("$ref")) {
      node.kind = SchemaNode::Kind::choice;
      node.choices.push_back(reference(schema["$ref"], depth));
      return;
    }
    if (schema.contains("const")) return fill_literals(node, ordered_json::array({schema["const"]}));
    if (schema.contains("enum")) return fill_literals(node, schema["enum"]);
    for (const char* word : {"anyOf", "oneOf"}) {
      if (schema.contains(word)) return fill_choices(node, schema[word], depth);
    }
    fill_type(node, schema, depth);
  }

  void fill_literals(SchemaNode& node, const ordered_json& values) {
    node.kind = SchemaNode::Kind::literal;
    if (!values.is_array() || values.empty()) return refuse("has an enum without values");
    for (const ordered_json& value : values) node.literals.push_back(value.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
  }

  void fill_choices(SchemaNode& node, const ordered_json& list, int depth) {
    node.kind = SchemaNode::Kind::choice;
    if (!list.is_array() || list.empty()) return refuse("has an anyOf without parts");
    for (const ordered_json& part : list) node.choices.push_back(add(part, depth + 1));
  }

  void fill_type(SchemaNode& node, const ordered_json& schema, int depth) {
    const auto type = schema.find("type");
    if (type == schema.end()) {
      if (schema.contains("properties")) return fill_object(node, schema, depth);
      if (schema.contains("items")) return fill_array(node, schema, depth);
      return;
    }
    if (type->is_array()) {
      node.kind = SchemaNode::Kind::choice;
      if (type->empty()) refuse("has an empty list of types");
      for (const ordered_json& one : *type) {
        ordered_json part = schema;
        part["type"] = one;
        node.choices.push_back(one.is_string() ? add(part, depth + 1) : 1);
      }
      return;
    }
    const std::string name = type->is_string() ? type->get<std::string>() : std::string();
    if (name == "object") return fill_object(node, schema, depth);
    if (name == "array") return fill_array(node, schema, depth);
    static const std::map<std::string, SchemaNode::Kind> kSimple{
        {"string", SchemaNode::Kind::string}, {"number", SchemaNode::Kind::number}, {"integer", SchemaNode::Kind::integer},
        {"boolean", SchemaNode::Kind::literal}, {"null", SchemaNode::Kind::literal}};
    const auto simple = kSimple.find(name);
    if (simple == kSimple.end()) return refuse("has an unknown type");
    node.kind = simple->second;
    if (name == "string") {
      node.min_items = count(schema, "minLength").value_or(0);
      node.max_items = count(schema, "maxLength").value_or(-1);
      if (node.max_items >= 0 && node.min_items > node.max_items) refuse("asks for a longer text than it allows");
    }
    if (name == "integer") fill_limits(node, schema);
    if (name == "boolean") node.literals = {"true", "false"};
    if (name == "null") node.literals = {"null"};
  }

  void fill_object(SchemaNode& node, const ordered_json& schema, int depth) {
    node.kind = SchemaNode::Kind::object;
    const auto properties = schema.find("properties");
    const auto additional = schema.find("additionalProperties");
    if (properties != schema.end() && !properties->is_object()) return refuse("has properties that are no object");
    if (properties != schema.end()) {
      for (const auto& [key, part] : properties->items()) {
        const std::string quoted = ordered_json(key).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
        node.properties.push_back({quoted.substr(1, quoted.size() - 2), add(part, depth + 1), false});
      }
    }
    if (additional != schema.end()) {
      if (additional->is_object()) node.others = add(*additional, depth + 1);
      if (additional->is_boolean() && additional->get<bool>()) node.others = 1;
    } else if (node.properties.empty()) {
      node.others = 1;
    }
    mark_required(node, schema);
    if (node.properties.size() > 64) refuse("declares more than 64 properties in one object");
  }

  void mark_required(SchemaNode& node, const ordered_json& schema) {
    const auto required = schema.find("required");
    if (required == schema.end() || !required->is_array()) return;
    for (const ordered_json& name : *required) {
      const std::string quoted = name.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
      if (quoted.size() < 2) continue;
      const std::string key = quoted.substr(1, quoted.size() - 2);
      auto found = std::find_if(node.properties.begin(), node.properties.end(), [&](const auto& p) { return p.key == key; });
      if (found == node.properties.end()) found = node.properties.insert(found, {key, node.others >= 0 ? node.others : 1, false});
      found->required = true;
    }
  }

  void fill_array(SchemaNode& node, const ordered_json& schema, int depth) {
    node.kind = SchemaNode::Kind::array;
    const auto items = schema.find("items");
    node.others = items == schema.end() ? 1 : add(*items, depth + 1);
    node.min_items = count(schema, "minItems").value_or(0);
    node.max_items = count(schema, "maxItems").value_or(-1);
    if (node.max_items >= 0 && node.min_items > node.max_items) refuse("asks for more items than it allows");
  }

  void fill_limits(SchemaNode& node, const ordered_json& schema) {
    node.minimum = whole(schema, "minimum", 0, true);
    node.maximum = whole(schema, "maximum", 0, false);
    if (const auto more = whole(schema, "exclusiveMinimum", 1, false)) node.minimum = std::max(node.minimum.value_or(*more), *more);
    if (const auto less = whole(schema, "exclusiveMaximum", -1, true)) node.maximum = std::min(node.maximum.value_or(*less), *less);
    if (node.minimum && node.maximum && *node.minimum > *node.maximum) refuse("has a minimum above its maximum");
  }

  // The limit NAME as the outermost whole number it allows: rounded UP or down, then OFFSET on.
  static std::optional<std::int64_t> whole(const ordered_json& schema, const char* name, std::int64_t offset, bool up) {
    constexpr double kWidest = 9e17;
    const auto found = schema.find(name);
    if (found == schema.end() || !found->is_number()) return std::nullopt;
    const double value = found->get<double>();
    const double rounded = std::clamp(up ? std::ceil(value) : std::floor(value), -kWidest, kWidest);
    return (found->is_number_integer() && std::abs(value) < kWidest ? found->get<std::int64_t>() : static_cast<std::int64_t>(rounded)) + offset;
  }

  static std::optional<int> count(const ordered_json& schema, const char* name) {
    const auto found = schema.find(name);
    if (found == schema.end() || !found->is_number_unsigned()) return std::nullopt;
    return static_cast<int>(std::min<std::uint64_t>(found->get<std::uint64_t>(), 1'000'000));
  }

  // A choice that leads back to itself without reading a byte would never decide.
  void check_choices() {
    std::vector<char> state(nodes_.size(), 0);  // 1: on the way, 2: done
    for (std::size_t i = 0; i < nodes_.size() && error_.empty(); ++i) visit(static_cast<int>(i), state, 0);
  }
  void visit(int index, std::vector<char>& state, int depth) {
    char& mark = state[static_cast<std::size_t>(index)];
    if (mark == 2) return;
    if (mark == 1 || depth > kMaxDepth) return refuse("has a choice that refers to itself");
    mark = 1;
    for (const int next : nodes_[static_cast<std::size_t>(index)].choices) visit(next, state, depth + 1);
    state[static_cast<std::size_t>(index)] = 2;
  }

  const ordered_json& root_;
  std::vector<SchemaNode> nodes_;
  std::map<std::string, int> references_;
  std::string error_;
};

}  // namespace

Result<std::vector<SchemaNode>> compile_schema(const ordered_json& schema) {
  try {
    return Compiler(schema).run();
  } catch (const std::exception&) {  // the JSON library: a part of another type than it may have
    return make_error(ErrorCode::bad_argument, "The JSON schema is not valid.");
  }
}

std::vector<std::string> unenforced_words(const ordered_json& schema) {
  static constexpr std::array kWords{"pattern", "format", "multipleOf", "uniqueItems", "contains", "minContains", "maxContains", "minProperties",
                                     "maxProperties", "propertyNames", "dependentRequired", "unevaluatedItems", "unevaluatedProperties"};
  static constexpr std::array kLimits{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"};
  std::vector<std::string> out;
  const auto add = [&out](const std::string& word) {
    if (std::find(out.begin(), out.end(), word) == out.end()) out.push_back(word);
  };
  const auto inner = [&](const ordered_json& part) {
    for (const std::string& word : unenforced_words(part)) add(word);
  };
  if (schema.is_array()) std::for_each(schema.begin(), schema.end(), inner);
  if (!schema.is_object()) return out;
  const bool integer = schema.contains("type") && schema["type"] == "integer";
  for (const auto& [key, value] : schema.items()) {
    if (std::find(kWords.begin(), kWords.end(), key) != kWords.end()) add(key);
    if (!integer && std::find(kLimits.begin(), kLimits.end(), key) != kLimits.end()) add(key);
    if (key == "properties" || key == "$defs" || key == "definitions") {
      for (const auto& [name, part] : value.items()) inner(part);
    } else if (key != "enum" && key != "const") {
      inner(value);
    }
  }
  return out;
}

}  // namespace tg
