#include "app/lab/lint_line.h"

#include "app/lab/head_patterns.h"
#include "app/lab/lint.h"
#include "app/lab/lint_text.h"

namespace tg::lab {

QJsonObject lintLine(const cost::CacheRules& rules, const QByteArray& text) {
  const cost::ParsedJson parsed = cost::parseJson(text);
  const cost::Json* first = parsed.ok ? parsed.value.find(u"before") : nullptr;
  const cost::Json* id = parsed.ok ? parsed.value.find(u"id") : nullptr;
  const QJsonValue idValue = id ? id->toQt() : QJsonValue();
  if (!first || !first->isObject()) return {{QStringLiteral("id"), idValue}, {QStringLiteral("error"), QStringLiteral("bad_line")}};
  LintContext context{parsed.value.string(u"provider"), parsed.value.string(u"model"), nullptr};
  context.rule = rules.firstFor(context.provider, context.model);
  const LintPrompt before = lintPromptOf(*first);
  const QStringList fired = singleFindings(context, before);
  QJsonValue cause, difference;
  if (const cost::Json* second = parsed.value.find(u"after")) {
    const LintPrompt after = lintPromptOf(*second);
    const QString name = classOfPair(context, before, after);
    if (!name.isEmpty()) cause = name;
    if (const auto at = firstDifference(before.text(), after.text())) difference = *at;
  }
  return {{QStringLiteral("id"), idValue}, {QStringLiteral("class"), cause}, {QStringLiteral("first_diff"), difference},
          {QStringLiteral("single_fires"), !fired.isEmpty()}, {QStringLiteral("rules"), QJsonArray::fromStringList(fired)}};
}

QJsonArray lintText(const QString& text) {
  QJsonArray findings;
  for (const HeadFinding& finding : headFindings(text))
    findings.append(QJsonObject{{QStringLiteral("class"), finding.rule},
                                {QStringLiteral("offset"), QStringView(text).left(finding.offset).toUcs4().size()},
                                {QStringLiteral("excerpt"), text.mid(finding.offset, finding.length)},
                                {QStringLiteral("advice"), adviceFor(finding.rule)}});
  return findings;
}

}  // namespace tg::lab
