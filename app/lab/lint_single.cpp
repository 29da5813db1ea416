// Findings in one prompt.
#include "app/lab/head_patterns.h"
#include "app/lab/lint.h"

namespace tg::lab {

namespace {

bool isHead(const QString& kind) {
  return kind == QStringLiteral("system") || kind == QStringLiteral("project") || kind == QStringLiteral("example");
}

bool retrievedBeforeHistory(const LintPrompt& prompt) {
  for (const LintBlock& block : prompt.blocks) {
    if (block.kind == QStringLiteral("retrieved")) return true;
    if (isMessage(block.kind) || block.kind == QStringLiteral("image") || block.kind == QStringLiteral("summary")) return false;
  }
  return false;
}

bool belowMinimum(const LintContext& context, const LintPrompt& prompt, const QVector<int>& marks) {
  if (!context.rule || marks.isEmpty()) return false;
  qint64 prefix = 0;
  for (int i = 0; i < prompt.blocks.size(); ++i) {
    if (!prompt.blocks[i].tokens) return false;
    if (i <= marks.last()) prefix += *prompt.blocks[i].tokens;
  }
  return prefix < context.rule->minimum(context.model);
}

}  // namespace

QStringList singleFindings(const LintContext& context, const LintPrompt& prompt) {
  QStringList findings;
  const QVector<int> marks = prompt.marks();
  if (context.rule && context.rule->mode == cost::CacheRule::Mode::Breakpoint && marks.size() > context.rule->marks.max) findings.append(QStringLiteral("too_many_marks"));
  for (const int mark : marks)
    if (prompt.blocks[mark].text.trimmed().isEmpty()) findings.append(QStringLiteral("anchor_block"));
  if (belowMinimum(context, prompt, marks)) findings.append(QStringLiteral("below_minimum"));
  for (const LintBlock& block : prompt.blocks) {
    if (block.kind == QStringLiteral("system") && block.text.startsWith(QStringLiteral("x-anthropic-billing-header"))) findings.append(QStringLiteral("billing_header"));
    if (!isHead(block.kind)) continue;
    for (const HeadFinding& finding : headFindings(block.text)) findings.append(finding.rule);
  }
  if (retrievedBeforeHistory(prompt)) findings.append(QStringLiteral("retrieval_before_history"));
  findings.removeDuplicates();
  return findings;
}

}  // namespace tg::lab
