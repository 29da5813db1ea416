// Reading a price book: every rule of the contract that a book can break is checked here, once.
#include <QSet>

#include "app/cost/money.h"
#include "app/cost/price_book.h"
#include "app/cost/resources.h"

namespace tg::cost {

namespace {

// Collects the first refusal; readers go on quietly after it.
struct Reading {
  QString refusal;
  bool ok() const { return refusal.isEmpty(); }
  void refuse(const QString& row, const QString& why) {
    if (ok()) refusal = QStringLiteral("This price book is refused: row \"%1\" %2.").arg(row, why);
  }
};

const QStringList& priceKeys() {
  static const QStringList keys = {QStringLiteral("input"), QStringLiteral("output"), QStringLiteral("cached_read"), QStringLiteral("cached_read_explicit"),
                                   QStringLiteral("cache_write_5m"), QStringLiteral("cache_write_30m"), QStringLiteral("cache_write_1h"),
                                   QStringLiteral("cache_write_12h"), QStringLiteral("output_thinking"), QStringLiteral("audio_input"),
                                   QStringLiteral("audio_cached_read")};
  return keys;
}

Price readPrice(const Json& holder, const QString& key, const QString& rowId, Reading& reading) {
  Price price;
  if (!holder.has(key)) return price;
  price.kind = Price::Kind::Unknown;
  const Json* value = holder.find(key);
  if (!value) return price;
  const bool mayRefer = key != QStringLiteral("input") && key != QStringLiteral("output");
  if (mayRefer && value->isString() && value->text == QStringLiteral("=input")) {
    price.kind = Price::Kind::SameAsInput;
    return price;
  }
  const auto pico = value->isString() ? picoPerToken(value->text) : std::nullopt;
  if (!pico) reading.refuse(rowId, QStringLiteral("has a price (%1) that is not a decimal string with at most six decimals").arg(key));
  price.kind = Price::Kind::Known;
  price.pico = pico.value_or(0);
  return price;
}

QVector<Band> readBands(const Json& list, const QString& rowId, Reading& reading) {
  QVector<Band> bands;
  if (!list.isArray() || list.items.empty()) reading.refuse(rowId, QStringLiteral("has a price set without bands"));
  for (const Json& item : list.items) {
    Band band;
    if (!item.isObject()) reading.refuse(rowId, QStringLiteral("has a band that is not an object"));
    if (const Json* end = item.find(u"up_to")) {
      band.upTo = end->integer();
      if (!band.upTo || *band.upTo < 1) reading.refuse(rowId, QStringLiteral("has a band whose end is not a positive integer"));
    }
    for (const QString& key : priceKeys()) band.prices.insert(key, readPrice(item, key, rowId, reading));
    if (!bands.isEmpty() && (!bands.last().upTo || (band.upTo && *band.upTo <= *bands.last().upTo)))
      reading.refuse(rowId, QStringLiteral("has bands that do not ascend"));
    bands.append(band);
  }
  if (!bands.isEmpty() && bands.last().upTo) reading.refuse(rowId, QStringLiteral("has a last band with an end"));
  return bands;
}

std::optional<qint64> readInstant(const Json& row, QStringView key, const QString& rowId, Reading& reading) {
  const Json* value = row.find(key);
  if (!value) return std::nullopt;
  const auto instant = value->isString() ? instantOf(value->text) : std::nullopt;
  if (!instant) reading.refuse(rowId, QStringLiteral("has a date that cannot be read"));
  return instant;
}

int minutesOf(const QString& text) {
  const QTime time = QTime::fromString(text, QStringLiteral("HH:mm"));
  return time.isValid() ? time.hour() * 60 + time.minute() : -1;
}

std::optional<Schedule> readSchedule(const Json& row, const QString& rowId, Reading& reading) {
  const Json* value = row.find(u"schedule");
  if (!value) return std::nullopt;
  Schedule schedule;
  schedule.priceSet = value->string(u"price_set");
  const Json *windows = value->find(u"utc_windows"), *days = value->find(u"utc_weekdays"), *off = value->find(u"off_dates");
  bool good = !schedule.priceSet.isEmpty() && windows && windows->isArray() && days && days->isArray();
  if (good) {
    for (const Json& window : windows->items) {
      good = good && window.items.size() == 2;
      if (good) schedule.windows.append({minutesOf(window.items[0].text), minutesOf(window.items[1].text)});
      good = good && schedule.windows.last().first >= 0 && schedule.windows.last().second >= 0;
    }
    for (const Json& day : days->items) schedule.weekdays.append(static_cast<int>(day.integer().value_or(0)));
    if (off)
      for (const Json& date : off->items) schedule.offDates.append(QDate::fromString(date.text, Qt::ISODate));
  }
  if (!good) reading.refuse(rowId, QStringLiteral("has a schedule that cannot be read"));
  return schedule;
}

void readModifiers(const Json& json, Row& row, Reading& reading) {
  const Json* modifiers = json.find(u"modifiers");
  if (!modifiers) return;
  for (const auto& [name, value] : modifiers->members) {
    const Json *num = value.find(u"num"), *den = value.find(u"den");
    const qint64 n = num ? num->integer().value_or(0) : 0, d = den ? den->integer().value_or(0) : 0;
    if (n < 1 || d < 1) reading.refuse(row.id, QStringLiteral("has a modifier that is not a positive fraction"));
    row.modifiers.insert(name, {n, d});
  }
}

void readExtras(const Json& json, Row& row, Reading& reading) {
  row.storagePerHour = readPrice(json, QStringLiteral("storage_per_mtok_hour"), row.id, reading);
  if (const Json* fees = json.find(u"fees")) {
    const Price search = readPrice(*fees, QStringLiteral("web_search_per_1000"), row.id, reading);
    if (search.kind == Price::Kind::Known) row.picoPerSearch = search.pico;
  }
  readModifiers(json, row, reading);
  if (const Json* cache = json.find(u"cache")) row.defaultWriteTtl = cache->string(u"default_write_ttl");
  if (const Json* sources = json.find(u"sources"); sources && !sources->items.empty()) {
    row.source = sources->items.front().string(u"name");
    row.seen = sources->items.front().string(u"seen");
  }
}

Row readRow(const Json& json, Reading& reading) {
  Row row;
  row.id = json.string(u"id");
  row.provider = json.string(u"provider");
  row.model = json.string(u"model");
  row.currency = json.string(u"currency");
  if (row.id.isEmpty() || row.provider.isEmpty() || row.model.isEmpty() || row.currency.isEmpty())
    reading.refuse(row.id, QStringLiteral("lacks its id, provider, model or currency"));
  if (const Json* aliases = json.find(u"aliases"))
    for (const Json& alias : aliases->items) row.aliases.append(alias.text);
  const Json* dated = json.find(u"dated_suffix");
  row.datedSuffix = dated && dated->flag;
  row.from = readInstant(json, u"effective_from", row.id, reading);
  row.to = readInstant(json, u"effective_to", row.id, reading);
  row.certainUntil = readInstant(json, u"certain_until", row.id, reading);
  if (row.from && row.to && *row.from >= *row.to) reading.refuse(row.id, QStringLiteral("has an empty period"));
  row.excess = json.string(u"tier_scope") == QStringLiteral("excess");
  const Json* prices = json.find(u"prices");
  if (!prices || !prices->find(u"standard")) reading.refuse(row.id, QStringLiteral("has no standard prices"));
  if (prices)
    for (const auto& [set, bands] : prices->members) row.sets.insert(set, readBands(bands, row.id, reading));
  row.schedule = readSchedule(json, row.id, reading);
  readExtras(json, row, reading);
  return row;
}

bool overlap(const Row& a, const Row& b) { return (!a.to || !b.from || *b.from < *a.to) && (!b.to || !a.from || *a.from < *b.to); }

// Two rows that would both answer for one model at one time.
void checkOverlaps(const QVector<Row>& rows, Reading& reading) {
  QHash<QString, QVector<const Row*>> byName;
  for (const Row& row : rows) {
    QSet<QString> names = {row.model.toLower()};
    for (const QString& alias : row.aliases) names.insert(alias.toLower());
    for (const QString& name : std::as_const(names)) {
      auto& same = byName[row.provider + u'\n' + row.currency + u'\n' + name];
      for (const Row* other : std::as_const(same))
        if (overlap(*other, row)) reading.refuse(row.id, QStringLiteral("overlaps with row \"%1\" in time").arg(other->id));
      same.append(&row);
    }
  }
}

}  // namespace

std::optional<PriceBook> PriceBook::read(const QByteArray& text, QString* refusal) {
  const auto refuse = [&](const QString& sentence) {
    if (refusal) *refusal = sentence;
    return std::nullopt;
  };
  const ParsedJson parsed = parseJson(text);
  if (!parsed.ok || !parsed.value.isObject()) return refuse(QStringLiteral("This price book is refused: it is not a JSON object."));
  if (parsed.doubledKey) return refuse(QStringLiteral("This price book is refused: an object has a key twice."));
  const Json& json = parsed.value;
  const Json *version = json.find(u"schema_version"), *rows = json.find(u"rows");
  if (!version || version->integer() != 1) return refuse(QStringLiteral("This price book is refused: its schema version is not 1."));
  if (json.string(u"price_unit") != QStringLiteral("currency per 1,000,000 tokens"))
    return refuse(QStringLiteral("This price book is refused: its price unit is not known."));
  if (!rows || !rows->isArray()) return refuse(QStringLiteral("This price book is refused: it has no rows."));
  PriceBook book;
  book.name_ = json.string(u"book");
  book.asOf_ = json.string(u"as_of");
  Reading reading;
  QSet<QString> ids;
  for (const Json& item : rows->items) {
    const Row row = readRow(item, reading);
    if (ids.contains(row.id)) reading.refuse(row.id, QStringLiteral("is there twice"));
    ids.insert(row.id);
    book.rows_.append(row);
  }
  checkOverlaps(book.rows_, reading);
  if (!reading.ok()) return refuse(reading.refusal);
  return book;
}

const PriceBook& PriceBook::shipped() {
  static const PriceBook book = [] {
    QString refusal;
    auto shipped = read(shippedFile(QStringLiteral("prices.json")), &refusal);
    if (!shipped) qFatal("The price book inside the program cannot be read. %s", qPrintable(refusal));
    return std::move(*shipped);
  }();
  return book;
}

}  // namespace tg::cost
