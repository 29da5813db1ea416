#include "app/cost/price_book.h"

#include <QTimeZone>

namespace tg::cost {

namespace {

constexpr qint64 kNanos = 1'000'000'000, kSecondsPerDay = 86'400;

// An id that ends in a date: "-20260203", "@2026-02-03". The id without it; null: no date at its end.
QString withoutDate(const QString& id) {
  for (const qsizetype length : {8, 10}) {
    if (id.size() <= length + 1) continue;
    const QChar before = id[id.size() - length - 1];
    const QString date = id.right(length);
    const QString format = length == 8 ? QStringLiteral("yyyyMMdd") : QStringLiteral("yyyy-MM-dd");
    if ((before == u'-' || before == u'@') && date.startsWith(QStringLiteral("20")) && QDate::fromString(date, format).isValid())
      return id.left(id.size() - length - 1);
  }
  return QString();
}

bool twoDigits(QStringView text, int at, int max, int* value) {
  if (at + 2 > text.size() || !text[at].isDigit() || !text[at + 1].isDigit()) return false;
  *value = text[at].digitValue() * 10 + text[at + 1].digitValue();
  return *value <= max;
}

}  // namespace

std::optional<qint64> instantOf(QStringView text) {
  int hour = 0, minute = 0, second = 0, offsetHour = 0, offsetMinute = 0;
  const QDate date = QDate::fromString(text.left(10).toString(), QStringLiteral("yyyy-MM-dd"));
  if (!date.isValid() || date.year() < 1970 || date.year() > 2261 || text.size() < 20 || (text[10] != u'T' && text[10] != u't')) return std::nullopt;
  if (!twoDigits(text, 11, 23, &hour) || text[13] != u':' || !twoDigits(text, 14, 59, &minute) || text[16] != u':' || !twoDigits(text, 17, 60, &second))
    return std::nullopt;
  qsizetype at = 19;
  qint64 nanos = 0, unit = kNanos / 10;
  if (text[at] == u'.') {
    const qsizetype first = ++at;
    for (; at < text.size() && text[at].isDigit(); ++at, unit /= 10) nanos += unit * text[at].digitValue();
    if (at == first) return std::nullopt;
  }
  if (at >= text.size()) return std::nullopt;
  int sign = 0;
  if (text[at] == u'+' || text[at] == u'-') {
    sign = text[at] == u'+' ? 1 : -1;
    if (text.size() != at + 6 || text[at + 3] != u':' || !twoDigits(text, static_cast<int>(at) + 1, 23, &offsetHour) ||
        !twoDigits(text, static_cast<int>(at) + 4, 59, &offsetMinute))
      return std::nullopt;
  } else if ((text[at] != u'Z' && text[at] != u'z') || text.size() != at + 1) {
    return std::nullopt;
  }
  const qint64 days = QDate(1970, 1, 1).daysTo(date);
  const qint64 seconds = days * kSecondsPerDay + hour * 3600 + minute * 60 + second - sign * (offsetHour * 3600 + offsetMinute * 60);
  return seconds * kNanos + nanos;
}

std::optional<qint64> Band::pico(const QString& key) const {
  const Price found = price(key);
  if (found.kind == Price::Kind::Known) return found.pico;
  if (found.kind == Price::Kind::SameAsInput) return pico(QStringLiteral("input"));
  return std::nullopt;
}

bool Schedule::covers(qint64 instant) const {
  const qint64 seconds = instant / kNanos;
  const QDate day = QDate(1970, 1, 1).addDays(seconds / kSecondsPerDay);
  const auto minute = static_cast<int>(seconds % kSecondsPerDay / 60);
  if (!weekdays.contains(day.dayOfWeek()) || offDates.contains(day)) return false;
  for (const auto& [begin, end] : windows) {
    if (begin < end ? minute >= begin && minute < end : minute >= begin || minute < end) return true;
  }
  return false;
}

bool Row::names(const QString& modelId) const {
  return model.compare(modelId, Qt::CaseInsensitive) == 0 || aliases.contains(modelId, Qt::CaseInsensitive);
}

bool Row::appliesAt(qint64 instant) const { return (!from || *from <= instant) && (!to || instant < *to); }

FoundRow PriceBook::find(const QString& provider, const QString& model, const QString& currency, qint64 at) const {
  QVector<const Row*> named;
  for (const Row& row : rows_)
    if (row.provider == provider && row.names(model)) named.append(&row);
  const QString undated = named.isEmpty() ? withoutDate(model) : QString();
  if (!undated.isEmpty())
    for (const Row& row : rows_)
      if (row.datedSuffix && row.provider == provider && row.names(undated)) named.append(&row);
  if (named.isEmpty()) return {nullptr, QStringLiteral("unknown_model")};
  bool currencySeen = false;
  for (const Row* row : named) {
    if (row->currency != currency) continue;
    currencySeen = true;
    if (row->appliesAt(at)) return {row, QString()};
  }
  return {nullptr, currencySeen ? QStringLiteral("no_price_at_date") : QStringLiteral("no_price_in_currency")};
}

}  // namespace tg::cost
