// Entries, their life, and the modes without marks.
#include "app/lab/cache_run.h"

#include <algorithm>

namespace tg::lab {

using cost::CacheRule;

StepResult CacheRun::step(const Step& step) {
  switch (rule_.mode) {
    case CacheRule::Mode::Breakpoint: return byMarks(step);
    case CacheRule::Mode::Prefix: return byPrefix(step);
    case CacheRule::Mode::Units: return byUnits(step);
    case CacheRule::Mode::Resource: return byResource(step);
    case CacheRule::Mode::Slot: return bySlot(step);
  }
  return {};
}

CacheRun::Certainty CacheRun::lifeOf(const Entry& entry, qint64 t) const {
  const cost::CacheLifetime lifetime = rule_.lifetimes.value(entry.lifetime);
  const qint64 age = t - entry.used, sure = lifetime.sureSeconds * 1000;
  if (age < sure || (age == sure && !lifetime.maxSeconds)) return Certainty::Yes;
  return !lifetime.maxSeconds || age <= *lifetime.maxSeconds * 1000 ? Certainty::Open : Certainty::No;
}

CacheRun::Certainty CacheRun::readability(const Entry& entry, qint64 t) const {
  if (t >= entry.readable) return Certainty::Yes;
  return rule_.readableAfter == QStringLiteral("unstated") ? Certainty::Open : Certainty::No;
}

bool CacheRun::usable(const Entry& entry, qint64 t) const { return decide(lifeOf(entry, t)) && decide(readability(entry, t)); }

namespace {

QString valuesOf(const QStringList& names, const Step& step) {
  QString values;
  for (const QString& name : names) values += step.params.value(name) + u'\n';
  return values;
}

}  // namespace

QString CacheRun::paramsOfMessages(const Step& step) const { return valuesOf(rule_.keyParamsMessages, step); }

QString CacheRun::paramsAt(const Step& step, int block) const {
  const QString kind = scenario_.blocks.value(step.prompt[block]).kind;
  if (kind == QStringLiteral("tool")) return valuesOf(rule_.keyParamsTools, step);
  if (kind == QStringLiteral("system")) return valuesOf(rule_.keyParamsSystem, step);
  return paramsOfMessages(step);
}

CacheRun::Entry CacheRun::entryFor(const Step& step, int blocks, const QString& params, const QString& lifetime) const {
  return {step.workspace, step.model, params, step.prompt.mid(0, blocks), lifetime, step.t, readableFrom(step), step.t, false};
}

int CacheRun::commonBlocks(const Entry& entry, const QStringList& prompt) const {
  int common = 0;
  while (common < entry.blocks.size() && common < prompt.size() && entry.blocks[common] == prompt[common]) ++common;
  return common;
}

StepResult CacheRun::byPrefix(const Step& step) {
  StepResult result;
  result.total = result.fresh = scenario_.tokens(step.prompt);
  if (!rule_.requiresParam.isEmpty() && !step.params.contains(rule_.requiresParam)) return result;
  const QString params = paramsOfMessages(step);
  Entry* best = nullptr;
  qint64 longest = 0;
  for (Entry& entry : entries_) {
    if (entry.workspace != step.workspace || entry.model != step.model || entry.params != params || !usable(entry, step.t)) continue;
    const qint64 tokens = scenario_.tokens(step.prompt.mid(0, commonBlocks(entry, step.prompt)));
    if (tokens <= longest) continue;
    longest = tokens;
    best = &entry;
  }
  result.cached = rule_.usable(longest, result.total, step.model);
  if (rule_.certainty == QStringLiteral("range") && doubt_ == Doubt::Miss) result.cached = 0;
  result.fresh = result.total - result.cached;
  if (best && result.cached > 0 && rule_.refreshOnHit) best->used = step.t;
  entries_.append(entryFor(step, static_cast<int>(step.prompt.size()), params, rule_.defaultLifetime));
  return result;
}

StepResult CacheRun::byUnits(const Step& step) {
  StepResult result;
  result.total = scenario_.tokens(step.prompt);
  const QString params = paramsOfMessages(step);
  QVector<Entry*> matching;
  for (Entry& entry : entries_)
    if (entry.workspace == step.workspace && entry.model == step.model && entry.params == params && usable(entry, step.t)) matching.append(&entry);
  Entry* hit = nullptr;
  for (Entry* entry : std::as_const(matching)) {
    const qint64 tokens = scenario_.tokens(entry->blocks);
    if (commonBlocks(*entry, step.prompt) != entry->blocks.size() || tokens <= result.cached) continue;
    result.cached = tokens;
    hit = entry;
  }
  result.cached = rule_.usable(result.cached, result.total, step.model);
  result.fresh = result.total - result.cached;
  if (hit && rule_.refreshOnHit) hit->used = step.t;

  QVector<Entry> made;
  for (const Entry* entry : std::as_const(matching)) {       // a common part longer than the hit becomes a unit of its own
    const int common = entry->answered ? commonBlocks(*entry, step.prompt) : 0;
    if (scenario_.tokens(step.prompt.mid(0, common)) > result.cached) made.append(entryFor(step, common, params, rule_.defaultLifetime));
  }
  Entry whole = entryFor(step, static_cast<int>(step.prompt.size()), params, rule_.defaultLifetime);
  whole.answered = true;
  made.append(whole);
  if (!step.outputId.isEmpty() && rule_.includesOutput) {
    whole.answered = false;
    whole.blocks.append(step.outputId);
    made.append(whole);
  }
  entries_.append(made);
  return result;
}

StepResult CacheRun::bySlot(const Step& step) {
  StepResult result;
  result.total = scenario_.tokens(step.prompt);
  int common = 0;
  while (common < slot_.size() && common < step.prompt.size() && slot_[common] == step.prompt[common]) ++common;
  result.cached = std::max<qint64>(0, rule_.usable(scenario_.tokens(step.prompt.mid(0, common)), result.total, step.model));
  result.fresh = result.total - result.cached;
  slot_ = step.prompt;
  if (!step.outputId.isEmpty()) slot_.append(step.outputId);
  return result;
}

StepResult CacheRun::createResource(const Step& step) {
  StepResult result;
  result.total = result.fresh = scenario_.tokens(step.prompt);
  if (result.total < rule_.minimum(step.model)) {
    result.error = QStringLiteral("below_minimum");
    return result;
  }
  storedByName_.insert(step.cache, stored_.size());
  stored_.append({result.total, step.t, step.t + step.ttlMs.value_or(rule_.defaultResourceSeconds * 1000)});
  return result;
}

StepResult CacheRun::changeResource(const Step& step) {
  StepResult result;
  const qsizetype at = storedByName_.value(step.cache, -1);
  const bool gone = at < 0 || stored_[at].end < step.t || (stored_[at].end == step.t && doubt_ == Doubt::Miss);
  if (gone) result.error = QStringLiteral("no_such_cache");
  else stored_[at].end = step.op == QStringLiteral("delete") ? step.t : step.t + step.ttlMs.value_or(rule_.defaultResourceSeconds * 1000);
  return result;
}

StepResult CacheRun::byResource(const Step& step) {
  if (step.op == QStringLiteral("create")) return createResource(step);
  if (step.op != QStringLiteral("request")) return changeResource(step);
  StepResult result;
  result.total = scenario_.tokens(step.prompt);
  if (!step.cache.isEmpty()) {
    const qsizetype at = storedByName_.value(step.cache, -1);
    if (at < 0) {
      result.error = QStringLiteral("no_such_cache");
      return result;
    }
    const StoredCache& cache = stored_[at];
    result.total += cache.tokens;
    if (step.t < cache.end || (step.t == cache.end && doubt_ == Doubt::Hit)) result.cached = cache.tokens;
  }
  result.fresh = result.total - result.cached;
  return result;
}

}  // namespace tg::lab
