// ChatStore: turn rows with their lists.
#include <QHash>
#include <QJsonArray>
#include <QJsonDocument>

#include "storage/chat_store.h"
#include "storage/sql.h"

namespace tg::storage {

namespace {

// Pairs every column of table turn with its field, once for writing, reading and naming. VISIT is called with (column, field);
// visit.money() marks amounts, where empty is NULL.
template <class T, class Visit>
void identityColumns(T& turn, Visit& visit) {
  visit("message_id", turn.messageId);
  visit("chat_id", turn.chatId);
  visit("turn", turn.turn);
  visit("finished_ms", turn.finishedMs);
  visit("model", turn.model);
  visit("fingerprint", turn.fingerprint);
  visit("backend", turn.backend);
  visit("finish_reason", turn.finishReason);
  visit("settings", turn.settingsJson);
  visit("input_total", turn.inputTotal);
  visit("input_cached", turn.inputCached);
  visit("input_fresh", turn.inputFresh);
  visit("output", turn.output);
  visit("thinking", turn.thinking);
}

template <class T, class Visit>
void timingColumns(T& turn, Visit& visit) {
  visit("ttft_ms", turn.ttftMs);
  visit("predicted_ttft_ms", turn.predictedTtftMs);
  visit("queue_ms", turn.queueMs);
  visit("prefill_ms", turn.prefillMs);
  visit("decode_ms", turn.decodeMs);
  visit("total_ms", turn.totalMs);
  visit("prefill_tps", turn.prefillTps);
  visit("decode_tps", turn.decodeTps);
  visit("load_ms", turn.loadMs);
  visit("thinking_ms", turn.thinkingMs);
  visit("restore_ms", turn.restoreMs);
  visit("stop_ms", turn.stopMs);
  visit("itl_p50_ms", turn.itlP50);
  visit("itl_p95_ms", turn.itlP95);
  visit("itl_max_ms", turn.itlMax);
  visit("batch_mean", turn.batchMean);
  visit("tps_start", turn.tpsStart);
  visit("tps_end", turn.tpsEnd);
  visit("passes", turn.passes);
  visit("drafted", turn.drafted);
  visit("accepted", turn.accepted);
  visit("bytes_read_decode", turn.bytesReadDecode);
  visit("gb_per_s_decode", turn.gbPerSDecode);
  visit("gop_per_s_prefill", turn.gopPerSPrefill);
  visit("percent_prefill", turn.percentPrefill);
  visit("percent_decode", turn.percentDecode);
}

template <class T, class Visit>
void cacheColumns(T& turn, Visit& visit) {
  visit("kv_tokens", turn.kvTokens);
  visit("kv_bytes", turn.kvBytes);
  visit("context", turn.context);
  visit("cache_enabled", turn.cacheEnabled);
  visit("cache_outcome", turn.cacheOutcome);
  visit("from_gpu", turn.fromGpu);
  visit("from_ram", turn.fromRam);
  visit("from_disk", turn.fromDisk);
  visit("reusable", turn.reusable);
  visit("reused", turn.reused);
  auto& miss = turn.miss;
  visit("miss_cause", miss.cause);
  visit("miss_at_token", miss.atToken);
  visit("miss_message", miss.message);
  visit("miss_turn_first", miss.turnFirst);
  visit("miss_turn_last", miss.turnLast);
  visit("miss_was", miss.was);
  visit("miss_is", miss.is);
  visit("miss_setting", miss.setting);
  visit("miss_from", miss.from);
  visit("miss_to", miss.to);
  visit("miss_evicted_by", miss.evictedBy);
  visit("miss_by_chat", miss.byChat);
  visit("miss_when", miss.when);
  visit("miss_tier", miss.tier);
  visit("miss_refusal", miss.refusal);
  visit("miss_detail", miss.detail);
  visit("miss_where", miss.where);
}

template <class T, class Visit>
void costColumns(T& turn, Visit& visit) {
  visit("book", turn.book);
  visit("priced_as", turn.pricedAs);
  visit.money("cost_pico", turn.costPico);
  visit("cost_currency", turn.costCurrency);
  visit("cost_error", turn.costError);
  visit.money("if_cached_min_pico", turn.ifCachedMinPico);
  visit.money("if_cached_max_pico", turn.ifCachedMaxPico);
  visit("if_cached_rule", turn.ifCachedRule);
  visit("own_joules", turn.ownJoules);
  visit("own_source", turn.ownSource);
  visit("own_kwh_price", turn.ownKwhPrice);
  visit("own_currency", turn.ownCurrency);
  visit.money("own_cost_pico", turn.ownCostPico);
  visit("logits_sha", turn.logitsSha);
  visit("warnings", turn.warnings);
  visit("work", turn.workJson);
}

template <class T, class Visit>
void eachColumn(T& turn, Visit& visit) {
  identityColumns(turn, visit);
  timingColumns(turn, visit);
  cacheColumns(turn, visit);
  costColumns(turn, visit);
}

struct Names {
  QStringList names;
  template <class F>
  void operator()(const char* column, const F&) { names.append(QLatin1String(column)); }
  void money(const char* column, const QString&) { names.append(QLatin1String(column)); }
};

struct Writer {
  Sql& sql;
  void operator()(const char*, const QString& field) { sql.text(field); }
  void operator()(const char*, int field) { sql.number(field); }
  void operator()(const char*, qint64 field) { sql.number(field); }
  void operator()(const char*, bool field) { sql.flag(field); }
  void operator()(const char*, const std::optional<int>& field) { sql.maybe(field); }
  void operator()(const char*, const std::optional<qint64>& field) { sql.maybe(field); }
  void operator()(const char*, const std::optional<double>& field) { sql.maybe(field); }
  void operator()(const char*, const QStringList& field) {
    sql.text(QString::fromUtf8(QJsonDocument(QJsonArray::fromStringList(field)).toJson(QJsonDocument::Compact)));
  }
  void money(const char*, const QString& field) { sql.textOrNull(field); }
};

struct Reader {
  const Sql& row;
  int column = 0;
  void operator()(const char*, QString& field) { field = row.asText(column++); }
  void operator()(const char*, int& field) { field = row.asInt(column++); }
  void operator()(const char*, qint64& field) { field = row.asNumber(column++); }
  void operator()(const char*, bool& field) { field = row.asFlag(column++); }
  void operator()(const char*, std::optional<int>& field) { field = row.maybeInt(column++); }
  void operator()(const char*, std::optional<qint64>& field) { field = row.maybeNumber(column++); }
  void operator()(const char*, std::optional<double>& field) { field = row.maybeReal(column++); }
  void operator()(const char*, QStringList& field) {
    for (const QJsonValue& value : QJsonDocument::fromJson(row.asText(column).toUtf8()).array()) field.append(value.toString());
    ++column;
  }
  void money(const char*, QString& field) { field = row.asText(column++); }
};

const QStringList& columnNames() {
  static const QStringList names = [] {
    Names collector;
    const Turn turn;
    eachColumn(turn, collector);
    return collector.names;
  }();
  return names;
}

QString selectTurns(const QString& condition) {
  return QStringLiteral("SELECT t.") + columnNames().join(QStringLiteral(", t.")) +
         QStringLiteral(" FROM turn t JOIN message m ON m.id = t.message_id WHERE ") + condition + QStringLiteral(" ORDER BY m.seq");
}

using Places = QHash<QString, qsizetype>;

Outcome<QVector<Turn>> turnsWhere(QSqlDatabase& connection, const QString& condition, const QString& value) {
  Sql rows(connection, selectTurns(condition));
  if (!rows.text(value).run()) return rows.failure();
  QVector<Turn> turns;
  Places places;
  while (rows.next()) {
    Turn turn;
    Reader reader{rows};
    eachColumn(turn, reader);
    places.insert(turn.messageId, turns.size());
    turns.append(std::move(turn));
  }
  if (rows.failed()) return rows.failure();
  const auto lists = [&](const char16_t* columns, const char16_t* table) -> QString {
    return QStringLiteral("SELECT l.message_id, ") + QString::fromUtf16(columns) + QStringLiteral(" FROM turn t JOIN ") + QString::fromUtf16(table) +
           QStringLiteral(" l ON l.message_id = t.message_id WHERE ") + condition + QStringLiteral(" ORDER BY l.message_id, l.position");
  };
  Sql segments(connection, lists(u"l.kind, l.tokens", u"turn_segment"));
  if (!segments.text(value).run()) return segments.failure();
  while (segments.next()) turns[places.value(segments.asText(0))].segments.append({segments.asText(1), segments.asInt(2)});
  Sql lines(connection, lists(u"l.bucket, l.tokens, l.price, l.cost_pico", u"turn_cost_line"));
  if (!lines.text(value).run()) return lines.failure();
  while (lines.next())
    turns[places.value(lines.asText(0))].costLines.append({lines.asText(1), lines.asNumber(2), lines.asText(3), lines.asText(4)});
  if (segments.failed()) return segments.failure();
  if (lines.failed()) return lines.failure();
  return turns;
}

Status insertLists(QSqlDatabase& connection, const Turn& turn) {
  Sql segment(connection, QStringLiteral("INSERT INTO turn_segment (message_id, position, kind, tokens) VALUES (?, ?, ?, ?)"));
  for (int i = 0; i < turn.segments.size(); ++i)
    if (!segment.text(turn.messageId).number(i).text(turn.segments[i].kind).number(turn.segments[i].tokens).run()) return segment.failure();
  Sql line(connection, QStringLiteral("INSERT INTO turn_cost_line (message_id, position, bucket, tokens, price, cost_pico) VALUES (?, ?, ?, ?, ?, ?)"));
  for (int i = 0; i < turn.costLines.size(); ++i) {
    const TurnCostLine& l = turn.costLines[i];
    if (!line.text(turn.messageId).number(i).text(l.bucket).number(l.tokens).text(l.price).text(l.costPico).run()) return line.failure();
  }
  Sql sample(connection, QStringLiteral("INSERT INTO turn_sample (message_id, position, tokens_per_second) VALUES (?, ?, ?)"));
  for (int i = 0; i < turn.samples.size(); ++i)
    if (!sample.text(turn.messageId).number(i).real(static_cast<double>(turn.samples[i])).run()) return sample.failure();
  return Done{};
}

}  // namespace

Status ChatStore::insertTurn(const Turn& turn) {
  QStringList marks;
  for (qsizetype i = 0; i < columnNames().size(); ++i) marks.append(QStringLiteral("?"));
  Sql insert(connection(), QStringLiteral("INSERT INTO turn (") + columnNames().join(QStringLiteral(", ")) + QStringLiteral(") VALUES (") +
                               marks.join(QStringLiteral(", ")) + QStringLiteral(")"));
  Writer writer{insert};
  eachColumn(turn, writer);
  if (!insert.run()) return insert.failure();
  return insertLists(connection(), turn);
}

Outcome<QVector<Turn>> ChatStore::turns(const QString& chatId) { return turnsWhere(connection(), QStringLiteral("t.chat_id = ?"), chatId); }

Outcome<std::optional<Turn>> ChatStore::turn(const QString& messageId) {
  auto found = turnsWhere(connection(), QStringLiteral("t.message_id = ?"), messageId);
  if (!found) return found.failure();
  if (found->isEmpty()) return std::optional<Turn>();
  Turn& turn = found->first();
  Sql samples(connection(), QStringLiteral("SELECT tokens_per_second FROM turn_sample WHERE message_id = ? ORDER BY position"));
  if (!samples.text(messageId).run()) return samples.failure();
  while (samples.next()) turn.samples.append(static_cast<float>(samples.asReal(0)));
  if (samples.failed()) return samples.failure();
  return std::optional<Turn>(std::move(turn));
}

}  // namespace tg::storage
