#include "app/cost/json_tree.h"

#include <QJsonObject>
#include <nlohmann/json.hpp>

namespace tg::cost {

namespace {

constexpr size_t kMaxDepth = 64;

// Builds the tree while the library reads; any refusal ends the parse.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  ParsedJson result;

  bool null() override { return put(Json{}); }
  bool boolean(bool value) override {
    Json json;
    json.kind = Json::Kind::Bool;
    json.flag = value;
    return put(std::move(json));
  }
  bool number_integer(number_integer_t value) override { return number(QString::number(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(QString::number(value)); }
  bool number_float(number_float_t, const string_t& literal) override { return number(QString::fromStdString(literal)); }
  bool string(string_t& value) override {
    Json json;
    json.kind = Json::Kind::String;
    json.text = QString::fromStdString(value);
    return put(std::move(json));
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::Kind::Object); }
  bool start_array(std::size_t) override { return open(Json::Kind::Array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& value) override {
    keys_.push_back(QString::fromStdString(value));
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  std::vector<Json> open_;
  std::vector<QString> keys_;            // of the open objects' members being read

  bool number(const QString& literal) {
    Json json;
    json.kind = Json::Kind::Number;
    json.text = literal;
    return put(std::move(json));
  }

  bool open(Json::Kind kind) {
    if (open_.size() >= kMaxDepth) return false;
    open_.emplace_back().kind = kind;
    return true;
  }

  bool close() {
    Json done = std::move(open_.back());
    open_.pop_back();
    return put(std::move(done));
  }

  bool put(Json&& value) {
    if (open_.empty()) {
      result.value = std::move(value);
      return true;
    }
    Json& parent = open_.back();
    if (parent.kind == Json::Kind::Array) {
      parent.items.push_back(std::move(value));
      return true;
    }
    QString key = std::move(keys_.back());
    keys_.pop_back();
    for (auto& [name, old] : parent.members)
      if (name == key) {
        result.doubledKey = true;
        old = std::move(value);
        return true;
      }
    parent.members.emplace_back(std::move(key), std::move(value));
    return true;
  }
};

bool isIntegerLiteral(const QString& text) {
  for (qsizetype i = 0; i < text.size(); ++i)
    if (!(text[i] >= u'0' && text[i] <= u'9') && !(i == 0 && text[i] == u'-')) return false;
  return !text.isEmpty();
}

}  // namespace

ParsedJson parseJson(const QByteArray& text) {
  Builder builder;
  builder.result.ok = nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return std::move(builder.result);
}

const Json* Json::find(QStringView key) const {
  for (const auto& [name, value] : members)
    if (name == key) return value.kind == Kind::Null ? nullptr : &value;
  return nullptr;
}

bool Json::has(QStringView key) const {
  for (const auto& [name, value] : members)
    if (name == key) return true;
  return false;
}

QString Json::string(QStringView key) const {
  const Json* value = find(key);
  return value && value->isString() ? (value->text.isNull() ? QStringLiteral("") : value->text) : QString();
}

std::optional<qint64> Json::integer() const {
  if (!isNumber() || !isIntegerLiteral(text)) return std::nullopt;
  bool fits = false;
  const qint64 value = text.toLongLong(&fits);
  return fits ? std::optional<qint64>(value) : std::nullopt;
}

QJsonValue Json::toQt() const {
  if (isString()) return text;
  if (const auto whole = integer()) return *whole;
  if (isNumber()) return text.toDouble();
  if (kind == Kind::Bool) return flag;
  return QJsonValue();
}

}  // namespace tg::cost
