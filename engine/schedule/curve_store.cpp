#include "engine/schedule/curve_store.h"

#include <nlohmann/json.hpp>

#include "engine/cache/platform.h"

namespace tg {
namespace {

using Json = nlohmann::json;
constexpr std::size_t kMaxFile = 4U << 20U;
constexpr double kFading = 0.9;

double number(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : 0.0;
}

std::int64_t unix_time(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

}  // namespace

CurveStore::CurveStore(std::string file) : file_(std::move(file)) {
  std::string text;
  if (!file_.empty() && cache_platform::read_file(file_, kMaxFile, text)) parse(text);
}

void CurveStore::parse(const std::string& text) {
  const Json all = Json::parse(text, nullptr, false);
  if (!all.is_object()) return;
  if (const auto curves = all.find("curves"); curves != all.end() && curves->is_object())
    for (const auto& [key, value] : curves->items())
      if (value.is_string())
        if (const auto curve = PrefillCurve::from_text(value.get<std::string>())) curves_[key] = *curve;
  if (const auto limits = all.find("limits"); limits != all.end() && limits->is_object())
    for (const auto& [device, value] : limits->items())
      if (value.is_object())
        limits_[device] = {number(value, "read_gb_per_s"), number(value, "int8_gop_per_s"), number(value, "f32_gop_per_s"), unix_time(value, "measured_s")};
  if (const auto loads = all.find("loads"); loads != all.end() && loads->is_object())
    for (const auto& [fingerprint, value] : loads->items())
      if (value.is_number() && value.get<double>() >= 0) loads_[fingerprint] = value.get<double>();
  restore_bytes_ = number(all, "restore_bytes");
  restore_time_ = number(all, "restore_ms");
}

std::optional<PrefillCurve> CurveStore::curve(const std::string& key) const {
  const auto found = curves_.find(key);
  return found == curves_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<PrefillCurve> CurveStore::curve_of(const std::string& fingerprint, const std::string& backend) const {
  const std::string start = fingerprint + "|" + (backend.empty() ? "" : backend + "|");  // PageKey::text() begins so
  const PrefillCurve* best = nullptr;
  for (auto it = curves_.lower_bound(start); it != curves_.end() && it->first.starts_with(start); ++it)
    if (!best || it->second.samples() > best->samples()) best = &it->second;
  return best ? std::optional(*best) : std::nullopt;
}

void CurveStore::set_curve(const std::string& key, const PrefillCurve& curve) {
  if (curve.samples() == 0) return;
  curves_[key] = curve;
  changed_ = true;
}

std::optional<MeasuredLimits> CurveStore::limits(const std::string& device) const {
  const auto found = limits_.find(device);
  return found == limits_.end() ? std::nullopt : std::optional(found->second);
}

void CurveStore::set_limits(const std::string& device, const MeasuredLimits& limits) {
  limits_[device] = limits;
  changed_ = true;
}

std::optional<double> CurveStore::load_ms(const std::string& fingerprint) const {
  const auto found = loads_.find(fingerprint);
  return found == loads_.end() ? std::nullopt : std::optional(found->second);
}

void CurveStore::set_load_ms(const std::string& fingerprint, double ms) {
  loads_[fingerprint] = ms;
  changed_ = true;
}

void CurveStore::add_restore(double bytes, double ms) {
  restore_bytes_ = restore_bytes_ * kFading + bytes;
  restore_time_ = restore_time_ * kFading + ms;
  changed_ = true;
}

std::optional<double> CurveStore::restore_ms(double bytes) const {
  if (bytes <= 0) return 0.0;
  if (restore_bytes_ <= 0) return std::nullopt;
  return bytes * restore_time_ / restore_bytes_;
}

std::optional<std::string> CurveStore::changed_text() {
  if (!changed_ || file_.empty()) return std::nullopt;
  changed_ = false;
  Json all = {{"version", 1}, {"restore_bytes", restore_bytes_}, {"restore_ms", restore_time_}, {"curves", Json::object()}, {"limits", Json::object()}, {"loads", Json::object()}};
  for (const auto& [key, curve] : curves_) all["curves"][key] = curve.to_text();
  for (const auto& [fingerprint, ms] : loads_) all["loads"][fingerprint] = ms;
  for (const auto& [device, l] : limits_)
    all["limits"][device] = {{"read_gb_per_s", l.read_gb_per_s}, {"int8_gop_per_s", l.int8_gop_per_s}, {"f32_gop_per_s", l.f32_gop_per_s}, {"measured_s", l.measured_s}};
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tg
