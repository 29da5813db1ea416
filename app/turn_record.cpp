#include "app/turn_record.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <cmath>

#include "app/record_work.h"
#include "app/turn_record_json.h"

namespace tg {
namespace {

using Json = nlohmann::ordered_json;

Json text(const QString& s) { return Json(s.toStdString()); }
Json text_or_null(const QString& s) { return s.isEmpty() ? Json(nullptr) : text(s); }
Json number(const std::optional<int>& n) { return n ? Json(*n) : Json(nullptr); }

// Three decimals are below what any clock here resolves; more would only make records differ for nothing.
Json number(const std::optional<double>& n) { return n && std::isfinite(*n) ? Json(std::round(*n * 1000) / 1000) : Json(nullptr); }

void put(Json& object, const char* key, const QString& value) {
  if (!value.isEmpty()) object[key] = text(value);
}

Json miss_json(const RecordMiss& miss) {
  Json out;
  out["cause"] = text(miss.cause);
  if (miss.atToken) out["at_token"] = *miss.atToken;
  put(out, "was", miss.was);
  put(out, "is", miss.is);
  put(out, "setting", miss.setting);
  put(out, "evicted_by", miss.evictedBy);
  put(out, "detail", miss.detail);
  put(out, "where", miss.where);
  if (miss.message) out["message"] = *miss.message;
  if (miss.turnFirst >= 0) out["turns"] = Json::array({miss.turnFirst, miss.turnLast});
  put(out, "from", miss.from);
  put(out, "to", miss.to);
  put(out, "tier", miss.tier);
  put(out, "by_chat", miss.byChat);
  put(out, "refusal", miss.refusal);
  put(out, "when", miss.when);
  return out;
}

Json cache_json(const RecordCache& cache) {
  Json out;
  out["enabled"] = cache.enabled;
  out["outcome"] = text(cache.outcome);
  out["source"] = {{"gpu", cache.fromGpu}, {"ram", cache.fromRam}, {"disk", cache.fromDisk}};
  out["reusable"] = cache.reusable;
  out["reused"] = cache.reused;
  out["miss"] = cache.miss ? miss_json(*cache.miss) : Json(nullptr);
  return out;
}

Json cost_json(const RecordCost& cost) {
  Json out;
  out["book"] = text_or_null(cost.book);
  out["priced_as"] = text_or_null(cost.pricedAs);
  out["cost_pico"] = text_or_null(cost.costPico);
  out["currency"] = text_or_null(cost.currency);
  out["lines"] = Json::array();
  for (const RecordCostLine& line : cost.lines) {
    out["lines"].push_back({{"bucket", text(line.bucket)}, {"tokens", line.tokens}, {"price", text_or_null(line.price)}, {"cost_pico", text_or_null(line.costPico)}});
  }
  out["if_cached"] = nullptr;
  if (!cost.ifCachedRule.isEmpty()) {
    out["if_cached"] = {{"min_pico", text_or_null(cost.ifCachedMinPico)}, {"max_pico", text_or_null(cost.ifCachedMaxPico)}, {"rule", text(cost.ifCachedRule)}};
  }
  out["error"] = text_or_null(cost.error);
  return out;
}

Json own_json(const RecordOwn& own) {
  return {{"joules", number(own.joules)}, {"source", text_or_null(own.source)}, {"kwh_price", text_or_null(own.kwhPrice)},
          {"currency", text_or_null(own.currency)}, {"cost_pico", text_or_null(own.costPico)}};
}

void put_counts(Json& out, const TurnRecord& r) {
  out["chat"] = text(r.chat);
  out["turn"] = r.turn;
  out["message_id"] = text(r.messageId);
  out["model"] = text(r.model);
  out["fingerprint"] = text(r.fingerprint);
  out["backend"] = text(r.backend);
  out["input_total"] = number(r.inputTotal);
  out["input_cached"] = number(r.inputCached);
  out["input_fresh"] = number(r.inputFresh);
  out["output"] = number(r.output);
  out["thinking"] = number(r.thinking);
  out["finish_reason"] = text(r.finishReason);
  out["segments"] = Json::array();
  for (const RecordSegment& s : r.segments) out["segments"].push_back({{"kind", text(s.kind)}, {"tokens", s.tokens}});
}

void put_times(Json& out, const TurnRecord& r) {
  out["ttft_ms"] = number(r.ttftMs);
  out["predicted_ttft_ms"] = number(r.predictedTtftMs);
  out["queue_ms"] = number(r.queueMs);
  out["prefill_ms"] = number(r.prefillMs);
  out["decode_ms"] = number(r.decodeMs);
  out["total_ms"] = number(r.totalMs);
  out["prefill_tps"] = number(r.prefillTps);
  out["decode_tps"] = number(r.decodeTps);
  out["load_ms"] = number(r.loadMs);
  out["itl_ms"] = {{"p50", number(r.itlP50)}, {"p95", number(r.itlP95)}, {"max", number(r.itlMax)}};
  out["batch_mean"] = number(r.batchMean);
  out["kv"] = {{"tokens", r.kvTokens}, {"bytes", r.kvBytes ? Json(*r.kvBytes) : Json(nullptr)}, {"context", r.context}};
  out["passes"] = r.passes;
  out["thinking_ms"] = number(r.thinkingMs);
  out["tps_start"] = number(r.tpsStart);
  out["tps_end"] = number(r.tpsEnd);
  out["restore_ms"] = number(r.restoreMs);
  out["stop_ms"] = number(r.stopMs);
}

std::optional<double> real(const QJsonObject& o, const char* key) {
  const QJsonValue v = o.value(QLatin1String(key));
  return v.isDouble() ? std::optional<double>(v.toDouble()) : std::nullopt;
}
std::optional<int> whole(const QJsonObject& o, const char* key) {
  const QJsonValue v = o.value(QLatin1String(key));
  return v.isDouble() ? std::optional<int>(v.toInt()) : std::nullopt;
}
QString str(const QJsonObject& o, const char* key) { return o.value(QLatin1String(key)).toString(); }
QJsonObject object(const QJsonObject& o, const char* key) { return o.value(QLatin1String(key)).toObject(); }

RecordMiss miss_from(const QJsonObject& o) {
  RecordMiss miss;
  miss.cause = str(o, "cause");
  miss.atToken = whole(o, "at_token");
  miss.message = whole(o, "message");
  miss.was = str(o, "was");
  miss.is = str(o, "is");
  miss.setting = str(o, "setting");
  miss.evictedBy = str(o, "evicted_by");
  miss.detail = str(o, "detail");
  miss.where = str(o, "where");
  miss.from = str(o, "from");
  miss.to = str(o, "to");
  miss.tier = str(o, "tier");
  miss.byChat = str(o, "by_chat");
  miss.refusal = str(o, "refusal");
  miss.when = str(o, "when");
  const QJsonArray turns = o.value(QLatin1String("turns")).toArray();
  if (turns.size() == 2) {
    miss.turnFirst = turns[0].toInt();
    miss.turnLast = turns[1].toInt();
  }
  return miss;
}

RecordCache cache_from(const QJsonObject& o) {
  RecordCache cache;
  const QJsonObject source = object(o, "source");
  cache.enabled = o.value(QLatin1String("enabled")).toBool(true);
  cache.outcome = str(o, "outcome");
  cache.fromGpu = whole(source, "gpu").value_or(0);
  cache.fromRam = whole(source, "ram").value_or(0);
  cache.fromDisk = whole(source, "disk").value_or(0);
  cache.reusable = whole(o, "reusable").value_or(0);
  cache.reused = whole(o, "reused").value_or(0);
  if (o.value(QLatin1String("miss")).isObject()) cache.miss = miss_from(object(o, "miss"));
  return cache;
}

RecordCost cost_from(const QJsonObject& o) {
  RecordCost cost;
  cost.book = str(o, "book");
  cost.pricedAs = str(o, "priced_as");
  cost.costPico = str(o, "cost_pico");
  cost.currency = str(o, "currency");
  cost.error = str(o, "error");
  const QJsonArray lines = o.value(QLatin1String("lines")).toArray();
  for (const QJsonValue& v : lines) {
    const QJsonObject line = v.toObject();
    cost.lines.push_back({str(line, "bucket"), line.value(QLatin1String("tokens")).toInteger(), str(line, "price"), str(line, "cost_pico")});
  }
  const QJsonObject cached = object(o, "if_cached");
  cost.ifCachedMinPico = str(cached, "min_pico");
  cost.ifCachedMaxPico = str(cached, "max_pico");
  cost.ifCachedRule = str(cached, "rule");
  return cost;
}

void read_counts(TurnRecord& r, const QJsonObject& o) {
  r.chat = str(o, "chat");
  r.turn = whole(o, "turn").value_or(0);
  r.messageId = str(o, "message_id");
  r.model = str(o, "model");
  r.fingerprint = str(o, "fingerprint");
  r.backend = str(o, "backend");
  r.inputTotal = whole(o, "input_total");
  r.inputCached = whole(o, "input_cached");
  r.inputFresh = whole(o, "input_fresh");
  r.output = whole(o, "output");
  r.thinking = whole(o, "thinking");
  r.finishReason = str(o, "finish_reason");
  const QJsonArray segments = o.value(QLatin1String("segments")).toArray();
  for (const QJsonValue& v : segments) r.segments.push_back({str(v.toObject(), "kind"), whole(v.toObject(), "tokens").value_or(0)});
  r.constraint = str(o, "constraint");
  const QJsonArray warnings = o.value(QLatin1String("warnings")).toArray();
  for (const QJsonValue& v : warnings) r.warnings << v.toString();
}

void read_times(TurnRecord& r, const QJsonObject& o) {
  r.ttftMs = real(o, "ttft_ms");
  r.predictedTtftMs = real(o, "predicted_ttft_ms");
  r.queueMs = real(o, "queue_ms");
  r.prefillMs = real(o, "prefill_ms");
  r.decodeMs = real(o, "decode_ms");
  r.totalMs = real(o, "total_ms");
  r.prefillTps = real(o, "prefill_tps");
  r.decodeTps = real(o, "decode_tps");
  r.loadMs = real(o, "load_ms");
  r.thinkingMs = real(o, "thinking_ms");
  r.restoreMs = real(o, "restore_ms");
  r.stopMs = real(o, "stop_ms");
  const QJsonObject itl = object(o, "itl_ms");
  r.itlP50 = real(itl, "p50");
  r.itlP95 = real(itl, "p95");
  r.itlMax = real(itl, "max");
  r.batchMean = real(o, "batch_mean");
  r.tpsStart = real(o, "tps_start");
  r.tpsEnd = real(o, "tps_end");
  const QJsonObject kv = object(o, "kv");
  r.kvTokens = whole(kv, "tokens").value_or(0);
  if (kv.value(QLatin1String("bytes")).isDouble()) r.kvBytes = kv.value(QLatin1String("bytes")).toInteger();
  r.context = whole(kv, "context").value_or(0);
  r.passes = whole(o, "passes").value_or(0);
}

}  // namespace

nlohmann::ordered_json to_ordered_json(const TurnRecord& r) {
  Json out;
  put_counts(out, r);
  put_times(out, r);
  out["cache"] = cache_json(r.cache);
  out["speculation"] = {{"drafted", r.drafted}, {"accepted", r.accepted}};
  out["bytes_read_decode"] = number(r.bytesReadDecode);
  out["gb_per_s_decode"] = number(r.gbPerSDecode);
  out["gop_per_s_prefill"] = number(r.gopPerSPrefill);
  out["percent_of_limit"] = {{"prefill", number(r.percentPrefill)}, {"decode", number(r.percentDecode)}};
  out["work"] = work_json(r.work);
  out["cost"] = cost_json(r.cost);
  out["own"] = own_json(r.own);
  put(out, "constraint", r.constraint);
  out["warnings"] = Json::array();
  for (const QString& w : r.warnings) out["warnings"].push_back(text(w));
  return out;
}

QJsonObject TurnRecord::toJson() const {
  const std::string dump = to_ordered_json(*this).dump(-1, ' ', false, Json::error_handler_t::replace);
  return QJsonDocument::fromJson(QByteArray::fromStdString(dump)).object();
}

TurnRecord TurnRecord::fromJson(const QJsonObject& o) {
  TurnRecord r;
  read_counts(r, o);
  read_times(r, o);
  r.cache = cache_from(object(o, "cache"));
  const QJsonObject speculation = object(o, "speculation");
  r.drafted = whole(speculation, "drafted").value_or(0);
  r.accepted = whole(speculation, "accepted").value_or(0);
  r.bytesReadDecode = real(o, "bytes_read_decode");
  r.gbPerSDecode = real(o, "gb_per_s_decode");
  r.gopPerSPrefill = real(o, "gop_per_s_prefill");
  r.percentPrefill = real(object(o, "percent_of_limit"), "prefill");
  r.percentDecode = real(object(o, "percent_of_limit"), "decode");
  r.work = work_from(object(o, "work"));
  r.cost = cost_from(object(o, "cost"));
  const QJsonObject own = object(o, "own");
  r.own = {real(own, "joules"), str(own, "source"), str(own, "kwh_price"), str(own, "currency"), str(own, "cost_pico")};
  return r;
}

}  // namespace tg
