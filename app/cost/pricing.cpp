#include "app/cost/pricing.h"

#include <algorithm>

namespace tg::cost {

namespace {

// Buckets with nothing left open.
struct Load {
  qint64 cached = 0, write = 0, fresh = 0, output = 0;
};

struct Sum {
  Amount amount;
  QVector<PricedLine> lines;
  bool priceMissing = false;

  void add(const QString& bucket, qint64 tokens, std::optional<qint64> pico) {
    if (tokens == 0) return;                                // costs 0 even where the price is not known
    if (!pico) {
      priceMissing = true;
      return;
    }
    amount += Amount::of(tokens, *pico);
    lines.append({bucket, tokens, *pico});
  }
};

const QString kInput = QStringLiteral("input"), kCachedRead = QStringLiteral("cached_read"), kStandard = QStringLiteral("standard");

class Pricer {
 public:
  Pricer(const Row& row, const QVector<Band>& bands, const Usage& usage) : row_(row), bands_(bands), usage_(usage) {}

  Sum sum(const Load& load) const {
    Sum sum;
    if (row_.excess) inputByExcess(load, sum);
    else input(bandFor(*usage_.total), load, usage_.audioCached, usage_.audioFresh, sum);
    const Band& band = row_.excess ? bands_.first() : bandFor(*usage_.total);
    const bool thinks = usage_.thinking.value_or(0) > 0 && band.price(QStringLiteral("output_thinking")).given();
    sum.add(QStringLiteral("output"), load.output, band.pico(thinks ? QStringLiteral("output_thinking") : QStringLiteral("output")));
    if (usage_.storageSeconds && *usage_.total > 0 && *usage_.storageSeconds > 0) addStorage(sum);
    return sum;
  }

 private:
  const Row& row_;
  const QVector<Band>& bands_;
  const Usage& usage_;

  const Band& bandFor(qint64 total) const {
    for (const Band& band : bands_)
      if (!band.upTo || total <= *band.upTo) return band;
    return bands_.last();
  }

  void read(const Band& band, qint64 tokens, qint64 audio, Sum& sum) const {
    const QString audioKey = QStringLiteral("audio_cached_read"), explicitKey = QStringLiteral("cached_read_explicit");
    const qint64 apart = band.price(audioKey).given() ? std::min(audio, tokens) : 0;
    sum.add(audioKey, apart, band.pico(audioKey));
    const bool ofExplicit = usage_.explicitRead && band.price(explicitKey).given();
    sum.add(QStringLiteral("cached"), tokens - apart, band.pico(ofExplicit ? explicitKey : kCachedRead));
  }

  // Written tokens whose lifetime was reported have its price, the rest the row's default.
  void written(const Band& band, qint64 tokens, Sum& sum) const {
    const qint64 hour = std::min(tokens, usage_.write1h), fiveMinutes = std::min(tokens - hour, usage_.write5m);
    sum.add(QStringLiteral("cache_write_5m"), fiveMinutes, band.pico(QStringLiteral("cache_write_5m")));
    sum.add(QStringLiteral("cache_write_1h"), hour, band.pico(QStringLiteral("cache_write_1h")));
    const QString key = QStringLiteral("cache_write_") + row_.defaultWriteTtl;
    sum.add(key, tokens - hour - fiveMinutes, band.pico(key));
  }

  void input(const Band& band, const Load& load, qint64 audioCached, qint64 audioFresh, Sum& sum) const {
    read(band, load.cached, audioCached, sum);
    written(band, load.write, sum);
    const QString audioKey = QStringLiteral("audio_input");
    const qint64 apart = band.price(audioKey).given() ? std::min(audioFresh, load.fresh) : 0;
    sum.add(audioKey, apart, band.pico(audioKey));
    sum.add(QStringLiteral("fresh"), load.fresh - apart, band.pico(kInput));
  }

  // Tokens laid out cached, written, fresh; each band prices the stretch that lies in it.
  void inputByExcess(const Load& load, Sum& sum) const {
    qint64 from = 0;
    const qint64 total = load.cached + load.write + load.fresh;
    for (const Band& band : bands_) {
      const qint64 to = band.upTo ? std::min(*band.upTo, total) : total;
      const auto part = [&](qint64 begin, qint64 end) { return std::max<qint64>(0, std::min(end, to) - std::max(begin, from)); };
      const qint64 writeBegin = load.cached, freshBegin = load.cached + load.write;
      input(band, {part(0, writeBegin), part(writeBegin, freshBegin), part(freshBegin, total), 0}, 0, 0, sum);
      from = std::max(from, to);
    }
  }

