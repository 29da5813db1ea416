// The figures of a finished turn, as the turn record of the command line defines them.
#include <algorithm>

#include "engine/measure/percentile.h"
#include "engine/sampling/constraint_json.h"
#include "engine/sampling/json_schema.h"
#include "engine/schedule/sha256.h"
#include "engine/schedule/turn.h"

namespace tg {
namespace {

constexpr std::size_t kSmoothing = 8;  // tokens over which a rate is taken

std::string_view where_of(SegmentKind kind) {
  switch (kind) {
    case SegmentKind::system: return "system";
    case SegmentKind::tools: return "tools";
    case SegmentKind::document: return "document";
    default: return "message";
  }
}

// Bytes that hold TOKENS: window layers never more than their window.
std::uint64_t held_bytes(const KvLayout& layout, int tokens) {
  double bytes = static_cast<double>(layout.state_bytes);
  for (const KvGroup& g : layout.groups) bytes += g.bytes_per_token * (g.window > 0 ? std::min(tokens, g.window) : tokens);
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace

// Tokens per second over the last kSmoothing gaps before output token I; 0 for the first.
double Turn::rate_at(std::size_t i) const {
  const std::size_t n = std::min(i, kSmoothing);
  if (n == 0) return 0;
  const double ms = ms_between(written_at_[i - n], written_at_[i]);
  return ms > 0 ? static_cast<double>(n) * 1000.0 / ms : 0;
}

void Turn::fill_rates(TurnReport& r) const {
  const std::size_t n = written_at_.size();
  std::vector<double> gaps;
  for (std::size_t i = 1; i < n; ++i) gaps.push_back(ms_between(written_at_[i - 1], written_at_[i]));
  r.itl_p50_ms = percentile(gaps, 0.5);
  r.itl_p95_ms = percentile(gaps, 0.95);
  r.itl_max_ms = percentile(gaps, 1.0);
  for (std::size_t i = 1; i < n; ++i) r.rate_curve.push_back(static_cast<float>(rate_at(i)));
  if (n > 1) {
    r.decode_ms = ms_between(written_at_.front(), written_at_.back());
    if (r.decode_ms > 0) r.decode_tps = static_cast<double>(n - 1) * 1000.0 / r.decode_ms;
    r.tps_start = rate_at(std::min(n - 1, kSmoothing));
    r.tps_end = rate_at(n - 1);
  }
  if (decode_steps_ > 0) r.batch_mean = static_cast<double>(sequences_sum_) / decode_steps_;
  r.gb_per_s_decode = gb_per_s(write_work);
  r.gop_per_s_prefill = gop_per_s(read_work);
  r.bytes_read_decode = write_work.bytes;
}

// What app/ believes to be the reason is told only where the place of the difference proves it.
void Turn::find_texts(CacheReport& report) const {
  CacheMiss& miss = report.miss;
  if (miss.cause != MissCause::prefix_changed) return;
  const Tokenizer& tokenizer = *runtime->info->tokenizer;
  miss.was = tokenizer.decode(lease->finding().was, true);
  miss.is = tokenizer.decode(lease->finding().is, true);
  const int at = miss.at_token - 1;
  for (const PromptSegment& s : request.prompt.segments) {
    if (at < s.begin || at >= s.end) continue;
    miss.where = where_of(s.kind);
    miss.message = s.message;
  }
  const bool about_message = request.change_message >= 0;
  if (request.change_hint == "edited" && about_message && miss.message == request.change_message) miss.detail = request.change_hint;
  if (request.change_hint == "turns_dropped" && miss.where != "system" && miss.where != "tools") miss.detail = request.change_hint;
  if (request.change_hint == "thinking_dropped" && miss.message >= 0 && (!about_message || miss.message == request.change_message)) miss.detail = request.change_hint;
}

TurnReport Turn::report(KvCache& cache) {
  const Clock::time_point now = Clock::now();
  TurnReport r;
  r.finish_reason = finish_.value_or(FinishReason::error);
  r.error = error_;
  r.input_total = prompt_size();
  r.output = static_cast<int>(output_.size());
  r.output_ids = output_;
  r.total_ms = ms_between(accepted_at_, now);
  if (const std::int64_t at = stop_at_.load(); at != 0 && r.finish_reason == FinishReason::cancelled) r.stop_ms = ms_between(Clock::time_point(Clock::duration(at)), now);
  r.queue_ms = phase == Phase::queued ? r.total_ms : ms_between(accepted_at_, started_at_);
  if (!runtime) return r;
  r.context = runtime->info->context;
  if (!output_.empty()) {
    r.ttft_ms = ms_between(accepted_at_, written_at_.front());
    r.prefill_ms = ms_between(reading_at_, written_at_.front());
  } else if (phase == Phase::reading) {
    r.prefill_ms = ms_between(reading_at_, now);
  }
  r.restore_ms = restore_ms_;
  r.passes = passes_;
  drafter.reset();
  if (lease) {
    r.input_cached = lease->cached();
    r.kv_tokens = lease->tokens();
    r.kv_bytes = held_bytes(runtime->forward->kv_layout(), r.kv_tokens);
    r.cache = lease->finding().report;
    find_texts(r.cache);
    const int read = std::min(lease->tokens(), prompt_size()) - lease->cached();
    if (r.prefill_ms > 0) r.prefill_tps = std::max(read, 0) * 1000.0 / r.prefill_ms;
    if (state_valid) cache.checkpoint(*lease);
    cache.finish(std::move(lease));
  }
  r.input_fresh = r.input_total - r.input_cached;
  fill_rates(r);
  r.drafted = drafted_;
  r.accepted = accepted_;
  if (stream_) {
    if (r.finish_reason == FinishReason::cancelled && !output_.empty()) show(stream_->finish(), output_.back());
    stream_->settle(r.finish_reason == FinishReason::stop);
    r.text = stream_->final_text;
    r.thinking_text = stream_->final_thinking;
    r.thinking = stream_->thinking_tokens();
    if (r.thinking > 0) r.thinking_ms = ms_between(written_at_.front(), thinking_until_);
  }
  if (!request.json_schema.empty() && !output_.empty()) {
    r.constraint = "json_schema";
    if (const auto schema = read_json_schema(request.json_schema))
      for (const std::string& word : unenforced_words(*schema)) r.warnings.push_back("schema_not_enforced:" + word);
  }
  if (!last_logits_.empty()) r.logits_sha = sha256_hex(std::as_bytes(std::span(last_logits_)));
  return r;
}

}  // namespace tg
