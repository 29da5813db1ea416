#include "app/lab/lint_prompt.h"

namespace tg::lab {

namespace {

std::optional<double> number(const cost::Json* value) { return value && value->isNumber() ? std::optional<double>(value->text.toDouble()) : std::nullopt; }

QString valueText(const cost::Json& value) {
  if (value.kind == cost::Json::Kind::Bool) return value.flag ? QStringLiteral("true") : QStringLiteral("false");
  if (value.isString()) return u'"' + value.text;
  QString text = value.text;
  for (const cost::Json& item : value.items) text += u'[' + valueText(item);
  for (const auto& [name, member] : value.members) text += u'{' + name + u':' + valueText(member);
  return text;
}

}  // namespace

QString LintPrompt::text() const {
  QString all;
  for (const LintBlock& block : blocks) all += block.text;
  return all;
}

QVector<int> LintPrompt::marks() const {
  QVector<int> marked;
  for (int i = 0; i < blocks.size(); ++i)
    if (!blocks[i].mark.isEmpty()) marked.append(i);
  return marked;
}

LintPrompt lintPromptOf(const cost::Json& json) {
  LintPrompt prompt;
  prompt.t = number(json.find(u"t")).value_or(0);
  prompt.firstToken = number(json.find(u"first_token"));
  prompt.conversation = json.string(u"conversation");
  if (const cost::Json* params = json.find(u"params"))
    for (const auto& [name, value] : params->members) prompt.params.insert(name, valueText(value));
  if (const cost::Json* blocks = json.find(u"blocks"))
    for (const cost::Json& item : blocks->items) {
      const cost::Json* tokens = item.find(u"tokens");
      prompt.blocks.append({item.string(u"kind"), item.string(u"text"), item.string(u"name"), item.string(u"mark"), tokens ? tokens->integer() : std::nullopt});
    }
  if (const cost::Json* usage = json.find(u"usage"))
    if (const cost::Json* cached = usage->find(u"cached")) prompt.reportedCached = cached->integer();
  if (const cost::Json* between = json.find(u"between"))
    for (const cost::Json& name : between->items) prompt.between.append(name.text);
  return prompt;
}

bool isMessage(const QString& kind) {
  static const QStringList kinds = {QStringLiteral("user"), QStringLiteral("assistant"), QStringLiteral("tool_result"), QStringLiteral("thinking")};
  return kinds.contains(kind);
}

}  // namespace tg::lab
