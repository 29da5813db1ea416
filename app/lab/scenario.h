// A sequence of requests of one account, as the cache simulator takes it. Times are ms after the scenario's start. Values, any thread.
#pragma once
#include <QHash>
#include <QStringList>
#include <QVector>
#include <optional>

#include "app/cost/json_tree.h"

namespace tg::lab {

struct Block { QString kind; qint64 tokens = 0; };

struct Step {
  qint64 t = 0, firstToken = 0, end = 0;
  QStringList prompt;                    // block names in rendered order: tools, system, messages
  QHash<QString, QString> marks;         // block -> lifetime
  QHash<QString, QString> params;        // values as text
  qint64 output = 0;
  QString cacheMode, model, workspace, outputId;
  QString op = QStringLiteral("request"), cache;            // caches as resources
  std::optional<qint64> ttlMs;
};

struct Scenario {
  QString provider, model, rule;         // rule empty: the first that applies
  qint64 atNs = 0;                       // start, ns since 1970
  std::optional<qint64> untilMs;         // where storage is counted to
  QHash<QString, Block> blocks;
  QVector<Step> steps;

  qint64 tokens(const QStringList& prompt) const;
};

// Unset: the line is no scenario.
std::optional<Scenario> scenarioOf(const cost::Json& line);

}  // namespace tg::lab
