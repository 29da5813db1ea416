#include "app/cost/cache_rules.h"

#include <QFile>
#include <algorithm>

#include "app/cost/json_tree.h"
#include "app/cost/resources.h"

namespace tg::cost {

namespace {

QStringList strings(const Json* list) {
  QStringList texts;
  if (list)
    for (const Json& item : list->items) texts.append(item.text);
  return texts;
}

std::optional<qint64> whole(const Json* value) { return value ? value->integer() : std::nullopt; }
bool yes(const Json& json, QStringView key) {
  const Json* value = json.find(key);
  return value && value->flag;
}

std::optional<CacheRule::Mode> modeOf(const QString& name) {
  static const QHash<QString, CacheRule::Mode> modes = {
      {QStringLiteral("breakpoint"), CacheRule::Mode::Breakpoint}, {QStringLiteral("prefix"), CacheRule::Mode::Prefix},
      {QStringLiteral("units"), CacheRule::Mode::Units},           {QStringLiteral("resource"), CacheRule::Mode::Resource},
      {QStringLiteral("slot"), CacheRule::Mode::Slot}};
  return modes.contains(name) ? std::optional<CacheRule::Mode>(modes.value(name)) : std::nullopt;
}

void readMarks(const Json& json, MarkRules& marks) {
  marks.max = static_cast<int>(whole(json.find(u"max")).value_or(0));
  marks.overflowIsError = json.string(u"overflow") == QStringLiteral("error");
  marks.longFirst = json.string(u"ttl_order") == QStringLiteral("long_first");
  marks.defaultMode = json.string(u"default_mode");
  if (const Json* modes = json.find(u"modes"))
    for (const auto& [name, mode] : modes->members)
      marks.modes.insert(name, {yes(mode, u"adds_last_block"), static_cast<int>(whole(mode.find(u"max_explicit")).value_or(0))});
}

void readLifetimes(const Json& json, CacheRule& rule) {
  rule.defaultLifetime = json.string(u"default");
  if (const Json* options = json.find(u"options"))
    for (const auto& [name, option] : options->members)
      rule.lifetimes.insert(name, {whole(option.find(u"sure_seconds")).value_or(0), whole(option.find(u"max_seconds"))});
  if (const Json* choice = json.find(u"free_choice_seconds")) rule.defaultResourceSeconds = whole(choice->find(u"default")).value_or(0);
}

void readSizes(const Json& json, CacheRule& rule) {
  if (const Json* minimum = json.find(u"min_tokens")) {
    rule.minTokens = whole(minimum->find(u"default"));
    if (const Json* models = minimum->find(u"models"))
      for (const auto& [model, tokens] : models->members) rule.minTokensOf.insert(model, tokens.integer().value_or(0));
  }
  if (const Json* rounding = json.find(u"rounding"))
    rule.rounding = std::pair(whole(rounding->find(u"base")).value_or(0), std::max<qint64>(1, whole(rounding->find(u"step")).value_or(1)));
  if (const Json* lookback = json.find(u"lookback_blocks")) {
    rule.lookbackSure = whole(lookback->find(u"sure"));
    rule.lookbackMax = whole(lookback->find(u"max"));
  }
}

std::optional<CacheRule> readRule(const Json& json) {
  CacheRule rule;
  rule.id = json.string(u"id");
  const auto mode = modeOf(json.string(u"mode"));
  const Json* applies = json.find(u"applies_to");
  if (rule.id.isEmpty() || !mode || !applies) return std::nullopt;
  rule.mode = *mode;
  for (const Json& entry : applies->items) {
    const Json* models = entry.find(u"models");
    rule.appliesTo.append({entry.string(u"provider"), models && models->isString() ? QStringList{models->text} : strings(models)});
  }
  rule.certainty = json.string(u"certainty");
  readSizes(json, rule);
  if (const Json* ttl = json.find(u"ttl")) readLifetimes(*ttl, rule);
  if (const Json* marks = json.find(u"breakpoints")) readMarks(*marks, rule.marks);
  rule.refreshOnHit = yes(json, u"refresh_on_hit");
  rule.includesOutput = yes(json, u"includes_output");
  rule.lastTokenComputed = yes(json, u"last_token_computed");
  rule.readableAfter = json.string(u"readable_after");
  rule.requiresParam = json.string(u"requires_param");
  if (const Json* params = json.find(u"key_params")) {
    rule.keyParamsTools = strings(params->find(u"tools"));
    rule.keyParamsSystem = strings(params->find(u"system"));
    rule.keyParamsMessages = strings(params->find(u"messages"));
  }
  const Json* billing = json.find(u"billing");
  rule.readPrice = billing ? billing->string(u"read") : QString();
  return rule;
}

}  // namespace

bool CacheRule::appliesToModel(const QString& provider, const QString& model) const {
  return std::any_of(appliesTo.begin(), appliesTo.end(), [&](const auto& entry) {
    return entry.first == provider && (entry.second == QStringList{QStringLiteral("*")} || entry.second.contains(model, Qt::CaseInsensitive));
  });
}

qint64 CacheRule::usable(qint64 prefix, qint64 total, const QString& model) const {
  if (lastTokenComputed) prefix = std::min(prefix, total - 1);
  if (prefix < minimum(model)) return 0;
  if (!rounding) return std::max<qint64>(prefix, 0);
  const auto& [base, step] = *rounding;
  return prefix < base ? 0 : base + step * ((prefix - base) / step);
}

std::optional<CacheRules> CacheRules::read(const QByteArray& text, QString* refusal) {
  const ParsedJson parsed = parseJson(text);
  const Json* list = parsed.ok && !parsed.doubledKey ? parsed.value.find(u"rules") : nullptr;
  CacheRules rules;
  bool good = list && list->isArray();
  if (good)
    for (const Json& item : list->items) {
      auto rule = readRule(item);
      good = good && rule.has_value();
      if (rule) rules.rules_.append(std::move(*rule));
    }
  if (good) return rules;
  if (refusal) *refusal = QStringLiteral("This file of cache rules cannot be read.");
  return std::nullopt;
}

const CacheRules& CacheRules::shipped() {
  static const CacheRules rules = [] {
    auto shipped = read(shippedFile(QStringLiteral("cache-rules.json")), nullptr);
    if (!shipped) qFatal("The cache rules inside the program cannot be read.");
    return std::move(*shipped);
  }();
  return rules;
}

const CacheRule* CacheRules::named(const QString& id) const {
  for (const CacheRule& rule : rules_)
    if (rule.id == id) return &rule;
  return nullptr;
}

const CacheRule* CacheRules::firstFor(const QString& provider, const QString& model) const {
  for (const CacheRule& rule : rules_)
    if (rule.appliesToModel(provider, model)) return &rule;
  return nullptr;
}

const CacheRule* CacheRules::automaticFor(const QString& provider, const QString& model) const {
  for (const CacheRule& rule : rules_) {
    if (!rule.appliesToModel(provider, model) || rule.mode == CacheRule::Mode::Resource) continue;
    const auto& modes = rule.marks.modes;
    const bool marksItself = std::any_of(modes.begin(), modes.end(), [](const MarkMode& mode) { return mode.addsLastBlock; });
    if (rule.mode != CacheRule::Mode::Breakpoint || marksItself) return &rule;
  }
  return nullptr;
}

}  // namespace tg::cost
