#include "app/decimal.h"

#include <algorithm>

namespace tg::decimal {
namespace {

void increment(QString& digits) {
  qsizetype i = digits.size() - 1;
  while (i >= 0 && digits[i] == QLatin1Char('9')) digits[i--] = QLatin1Char('0');
  if (i < 0) {
    digits.prepend(QLatin1Char('1'));
  } else {
    digits[i] = QChar(digits[i].unicode() + 1);
  }
}

bool rounds_up(const QString& kept, const QString& cut) {
  if (cut.isEmpty() || cut[0] < QLatin1Char('5')) return false;
  if (cut[0] > QLatin1Char('5')) return true;
  const bool exact_half = std::all_of(cut.begin() + 1, cut.end(), [](QChar c) { return c == QLatin1Char('0'); });
  const bool odd = !kept.isEmpty() && (kept.back().unicode() - u'0') % 2 == 1;
  return !exact_half || odd;
}

}  // namespace

std::optional<QString> whole_digits(const QString& text) {
  const bool digits_only = std::all_of(text.begin(), text.end(), [](QChar c) { return c >= QLatin1Char('0') && c <= QLatin1Char('9'); });
  if (text.isEmpty() || !digits_only) return std::nullopt;
  qsizetype zeros = 0;
  while (zeros + 1 < text.size() && text[zeros] == QLatin1Char('0')) ++zeros;
  return text.mid(zeros);
}

QString scaled(const QString& digits, int scale, int decimals) {
  QString padded = digits.rightJustified(scale + 1, QLatin1Char('0'));
  const QString cut = padded.right(scale - decimals);
  padded.chop(scale - decimals);
  if (rounds_up(padded, cut)) increment(padded);
  if (decimals == 0) return padded;
  return padded.left(padded.size() - decimals) + QLatin1Char('.') + padded.right(decimals);
}

}  // namespace tg::decimal
