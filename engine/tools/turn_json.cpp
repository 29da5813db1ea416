#include "engine/tools/turn_json.h"

#include <array>

namespace tg {
namespace {

Json segments_json(const Prompt& prompt, int total) {
  std::array<int, 6> sums{};
  int named = 0;
  for (const PromptSegment& s : prompt.segments) {
    sums[static_cast<std::size_t>(s.kind)] += s.end - s.begin;
    named += s.end - s.begin;
  }
  sums[static_cast<std::size_t>(SegmentKind::new_text)] += total - named;
  Json list = Json::array();
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i] > 0) list.push_back({{"kind", name_of(static_cast<SegmentKind>(i))}, {"tokens", sums[i]}});
  return list;
}

Json optional_number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json phase_json(const PhaseWork& w) {
  return {{"bytes", w.bytes}, {"ops", w.ops}, {"ms", w.seconds * 1000}, {"cpu_ms", w.cpu_seconds * 1000}, {"steps", w.steps}};
}

Json work_json(const TurnReport& r, const LoadedModel& model) {
  Json out{{"device", model.device}, {"threads", r.threads}, {"int8", r.int8}, {"prefill", phase_json(r.read_work)}, {"decode", phase_json(r.write_work)}};
  out["step_weights"] = r.step_weights;
  out["limits"] = nullptr;
  if (r.limits) {
    const MeasuredLimits& l = *r.limits;
    out["limits"] = {{"read_gb_per_s", l.read_gb_per_s}, {"int8_gop_per_s", l.int8_gop_per_s}, {"f32_gop_per_s", l.f32_gop_per_s}, {"measured_s", l.measured_s}};
  }
  return out;
}

}  // namespace

Json miss_json(const CacheMiss& m) {
  if (m.cause == MissCause::none) return nullptr;
  Json out{{"cause", name_of(m.cause)}};
  const auto text = [&](const char* key, const std::string& value) {
    if (!value.empty()) out[key] = value;
  };
  if (m.at_token > 0) {
    out["at_token"] = m.at_token;
    out["was"] = m.was;
    out["is"] = m.is;
  }
  text("setting", m.setting);
  text("evicted_by", m.evicted_by);
  text("detail", m.detail);
  text("where", m.where);
  if (m.message >= 0) out["message"] = m.message;
  if (m.turn_first >= 0) out["turns"] = {m.turn_first, m.turn_last};
  if (!m.setting.empty()) {
    out["from"] = m.from;
    out["to"] = m.to;
  }
  text("tier", m.tier);
  text("by_chat", m.by_chat);
  text("refusal", m.refusal);
  text("when", m.when);
  return out;
}

Json turn_json(const TurnReport& r, const LoadedModel& model, const Prompt& prompt) {
  Json out;
  out["turn"] = 1;
  out["model"] = model.name.empty() ? model.path : model.name;
  out["fingerprint"] = model.fingerprint;
  out["backend"] = model.backend;
  out["input_total"] = r.input_total;
  out["input_cached"] = r.input_cached;
  out["input_fresh"] = r.input_fresh;
  out["output"] = r.output;
  out["thinking"] = r.thinking;
  out["finish_reason"] = name_of(r.finish_reason);
  out["segments"] = segments_json(prompt, r.input_total);
  out["ttft_ms"] = r.ttft_ms;
  out["queue_ms"] = r.queue_ms;
  out["prefill_ms"] = r.prefill_ms;
  out["decode_ms"] = r.decode_ms;
  out["total_ms"] = r.total_ms;
  out["prefill_tps"] = r.prefill_tps;
  out["decode_tps"] = r.decode_tps;
  out["load_ms"] = model.load_ms;
  out["itl_ms"] = {{"p50", r.itl_p50_ms}, {"p95", r.itl_p95_ms}, {"max", r.itl_max_ms}};
  out["batch_mean"] = r.batch_mean;
  out["kv"] = {{"tokens", r.kv_tokens}, {"bytes", r.kv_bytes}, {"context", r.context}};
  out["passes"] = r.passes;
  out["thinking_ms"] = r.thinking_ms;
  out["tps_start"] = r.tps_start;
  out["tps_end"] = r.tps_end;
  out["restore_ms"] = r.restore_ms;
  out["stop_ms"] = optional_number(r.stop_ms);
  out["cache"] = {{"enabled", r.cache.enabled},
                  {"outcome", r.cache.outcome},
                  {"source", {{"gpu", r.cache.from_gpu}, {"ram", r.cache.from_ram}, {"disk", r.cache.from_disk}}},
                  {"reusable", r.cache.reusable},
                  {"reused", r.cache.reused},
                  {"miss", miss_json(r.cache.miss)}};
  out["speculation"] = {{"drafted", r.drafted}, {"accepted", r.accepted}};
  out["bytes_read_decode"] = r.bytes_read_decode;
  out["gb_per_s_decode"] = r.gb_per_s_decode;
  out["gop_per_s_prefill"] = r.gop_per_s_prefill;
  out["percent_of_limit"] = {{"prefill", optional_number(r.percent_prefill)}, {"decode", optional_number(r.percent_decode)}};
  out["work"] = work_json(r, model);
  if (!r.constraint.empty()) out["constraint"] = r.constraint;
  out["warnings"] = r.warnings;
  return out;
}

}  // namespace tg
