// Errors are values. A Result holds either a T or an Error whose message is one sentence a user can act on.
#pragma once
#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace tg {

// What went wrong, for code that must branch on it; app/ turns codes into translated sentences.
enum class ErrorCode {
  io,                  // file missing, unreadable, short read
  bad_file,            // not a GGUF, or a GGUF that contradicts itself
  unsupported,         // architecture, format, pre-tokenizer we do not know: named, never guessed
  bad_argument,        // the caller's input is refused
  template_error,      // a chat template raised or does not parse
  no_template,         // the model brings no chat template
  does_not_fit,        // context or memory
  cancelled,
  device,              // the backend failed
  internal,
};

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;  // one English sentence, printable, no newline, ends with a full stop
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  explicit operator bool() const { return ok(); }
  bool ok() const { return state_.index() == 0; }
  T& value() { assert(ok()); return std::get<0>(state_); }
  const T& value() const { assert(ok()); return std::get<0>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { assert(!ok()); return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

struct Ok {};
using Status = Result<Ok>;

inline Error make_error(ErrorCode code, std::string message) { return Error{code, std::move(message)}; }

}  // namespace tg
