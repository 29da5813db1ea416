// One line of `turnglass-cli layout lint --batch`, and the findings of `--text`. Pure, any thread.
#pragma once
#include <QByteArray>
#include <QJsonArray>
#include <QJsonObject>

#include "app/cost/cache_rules.h"

namespace tg::lab {

QJsonObject lintLine(const cost::CacheRules& rules, const QByteArray& line);
QJsonArray lintText(const QString& systemText);             // [{class,offset,excerpt,advice}], offsets in code points

}  // namespace tg::lab
