// What breaks a prompt cache: findings in one prompt, and the cause of a difference between two. Pure, any thread.
#pragma once
#include "app/cost/cache_rules.h"
#include "app/lab/lint_prompt.h"

namespace tg::lab {

struct LintContext {
  QString provider, model;
  const cost::CacheRule* rule = nullptr; // null: no rule is known for the model
};

QStringList singleFindings(const LintContext& context, const LintPrompt& prompt);
// Null: nothing broke the cache, or nothing can be said.
QString classOfPair(const LintContext& context, const LintPrompt& before, const LintPrompt& after);

}  // namespace tg::lab
