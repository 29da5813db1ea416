// The cause of a difference between two prompts: the questions in the order of the contract, the first answer holds.
#include <algorithm>
#include <cmath>

#include "app/lab/head_patterns.h"
#include "app/lab/lint.h"
#include "app/lab/lint_text.h"

namespace tg::lab {

namespace {

QString name(const char16_t* text) { return QString::fromUtf16(text); }

QString changedParams(const LintPrompt& before, const LintPrompt& after) {
  const auto differs = [&](std::initializer_list<const char16_t*> keys) {
    return std::any_of(keys.begin(), keys.end(), [&](const char16_t* key) { return before.params.value(name(key)) != after.params.value(name(key)); });
  };
  if (differs({u"model", u"service_tier"})) return name(u"model_or_tier");
  if (differs({u"thinking", u"reasoning_effort", u"effort"})) return name(u"reasoning_params");
  if (differs({u"text_format", u"verbosity", u"tool_choice", u"parallel_tool_calls"})) return name(u"output_params");
  return QString();
}

QString markTrouble(const LintContext& context, const LintPrompt& before, const LintPrompt& after) {
  const QStringList found = singleFindings(context, before) + singleFindings(context, after);
  for (const char16_t* trouble : {u"too_many_marks", u"anchor_block", u"below_minimum"})
    if (found.contains(name(trouble))) return name(trouble);
  return QString();
}

// Equal prompts that were not served from the cache.
QString causeOfEqual(const LintContext& context, const LintPrompt& before, const LintPrompt& after) {
  const bool others = std::any_of(after.between.begin(), after.between.end(), [&](const QString& c) { return c != after.conversation; });
  if (context.provider == QStringLiteral("local") && others) return name(u"slot_shared");
  if (before.firstToken && after.t < *before.firstToken) return name(u"parallel_first");
  const QVector<int> marks = before.marks();
  if (!marks.isEmpty() && context.rule && context.rule->lifetimes.contains(before.blocks[marks.last()].mark)) {
    const cost::CacheLifetime lifetime = context.rule->lifetimes.value(before.blocks[marks.last()].mark);
    if (lifetime.maxSeconds && after.t - before.t > static_cast<double>(*lifetime.maxSeconds)) return name(u"ttl_gap");
  }
  return after.reportedCached == 0 ? name(u"rerouted") : QString();
}

QString causeOfAppended(const LintContext& context, const LintPrompt& before, const LintPrompt& after) {
  const QVector<int> old = before.marks(), now = after.marks();
  if (old.isEmpty() || !context.rule || !context.rule->lookbackMax) return QString();
  const auto first = std::find_if(now.begin(), now.end(), [&](int mark) { return mark >= old.last(); });
  return first != now.end() && *first - old.last() > *context.rule->lookbackMax ? name(u"lookback_exceeded") : QString();
}

QString causeInText(const LintContext& context, const LintPrompt& before, const LintPrompt& after, const LintBlock& was, const LintBlock& is, const QString& fallback) {
  if (was.kind == QStringLiteral("system") && was.text.startsWith(QStringLiteral("x-anthropic-billing-header"))) return name(u"billing_header");
  const QString notation = notationOf(was.text, is.text);
  if (!notation.isEmpty()) return notation;
  if (was.kind == QStringLiteral("tool")) return fallback;
  const auto [left, right] = firstDifferentLines(was.text, is.text);
  for (const QString& rule : headRules()) {
    if (!headPatternIn(rule, left) || !headPatternIn(rule, right)) continue;
    return rule == QStringLiteral("time_in_head") && context.provider == QStringLiteral("local") ? name(u"template_artefact") : rule;
  }
  if (before.conversation != after.conversation) return name(u"user_id_in_head");
  return sameButForVersion(was.text, is.text) ? name(u"client_version") : fallback;
}

QStringList ofKind(const LintPrompt& prompt, const QString& kind, bool names) {
  QStringList found;
  for (const LintBlock& block : prompt.blocks)
    if (block.kind == kind) found.append(names ? block.name : block.text);
  return found;
}

QStringList sorted(QStringList list) {
  list.sort();
  return list;
}

QString causeInTools(const LintContext& context, const LintPrompt& before, const LintPrompt& after, const LintBlock& was, const LintBlock& is) {
  const QStringList old = ofKind(before, name(u"tool"), true), now = ofKind(after, name(u"tool"), true);
  if (sorted(old) != sorted(now)) return name(u"tool_set");
  if (old != now) return name(u"tool_order");
  return causeInText(context, before, after, was, is, name(u"tool_text"));
}

QString causeInRetrieved(const LintContext& context, const LintPrompt& before, const LintPrompt& after) {
  const QStringList old = ofKind(before, name(u"retrieved"), false), now = ofKind(after, name(u"retrieved"), false);
  if (old != now && sorted(old) == sorted(now)) return name(u"retrieval_order");
  return singleFindings(context, before).contains(name(u"retrieval_before_history")) ? name(u"retrieval_before_history") : name(u"history_edited");
}

QVector<LintBlock> messagesOf(const LintPrompt& prompt) {
  QVector<LintBlock> messages;
  for (const LintBlock& block : prompt.blocks)
    if (isMessage(block.kind)) messages.append(block);
  return messages;
}

// The oldest messages were cut off and the rest moved up.
bool isWindow(const QVector<LintBlock>& old, const QVector<LintBlock>& now) {
  for (qsizetype cut = 1; cut < old.size(); ++cut) {
    const qsizetype rest = old.size() - cut;
    if (rest <= now.size() && std::equal(old.begin() + cut, old.end(), now.begin())) return true;
  }
  return false;
}

QString causeInHistory(const LintPrompt& before, const LintPrompt& after, qsizetype at) {
  const LintBlock &was = before.blocks[at], &is = after.blocks[at];
  if (isWindow(messagesOf(before), messagesOf(after))) return name(u"history_window");
  if (sameButForSpace(was.text, is.text)) return name(u"whitespace_or_unicode");
  if (at != before.blocks.size() - 1 || at != after.blocks.size() - 1) return name(u"history_edited");
  const QVector<int> marks = before.marks();
  return marks.size() == 1 && marks.first() == at ? name(u"mark_on_changing_block") : QString();
}

QString causeAt(const LintContext& context, const LintPrompt& before, const LintPrompt& after, qsizetype at) {
  const LintBlock was = before.blocks.value(at), is = after.blocks.value(at);  // an empty kind: not there
  const auto either = [&](const char16_t* kind) { return was.kind == name(kind) || is.kind == name(kind); };
  if (either(u"tool")) return causeInTools(context, before, after, was, is);
  if (was.kind == name(u"thinking") && is.kind != was.kind) return name(u"thinking_dropped");
  if (either(u"image")) return name(u"image_changed");
  if (either(u"example")) return name(u"examples_changed");
  if (either(u"retrieved")) return causeInRetrieved(context, before, after);
  if (either(u"summary")) return name(u"compaction");
  if (isMessage(was.kind) && isMessage(is.kind)) return causeInHistory(before, after, at);
  if (was.kind != is.kind) return name(u"conditional_section");
  if (was.kind == name(u"project") && was.name == name(u"workspace")) return name(u"workspace_listing");
  return causeInText(context, before, after, was, is, name(u"system_text"));
}

}  // namespace

QString classOfPair(const LintContext& context, const LintPrompt& before, const LintPrompt& after) {
  if (const QString params = changedParams(before, after); !params.isEmpty()) return params;
  if (const QString trouble = markTrouble(context, before, after); !trouble.isEmpty()) return trouble;
  qsizetype at = 0;
  while (at < before.blocks.size() && at < after.blocks.size() && before.blocks[at] == after.blocks[at]) ++at;
  if (at == before.blocks.size()) return at == after.blocks.size() ? causeOfEqual(context, before, after) : causeOfAppended(context, before, after);
  return causeAt(context, before, after, at);
}

}  // namespace tg::lab
