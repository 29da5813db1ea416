// Mode with marks (breakpoints): what is read, written and kept.
#include <algorithm>

#include "app/lab/cache_run.h"

namespace tg::lab {

QVector<CacheRun::Mark> CacheRun::marksOf(const Step& step, QString* error) const {
  const cost::MarkRules& rules = rule_.marks;
  const cost::MarkMode mode = rules.modes.value(step.cacheMode.isEmpty() ? rules.defaultMode : step.cacheMode);
  QVector<Mark> marks;
  for (int block = 0; block < step.prompt.size(); ++block)
    if (step.marks.contains(step.prompt[block])) marks.append({block, step.marks.value(step.prompt[block]), true});
  const int last = static_cast<int>(step.prompt.size()) - 1;
  const bool adds = mode.addsLastBlock && last >= 0 && (marks.isEmpty() || marks.last().block != last);
  const int allowed = adds ? mode.maxExplicit : rules.max;
  if (marks.size() > allowed) {
    if (rules.overflowIsError) *error = QStringLiteral("too_many_breakpoints");
    marks = marks.mid(marks.size() - allowed);
  }
  if (adds) marks.append({last, rule_.defaultLifetime, false});
  if (rules.longFirst && error->isEmpty())
    for (int i = 1; i < marks.size(); ++i)
      if (rule_.lifetimes.value(marks[i].lifetime).sureSeconds > rule_.lifetimes.value(marks[i - 1].lifetime).sureSeconds)
        *error = QStringLiteral("ttl_order");
  return marks;
}

CacheRun::Entry* CacheRun::find(const Step& step, int block) {
  const QString params = paramsAt(step, block);
  for (Entry& entry : entries_) {
    if (entry.blocks.size() == block + 1 && entry.workspace == step.workspace && entry.model == step.model && entry.params == params &&
        entry.blocks == step.prompt.mid(0, block + 1))
      return &entry;
  }
  return nullptr;
}

int CacheRun::longestRead(const Step& step, const QVector<Mark>& marks) {
  int longest = 0;
  for (const Mark& mark : marks) {
    for (int block = mark.block; block >= 0; --block) {
      const int distance = mark.block - block;
      if (rule_.lookbackMax && distance > *rule_.lookbackMax) break;
      const bool sure = !rule_.lookbackSure || distance <= *rule_.lookbackSure;
      const Entry* entry = find(step, block);
      if (!entry || !usable(*entry, step.t) || !decide(sure ? Certainty::Yes : Certainty::Open)) continue;
      longest = std::max(longest, block + 1);
      break;
    }
  }
  return longest;
}

// The mark's prefix becomes an entry, or renews the one there. Of two written in parallel the earlier readable time holds.
void CacheRun::keep(const Step& step, const Mark& mark) {
  Entry fresh = entryFor(step, mark.block + 1, paramsAt(step, mark.block), mark.lifetime);
  Entry* old = find(step, mark.block);
  if (!old) {
    entries_.append(fresh);
  } else if (decide(lifeOf(*old, step.t))) {
    old->readable = std::min(old->readable, fresh.readable);
    if (rule_.refreshOnHit || !usable(*old, step.t)) old->used = step.t;
  } else {
    *old = fresh;
  }
}

StepResult CacheRun::byMarks(const Step& step) {
  StepResult result;
  result.total = scenario_.tokens(step.prompt);
  const QVector<Mark> marks = marksOf(step, &result.error);
  if (!result.error.isEmpty()) return result;
  const int read = longestRead(step, marks);
  result.cached = scenario_.tokens(step.prompt.mid(0, read));
  if (read > 0 && rule_.refreshOnHit) find(step, read - 1)->used = step.t;
  qint64 done = result.cached;
  for (const Mark& mark : marks) {
    const qint64 prefix = scenario_.tokens(step.prompt.mid(0, mark.block + 1));
    if (prefix < rule_.minimum(step.model)) continue;
    const qint64 written = mark.block + 1 > read ? prefix - done : 0;
    if (written > 0) {
      done = prefix;
      result.write += written;
      if (mark.lifetime == QStringLiteral("5m")) result.write5m += written;
      if (mark.lifetime == QStringLiteral("1h")) result.write1h += written;
    }
    keep(step, mark);
  }
  result.fresh = result.total - result.cached - result.write;
  return result;
}

}  // namespace tg::lab
