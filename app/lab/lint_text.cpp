#include "app/lab/lint_text.h"

#include <QDate>
#include <QRegularExpression>
#include <QStringList>
#include <algorithm>
#include <functional>

#include "app/cost/json_tree.h"

namespace tg::lab {

namespace {

using cost::Json;

QString spaced(const QString& text) { return text.normalized(QString::NormalizationForm_C).simplified(); }

// "012.50" -> "12.5"; groups of three are joined.
QString canonicalNumber(QString text) {
  text.remove(u',');
  if (text.contains(u'.')) {
    while (text.endsWith(u'0')) text.chop(1);
    if (text.endsWith(u'.')) text.chop(1);
  }
  while (text.size() > 1 && text[0] == u'0' && text[1] != u'.') text.remove(0, 1);
  return text;
}

QString replaced(const QString& text, const QRegularExpression& pattern, const std::function<QString(const QRegularExpressionMatch&)>& by) {
  QString result;
  qsizetype at = 0;
  for (auto matches = pattern.globalMatch(text); matches.hasNext();) {
    const auto match = matches.next();
    result += text.mid(at, match.capturedStart() - at) + by(match);
    at = match.capturedEnd();
  }
  return result + text.mid(at);
}

QString withNumbersRead(const QString& text) {
  static const QRegularExpression number(QStringLiteral("\\d{1,3}(?:,\\d{3})+(?:\\.\\d+)?|\\d+(?:\\.\\d+)?"));
  return replaced(text, number, [](const QRegularExpressionMatch& match) { return canonicalNumber(match.captured()); });
}

int monthOf(const QString& name) {
  static const QStringList months = {QStringLiteral("jan"), QStringLiteral("feb"), QStringLiteral("mar"), QStringLiteral("apr"), QStringLiteral("may"), QStringLiteral("jun"),
                                     QStringLiteral("jul"), QStringLiteral("aug"), QStringLiteral("sep"), QStringLiteral("oct"), QStringLiteral("nov"), QStringLiteral("dec")};
  return static_cast<int>(months.indexOf(name.left(3).toLower())) + 1;
}

QString withDatesRead(const QString& text) {
  static const QString month = QStringLiteral("((?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)\\.?");
  static const QRegularExpression date(QStringLiteral("(\\d{4})-(\\d{2})-(\\d{2})|(\\d{1,2})/(\\d{1,2})/(\\d{4})|(\\d{1,2}) ") + month + QStringLiteral(" (\\d{4})|") + month +
                                           QStringLiteral(" (\\d{1,2}), (\\d{4})"),
                                       QRegularExpression::CaseInsensitiveOption);
  return replaced(text, date, [](const QRegularExpressionMatch& m) {
    QDate day;
    if (m.hasCaptured(1)) day = QDate(m.captured(1).toInt(), m.captured(2).toInt(), m.captured(3).toInt());
    else if (m.hasCaptured(4)) day = QDate(m.captured(6).toInt(), m.captured(5).toInt(), m.captured(4).toInt());
    else if (m.hasCaptured(7)) day = QDate(m.captured(9).toInt(), monthOf(m.captured(8)), m.captured(7).toInt());
    else day = QDate(m.captured(12).toInt(), monthOf(m.captured(10)), m.captured(11).toInt());
    return day.isValid() ? day.toString(Qt::ISODate) : m.captured();
  });
}

bool sameValue(const Json& a, const Json& b) {
  if (a.kind != b.kind || a.flag != b.flag || a.items.size() != b.items.size() || a.members.size() != b.members.size()) return false;
  if (a.isNumber() ? a.text.toDouble() != b.text.toDouble() : a.text != b.text) return false;
  for (size_t i = 0; i < a.items.size(); ++i)
    if (!sameValue(a.items[i], b.items[i])) return false;
  for (const auto& [name, value] : a.members) {
    const auto other = std::find_if(b.members.begin(), b.members.end(), [&key = name](const auto& member) { return member.first == key; });
    if (other == b.members.end() || !sameValue(value, other->second)) return false;
  }
  return true;
}

bool sameCharacters(QString a, QString b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

}  // namespace

bool sameButForSpace(const QString& a, const QString& b) { return spaced(a) == spaced(b); }

QString notationOf(const QString& a, const QString& b) {
  if (sameButForSpace(a, b)) return QStringLiteral("whitespace_or_unicode");
  const cost::ParsedJson left = cost::parseJson(a.toUtf8()), right = cost::parseJson(b.toUtf8());
  if (left.ok && right.ok && sameValue(left.value, right.value)) return sameCharacters(a, b) ? QStringLiteral("json_key_order") : QStringLiteral("number_format");
  if (withDatesRead(a) == withDatesRead(b)) return QStringLiteral("locale_format");
  if (withNumbersRead(a) == withNumbersRead(b)) return QStringLiteral("number_format");
  return QString();
}

bool sameButForVersion(const QString& a, const QString& b) {
  static const QRegularExpression version(QStringLiteral("\\d+\\.\\d+\\.\\d+"));
  return QString(a).replace(version, QStringLiteral("x.y.z")) == QString(b).replace(version, QStringLiteral("x.y.z"));
}

std::pair<QString, QString> firstDifferentLines(const QString& a, const QString& b) {
  const QStringList left = a.split(u'\n'), right = b.split(u'\n');
  qsizetype i = 0;
  while (i < left.size() && i < right.size() && left[i] == right[i]) ++i;
  return {left.value(i), right.value(i)};
}

std::optional<qint64> firstDifference(const QString& a, const QString& b) {
  if (a == b) return std::nullopt;
  const auto left = a.toUcs4(), right = b.toUcs4();
  qint64 i = 0;
  while (i < left.size() && i < right.size() && left[i] == right[i]) ++i;
  return i;
}

}  // namespace tg::lab
