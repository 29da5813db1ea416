// Errors of the storage layer are values: an Outcome holds a T or a Failure whose sentence a user can act on.
// Thread: any.
#pragma once
#include <QString>
#include <utility>
#include <variant>

namespace tg::storage {

enum class FailureKind {
  DiskFull,      // nothing was written; the caller keeps its data and may try again
  ReadOnly,      // the profile cannot be written
  Busy,          // another process holds the database for longer than the time-out
  Damaged,       // SQLite found the file malformed
  NewerFile,     // written by a newer program
  NotFound,      // no such chat, message or file
  Other,
};

struct Failure {
  FailureKind kind = FailureKind::Other;
  QString sentence;  // one English sentence, ends with a full stop
  QString details;   // SQLite's own words, for a details box or a log; may be empty
};

template <class T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Outcome(Failure failure) : state_(std::in_place_index<1>, std::move(failure)) {}
  explicit operator bool() const { return ok(); }
  bool ok() const { return state_.index() == 0; }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Failure& failure() const { return std::get<1>(state_); }

 private:
  std::variant<T, Failure> state_;
};

struct Done {};
using Status = Outcome<Done>;

}  // namespace tg::storage
