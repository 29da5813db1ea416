// A prompt as the cache linter takes it. Values, any thread.
#pragma once
#include <QHash>
#include <QStringList>
#include <QVector>
#include <optional>

#include "app/cost/json_tree.h"

namespace tg::lab {

struct LintBlock {
  QString kind;                          // tool system project document example retrieved summary user assistant tool_result thinking image
  QString text, name, mark;              // mark: lifetime of a breakpoint at its end, empty: none
  std::optional<qint64> tokens;
  bool operator==(const LintBlock& other) const { return kind == other.kind && text == other.text; }
};

struct LintPrompt {
  double t = 0;                          // seconds
  std::optional<double> firstToken;
  QString conversation;
  QHash<QString, QString> params;        // values as text
  QVector<LintBlock> blocks;
  std::optional<qint64> reportedCached;
  QStringList between;                   // conversations served in between

  QString text() const;                  // as rendered
  QVector<int> marks() const;            // indices of marked blocks
};

LintPrompt lintPromptOf(const cost::Json& json);
bool isMessage(const QString& kind);     // user assistant tool_result thinking

}  // namespace tg::lab