  void addStorage(Sum& sum) const {
    if (row_.storagePerHour.kind != Price::Kind::Known) {
      sum.priceMissing = true;
      return;
    }
    sum.amount += Amount::of(*usage_.total, row_.storagePerHour.pico).scaled(*usage_.storageSeconds, 3600);
  }
};

// Every way the unreported part of the input can fall: all fresh, all cached, all written.
QVector<Load> inputLoads(const Usage& usage) {
  if (usage.hostedEquivalent) return {{0, 0, *usage.total, 0}};
  const qint64 cached = usage.cached.value_or(0), write = usage.write.value_or(0), open = *usage.total - cached - write;
  QVector<Load> loads = {{cached, write, open, 0}};
  if (!usage.cached) loads.append({open, write, 0, 0});
  if (!usage.write) loads.append({cached, open, 0, 0});
  return loads;
}

bool same(const Amount& a, const Amount& b) { return !(a < b) && !(b < a); }

// Modifiers change tokens and storage, not fees.
struct Surcharges {
  QVector<Modifier> factors;
  Amount fees;
  Amount on(Amount amount) const {
    for (const Modifier& factor : factors) amount = amount.scaled(factor.num, factor.den);
    amount += fees;
    return amount;
  }
};

void takeRange(const Pricer& pricer, const Surcharges& surcharges, Priced& priced) {
  const Usage& usage = priced.usage;
  for (Load load : inputLoads(usage)) {
    load.output = usage.output ? *usage.output : *usage.outputMin;
    const Sum low = pricer.sum(load);
    const bool openEnd = !usage.output && !usage.outputMax;
    if (!usage.output && usage.outputMax) load.output = *usage.outputMax;
    const Sum high = pricer.sum(load);
    if (low.priceMissing || high.priceMissing) {
      priced.error = QStringLiteral("price_missing");
      priced.min.reset();
      priced.max.reset();
      priced.lines.clear();
      return;
    }
    const Amount least = surcharges.on(low.amount), most = surcharges.on(high.amount);
    if (!priced.min || least < *priced.min) {
      priced.min = least;
      priced.lines = low.lines;
    }
    if (!openEnd && (!priced.max || *priced.max < most)) priced.max = most;
  }
  if (priced.max && same(*priced.min, *priced.max)) return;
  if (!usage.uncertainty.isEmpty()) priced.error = usage.uncertainty;
  else priced.error = usage.cached ? QStringLiteral("cache_write_not_reported") : QStringLiteral("cached_not_reported");
}

QString priceSetFor(const Row& row, const Request& request) {
  const bool scheduled = request.tier == kStandard && row.schedule && row.schedule->covers(*request.at);
  return scheduled ? row.schedule->priceSet : request.tier;
}

void priceByRow(const Row& row, const Request& request, Priced& priced) {
  priced.row = row.id;
  priced.currency = row.currency;
  priced.usage.resolveWrite(row.defaultWriteTtl == QStringLiteral("30m"));
  if (row.certainUntil && *request.at >= *row.certainUntil) priced.flags.append(QStringLiteral("price_may_have_changed"));
  const QString set = priceSetFor(row, request);
  if (!row.sets.contains(set)) {
    priced.error = QStringLiteral("no_price_for_tier");
    return;
  }
  Surcharges surcharges;
  for (const QString& name : request.modifiers) {
    if (!row.modifiers.contains(name)) {
      priced.error = QStringLiteral("unknown_modifier");
      return;
    }
    surcharges.factors.append(row.modifiers.value(name));
  }
  if (surcharges.factors.size() >= 2 || (!surcharges.factors.isEmpty() && set != kStandard))
    priced.flags.append(QStringLiteral("modifier_stack_unverified"));
  if (priced.usage.searches > 0) {
    if (!row.picoPerSearch) {
      priced.error = QStringLiteral("price_missing");
      return;
    }
    // The price is per 1 000 searches: its pico-per-token value is per million, so a single search costs a thousand times that.
    surcharges.fees = Amount::of(priced.usage.searches, *row.picoPerSearch).scaled(1000, 1);
  }
  takeRange(Pricer(row, row.sets[set], priced.usage), surcharges, priced);
}

}  // namespace

Priced price(const PriceBook& book, const Request& request, const Usage& usage) {
  Priced priced;
  priced.usage = usage;
  priced.flags = usage.flags;
  if (usage.hostedEquivalent) priced.flags.append(QStringLiteral("hosted_equivalent"));
  if (!usage.error.isEmpty()) {
    priced.error = usage.error;
    priced.flags.clear();
    return priced;
  }
  const FoundRow found = request.at ? book.find(request.provider, request.model, request.currency, *request.at)
                                    : FoundRow{nullptr, QStringLiteral("no_price_at_date")};
  if (found.row) priceByRow(*found.row, request, priced);
  else priced.error = found.error;
  if ((priced.min && priced.min->tooLarge()) || (priced.max && priced.max->tooLarge())) {
    priced.error = QStringLiteral("count_out_of_range");
    priced.min.reset();
    priced.max.reset();
  }
  std::sort(priced.flags.begin(), priced.flags.end());
  priced.flags.removeDuplicates();
  return priced;
}

}  // namespace tg::cost
