#include "app/format.h"

#include <QCoreApplication>
#include <QLocale>
#include <cmath>

#include "app/decimal.h"

namespace tg::format {
namespace {

const QChar kNarrowSpace(0x202F);  // between groups of three digits
const QChar kNoBreakSpace(0x00A0);  // between a number and its unit
const QChar kMinus(0x2212);
const QString kApprox = QStringLiteral("≈");

QString tr(const char* text) { return QCoreApplication::translate("Format", text); }

QString with_unit(const QString& number, const char* unit) { return number + kNoBreakSpace + tr(unit); }

QString grouped(const QString& digits) {
  QString out;
  const auto n = digits.size();
  for (qsizetype i = 0; i < n; ++i) {
    if (i > 0 && (n - i) % 3 == 0) out += kNarrowSpace;
    out += digits[i];
  }
  return out;
}

// Plain fixed notation, decimal mark of the language, whole part grouped.
QString fixed(double value, int decimals) {
  const QString plain = QString::number(std::fabs(value), 'f', decimals);
  const auto dot = plain.indexOf(QLatin1Char('.'));
  QString out = grouped(dot < 0 ? plain : plain.left(dot));
  if (dot >= 0) out += QLocale().decimalPoint() + plain.mid(dot + 1);
  return value < 0 ? kMinus + out : out;
}

// Three significant digits: 39.9, 1 200, 2.32. Decided on the rounded value, so that 99.96 reads 100 and not 100.0.
QString three_digits(double value) {
  const double size = std::fabs(value);
  if (size == 0) return QStringLiteral("0");
  for (int decimals = 2; decimals >= 0; --decimals) {
    const double limit = std::pow(10.0, 3 - decimals);
    if (size < limit - 0.5 * std::pow(10.0, -decimals)) return fixed(value, decimals);
  }
  const double step = std::pow(10.0, std::floor(std::log10(size)) - 2);
  return fixed(std::round(value / step) * step, 0);
}

QString minutes_seconds(qint64 seconds) {
  return QStringLiteral("%1 %2").arg(with_unit(QString::number(seconds / 60), QT_TR_NOOP("min")),
                                     with_unit(QStringLiteral("%1").arg(seconds % 60, 2, 10, QLatin1Char('0')), QT_TR_NOOP("s")));
}

QString hours_minutes(qint64 minutes) {
  return QStringLiteral("%1 %2").arg(with_unit(grouped(QString::number(minutes / 60)), QT_TR_NOOP("h")),
                                     with_unit(QStringLiteral("%1").arg(minutes % 60, 2, 10, QLatin1Char('0')), QT_TR_NOOP("min")));
}

struct Unit { const char* symbol; const char* spoken; };
constexpr Unit kBinaryUnits[] = {{QT_TR_NOOP("B"), QT_TR_NOOP("bytes")},           {QT_TR_NOOP("KiB"), QT_TR_NOOP("kibibytes")},
                                 {QT_TR_NOOP("MiB"), QT_TR_NOOP("mebibytes")},     {QT_TR_NOOP("GiB"), QT_TR_NOOP("gibibytes")},
                                 {QT_TR_NOOP("TiB"), QT_TR_NOOP("tebibytes")}};

// The unit in which N reads below 1 024 after rounding to three digits.
std::pair<double, int> scaled(qint64 n) {
  double value = static_cast<double>(n);
  int unit = 0;
  while (unit < 4 && std::fabs(value) >= (unit == 0 ? 1024.0 : 1023.5)) {
    value /= 1024;
    ++unit;
  }
  return {value, unit};
}

QString currency_sign(const QString& currency) {
  if (currency.isEmpty() || currency == QLatin1String("USD")) return QStringLiteral("$");
  if (currency == QLatin1String("EUR")) return QStringLiteral("€");
  if (currency == QLatin1String("GBP")) return QStringLiteral("£");
  return currency + kNoBreakSpace;
}

QString localised(QString decimal) {
  const auto dot = decimal.indexOf(QLatin1Char('.'));
  if (dot < 0) return grouped(decimal);
  return grouped(decimal.left(dot)) + QLocale().decimalPoint() + decimal.mid(dot + 1);
}

// Decimals at which an amount of pico units shows two significant digits, at most 12.
int decimals_for_two_digits(const QString& digits) {
  const auto magnitude = digits.size();  // 1 = 1e-12
  return static_cast<int>(std::min<qsizetype>(12, 12 - magnitude + 2));
}

}  // namespace

QString unknown() { return QStringLiteral("–"); }

QString count(qint64 n) {
  const QString digits = grouped(QString::number(n < 0 ? -n : n));
  return n < 0 ? kMinus + digits : digits;
}

QString measuredTime(double ms) {
  if (ms < 1) return QStringLiteral("< ") + with_unit(QStringLiteral("1"), QT_TR_NOOP("ms"));
  if (std::lround(ms) < 100) return with_unit(QString::number(std::lround(ms)), QT_TR_NOOP("ms"));
  const double s = ms / 1000;
  if (s < 9.995) return with_unit(fixed(s, 2), QT_TR_NOOP("s"));
  if (s < 59.95) return with_unit(fixed(s, 1), QT_TR_NOOP("s"));
  const qint64 seconds = std::llround(s);
  if (seconds < 3600) return minutes_seconds(seconds);
  return hours_minutes(std::llround(s / 60));
}

QString expectedTime(std::optional<double> ms) {
  if (!ms) return unknown();
  const QString about = kApprox + kNoBreakSpace;
  const double s = *ms / 1000;
  if (s < 9.95) return about + with_unit(fixed(std::max(0.1, s), 1), QT_TR_NOOP("s"));
  if (s < 89.5) return about + with_unit(fixed(s, 0), QT_TR_NOOP("s"));
  if (s < 595) return about + minutes_seconds(std::llround(s / 10) * 10);
  const qint64 minutes = std::llround(s / 60);
  return about + (minutes < 60 ? with_unit(QString::number(minutes), QT_TR_NOOP("min")) : hours_minutes(minutes));
}

QString rate(std::optional<double> tokensPerSecond) {
  if (!tokensPerSecond) return unknown();
  return with_unit(three_digits(*tokensPerSecond), QT_TR_NOOP("tok/s"));
}

QString bytes(std::optional<qint64> n) {
  if (!n) return unknown();
  const auto [value, unit] = scaled(*n);
  return with_unit(unit == 0 ? count(*n) : three_digits(value), kBinaryUnits[unit].symbol);
}

QString share(qint64 part, qint64 whole) {
  if (whole <= 0) return unknown();
  if (part == 0) return with_unit(QStringLiteral("0"), QT_TR_NOOP("%"));
  if (part == whole) return with_unit(QStringLiteral("100"), QT_TR_NOOP("%"));
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (percent < 1) return QStringLiteral("< ") + with_unit(QStringLiteral("1"), QT_TR_NOOP("%"));
  return with_unit(QString::number(std::min(99L, std::lround(percent))), QT_TR_NOOP("%"));
}

QString percent(std::optional<double> percent) {
  if (!percent) return unknown();
  if (*percent > 0 && *percent < 1) return QStringLiteral("< ") + with_unit(QStringLiteral("1"), QT_TR_NOOP("%"));
  return with_unit(grouped(QString::number(std::llround(std::min(*percent, 1e6)))), QT_TR_NOOP("%"));
}

QString byteRate(std::optional<double> gbPerS) { return gbPerS ? with_unit(three_digits(*gbPerS), QT_TR_NOOP("GB/s")) : unknown(); }

QString operations(std::optional<double> n) {
  if (!n) return unknown();
  if (*n >= 999.5e9) return with_unit(three_digits(*n / 1e12), QT_TR_NOOP("TOP"));
  return *n >= 999.5e6 ? with_unit(three_digits(*n / 1e9), QT_TR_NOOP("GOP")) : with_unit(three_digits(*n / 1e6), QT_TR_NOOP("MOP"));
}

QString operationRate(std::optional<double> gopPerS) { return gopPerS ? with_unit(three_digits(*gopPerS), QT_TR_NOOP("GOP/s")) : unknown(); }

QString moneyLine(const QString& pico, const QString& currency, bool approximate) {
  const std::optional<QString> digits = decimal::whole_digits(pico);
  if (!digits) return unknown();
  if (*digits == QLatin1String("0")) return currency_sign(currency) + QLatin1Char('0');
  const bool whole = digits->size() > 12;
  const QString amount = decimal::scaled(*digits, 12, whole ? 2 : decimals_for_two_digits(*digits));
  return (approximate ? kApprox + kNoBreakSpace : QString()) + currency_sign(currency) + localised(amount);
}

QString moneyDetail(const QString& pico, const QString& currency) {
  const std::optional<QString> digits = decimal::whole_digits(pico);
  if (!digits) return unknown();
  if (*digits == QLatin1String("0")) return currency_sign(currency) + QLatin1Char('0');
  const auto size = digits->size();  // 13 digits: 1 unit
  if (size < 9) return QStringLiteral("< ") + currency_sign(currency) + localised(QStringLiteral("0.0001"));
  const int decimals = size >= 13 ? 2 : size >= 11 ? 4 : 6;
  return currency_sign(currency) + localised(decimal::scaled(*digits, 12, decimals));
}

QString spokenTime(double ms) {
  if (ms < 1) return tr("less than 1 millisecond");
  if (const int whole = static_cast<int>(std::lround(ms)); whole < 100) {
    return whole == 1 ? QCoreApplication::translate("Format", "1 millisecond") : QCoreApplication::translate("Format", "%1 milliseconds").arg(whole);
  }
  const double s = ms / 1000;
  if (s < 59.95) return tr("%1 seconds").arg(fixed(s, s < 9.995 ? 2 : 1));
  const qint64 seconds = std::llround(s);
  if (seconds < 3600) return tr("%1 minutes %2 seconds").arg(seconds / 60).arg(seconds % 60);
  const qint64 minutes = std::llround(s / 60);
  return tr("%1 hours %2 minutes").arg(minutes / 60).arg(minutes % 60);
}

QString spokenBytes(qint64 n) {
  const auto [value, unit] = scaled(n);
  return (unit == 0 ? count(n) : three_digits(value)) + QLatin1Char(' ') + tr(kBinaryUnits[unit].spoken);
}

}  // namespace tg::format
