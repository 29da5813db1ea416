#include "app/cli/generate_command.h"

#include <QCoreApplication>
#include <QJsonDocument>
#include <QJsonObject>
#include <iostream>
#include <streambuf>

#include "app/cli/console.h"
#include "app/commands/chat_commands.h"
#include "app/paths.h"
#include "app/settings.h"
#include "app/turn_cost.h"
#include "app/turn_record_json.h"
#include "engine/tools/command.h"

namespace tg {
namespace {

QString option_value(const QStringList& arguments, const QString& name) {
  for (qsizetype i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == name && i + 1 < arguments.size()) return arguments[i + 1];
    if (arguments[i].startsWith(name + QLatin1Char('='))) return arguments[i].mid(name.size() + 1);
  }
  return {};
}

// Passes lines on as they are written; a turn record gets the fields of app/.
class RecordFilter : public std::streambuf {
 public:
  RecordFilter(std::streambuf* to, QString priced_as, DeclaredPower power) : to_(to), priced_as_(std::move(priced_as)), power_(std::move(power)) {}
  ~RecordFilter() override { sync(); }

 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    line_ += traits_type::to_char_type(c);
    if (line_.back() == '\n') end_line();
    return c;
  }
  int sync() override {
    // A record is always a whole line; anything else may be shown as far as it has come.
    if (line_.empty() || line_.front() != '{') pass();
    return to_->pubsync();
  }

 private:
  void end_line() {
    Json record = line_.front() == '{' ? Json::parse(line_, nullptr, false) : Json();
    if (record.is_object() && record.contains("input_total")) line_ = completed(std::move(record)).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    pass();
  }
  Json completed(Json record) const {
    const TurnRecord known = TurnRecord::fromJson(QJsonDocument::fromJson(QByteArray::fromStdString(record.dump(-1, ' ', false, Json::error_handler_t::replace))).object());
    TurnRecord added;
    added.cost = hosted_cost(known, priced_as_);
    added.own = own_cost(known, power_);
    const Json full = to_ordered_json(added);
    for (const char* key : {"chat", "message_id", "predicted_ttft_ms"}) record[key] = nullptr;
    record["cost"] = full["cost"];
    record["own"] = full["own"];
    return record;
  }
  void pass() {
    to_->sputn(line_.data(), static_cast<std::streamsize>(line_.size()));
    line_.clear();
  }
  std::streambuf* to_;
  std::string line_;
  QString priced_as_;
  DeclaredPower power_;
};

}  // namespace

int generate_command(const QStringList& arguments) {
  const Settings settings(profile_paths(profile_of(arguments)).settings());
  const QVariant watts = settings.get(Setting::BusyWatts);
  const DeclaredPower power{watts.isValid() && !watts.isNull() ? std::optional<double>(watts.toDouble()) : std::nullopt, settings.get(Setting::KwhPrice).toString(),
                            settings.get(Setting::KwhCurrency).toString()};
  QString priced_as = option_value(arguments, QStringLiteral("--priced-as"));
  if (priced_as.isEmpty()) priced_as = settings.get(Setting::DefaultPricedAs).toString();
  std::vector<std::string> words{"turnglass-cli", "generate"};
  for (const QString& a : arguments) words.push_back(a.toStdString());
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  RecordFilter filter(std::cout.rdbuf(), priced_as, power);
  std::streambuf* const before = std::cout.rdbuf(&filter);
  const int code = run_engine_command(static_cast<int>(words.size()), argv.data());
  std::cout.flush();
  std::cout.rdbuf(before);
  return code;
}

}  // namespace tg
