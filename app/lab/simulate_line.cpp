#include "app/lab/simulate_line.h"

#include <QJsonArray>
#include <algorithm>

#include "app/cost/pricing.h"
#include "app/lab/cache_run.h"

namespace tg::lab {

namespace {

using cost::Amount;

constexpr qint64 kNsPerMs = 1'000'000, kMsPerHour = 3'600'000;

// One run with its money; amounts are unset where no price is known.
struct Priced {
  QVector<StepResult> steps;
  QVector<std::optional<Amount>> costs;
  std::optional<Amount> storage = Amount(), total = Amount();
};

cost::Request requestAt(const Scenario& scenario, const QString& model, qint64 ms) {
  cost::Request request;
  request.provider = scenario.provider;
  request.model = model;
  request.at = scenario.atNs + ms * kNsPerMs;
  return request;
}

std::optional<Amount> costOf(const cost::PriceBook& book, const Scenario& scenario, const cost::CacheRule& rule, const Step& step, const StepResult& result) {
  cost::Usage usage;
  usage.total = result.total;
  usage.cached = result.cached;
  usage.fresh = result.fresh;
  usage.write = result.write;
  usage.write5m = result.write5m;
  usage.write1h = result.write1h;
  usage.output = step.op == QStringLiteral("request") ? step.output : 0;
  usage.explicitRead = rule.readPrice == QStringLiteral("cached_read_explicit");
  const cost::Priced priced = cost::price(book, requestAt(scenario, step.model, step.t), usage);
  return priced.error.isEmpty() ? priced.min : std::nullopt;
}

void addTo(std::optional<Amount>& sum, const std::optional<Amount>& part) {
  if (sum && part) *sum += *part;
  else sum.reset();
}

void addStorage(const cost::PriceBook& book, const Scenario& scenario, const CacheRun& run, Priced& priced) {
  const qint64 until = scenario.untilMs.value_or(scenario.steps.isEmpty() ? 0 : scenario.steps.last().t);
  for (const StoredCache& cache : run.stored()) {
    const qint64 lasted = std::max<qint64>(0, std::min(cache.end, until) - cache.created);
    const cost::Request request = requestAt(scenario, scenario.model, cache.created);
    const cost::FoundRow found = book.find(request.provider, request.model, request.currency, *request.at);
    const bool known = found.row && found.row->storagePerHour.kind == cost::Price::Kind::Known;
    addTo(priced.storage, known ? std::optional<Amount>(Amount::of(cache.tokens, found.row->storagePerHour.pico).scaled(lasted, kMsPerHour)) : std::nullopt);
  }
  addTo(priced.total, priced.storage);
}

Priced runOnce(const cost::PriceBook& book, const Scenario& scenario, const cost::CacheRule& rule, Doubt doubt) {
  Priced priced;
  CacheRun run(scenario, rule, doubt);
  for (const Step& step : scenario.steps) {
    priced.steps.append(run.step(step));
    const StepResult& result = priced.steps.last();
    priced.costs.append(result.error.isEmpty() ? costOf(book, scenario, rule, step, result) : std::nullopt);
    if (result.error.isEmpty()) addTo(priced.total, priced.costs.last());
  }
  addStorage(book, scenario, run, priced);
  return priced;
}

QJsonValue moneyValue(const std::optional<Amount>& amount) {
  const QString text = amount ? amount->rounded() : QString();
  return text.isEmpty() ? QJsonValue() : QJsonValue(text);
}

QJsonArray between(qint64 a, qint64 b) { return {std::min(a, b), std::max(a, b)}; }

QJsonValue moneyBetween(const std::optional<Amount>& a, const std::optional<Amount>& b) {
  if (!a || !b) return QJsonValue();
  return QJsonArray{moneyValue(std::min(*a, *b)), moneyValue(std::max(*a, *b))};
}

bool agree(const StepResult& a, const StepResult& b) {
  return a.error == b.error && a.cached == b.cached && a.fresh == b.fresh && a.write == b.write;
}

QJsonObject answerStep(const Priced& hit, const Priced& miss, qsizetype i) {
  const StepResult &a = hit.steps[i], &b = miss.steps[i];
  const bool failed = !a.error.isEmpty() || !b.error.isEmpty(), exact = agree(a, b) && !failed;
  QJsonValue range;
  if (!failed && !exact)
    range = QJsonObject{{QStringLiteral("cached"), between(a.cached, b.cached)}, {QStringLiteral("fresh"), between(a.fresh, b.fresh)},
                        {QStringLiteral("write"), between(a.write, b.write)}, {QStringLiteral("cost_pico"), moneyBetween(hit.costs[i], miss.costs[i])}};
  const auto count = [&](qint64 value) { return exact ? QJsonValue(value) : QJsonValue(); };
  return {{QStringLiteral("input_total"), failed ? QJsonValue() : QJsonValue(a.total)},
          {QStringLiteral("cached"), count(a.cached)},
          {QStringLiteral("fresh"), count(a.fresh)},
          {QStringLiteral("write"), count(a.write)},
          {QStringLiteral("cost_pico"), exact ? moneyValue(hit.costs[i]) : QJsonValue()},
          {QStringLiteral("range"), range},
          {QStringLiteral("error"), failed ? QJsonValue(a.error.isEmpty() ? b.error : a.error) : QJsonValue()}};
}

QJsonObject failedLine(const QJsonValue& id, const char16_t* error) { return {{QStringLiteral("id"), id}, {QStringLiteral("error"), QString::fromUtf16(error)}}; }

}  // namespace

QJsonObject simulateLine(const cost::CacheRules& rules, const cost::PriceBook& book, const QByteArray& text) {
  const cost::ParsedJson parsed = cost::parseJson(text);
  const cost::Json* id = parsed.ok ? parsed.value.find(u"id") : nullptr;
  const QJsonValue idValue = id ? id->toQt() : QJsonValue();
  const auto scenario = parsed.ok ? scenarioOf(parsed.value) : std::nullopt;
  if (!scenario) return failedLine(idValue, u"bad_line");
  const cost::CacheRule* rule = scenario->rule.isEmpty() ? rules.firstFor(scenario->provider, scenario->model) : rules.named(scenario->rule);
  if (!rule) return failedLine(idValue, u"unknown_rule");
  const Priced hit = runOnce(book, *scenario, *rule, Doubt::Hit), miss = runOnce(book, *scenario, *rule, Doubt::Miss);
  QJsonArray steps;
  bool ambiguous = false;
  for (qsizetype i = 0; i < hit.steps.size(); ++i) {
    steps.append(answerStep(hit, miss, i));
    ambiguous = ambiguous || !agree(hit.steps[i], miss.steps[i]);
  }
  const bool one = hit.total && miss.total && hit.total->rounded() == miss.total->rounded();
  return {{QStringLiteral("id"), idValue},
          {QStringLiteral("steps"), steps},
          {QStringLiteral("ambiguous"), ambiguous},
          {QStringLiteral("storage_pico"), moneyValue(hit.storage)},
          {QStringLiteral("total_cost_pico"), one ? moneyValue(hit.total) : QJsonValue()},
          {QStringLiteral("total_range_pico"), one ? QJsonValue() : moneyBetween(hit.total, miss.total)}};
}

}  // namespace tg::lab
