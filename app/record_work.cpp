#include "app/record_work.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <cmath>

namespace tg {
namespace {

using Json = nlohmann::ordered_json;

// Three decimals are below what any clock here resolves.
double rounded(double value) { return std::isfinite(value) ? std::round(value * 1000) / 1000 : 0; }

Json phase_json(const RecordPhase& p) {
  return {{"bytes", std::round(p.bytes)}, {"ops", std::round(p.ops)}, {"ms", rounded(p.ms)}, {"cpu_ms", rounded(p.cpuMs)}, {"steps", p.steps}};
}

// Records also come from files: what cannot be an amount counts as none.
double amount(const QJsonObject& o, const char* key) { return std::clamp(o.value(QLatin1String(key)).toDouble(), 0.0, 1e18); }
int whole(const QJsonObject& o, const char* key) { return std::max(0, o.value(QLatin1String(key)).toInt()); }

RecordPhase phase_from(const QJsonValue& value) {
  const QJsonObject o = value.toObject();
  return {amount(o, "bytes"), amount(o, "ops"), amount(o, "ms"), amount(o, "cpu_ms"), whole(o, "steps")};
}

}  // namespace

Json work_json(const std::optional<RecordWork>& work) {
  if (!work) return nullptr;
  Json out{{"device", work->device.toStdString()}, {"threads", work->threads}, {"int8", work->int8}, {"prefill", phase_json(work->prefill)}, {"decode", phase_json(work->decode)}};
  out["step_weights"] = std::round(work->stepWeights);
  out["limits"] = nullptr;
  if (const auto& l = work->limits) {
    out["limits"] = {{"read_gb_per_s", rounded(l->readGbPerS)}, {"int8_gop_per_s", rounded(l->int8GopPerS)}, {"f32_gop_per_s", rounded(l->f32GopPerS)}, {"measured_s", l->measuredS}};
  }
  return out;
}

std::optional<RecordWork> work_from(const QJsonObject& o) {
  RecordWork work;
  work.prefill = phase_from(o.value(QLatin1String("prefill")));
  work.decode = phase_from(o.value(QLatin1String("decode")));
  if (work.prefill.steps == 0 && work.decode.steps == 0) return std::nullopt;
  work.device = o.value(QLatin1String("device")).toString();
  work.threads = whole(o, "threads");
  work.int8 = o.value(QLatin1String("int8")).toBool();
  work.stepWeights = amount(o, "step_weights");
  if (const QJsonValue limits = o.value(QLatin1String("limits")); limits.isObject()) {
    const QJsonObject l = limits.toObject();
    work.limits = {amount(l, "read_gb_per_s"), amount(l, "int8_gop_per_s"), amount(l, "f32_gop_per_s"), l.value(QLatin1String("measured_s")).toInteger()};
  }
  return work;
}

QString work_column(const std::optional<RecordWork>& work) { return work ? QString::fromStdString(work_json(work).dump(-1, ' ', false, Json::error_handler_t::replace)) : QString(); }

std::optional<RecordWork> work_of_column(const QString& text) { return work_from(QJsonDocument::fromJson(text.toUtf8()).object()); }

}  // namespace tg
