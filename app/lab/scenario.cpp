#include "app/lab/scenario.h"

#include <cmath>

#include "app/cost/price_book.h"

namespace tg::lab {

namespace {

using cost::Json;

// Larger counts and times are no scenario; sums of them stay far below 2^63.
constexpr double kMaxSeconds = 1e11;
constexpr qint64 kMaxTokens = 1'000'000'000'000;

std::optional<qint64> milliseconds(const Json* seconds) {
  if (!seconds || !seconds->isNumber()) return std::nullopt;
  const double value = seconds->text.toDouble();
  if (!(std::abs(value) < kMaxSeconds)) return std::nullopt;
  return std::llround(value * 1000);
}

QString valueText(const Json& value) {
  if (value.kind == Json::Kind::Bool) return value.flag ? QStringLiteral("true") : QStringLiteral("false");
  if (value.isString()) return u'"' + value.text;
  if (!value.isArray() && !value.isObject()) return value.text;
  QString text = value.isArray() ? QStringLiteral("[") : QStringLiteral("{");
  for (const Json& item : value.items) text += valueText(item) + u',';
  for (const auto& [name, member] : value.members) text += name + u':' + valueText(member) + u',';
  return text;
}

bool readBlocks(const Json* blocks, Scenario& scenario) {
  if (!blocks || !blocks->isObject()) return false;
  for (const auto& [name, value] : blocks->members) {
    const Json* tokens = value.find(u"tokens");
    const auto count = tokens ? tokens->integer() : std::nullopt;
    if (!count || *count < 0 || *count > kMaxTokens) return false;
    scenario.blocks.insert(name, {value.string(u"kind"), *count});
  }
  return true;
}

std::optional<Step> readStep(const Json& json, const Scenario& scenario) {
  Step step;
  const auto t = milliseconds(json.find(u"t"));
  if (!json.isObject() || !t) return std::nullopt;
  step.t = *t;
  step.firstToken = milliseconds(json.find(u"first_token")).value_or(step.t + 1000);
  step.end = milliseconds(json.find(u"end")).value_or(step.t + 2000);
  if (const Json* prompt = json.find(u"prompt"))
    for (const Json& name : prompt->items) {
      if (!name.isString() || !scenario.blocks.contains(name.text)) return std::nullopt;
      step.prompt.append(name.text);
    }
  if (const Json* marks = json.find(u"marks"))
    for (const auto& [block, lifetime] : marks->members) step.marks.insert(block, lifetime.text);
  if (const Json* params = json.find(u"params"))
    for (const auto& [name, value] : params->members) step.params.insert(name, valueText(value));
  if (const Json* output = json.find(u"output")) step.output = output->integer().value_or(0);
  if (step.output < 0 || step.output > kMaxTokens) return std::nullopt;
  step.cacheMode = json.string(u"cache_mode");
  step.model = json.find(u"model") ? json.string(u"model") : scenario.model;
  step.workspace = json.string(u"workspace");
  step.outputId = json.string(u"output_id");
  if (json.find(u"op")) step.op = json.string(u"op");
  step.cache = json.string(u"cache");
  step.ttlMs = milliseconds(json.find(u"ttl_seconds"));
  return step;
}

}  // namespace

qint64 Scenario::tokens(const QStringList& prompt) const {
  qint64 sum = 0;
  for (const QString& name : prompt) sum += blocks.value(name).tokens;
  return sum;
}

std::optional<Scenario> scenarioOf(const Json& line) {
  Scenario scenario;
  scenario.provider = line.string(u"provider");
  scenario.model = line.string(u"model");
  scenario.rule = line.string(u"rule");
  const auto at = cost::instantOf(line.string(u"at"));
  const Json* steps = line.find(u"steps");
  if (!line.isObject() || !at || !steps || !steps->isArray() || !readBlocks(line.find(u"blocks"), scenario)) return std::nullopt;
  scenario.atNs = *at;
  scenario.untilMs = milliseconds(line.find(u"until"));
  for (const Json& json : steps->items) {
    auto step = readStep(json, scenario);
    if (!step) return std::nullopt;
    scenario.steps.append(std::move(*step));
  }
  return scenario;
}

}  // namespace tg::lab
