#include "engine/chat_template/chat_template.h"

#include <exception>
#include <set>

#include "engine/chat_template/evaluator.h"
#include "engine/chat_template/parser.h"

namespace tg {
namespace {

using namespace jinja;

// `messages`: every string but the role is content of its message.
Value message_value(const Json& json, int index) {
  if (!json.is_object()) return from_json(json, Origin{index, true, false});
  Dict dict;
  dict.origin = Origin{index, false, false};
  dict.is_message = true;
  for (const auto& [key, value] : json.items()) {
    dict.set(Value::string(key), from_json(value, Origin{index, key != "role", false}));
  }
  return make_dict(std::move(dict));
}

Value messages_value(const Json& json) {
  if (!json.is_array()) return from_json(json, Origin{-1, true, false});
  std::vector<Value> messages;
  int index = 0;
  for (const Json& message : json) messages.push_back(message_value(message, index++));
  return make_list(std::move(messages));
}

Value variable_value(const std::string& name, const Json& json) {
  if (name == "messages") return messages_value(json);
  if (name == "tools") return from_json(json, Origin{-1, true, true});
  return from_json(json, Origin{-1, name == "documents", false});
}

RenderedText with_segments(Text text) {
  RenderedText result;
  std::size_t begin = 0;
  for (const Run& run : text.runs()) {
    result.segments.push_back(TextSegment{begin, run.end, run.origin.message, run.origin.content, run.origin.tools});
    begin = run.end;
  }
  result.text = text.bytes();
  return result;
}

class JinjaTemplate final : public ChatTemplate {
 public:
  JinjaTemplate(std::string source, Body body, std::set<std::string, std::less<>> names)
      : source_(std::move(source)), body_(std::move(body)), names_(std::move(names)) {}

  Result<RenderedText> render(const Json& context) const override {
    try {
      std::vector<std::pair<std::string, Value>> variables;
      std::string now;
      if (context.is_object()) {
        for (const auto& [name, value] : context.items()) {
          if (name == kNowVariable) {
            now = value.is_string() ? value.get<std::string>() : std::string();
          } else {
            variables.emplace_back(name, variable_value(name, value));
          }
        }
      }
      Evaluator evaluator(std::move(variables));
      evaluator.now = std::move(now);
      return with_segments(evaluator.render(body_));
    } catch (const Failure& failure) {
      return make_error(ErrorCode::template_error, failure.message);
    } catch (const std::exception&) {  // no memory, or JSON that is none
      return make_error(ErrorCode::template_error, "The chat template could not be rendered.");
    }
  }

  const std::string& source() const override { return source_; }
  bool mentions(std::string_view variable) const override { return names_.contains(variable); }

 private:
  std::string source_;
  Body body_;
  std::set<std::string, std::less<>> names_;
};

}  // namespace

Result<std::shared_ptr<const ChatTemplate>> ChatTemplate::parse(std::string source) {
  try {
    Parser parser(tokenize_template(normalise_newlines(source)));
    Body body = parser.parse();
    return std::shared_ptr<const ChatTemplate>(
        std::make_shared<JinjaTemplate>(std::move(source), std::move(body), parser.take_names()));
  } catch (const Failure& failure) {
    return make_error(ErrorCode::template_error, failure.message);
  }
}

}  // namespace tg
