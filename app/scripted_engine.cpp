#include "app/scripted_engine.h"

#include <QDateTime>
#include <QRegularExpression>
#include <algorithm>
#include <cmath>

namespace tg {
namespace {

constexpr double kTickMs = 15;
constexpr std::uint64_t kBytesPerToken = 23040;  // a small model's: only the proportions matter

SegmentKind kind_of(const ChatMessage& message, bool last) {
  if (message.role == "system") return SegmentKind::system;
  if (message.document) return SegmentKind::document;
  return last ? SegmentKind::new_text : SegmentKind::history;
}

QStringList pieces(const QString& text) {
  static const QRegularExpression word(QStringLiteral("\\s*\\S+|\\s+$"));
  QStringList out;
  auto it = word.globalMatch(text);
  while (it.hasNext()) out << it.next().captured();
  return out;
}

}  // namespace

struct ScriptedEngine::Running {
  quint64 id = 0;
  TurnJob job;
  double waited = 0, elapsed = 0, load_left = 0, read_ms = 0, first_ms = -1, budget = 0;
  bool started = false, cancel = false;
  int cached = 0, read = 0, stop_read = 0, stop_output = 0;
  QStringList thought, answer;              // tokens as texts
  int written = 0;
  QString text, thinking;
  double load_ms = 0, thinking_ms = 0;
  CacheReport cache;
  std::vector<TokenId> output_ids;
  int total() const { return static_cast<int>(job.prompt->ids.size()); }
};

ScriptedEngine::ScriptedEngine(Script script, QObject* parent) : EnginePort(parent), script_(std::move(script)), buffer_(this) {
  timer_.setInterval(static_cast<int>(kTickMs));
  connect(&timer_, &QTimer::timeout, this, &ScriptedEngine::tick);
}

ScriptedEngine::~ScriptedEngine() = default;

std::vector<TokenId> ScriptedEngine::tokens_of(const QString& text, std::string* normal) {
  std::vector<TokenId> ids;
  for (const QString& piece : pieces(text)) {
    const auto next = static_cast<TokenId>(vocabulary_.size() + 10);
    ids.push_back(vocabulary_.contains(piece) ? vocabulary_.value(piece) : *vocabulary_.insert(piece, next));
    if (normal) *normal += piece.toStdString();
  }
  return ids;
}

quint64 ScriptedEngine::buildPrompt(const PromptInput& input) {
  auto prompt = std::make_shared<Prompt>();
  if (input.ids) {
    prompt->ids = *input.ids;
    prompt->segments.push_back({SegmentKind::new_text, -1, "user", 0, static_cast<int>(input.ids->size())});
  }
  for (std::size_t i = 0; i < input.messages.size() && !input.ids; ++i) {
    const ChatMessage& m = input.messages[i];
    const int begin = static_cast<int>(prompt->ids.size());
    const QString head = QStringLiteral("<%1>").arg(QString::fromStdString(m.role));
    for (const QString& part : {head, QString::fromStdString(m.content)}) {
      const std::vector<TokenId> ids = tokens_of(part, &prompt->text);
      prompt->ids.insert(prompt->ids.end(), ids.begin(), ids.end());
    }
    prompt->segments.push_back({kind_of(m, i + 1 == input.messages.size()), static_cast<int>(i), m.role, begin, static_cast<int>(prompt->ids.size())});
  }
  if (!input.ids && input.options.add_generation_prompt) {
    const int begin = static_cast<int>(prompt->ids.size());
    for (const TokenId id : tokens_of(QStringLiteral("<assistant>"), &prompt->text)) prompt->ids.push_back(id);
    prompt->segments.push_back({SegmentKind::prompt_tail, -1, "assistant", begin, static_cast<int>(prompt->ids.size())});
  }
  if (!input.continuation.empty() || !input.continuationText.isEmpty()) {
    const int begin = static_cast<int>(prompt->ids.size());
    std::vector<TokenId> more = input.continuation;
    if (more.empty()) more = tokens_of(input.continuationText, &prompt->text);
    prompt->ids.insert(prompt->ids.end(), more.begin(), more.end());
    prompt->segments.push_back({SegmentKind::history, -1, "assistant", begin, static_cast<int>(prompt->ids.size())});
  }
  PromptOutput out;
  out.request = next_++;
  out.modelWindow = script_.modelWindow;
  out.window = std::min(input.window > 0 ? input.window : script_.window, script_.modelWindow);
  out.hasThinking = !script_.thoughts.isEmpty();
  const int total = static_cast<int>(prompt->ids.size());
  out.prediction.cached = std::min(common_prefix(input.chatId, prompt->ids, nullptr), std::max(0, total - 1));
  out.prediction.fresh = total - out.prediction.cached;
  out.prediction.ttft_ms = out.prediction.fresh * 1000 / script_.prefillTps;
  out.prompt = std::move(prompt);
  QMetaObject::invokeMethod(this, [this, out] { Q_EMIT promptBuilt(out); }, Qt::QueuedConnection);
  return out.request;
}

int ScriptedEngine::common_prefix(const QString& chatId, const std::vector<TokenId>& ids, QString* from) const {
  int best = 0;
  for (auto it = cache_.begin(); it != cache_.end(); ++it) {
    if (it->tier == Tier::none) continue;
    const auto ends = std::mismatch(ids.begin(), ids.end(), it->ids.begin(), it->ids.end());
    const int n = static_cast<int>(ends.first - ids.begin());
    if (n > best || (n == best && it.key() == chatId)) {
      best = n;
      if (from) *from = it.key();
    }
  }
  return best;
}

quint64 ScriptedEngine::submit(const TurnJob& job) {
  auto turn = std::make_unique<Running>();
  turn->id = next_++;
  turn->job = job;
  turn->load_ms = loaded_ == job.modelPath ? 0 : script_.loadMs;
  turn->load_left = turn->load_ms;
  const QPair<int, int> stops = cancel_after_.take(job.chatId);
  turn->stop_read = stops.first;
  turn->stop_output = stops.second;
  if (!script_.thoughts.isEmpty()) turn->thought = pieces(script_.thoughts[submitted_ % script_.thoughts.size()]);
  if (!script_.answers.isEmpty()) turn->answer = pieces(script_.answers[submitted_ % script_.answers.size()]);
  last_job_ = job;
  ++submitted_;
  PortEvent event;
  event.turn = turn->id;
  event.kind = PortEvent::Kind::Queued;
  event.position = static_cast<int>(running_.size());
  buffer_.add(std::move(event));
  const quint64 id = turn->id;
  running_.push_back(std::move(turn));
  if (script_.timer) timer_.start();
  return id;
}

void ScriptedEngine::start(Running& turn) {
  turn.started = true;
  loaded_ = turn.job.modelPath;
  turn.cache = cache_report(turn);
  turn.cached = turn.cache.reused;
  turn.read = turn.cached;
}

CacheReport ScriptedEngine::cache_report(const Running& turn) const {
  CacheReport report;
  const std::vector<TokenId>& ids = turn.job.prompt->ids;
  const int most = std::max(0, turn.total() - 1);
  report.enabled = turn.job.useCache;
  const Held own = cache_.value(turn.job.chatId);
  const auto same = std::mismatch(ids.begin(), ids.end(), own.last_prompt.begin(), own.last_prompt.end());
  const int before = static_cast<int>(same.first - ids.begin());
  QString from;
  const int held = std::min(most, common_prefix(turn.job.chatId, ids, &from));
  report.reusable = std::max(held, std::min(most, before));
  report.reused = report.enabled ? held : 0;
  const Tier tier = cache_.value(from).tier;
  (tier == Tier::gpu ? report.from_gpu : tier == Tier::disk ? report.from_disk : report.from_ram) = report.reused;
  report.outcome = !report.enabled ? "disabled" : report.reused == 0 ? "cold" : report.reused == report.reusable ? "reused" : "partial";
  if (own.last_prompt.empty() && held == 0) {
    report.miss.cause = MissCause::first_turn;
  } else if (own.evicted && report.reused < report.reusable) {
    report.miss.cause = MissCause::evicted;
    report.miss.evicted_by = "user";
    report.miss.tier = "ram";
  } else if (before < static_cast<int>(own.last_prompt.size())) {
    report.miss.cause = MissCause::prefix_changed;
    report.miss.at_token = before + 1;
    report.miss.where = "message";
    report.miss.detail = turn.job.changeHint.toStdString();
    report.miss.message = turn.job.changeMessage;
    if (report.outcome == "reused") report.outcome = "partial";
  }
  return report;
}

void ScriptedEngine::write(Running& turn, double ms) {
  turn.budget += ms * script_.decodeTps / 1000;
  PortEvent event;
  event.kind = PortEvent::Kind::Text;
  event.turn = turn.id;
  const int all = static_cast<int>(turn.thought.size() + turn.answer.size());
  while (turn.budget >= 1 && turn.written < std::min(all, turn.job.maxTokens)) {
    turn.budget -= 1;
    const bool thinking = turn.written < turn.thought.size();
    const QString& piece = thinking ? turn.thought[turn.written] : turn.answer[turn.written - turn.thought.size()];
    turn.output_ids.push_back(tokens_of(piece).empty() ? 0 : tokens_of(piece).front());
    (thinking ? event.thinkingText : event.text) += piece;
    ++turn.written;
    if (turn.first_ms < 0) turn.first_ms = turn.elapsed;
    if (turn.stop_output > 0 && turn.written >= turn.stop_output) turn.cancel = true;
    if (turn.cancel || (!script_.error.isEmpty() && turn.written >= script_.errorAfter)) break;
  }
  turn.text += event.text;
  turn.thinking += event.thinkingText;
  event.output = turn.written;
  event.thinking = std::min(turn.written, static_cast<int>(turn.thought.size()));
  event.tokensPerSecond = script_.decodeTps;
  if (!event.text.isEmpty() || !event.thinkingText.isEmpty()) buffer_.add(std::move(event));
}

bool ScriptedEngine::step(Running& turn, double ms) {
  turn.elapsed += ms;
  if (turn.cancel) return end(turn, FinishReason::cancelled, {}), true;
  if (turn.load_left > 0) {
    turn.load_left = std::max(0.0, turn.load_left - ms);
    PortEvent event;
    event.kind = PortEvent::Kind::Loading;
    event.turn = turn.id;
    event.total = 100 << 20;
    event.done = static_cast<qint64>(static_cast<double>(event.total) * (1 - turn.load_left / turn.load_ms));
    buffer_.add(std::move(event));
    return false;
  }
  if (!turn.started) start(turn);
  if (turn.read < turn.total()) {
    turn.read_ms += ms;
    const int step = std::max(1, static_cast<int>(std::lround(ms * script_.prefillTps / 1000)));
    turn.read = std::min(turn.total(), turn.read + step);
    if (turn.stop_read > 0 && turn.read - turn.cached >= turn.stop_read) turn.cancel = true;
    PortEvent event;
    event.kind = PortEvent::Kind::Reading;
    event.turn = turn.id;
    event.progress = {turn.read, turn.total(), turn.cached, script_.prefillTps};
    buffer_.add(std::move(event));
    if (turn.cancel) return end(turn, FinishReason::cancelled, {}), true;
    return false;
  }
  if (!script_.error.isEmpty() && turn.written >= script_.errorAfter) return end(turn, FinishReason::error, script_.error), true;
  write(turn, ms);
  if (turn.cancel) return end(turn, FinishReason::cancelled, {}), true;
  const int all = static_cast<int>(turn.thought.size() + turn.answer.size());
  if (turn.written >= all) return end(turn, FinishReason::stop, {}), true;
  if (turn.written >= turn.job.maxTokens) return end(turn, FinishReason::length, {}), true;
  return false;
}

void ScriptedEngine::end(Running& turn, FinishReason reason, const QString& error) {
  if (!turn.started) turn.cache = cache_report(turn);
  auto report = std::make_shared<TurnReport>();
  TurnReport& r = *report;
  r.input_total = turn.total();
  r.input_cached = turn.cached;
  r.input_fresh = r.input_total - r.input_cached;
  r.output = turn.written;
  r.thinking = std::min(turn.written, static_cast<int>(turn.thought.size()));
  r.finish_reason = reason;
  r.prefill_ms = turn.read_ms;
  r.ttft_ms = turn.first_ms < 0 ? turn.elapsed - turn.load_ms : turn.first_ms - turn.load_ms;
  r.total_ms = turn.elapsed - turn.load_ms;
  r.decode_ms = turn.first_ms < 0 ? 0 : turn.elapsed - turn.first_ms;
  r.prefill_tps = script_.prefillTps;
  r.decode_tps = r.tps_start = r.tps_end = turn.written > 0 ? script_.decodeTps : 0;
  r.itl_p50_ms = r.itl_p95_ms = r.itl_max_ms = 1000 / script_.decodeTps;
  r.thinking_ms = r.thinking * r.itl_p50_ms;
  r.batch_mean = 1;
  r.passes = r.input_fresh > 0 ? 1 : 0;
  if (reason == FinishReason::cancelled) r.stop_ms = kTickMs;
  r.kv_tokens = turn.read + turn.written;
  r.kv_bytes = static_cast<std::uint64_t>(r.kv_tokens) * kBytesPerToken;
  r.context = script_.window;
  r.cache = turn.cache;
  r.output_ids = turn.output_ids;
  r.text = turn.text.toStdString();
  r.thinking_text = turn.thinking.toStdString();
  r.rate_curve.assign(static_cast<std::size_t>(turn.written), static_cast<float>(script_.decodeTps));
  if (!error.isEmpty()) r.error = make_error(ErrorCode::device, error.toStdString());

  Held& held = cache_[turn.job.chatId];
  held.ids.assign(turn.job.prompt->ids.begin(), turn.job.prompt->ids.begin() + turn.read);
  held.last_prompt = held.ids;
  held.ids.insert(held.ids.end(), turn.output_ids.begin(), turn.output_ids.end());
  held.tier = Tier::ram;
  held.evicted = false;
  held.last_use = submitted_;
  held.reason = "used";
  QMetaObject::invokeMethod(this, &EnginePort::cacheChanged, Qt::QueuedConnection);

  PortEvent event;
  event.kind = PortEvent::Kind::Finished;
  event.turn = turn.id;
  event.report = std::move(report);
  event.model = {QStringLiteral("Scripted model"), QStringLiteral("scripted"), QStringLiteral("cpu"), QStringLiteral("Scripted engine"), turn.load_ms, script_.window,
                 static_cast<double>(kBytesPerToken), {}};
  buffer_.add(std::move(event));
}

void ScriptedEngine::advance(double ms) {
  for (double left = ms; left > 0 && !running_.empty(); left -= kTickMs) {
    const double part = std::min(left, kTickMs);
    now_ms_ += part;
    std::erase_if(running_, [&](const std::unique_ptr<Running>& turn) { return step(*turn, part); });
  }
  if (running_.empty()) timer_.stop();
  buffer_.flush();
}

void ScriptedEngine::finishAll() {
  while (!running_.empty()) advance(1000);
}

void ScriptedEngine::tick() { advance(kTickMs); }

void ScriptedEngine::cancel(quint64 turn) {
  for (const auto& r : running_) {
    if (r->id == turn) r->cancel = true;
  }
}

void ScriptedEngine::cancelAfter(const QString& chatId, int prefillTokens, int outputTokens) { cancel_after_[chatId] = {prefillTokens, outputTokens}; }

bool ScriptedEngine::isLoaded(const QString& modelPath) const { return !loaded_.isEmpty() && loaded_ == modelPath; }

void ScriptedEngine::unloadAll() {
  loaded_.clear();
  for (Held& held : cache_) held.tier = held.tier == Tier::none ? Tier::none : Tier::disk;
  Q_EMIT modelsChanged();
}

QString ScriptedEngine::deviceInUse() const { return loaded_.isEmpty() ? QString() : QStringLiteral("Scripted engine"); }

std::vector<CacheState> ScriptedEngine::cacheStates() const {
  std::vector<CacheState> out;
  for (auto it = cache_.begin(); it != cache_.end(); ++it) {
    CacheState s;
    s.sequence = it.key().toStdString();
    s.tier = it->tier;
    s.tokens = it->tier == Tier::none ? 0 : static_cast<int>(it->ids.size());
    (s.tier == Tier::gpu ? s.tokens_gpu : s.tier == Tier::disk ? s.tokens_disk : s.tokens_ram) = s.tokens;
    s.bytes = static_cast<std::uint64_t>(s.tokens) * kBytesPerToken;
    s.pinned = it->pinned;
    s.keep_on_close = it->keep;
    s.stays_on_close = it->keep == KeepOnClose::always || (it->keep == KeepOnClose::by_size && (it->pinned || s.bytes <= rules_.max_bytes));
    s.fingerprint = "scripted";
    s.reason = it->reason;
    s.last_use_ms = it->last_use;
    out.push_back(std::move(s));
  }
  return out;
}

std::optional<CacheState> ScriptedEngine::cacheState(const QString& chatId) const {
  const std::string wanted = chatId.toStdString();
  for (CacheState& s : cacheStates()) {
    if (s.sequence == wanted) return s;
  }
  return std::nullopt;
}

CacheUse ScriptedEngine::cacheUse() const {
  CacheUse out;
  out.page_tokens = kPageTokens;
  for (const CacheState& s : cacheStates()) {
    ChatUse use;
    use.sequence = s.sequence;
    use.full_pages = s.tokens / kPageTokens;
    use.tail_tokens = s.tokens % kPageTokens;
    (s.tier == Tier::gpu ? use.gpu : s.tier == Tier::disk ? use.disk : use.ram) = s.bytes;
    TierUse& tier = s.tier == Tier::gpu ? out.gpu : s.tier == Tier::disk ? out.disk : out.ram;
    tier.used += s.bytes;
    tier.fixed += s.pinned ? s.bytes : 0;
    out.chats.push_back(std::move(use));
  }
  return out;
}

void ScriptedEngine::note(const QString& chatId, const char* movement, const char* reason) {
  Held& held = cache_[chatId];
  held.reason = reason;
  held.events.push_back({QDateTime::currentMSecsSinceEpoch(), chatId.toStdString(), movement, reason});
  Q_EMIT cacheChanged();
}

void ScriptedEngine::setBudget(const CacheBudget& budget) {
  budget_ = budget;
  Q_EMIT cacheChanged();
}

Status ScriptedEngine::keep(const QString& chatId, Tier tier) {
  if (!cache_.contains(chatId)) return make_error(ErrorCode::bad_argument, "Nothing of this chat is held.");
  cache_[chatId].tier = tier;
  note(chatId, tier == Tier::disk ? "to_disk" : "kept", "kept");
  return Ok{};
}

Status ScriptedEngine::evict(const QString& chatId) {
  if (!cache_.contains(chatId)) return make_error(ErrorCode::bad_argument, "Nothing of this chat is held.");
  Held& held = cache_[chatId];
  held.ids.clear();
  held.tier = Tier::none;
  held.evicted = true;
  note(chatId, "dropped", "dropped_user");
  return Ok{};
}

Status ScriptedEngine::pin(const QString& chatId, bool pinned) {
  cache_[chatId].pinned = pinned;
  note(chatId, pinned ? "pinned" : "unpinned", pinned ? "pinned" : "used");
  return Ok{};
}

Status ScriptedEngine::keepOnClose(const QString& chatId, KeepOnClose keep) {
  cache_[chatId].keep = keep;
  return Ok{};
}

void ScriptedEngine::leaveIdle(qint64 nowMs) {
  if (rules_.idle_ms <= 0) return;
  for (Held& held : cache_)
    if (!held.pinned && held.tier == Tier::ram && held.last_use <= nowMs - rules_.idle_ms) held.tier = Tier::disk;
}

Status ScriptedEngine::forget(const QString& chatId) {
  cache_.remove(chatId);
  Q_EMIT cacheChanged();
  return Ok{};
}

Status ScriptedEngine::clearCache() {
  cache_.clear();
  Q_EMIT cacheChanged();
  return Ok{};
}

Result<std::string> ScriptedEngine::checkIntegrity() { return std::string("All pages agree with their checksums."); }

void ScriptedEngine::forked(const QString& from, const QString& to) {
  if (cache_.contains(from)) cache_[to] = cache_[from];
}

void ScriptedEngine::background(std::function<Status()> work, std::function<void(const Status&)> done) {
  QMetaObject::invokeMethod(this, [work = std::move(work), done = std::move(done)] { done(work()); }, Qt::QueuedConnection);
}

WaitAnswer ScriptedEngine::expectedWait(const WaitQuestion& question) const {
  WaitAnswer out;
  out.loaded = script_.loadMs <= 0 || loaded_ == question.modelPath;
  out.ttftMs = question.fresh * 1000 / script_.prefillTps;
  if (!out.loaded) out.loadMs = script_.loadMs;
  return out;
}

}  // namespace tg
