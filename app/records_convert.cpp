#include "app/records_convert.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <array>

#include "app/record_work.h"

namespace tg {
namespace {

QString text(std::string_view s) { return QString::fromUtf8(s.data(), static_cast<qsizetype>(s.size())); }

RecordMiss miss_of(const CacheMiss& m) {
  RecordMiss out;
  out.cause = text(name_of(m.cause));
  if (m.at_token > 0) out.atToken = m.at_token;
  if (m.message >= 0) out.message = m.message;
  out.was = text(m.was);
  out.is = text(m.is);
  out.setting = text(m.setting);
  out.from = text(m.from);
  out.to = text(m.to);
  out.evictedBy = text(m.evicted_by);
  out.byChat = text(m.by_chat);
  out.when = text(m.when);
  out.tier = text(m.tier);
  out.refusal = text(m.refusal);
  out.detail = text(m.detail);
  out.where = text(m.where);
  out.turnFirst = m.turn_first;
  out.turnLast = m.turn_last;
  return out;
}

RecordCache cache_of(const CacheReport& c) {
  RecordCache out;
  out.enabled = c.enabled;
  out.outcome = text(c.outcome);
  out.fromGpu = c.from_gpu;
  out.fromRam = c.from_ram;
  out.fromDisk = c.from_disk;
  out.reusable = c.reusable;
  out.reused = c.reused;
  if (c.miss.cause != MissCause::none) out.miss = miss_of(c.miss);
  return out;
}

// Rates and gaps of a turn that produced nothing are unknown, not 0.
std::optional<double> known_if(bool known, double value) { return known ? std::optional<double>(value) : std::nullopt; }

void fill_times(TurnRecord& out, const TurnReport& r) {
  const bool wrote = r.output > 0, read = r.input_fresh > 0 && r.prefill_ms > 0, gaps = r.output > 1;
  out.queueMs = r.queue_ms;
  out.restoreMs = r.restore_ms;
  out.prefillMs = r.prefill_ms;
  out.ttftMs = known_if(wrote, r.ttft_ms);
  out.decodeMs = r.decode_ms;
  out.totalMs = r.total_ms;
  out.thinkingMs = r.thinking_ms;
  out.stopMs = r.stop_ms;
  out.prefillTps = known_if(read, r.prefill_tps);
  out.decodeTps = known_if(gaps, r.decode_tps);
  out.tpsStart = known_if(gaps, r.tps_start);
  out.tpsEnd = known_if(gaps, r.tps_end);
  out.itlP50 = known_if(gaps, r.itl_p50_ms);
  out.itlP95 = known_if(gaps, r.itl_p95_ms);
  out.itlMax = known_if(gaps, r.itl_max_ms);
  out.batchMean = known_if(wrote, r.batch_mean);
  out.bytesReadDecode = known_if(gaps, r.bytes_read_decode);
  out.gbPerSDecode = known_if(gaps, r.gb_per_s_decode);
  out.gopPerSPrefill = known_if(read, r.gop_per_s_prefill);
  out.percentPrefill = r.percent_prefill;
  out.percentDecode = r.percent_decode;
}

RecordPhase phase_of(const PhaseWork& w) { return {w.bytes, w.ops, w.seconds * 1000, w.cpu_seconds * 1000, w.steps}; }

std::optional<RecordWork> work_of(const TurnReport& r, const PortModel& model) {
  if (r.read_work.steps + r.write_work.steps == 0) return std::nullopt;
  RecordWork out{model.device, r.threads, r.int8, phase_of(r.read_work), phase_of(r.write_work), r.step_weights, std::nullopt};
  if (const auto& l = r.limits) out.limits = {l->read_gb_per_s, l->int8_gop_per_s, l->f32_gop_per_s, l->measured_s};
  return out;
}

void row_miss(storage::TurnMiss& out, const RecordMiss& m) {
  out.cause = m.cause;
  out.atToken = m.atToken;
  out.message = m.message;
  if (m.turnFirst >= 0) {
    out.turnFirst = m.turnFirst;
    out.turnLast = m.turnLast;
  }
  out.was = m.was;
  out.is = m.is;
  out.setting = m.setting;
  out.from = m.from;
  out.to = m.to;
  out.evictedBy = m.evictedBy;
  out.byChat = m.byChat;
  out.when = m.when;
  out.tier = m.tier;
  out.refusal = m.refusal;
  out.detail = m.detail;
  out.where = m.where;
}

RecordMiss record_miss(const storage::TurnMiss& m) {
  RecordMiss out;
  out.cause = m.cause;
  out.atToken = m.atToken;
  out.message = m.message;
  out.turnFirst = m.turnFirst.value_or(-1);
  out.turnLast = m.turnLast.value_or(-1);
  out.was = m.was;
  out.is = m.is;
  out.setting = m.setting;
  out.from = m.from;
  out.to = m.to;
  out.evictedBy = m.evictedBy;
  out.byChat = m.byChat;
  out.when = m.when;
  out.tier = m.tier;
  out.refusal = m.refusal;
  out.detail = m.detail;
  out.where = m.where;
  return out;
}

// Fields that have the same name and type in both structs. TO and FROM are a record and a row, in either order.
template <class To, class From>
void copy_common(To& to, const From& from) {
  to.turn = from.turn;
  to.messageId = from.messageId;
  to.model = from.model;
  to.fingerprint = from.fingerprint;
  to.backend = from.backend;
  to.finishReason = from.finishReason;
  to.inputTotal = from.inputTotal;
  to.inputCached = from.inputCached;
  to.inputFresh = from.inputFresh;
  to.output = from.output;
  to.thinking = from.thinking;
  to.ttftMs = from.ttftMs;
  to.predictedTtftMs = from.predictedTtftMs;
  to.queueMs = from.queueMs;
  to.prefillMs = from.prefillMs;
  to.decodeMs = from.decodeMs;
  to.totalMs = from.totalMs;
  to.prefillTps = from.prefillTps;
  to.decodeTps = from.decodeTps;
  to.loadMs = from.loadMs;
  to.thinkingMs = from.thinkingMs;
  to.restoreMs = from.restoreMs;
  to.stopMs = from.stopMs;
  to.itlP50 = from.itlP50;
  to.itlP95 = from.itlP95;
  to.itlMax = from.itlMax;
  to.batchMean = from.batchMean;
  to.tpsStart = from.tpsStart;
  to.tpsEnd = from.tpsEnd;
  to.kvTokens = from.kvTokens;
  to.kvBytes = from.kvBytes;
  to.context = from.context;
  to.passes = from.passes;
  to.drafted = from.drafted;
  to.accepted = from.accepted;
  to.bytesReadDecode = from.bytesReadDecode;
  to.gbPerSDecode = from.gbPerSDecode;
  to.gopPerSPrefill = from.gopPerSPrefill;
  to.percentPrefill = from.percentPrefill;
  to.percentDecode = from.percentDecode;
  to.warnings = from.warnings;
  to.logitsSha = from.logitsSha;
}

// What a turn was held to stands among the settings it used.
QString settings_with(const QString& settings, const QString& constraint) {
  if (constraint.isEmpty()) return settings;
  QJsonObject object = QJsonDocument::fromJson(settings.toUtf8()).object();
  object.insert(QStringLiteral("constraint"), constraint);
  return QString::fromUtf8(QJsonDocument(object).toJson(QJsonDocument::Compact));
}
QString constraint_of(const QString& settings) {
  return QJsonDocument::fromJson(settings.toUtf8()).object().value(QLatin1String("constraint")).toString();
}

}  // namespace

QVector<RecordSegment> segments_of(const Prompt& prompt) {
  std::array<int, 5> sums{};
  for (const PromptSegment& s : prompt.segments) {
    const SegmentKind kind = s.kind == SegmentKind::prompt_tail ? SegmentKind::new_text : s.kind;
    sums[static_cast<std::size_t>(kind)] += s.end - s.begin;
  }
  QVector<RecordSegment> out;
  for (const SegmentKind kind : {SegmentKind::system, SegmentKind::tools, SegmentKind::document, SegmentKind::history, SegmentKind::new_text}) {
    const int tokens = sums[static_cast<std::size_t>(kind)];
    if (tokens > 0 || kind != SegmentKind::tools) out.push_back({text(name_of(kind)), tokens});
  }
  return out;
}

void fill_from_report(TurnRecord& out, const TurnReport& r, const Prompt& prompt, const PortModel& model) {
  out.model = model.name;
  out.fingerprint = model.fingerprint;
  out.backend = model.backend;
  out.loadMs = model.loadMs;
  out.inputTotal = r.input_total;
  out.inputCached = r.input_cached;
  out.inputFresh = r.input_fresh;
  out.output = r.output;
  out.thinking = r.thinking;
  out.finishReason = text(name_of(r.finish_reason));
  out.segments = segments_of(prompt);
  fill_times(out, r);
  out.work = work_of(r, model);
  out.kvTokens = r.kv_tokens;
  out.kvBytes = static_cast<qint64>(r.kv_bytes);
  out.context = r.context;
  out.passes = r.passes;
  out.cache = cache_of(r.cache);
  out.drafted = r.drafted;
  out.accepted = r.accepted;
  out.rateCurve = QVector<float>(r.rate_curve.begin(), r.rate_curve.end());
  out.outputIds = QVector<int>(r.output_ids.begin(), r.output_ids.end());
  out.logitsSha = text(r.logits_sha);
  out.constraint = text(r.constraint);
  for (const std::string& warning : r.warnings) out.warnings << text(warning);
}

storage::Turn to_row(const TurnRecord& record, const QString& chatId, const QString& settingsJson) {
  storage::Turn row;
  copy_common(row, record);
  row.chatId = chatId;
  row.finishedMs = QDateTime::currentMSecsSinceEpoch();
  row.settingsJson = settings_with(settingsJson, record.constraint);
  row.workJson = work_column(record.work);
  row.cacheEnabled = record.cache.enabled;
  row.cacheOutcome = record.cache.outcome;
  row.fromGpu = record.cache.fromGpu;
  row.fromRam = record.cache.fromRam;
  row.fromDisk = record.cache.fromDisk;
  row.reusable = record.cache.reusable;
  row.reused = record.cache.reused;
  if (record.cache.miss) row_miss(row.miss, *record.cache.miss);
  const RecordCost& cost = record.cost;
  row.book = cost.book;
  row.pricedAs = cost.pricedAs;
  row.costPico = cost.costPico;
  row.costCurrency = cost.currency;
  row.costError = cost.error;
  row.ifCachedMinPico = cost.ifCachedMinPico;
  row.ifCachedMaxPico = cost.ifCachedMaxPico;
  row.ifCachedRule = cost.ifCachedRule;
  row.ownJoules = record.own.joules;
  row.ownSource = record.own.source;
  row.ownKwhPrice = record.own.kwhPrice;
  row.ownCurrency = record.own.currency;
  row.ownCostPico = record.own.costPico;
  for (const RecordSegment& s : record.segments) row.segments.push_back({s.kind, s.tokens});
  for (const RecordCostLine& l : cost.lines) row.costLines.push_back({l.bucket, l.tokens, l.price, l.costPico});
  row.samples = record.rateCurve;
  return row;
}

TurnRecord from_row(const storage::Turn& row, const QString& chatTitle, const QVector<int>& outputIds) {
  TurnRecord out;
  copy_common(out, row);
  out.chat = chatTitle;
  out.constraint = constraint_of(row.settingsJson);
  out.work = work_of_column(row.workJson);
  out.cache = {row.cacheEnabled, row.cacheOutcome, row.fromGpu, row.fromRam, row.fromDisk, row.reusable, row.reused, std::nullopt};
  if (!row.miss.cause.isEmpty()) out.cache.miss = record_miss(row.miss);
  RecordCost& cost = out.cost;
  cost.book = row.book;
  cost.pricedAs = row.pricedAs;
  cost.costPico = row.costPico;
  cost.currency = row.costCurrency;
  cost.error = row.costError;
  cost.ifCachedMinPico = row.ifCachedMinPico;
  cost.ifCachedMaxPico = row.ifCachedMaxPico;
  cost.ifCachedRule = row.ifCachedRule;
  out.own = {row.ownJoules, row.ownSource, row.ownKwhPrice, row.ownCurrency, row.ownCostPico};
  for (const storage::TurnSegment& s : row.segments) out.segments.push_back({s.kind, s.tokens});
  for (const storage::TurnCostLine& l : row.costLines) cost.lines.push_back({l.bucket, l.tokens, l.price, l.costPico});
  out.rateCurve = row.samples;
  out.outputIds = outputIds;
  return out;
}

TurnState state_of(const storage::Message& message, const storage::Turn* turn) {
  if (message.role != QLatin1String("assistant")) return TurnState::None;
  switch (message.state) {
    case storage::MessageState::Streaming: return TurnState::Writing;
    case storage::MessageState::Interrupted: return TurnState::Recovered;
    case storage::MessageState::Stopped: return TurnState::Stopped;
    case storage::MessageState::Length: return TurnState::Length;
    case storage::MessageState::ContextFull: return TurnState::ContextFull;
    case storage::MessageState::Error: return TurnState::Error;
    case storage::MessageState::Done: break;
  }
  return turn ? TurnState::Finished : TurnState::None;
}

storage::MessageState state_of(FinishReason reason) {
  switch (reason) {
    case FinishReason::stop: return storage::MessageState::Done;
    case FinishReason::length: return storage::MessageState::Length;
    case FinishReason::cancelled: return storage::MessageState::Stopped;
    case FinishReason::context_full: return storage::MessageState::ContextFull;
    case FinishReason::error: return storage::MessageState::Error;
  }
  return storage::MessageState::Error;
}

}  // namespace tg
