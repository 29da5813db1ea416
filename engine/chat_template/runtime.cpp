#include "engine/chat_template/runtime.h"

#include <algorithm>

#include "engine/base/text.h"

namespace tg::jinja {

const Value* Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent) {
    for (const auto& [key, value] : scope->names) {
      if (key == name) return &value;
    }
  }
  return nullptr;
}

void Scope::set(std::string_view name, Value value) {
  for (auto& [key, old] : names) {
    if (key == name) {
      old = std::move(value);
      return;
    }
  }
  names.emplace_back(std::string(name), std::move(value));
}

void Runtime::charge(std::size_t steps) {
  steps_left_ -= static_cast<std::int64_t>(std::min(steps, std::size_t{1} << 40));
  if (steps_left_ < 0) fail("The chat template does not come to an end: it was stopped.");
}

Value Runtime::string(Text text) {
  charge_text(text.size());
  if (text.size() > kMaxTextBytes) fail("The chat template makes too long a text.");
  *live_bytes_ += text.size();
  if (*live_bytes_ > kMaxLiveBytes) {
    *live_bytes_ -= text.size();
    fail("The chat template needs too much memory.");
  }
  // Counted back when the last value lets go of it; the counter outlives the render with it.
  auto* held = new Text(std::move(text));
  return Value(TextPtr(held, [live = live_bytes_](const Text* gone) {
    *live -= gone->size();
    delete gone;
  }));
}

Value Runtime::list(std::vector<Value> items, ListKind kind) {
  charge(1 + items.size());
  if (items.size() > kMaxListItems) fail("The chat template makes too long a list.");
  return make_list(std::move(items), kind);
}

Value Runtime::dict(Dict dict) {
  charge(1 + dict.entries.size());
  return make_dict(std::move(dict));
}

std::vector<Value> Runtime::items_of(const Value& value) {
  std::vector<Value> items;
  switch (value.kind()) {
    case Kind::undefined: break;
    case Kind::list: items = value.list().items; break;
    case Kind::dict:
      for (const auto& entry : value.dict().entries) items.push_back(entry.first);
      break;
    case Kind::string: {
      const Text& text = value.text();
      charge(text.size());
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t next = at + decode_utf8(text.bytes(), at).length;
        Text character = text.slice(at, next);
        character.set_markup(false);
        items.push_back(Value::string(std::move(character)));
        at = next;
      }
      return items;
    }
    default: fail("'" + std::string(type_name(value)) + "' object is not iterable");
  }
  charge(1 + items.size());
  return items;
}

Runtime::DepthGuard::DepthGuard(Runtime& runtime) : runtime_(runtime) {
  if (runtime_.depth_ >= kMaxDepth) fail("The chat template calls itself too deeply.");
  ++runtime_.depth_;
}

std::int64_t to_integer(const Value& value, std::string_view what) {
  if (value.is(Kind::undefined)) fail_undefined(value);
  if (!value.is_integral()) fail(std::string(what) + " must be an integer, not " + std::string(type_name(value)));
  return value.integer();
}

const Text& to_string(const Value& value, std::string_view what) {
  if (value.is(Kind::undefined)) fail_undefined(value);
  if (!value.is(Kind::string)) fail(std::string(what) + " must be str, not " + std::string(type_name(value)));
  return value.text();
}

}  // namespace tg::jinja
