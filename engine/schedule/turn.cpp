#include "engine/schedule/turn.h"

#include <algorithm>
#include <utility>

#include "engine/sampling/answer_constraint.h"
#include "engine/schedule/ngram_draft.h"

namespace tg {
namespace {

constexpr int kStateEvery = 2048;  // recurrent layers: a restart point at least every so many tokens
constexpr int kShortTail = 8;      // tokens that are rather read again than given a restart point of their own

std::size_t zu(int v) { return static_cast<std::size_t>(v); }

// End of the system prompt and tools at the head: where other chats with the same beginning part.
int head_end(const Prompt& prompt) {
  int end = 0;
  for (const PromptSegment& s : prompt.segments) {
    if (s.kind != SegmentKind::system && s.kind != SegmentKind::tools) {
      if (end > 0) break;
      continue;
    }
    end = s.end;
  }
  return end;
}

// Where a later turn may want to go on: after the head; before the generation prompt, which a template may write differently once the
// answer is history; one token before the end, for the same prompt again (a state cannot be rewound, and one token must be computed).
std::vector<int> restart_points(const Prompt& prompt) {
  const int n = static_cast<int>(prompt.ids.size());
  std::vector<int> points;
  int tail = n;
  if (!prompt.segments.empty() && prompt.segments.back().kind == SegmentKind::prompt_tail) tail = prompt.segments.back().begin;
  for (const int p : {head_end(prompt), tail})
    if (p > 0 && p < n) points.push_back(p);
  if (n - tail > kShortTail || tail == n) points.push_back(n - 1);
  for (int p = kStateEvery; p < n; p += kStateEvery) points.push_back(p);
  std::erase_if(points, [](int p) { return p <= 0; });
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

}  // namespace

double ms_between(Clock::time_point from, Clock::time_point to) { return std::chrono::duration<double, std::milli>(to - from).count(); }

Turn::Turn(TurnId turn, TurnRequest wanted, std::shared_ptr<TurnListener> hears)
    : id(turn), request(std::move(wanted)), listener(std::move(hears)), unread_(static_cast<int>(request.prompt.ids.size())), restart_points_(restart_points(request.prompt)), accepted_at_(Clock::now()) {}

void Turn::stop() {
  std::int64_t never = 0;
  stop_at_.compare_exchange_strong(never, Clock::now().time_since_epoch().count());
  stop_wanted_.store(true, std::memory_order_relaxed);
}

void Turn::admit(ModelRuntime& model, KvCache& cache) {
  runtime = &model;
  started_at_ = Clock::now();
  begin_answer(model);
  CacheRequest wanted;
  wanted.sequence = request.sequence;
  wanted.title = request.sequence_title;
  wanted.key = model.key;
  wanted.ids = request.prompt.ids;
  wanted.restart_points = restart_points_;
  wanted.use_cache = request.use_cache;
  wanted.keep_on_close = request.keep_on_close;
  lease = cache.begin(wanted);
  phase = Phase::restoring;
}

void Turn::begin_answer(ModelRuntime& model) {
  const std::string opener = open_thinking_marker(request.prompt.text);
  const ThinkingStream thinking(request.thinking.starts_inside || !opener.empty(), opener);
  sampler_ = std::make_unique<Sampler>(request.sampling, request.prompt.ids);
  const bool constrained = !request.json_schema.empty();
  // A stop text within a value would cut it.
  stream_ = std::make_unique<AnswerStream>(*model.info->tokenizer, thinking, constrained ? std::vector<std::string>{} : request.stop);
  if (!constrained) return;
  auto schema = read_json_schema(request.json_schema);
  auto answer = schema ? make_json_constraint(model.constraint_vocabulary(), *schema) : schema.error();
  if (!answer) return end(FinishReason::error, answer.error());
  sampler_->set_constraint(constrain_answer(std::move(*answer), model.info->tokenizer, thinking, model.info->thinks));
}

void Turn::restored(double ms) { restore_ms_ += ms; }

void Turn::start_reading() {
  phase = Phase::reading;
  unread_ = prompt_size() - lease->tokens();
  reading_at_ = Clock::now();
  tell_progress(reading_at_);
}

// A chunk ends where a recurrent state is wanted, and where a test asked for a stop.
int Turn::chunk_end(int longest) const {
  const int begin = lease->tokens();
  int end = std::min(prompt_size(), begin + std::max(longest, 1));
  if (runtime->forward->kv_layout().state_bytes > 0)
    for (const int p : restart_points_)
      if (p > begin && p < end) end = p;
  if (stop_after_read > 0) end = std::min(end, std::max(begin + 1, lease->cached() + stop_after_read));
  return end;
}

std::vector<TokenId> Turn::chunk(int end) const {
  const auto& ids = request.prompt.ids;
  return {ids.begin() + lease->tokens(), ids.begin() + end};
}

// Drafts end where the turn, the window or the thinking budget does.
int Turn::most_drafts(int max_rows) const {
  if (!forced_.empty()) return 0;
  const int n = prompt_size() + static_cast<int>(output_.size());
  int most = std::min({request.speculation.max_draft, max_rows - 1, request.max_tokens - static_cast<int>(output_.size()) - 1, runtime->info->context - n - 1});
  if (stream_->thinking() && request.thinking.budget >= 0) most = std::min(most, request.thinking.budget - stream_->thinking_tokens() - 1);
  return std::max(most, 0);
}

std::vector<TokenId> Turn::text() const {
  std::vector<TokenId> all = request.prompt.ids;
  all.insert(all.end(), output_.begin(), output_.end());
  return all;
}

void Turn::ask_drafter(int max_rows) {
  if (const int most = most_drafts(max_rows); most > 0) proposed_ = drafter->propose(text(), most);
}

std::vector<TokenId> Turn::decode_rows(int max_rows) const {
  std::vector<TokenId> rows{next};
  if (request.speculation.kind == SpeculationOptions::Kind::off) return rows;
  const int most = most_drafts(max_rows);
  if (most == 0) return rows;
  const std::vector<TokenId> draft = drafter ? proposed_ : request.speculation.kind == SpeculationOptions::Kind::ngram ? ngram_draft(text(), most) : std::vector<TokenId>{};
  rows.insert(rows.end(), draft.begin(), draft.begin() + std::min(static_cast<std::ptrdiff_t>(draft.size()), static_cast<std::ptrdiff_t>(most)));
  return rows;
}

void Turn::count_read(const PhaseWork& work) {
  ++passes_;
  read_work += work;
}

void Turn::count_write(const PhaseWork& work, int sequences) {
  ++decode_steps_;
  sequences_sum_ += sequences;
  write_work += work;
}

void Turn::commit(KvCache& cache, std::span<const TokenId> ids) { cache.commit(*lease, ids); }

void Turn::was_read(KvCache& cache, int end) {
  const std::vector<TokenId> ids = chunk(end);
  cache.commit(*lease, ids);
  unread_ = prompt_size() - end;
  if (std::binary_search(restart_points_.begin(), restart_points_.end(), end) && state_valid) cache.checkpoint(*lease);
  if (stop_after_read > 0 && lease->tokens() - lease->cached() >= stop_after_read && end < prompt_size()) stop();
}

void Turn::tell_progress(Clock::time_point now) {
  TurnProgress p;
  p.done = lease->tokens();
  p.total = prompt_size();
  p.cached = lease->cached();
  const double ms = ms_between(reading_at_, now);
  if (ms > 0) p.tokens_per_second = (p.done - p.cached) * 1000.0 / ms;
  last_told_ = now;
  listener->reading(p);
}

CandidateWish Turn::wish() const { return request.logits_sha ? CandidateWish{} : sampler_->wish(runtime->info->description.vocab); }

std::span<RowCandidates> Turn::candidates(std::size_t rows) {
  if (candidates_.size() < rows) candidates_.resize(rows);
  return std::span(candidates_).first(rows);
}

int Turn::was_written(std::span<const TokenId> rows, std::span<float> logits, int vocab) {
  int kept = 1;
  const bool by_candidates = wish().any();
  proposed_.clear();
  if (phase == Phase::writing) drafted_ += static_cast<int>(rows.size()) - 1;
  for (std::size_t i = 0;; ++i) {
    const std::span<float> row = by_candidates ? std::span<float>() : logits.subspan(i * zu(vocab), zu(vocab));
    if (request.logits_sha) last_logits_.assign(row.begin(), row.end());
    if (forced_.empty()) {
      const TokenId drawn = by_candidates ? sampler_->sample(candidates_[i]) : sampler_->sample(row);
      if (drawn < 0) end(FinishReason::error, make_error(ErrorCode::bad_argument, "The JSON schema asks for a text that this model has no tokens for."));
      else take(drawn, false);
    } else {
      const TokenId closing = forced_.back();
      forced_.pop_back();
      sampler_->accept(closing);
      take(closing, true);
    }
    if (finished() || i + 1 >= rows.size() || rows[i + 1] != next) return kept;
    ++kept;
    ++accepted_;
  }
}

// A value that may end here does where the vocabulary has no token to say so.
bool Turn::ends_answer(TokenId token, bool forced) const {
  const Tokenizer& tokenizer = *runtime->info->tokenizer;
  const bool constrained = !request.json_schema.empty();
  if (constrained && tokenizer.eog().empty()) return sampler_->constraint_met();
  return tokenizer.is_eog(token) && !forced && (constrained || !request.ignore_eos);
}

void Turn::take(TokenId token, bool forced) {
  const Clock::time_point now = Clock::now();
  phase = Phase::writing;
  next = token;
  output_.push_back(token);
  written_at_.push_back(now);
  const Tokenizer& tokenizer = *runtime->info->tokenizer;
  std::vector<AnswerStream::Piece> pieces;
  if (!tokenizer.is_eog(token) || forced) pieces = stream_->add(token);
  const int n = static_cast<int>(output_.size());
  if (ends_answer(token, forced) || stream_->stopped()) end(FinishReason::stop);
  else if (n >= request.max_tokens) end(FinishReason::length);
  else if (prompt_size() + n >= runtime->info->context) end(FinishReason::context_full);
  else if (stop_after_written > 0 && n >= stop_after_written) stop();
  if (finished()) {
    std::vector<AnswerStream::Piece> rest = stream_->finish();
    pieces.insert(pieces.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
  }
  if (stream_->thinking_tokens() > thinking_seen_) {
    thinking_seen_ = stream_->thinking_tokens();
    thinking_until_ = now;
  }
  show(pieces, token);
  force_closing();
}

// The budget is spent: the block is closed in the model's own way. These tokens are forced and draw no random number.
void Turn::force_closing() {
  if (budget_spent_ || finished() || request.thinking.budget < 0 || !stream_->thinking() || stream_->thinking_tokens() < request.thinking.budget) return;
  budget_spent_ = true;
  forced_ = runtime->info->tokenizer->encode(stream_->closing_text(), {true, false});
  std::reverse(forced_.begin(), forced_.end());
}

void Turn::show(const std::vector<AnswerStream::Piece>& pieces, TokenId token) {
  TurnToken t;
  t.id = token;
  t.n_output = static_cast<int>(output_.size());
  t.n_thinking = stream_->thinking_tokens();
  t.tokens_per_second = rate_at(output_.size() - 1);
  t.thinking = stream_->thinking();
  if (pieces.empty()) listener->token(t);
  for (const AnswerStream::Piece& piece : pieces) {
    t.text = piece.text;
    t.thinking = piece.thinking;
    listener->token(t);
  }
}

void Turn::end(FinishReason reason, Error error) {
  if (finish_) return;
  finish_ = reason;
  error_ = std::move(error);
}

}  // namespace tg
