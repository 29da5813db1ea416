// JSON as it was written: numbers keep their digits (a double would lose counts past 2^53), doubled keys are noticed.
// For untrusted input: depth is limited, nothing throws. Thread: values, any thread.
#pragma once
#include <QByteArray>
#include <QJsonValue>
#include <QString>
#include <optional>
#include <utility>
#include <vector>

namespace tg::cost {

struct Json {
  enum class Kind { Null, Bool, Number, String, Array, Object };
  Kind kind = Kind::Null;
  bool flag = false;
  QString text;                          // of a String, or the literal of a Number
  std::vector<Json> items;
  std::vector<std::pair<QString, Json>> members;

  bool isObject() const { return kind == Kind::Object; }
  bool isArray() const { return kind == Kind::Array; }
  bool isString() const { return kind == Kind::String; }
  bool isNumber() const { return kind == Kind::Number; }
  const Json* find(QStringView key) const;        // null: not an object, key missing, or its value is null
  bool has(QStringView key) const;                // also with a null value
  QString string(QStringView key) const;          // null QString: not a string
  std::optional<qint64> integer() const;          // exact; unset: not an integer literal or beyond 64 bits
  QJsonValue toQt() const;                        // for echoing an id
};

struct ParsedJson {
  bool ok = false;
  bool doubledKey = false;               // of one object; the last value counts
  Json value;
};
ParsedJson parseJson(const QByteArray& text);

}  // namespace tg::cost
