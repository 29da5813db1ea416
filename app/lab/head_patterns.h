// Volatile text in the head of a prompt: what changes from request to request and breaks the prefix. Pure, any thread.
#pragma once
#include <QString>
#include <QVector>

namespace tg::lab {

struct HeadFinding {
  QString rule;                          // request_id_in_head time_in_head user_id_in_head countdown_in_head counter_in_head
  qsizetype offset = 0, length = 0;      // UTF-16 units within the line or text searched
};

QVector<HeadFinding> headFindings(const QString& text);     // line by line
bool headPatternIn(const QString& rule, const QString& line);
const QStringList& headRules();          // in the order in which they explain a difference
QString adviceFor(const QString& rule);

}  // namespace tg::lab
