// Which bytes may follow in a JSON text of a schema. A state is a set of stacks, because alternatives run side by side.
// Thread: pure functions on immutable data.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/sampling/json_schema.h"

namespace tg {

class JsonAutomaton {
 public:
  enum class Part : std::uint8_t {
    value,    // white space, then the start of a value of `node`
    string,   // inside quotes; step: place in a character; count: characters, where they are limited
    number,   // step: place in the number; count: digits in a row
    literal,  // text: what has been read of it
    object,   // step: what is expected next; seen: declared properties read
    key,      // inside the quotes of a declared property's name; text: what has been read
    array,    // step: what is expected next; count: items
  };
  struct Frame {
    Part part = Part::value;
    int node = 0, step = 0, count = 0;
    std::int64_t value = 0;         // of an integer with limits, without its sign
    bool negative = false;
    std::uint64_t seen = 0;
    std::string text;
    std::shared_ptr<const Frame> up;  // null: the bottom
    int depth = 1;
  };
  using Stack = std::shared_ptr<const Frame>;  // null: the value is complete
  using State = std::vector<Stack>;

  explicit JsonAutomaton(std::vector<SchemaNode> nodes) : nodes_(std::move(nodes)) {}
  State start() const;
  State step(const State& state, unsigned char byte) const;
  bool complete(const State& state) const;          // nothing more is needed
  bool plain_text(const Stack& stack) const;        // inside a free string, between two characters

 private:
  void step_stack(const Stack& stack, unsigned char byte, State& out) const;
  void step_value(const Frame& f, unsigned char byte, State& out) const;
  void start_value(int node, const Stack& up, unsigned char byte, State& out) const;
  void start_any(const Stack& up, unsigned char byte, State& out) const;
  void start_literals(int node, const Stack& up, unsigned char byte, State& out) const;
  void start_number(int node, const Stack& up, unsigned char byte, State& out) const;
  void step_string(const Frame& f, unsigned char byte, State& out) const;
  void step_number(const Frame& f, unsigned char byte, State& out) const;
  void step_literal(const Frame& f, unsigned char byte, State& out) const;
  void step_object(const Frame& f, unsigned char byte, State& out) const;
  void step_key(const Frame& f, unsigned char byte, State& out) const;
  void step_array(const Frame& f, unsigned char byte, State& out) const;
  void open(Part part, int node, const Stack& up, State& out) const;
  bool can_end(const Frame& f) const;               // a number or literal that may be over
  bool limited(int node) const;                     // an integer with a minimum or maximum
  bool out_of_reach(const Frame& f) const;          // no further digits lead to a value within the limits
  const SchemaNode& node(int index) const { return nodes_[static_cast<std::size_t>(index)]; }

  std::vector<SchemaNode> nodes_;
};

}  // namespace tg
