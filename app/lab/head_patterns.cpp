#include "app/lab/head_patterns.h"

#include <QCoreApplication>
#include <QHash>
#include <QRegularExpression>

namespace tg::lab {

namespace {

// "." does not match line ends, so that every pattern stays within one line.
QRegularExpression pattern(const QString& rule) {
  static const QString month = QStringLiteral("(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.?");
  static const QString date = QStringLiteral("\\d{4}-\\d{2}-\\d{2}|\\d{1,2} ") + month + QStringLiteral(",? \\d{4}");
  static const QString clock = QStringLiteral("(?<![\\d:])\\d{1,2}:\\d{2}(?!\\d)"), epoch = QStringLiteral("(?<!\\d)\\d{10}(?:\\d{3})?(?!\\d)");
  static const QString id = QStringLiteral("(?-i:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?<![0-9A-Za-z])[0-9A-HJKMNP-TV-Z]{26}(?![0-9A-Za-z])|[0-9a-f]{16,})");
  QString text;
  if (rule == QStringLiteral("time_in_head"))
    text = QStringLiteral("(?<![a-z])(?:now|current[ _]?(?:date|time)|today|generated at|timestamp|date)(?![a-z]).{0,20}?(?:") + date + u'|' + clock + u'|' + epoch + u')';
  else if (rule == QStringLiteral("request_id_in_head"))
    text = QStringLiteral("(?<![a-z])(?:request|trace|session|run|nonce|correlation).{0,12}?") + id;
  else if (rule == QStringLiteral("user_id_in_head"))
    text = QStringLiteral("(?<![a-z])(?:user|customer|account)[ _]?id[^\\d\\n]{0,3}\\d{3,}");
  else if (rule == QStringLiteral("countdown_in_head"))
    text = QStringLiteral("(?<![a-z])(?:remaining|expires in|left)(?![a-z]).{0,15}?\\d");
  else
    text = QStringLiteral("(?<![a-z])(?:turn|message|step) +#?\\d");
  return QRegularExpression(text, QRegularExpression::CaseInsensitiveOption);
}

const QHash<QString, QRegularExpression>& patterns() {
  static const QHash<QString, QRegularExpression> all = [] {
    QHash<QString, QRegularExpression> made;
    for (const QString& rule : headRules()) made.insert(rule, pattern(rule));
    return made;
  }();
  return all;
}

}  // namespace

const QStringList& headRules() {
  static const QStringList rules = {QStringLiteral("request_id_in_head"), QStringLiteral("time_in_head"), QStringLiteral("user_id_in_head"),
                                    QStringLiteral("countdown_in_head"), QStringLiteral("counter_in_head")};
  return rules;
}

bool headPatternIn(const QString& rule, const QString& line) { return patterns().value(rule).match(line).hasMatch(); }

QVector<HeadFinding> headFindings(const QString& text) {
  QVector<HeadFinding> findings;
  for (const QString& rule : headRules()) {
    auto matches = patterns().value(rule).globalMatch(text);
    while (matches.hasNext()) {
      const auto match = matches.next();
      findings.append({rule, match.capturedStart(), match.capturedLength()});
    }
  }
  return findings;
}

QString adviceFor(const QString& rule) {
  const char* advice = QT_TRANSLATE_NOOP("lint", "Move what changes from request to request behind the last breakpoint, into the newest message.");
  if (rule == QStringLiteral("time_in_head")) advice = QT_TRANSLATE_NOOP("lint", "Move the time into the newest message, or give only the date.");
  if (rule == QStringLiteral("user_id_in_head")) advice = QT_TRANSLATE_NOOP("lint", "Put what differs between users after the text all users share.");
  return QCoreApplication::translate("lint", advice);
}

}  // namespace tg::lab
