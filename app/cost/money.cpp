#include "app/cost/money.h"

#include <algorithm>

namespace tg::cost {

namespace {

constexpr int kDecimals = 6;                     // a price of 0.000001 per million tokens is one pico per token
constexpr int kMaxWholeDigits = 12;              // so that 2^63 tokens at any price stay below 2^127

Int128 gcd(Int128 a, Int128 b) {
  if (a < 0) a = -a;
  while (b != 0) {
    const Int128 rest = a % b;
    a = b;
    b = rest;
  }
  return a == 0 ? 1 : a;
}

bool allDigits(QStringView text) {
  return !text.isEmpty() && std::all_of(text.begin(), text.end(), [](QChar c) { return c >= u'0' && c <= u'9'; });
}

}  // namespace

std::optional<qint64> picoPerToken(QStringView price) {
  const qsizetype point = price.indexOf(u'.');
  const QStringView whole = point < 0 ? price : price.left(point);
  const QStringView part = point < 0 ? QStringView() : price.mid(point + 1);
  if (!allDigits(whole) || (point >= 0 && (!allDigits(part) || part.size() > kDecimals))) return std::nullopt;
  QString digits = whole.toString() + part.toString() + QString(kDecimals - part.size(), u'0');
  while (digits.size() > 1 && digits[0] == u'0') digits.remove(0, 1);
  if (digits.size() > kMaxWholeDigits + kDecimals) return std::nullopt;
  return digits.toLongLong();
}

QString priceText(qint64 picoPerToken) {
  QString digits = QString::number(picoPerToken).rightJustified(kDecimals + 1, u'0');
  digits.insert(digits.size() - kDecimals, u'.');
  while (digits.endsWith(u'0')) digits.chop(1);
  if (digits.endsWith(u'.')) digits.chop(1);
  return digits;
}

QString decimal(Int128 value) {
  if (value == 0) return QStringLiteral("0");
  const bool negative = value < 0;
  QString digits;
  for (; value != 0; value /= 10) digits.prepend(QChar(u'0' + static_cast<char16_t>(negative ? -(value % 10) : value % 10)));
  return negative ? u'-' + digits : digits;
}

std::optional<Amount> wholePico(QStringView digits) {
  constexpr qsizetype kMaxDigits = 37;           // 10^37 < 2^126
  if (!allDigits(digits) || digits.size() > kMaxDigits) return std::nullopt;
  Int128 value = 0;
  for (const QChar c : digits) value = value * 10 + (c.unicode() - u'0');
  return Amount(value);
}

Amount Amount::of(qint64 tokens, qint64 picoPerToken) { return Amount(static_cast<Int128>(tokens) * picoPerToken); }

void Amount::reduce() {
  const Int128 common = gcd(num_, den_);
  num_ /= common;
  den_ /= common;
}

Amount& Amount::operator+=(const Amount& other) {
  Int128 left = 0, right = 0;
  tooLarge_ = tooLarge_ || other.tooLarge_ || __builtin_mul_overflow(num_, other.den_, &left) ||
              __builtin_mul_overflow(other.num_, den_, &right) || __builtin_add_overflow(left, right, &num_) ||
              __builtin_mul_overflow(den_, other.den_, &den_);
  if (!tooLarge_) reduce();
  return *this;
}

Amount Amount::scaled(qint64 num, qint64 den) const {
  Amount result = *this;
  result.tooLarge_ = tooLarge_ || __builtin_mul_overflow(num_, static_cast<Int128>(num), &result.num_) ||
                     __builtin_mul_overflow(den_, static_cast<Int128>(den), &result.den_);
  if (!result.tooLarge_) result.reduce();
  return result;
}

QString Amount::rounded() const {
  if (tooLarge_) return QString();
  Int128 whole = num_ / den_;
  const Int128 rest = num_ % den_, missing = den_ - rest;
  if (rest > missing || (rest == missing && whole % 2 != 0)) ++whole;
  return decimal(whole);
}

bool operator<(const Amount& a, const Amount& b) {
  Int128 left = 0, right = 0;
  if (a.tooLarge_ || b.tooLarge_) return !a.tooLarge_ && b.tooLarge_;
  const bool overflow = __builtin_mul_overflow(a.num_, b.den_, &left) || __builtin_mul_overflow(b.num_, a.den_, &right);
  return overflow ? a.num_ / a.den_ < b.num_ / b.den_ : left < right;
}

}  // namespace tg::cost
