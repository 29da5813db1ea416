// A toy model for tests of cache and scheduler: what it stores and answers depends on every token before, through the pages it is given, so
// that a wrong, missing or stale page changes the answer. Layer kinds as asked for: full, window, recurrent.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/forward/forward.h"
#include "engine/schedule/engine_impl.h"
#include "engine/tokenizer/tokenizer.h"

namespace tg::test {

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a * 0x9E3779B97F4A7C15ULL + b + 0x632BE59BD9B4E019ULL;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

constexpr int kByteTokens = 256;
constexpr TokenId kEos = 256, kThink = 257, kEndThink = 258;
constexpr int kVocab = 259;

class FakeTokenizer : public Tokenizer {
 public:
  std::vector<TokenId> encode(std::string_view text, const TokenizeOptions& options) const override {
    std::vector<TokenId> ids;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::string_view rest = text.substr(i);
      if (options.parse_special && rest.starts_with("<think>")) {
        ids.push_back(kThink);
        i += 6;
      } else if (options.parse_special && rest.starts_with("</think>")) {
        ids.push_back(kEndThink);
        i += 7;
      } else {
        ids.push_back(static_cast<unsigned char>(text[i]));
      }
    }
    return ids;
  }
  // Bytes that are no letters are written as letters: texts stay readable and valid UTF-8.
  std::string piece(TokenId id, bool special) const override {
    if (id == '\n') return "\n";
    if (id < kByteTokens) return std::string(1, id >= 32 && id < 127 ? static_cast<char>(id) : static_cast<char>('a' + id % 26));
    if (!special) return {};
    return id == kThink ? "<think>" : id == kEndThink ? "</think>" : "<eos>";
  }
  std::string decode(std::span<const TokenId> ids, bool special) const override {
    std::string out;
    for (const TokenId id : ids) out += piece(id, special);
    return out;
  }
  int vocab_size() const override { return kVocab; }
  TokenKind kind(TokenId id) const override { return id < kByteTokens ? TokenKind::normal : TokenKind::control; }
  TokenId bos() const override { return -1; }
  TokenId eos() const override { return kEos; }
  bool is_eog(TokenId id) const override { return id == kEos; }
  std::vector<TokenId> eog() const override { return {kEos}; }
  TokenId find(std::string_view) const override { return -1; }
  std::string_view model_name() const override { return "fake"; }
  std::string_view pre_name() const override { return "fake"; }
};

struct FakeOptions {
  int window = 0;            // 0: no window layers
  bool recurrent = false;
  int context = 1 << 16;
  std::string fingerprint = "fake-model";
  bool repeats = false;      // answers run in circles: drafts are met
  std::function<void(std::span<const SequenceStep>, const CancelToken&)> on_step;  // called first in every step, on the worker
};

class FakeForward : public Forward {
 public:
  explicit FakeForward(FakeOptions options) : options_(std::move(options)) {
    const auto group = [&](int window) {
      KvGroup g;
      g.window = window;
      g.page_bytes = kPageTokens * sizeof(std::uint64_t);
      g.bytes_per_token = sizeof(std::uint64_t);
      layout_.groups.push_back(g);
    };
    group(0);
    if (options_.window > 0) group(options_.window);
    if (options_.recurrent) layout_.state_bytes = sizeof(std::uint64_t);
  }
  const KvLayout& kv_layout() const override { return layout_; }
  int max_rows() const override { return 256; }
  std::uint64_t weights_bytes() const override { return 1000; }
  double bytes_per_token() const override { return 1000; }
  double ops_per_token() const override { return 2000; }

  Status run(std::span<const SequenceStep> steps, float* logits, const CancelToken& cancel, StepCounters& counters) override {
    if (options_.on_step) options_.on_step(steps, cancel);
    for (const SequenceStep& s : steps) {
      std::size_t wanted = 0;
      for (std::size_t i = 0; i < s.tokens.size(); ++i) {
        const int position = s.first_position + static_cast<int>(i);
        store(s, position, s.tokens[i]);
        if (wanted >= s.logit_rows.size() || s.logit_rows[wanted] != static_cast<int>(i)) continue;
        float* const to = s.wish.any() ? row_ : logits;
        if (!answer(s, position, to)) return make_error(ErrorCode::internal, "A page that is needed is not there.");
        if (s.wish.any()) scan_.row(s.wish, row_, s.candidates[wanted]);
        else logits += kVocab;
        ++wanted;
      }
      counters.bytes += 1000;
      counters.ops += 2000.0 * static_cast<double>(s.tokens.size());
    }
    if (cancel.cancelled()) {
      for (const SequenceStep& s : steps) spoil(s);
      return make_error(ErrorCode::cancelled, "Cancelled.");
    }
    return Ok{};
  }

 private:
  static std::uint64_t* slot(const SequenceStep& s, std::size_t group, int position) {
    std::byte* page = s.pages[group][position / kPageTokens];
    return page == nullptr ? nullptr : reinterpret_cast<std::uint64_t*>(page) + position % kPageTokens;
  }
  void store(const SequenceStep& s, int position, TokenId token) const {
    for (std::size_t g = 0; g < layout_.groups.size(); ++g) *slot(s, g, position) = mix(mix(static_cast<std::uint64_t>(token), g), options_.repeats ? 0 : static_cast<std::uint64_t>(position));
    if (s.state == nullptr) return;
    std::uint64_t state = 0;
    std::memcpy(&state, s.state, sizeof state);
    state = mix(state, static_cast<std::uint64_t>(token));
    std::memcpy(s.state, &state, sizeof state);
  }
  bool answer(const SequenceStep& s, int position, float* logits) const {
    std::uint64_t sum = 0;
    const int seen = options_.repeats ? std::max(0, position - 1) : 0;  // the last two tokens alone decide
    for (std::size_t g = 0; g < layout_.groups.size(); ++g) {
      const int window = layout_.groups[g].window;
      for (int p = std::max(seen, window > 0 ? position - window + 1 : 0); p <= position; ++p) {
        const std::uint64_t* value = slot(s, g, p);
        if (value == nullptr) return false;
        sum = mix(sum, options_.repeats ? *value % 7 : *value);
      }
    }
    if (s.state != nullptr && !options_.repeats) {
      std::uint64_t state = 0;
      std::memcpy(&state, s.state, sizeof state);
      sum = mix(sum, state);
    }
    for (int v = 0; v < kVocab; ++v) logits[v] = static_cast<float>(mix(sum, static_cast<std::uint64_t>(v)) % 10007) / 1000.0F;
    return true;
  }
  // After a step that was cut short everything it touched is undefined.
  static void spoil(const SequenceStep& s) {
    for (std::size_t i = 0; i < s.tokens.size(); ++i) *slot(s, 0, s.first_position + static_cast<int>(i)) = 0xDEADDEADDEADDEADULL;
    if (s.state != nullptr) std::memset(s.state, 0x5A, sizeof(std::uint64_t));
  }
  FakeOptions options_;
  KvLayout layout_;
  float row_[kVocab];
  CandidateScan scan_;
};

inline ModelLoader fake_loader(FakeOptions options) {
  return [options](const std::string& path, const LoadOptions& load, const std::function<void(std::uint64_t, std::uint64_t)>&, const CancelToken&) -> Result<std::unique_ptr<ModelRuntime>> {
    auto runtime = std::make_unique<ModelRuntime>();
    runtime->forward = std::make_unique<FakeForward>(options);
    runtime->memory = std::make_shared<HostPageMemory>();
    runtime->chunk = load.chunk;
    auto info = std::make_shared<LoadedModel>();
    info->path = path;
    info->name = path;
    info->fingerprint = options.fingerprint + path;
    info->tokenizer = std::make_shared<FakeTokenizer>();
    info->description.vocab = kVocab;
    info->description.context_length = options.context;
    info->context = options.context;
    info->k_type = load.k_type;
    info->v_type = load.v_type;
    info->backend = "fake";
    info->kernel_variant = "fake.1";
    runtime->key = {info->fingerprint, "fake", "fake.1", load.k_type, load.v_type, ""};
    runtime->info = std::move(info);
    return runtime;
  };
}

// Waits for one turn.
class Waiter : public TurnListener {
 public:
  void reading(const TurnProgress& p) override {
    const std::lock_guard lock(mutex_);
    progress.push_back(p);
    changed_.notify_all();
  }
  void token(const TurnToken& t) override {
    const std::lock_guard lock(mutex_);
    tokens.push_back(t);
    changed_.notify_all();
  }
  void queued(int position) override {
    const std::lock_guard lock(mutex_);
    positions.push_back(position);
  }
  void finished(const TurnReport& r) override {
    const std::lock_guard lock(mutex_);
    report_ = r;
    done_ = true;
    changed_.notify_all();
  }
  TurnReport wait() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(20), [this] { return done_; })) report_.error.message = "The turn did not end within 20 s.";
    return report_;
  }
  bool wait_until(const std::function<bool(const Waiter&)>& condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return condition(*this); });
  }
  bool done() {
    const std::lock_guard lock(mutex_);
    return done_;
  }
  std::vector<TurnProgress> progress;
  std::vector<TurnToken> tokens;
  std::vector<int> positions;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  TurnReport report_;
};

// An engine with one fake model, as a chat program uses it.
class FakeEngine {
 public:
  explicit FakeEngine(FakeOptions fake = {}, EngineOptions options = {}, LoadOptions load = {}) : engine(make_engine(options, fake_loader(fake))) {
    model = *engine->load("model", load, {}, {});
  }
  TurnRequest request(const std::string& chat, std::vector<TokenId> prompt, int max_tokens = 16) const {
    TurnRequest r;
    r.model = model;
    r.sequence = chat;
    r.sequence_title = chat;
    r.prompt.ids = std::move(prompt);
    r.max_tokens = max_tokens;
    r.sampling.temperature = 0;
    r.sampling.seed = 1;
    r.logits_sha = true;
    r.ignore_eos = true;
    return r;
  }
  TurnReport run(TurnRequest r) const {
    auto waiter = std::make_shared<Waiter>();
    engine->submit(std::move(r), waiter);
    return waiter->wait();
  }
  TurnReport run(const std::string& chat, std::vector<TokenId> prompt, int max_tokens = 16) const { return run(request(chat, std::move(prompt), max_tokens)); }
  TurnReport cold(const std::string& chat, std::vector<TokenId> prompt, int max_tokens = 16) const {
    TurnRequest r = request(chat, std::move(prompt), max_tokens);
    r.use_cache = false;
    return run(std::move(r));
  }

  std::unique_ptr<Engine> engine;
  ModelHandle model;
};

// Where tests keep their files: in memory where the system has such a folder, because every page is flushed to the disk.
inline std::string scratch_template() {
  std::error_code error;
  const auto status = std::filesystem::status("/dev/shm", error);
  return std::filesystem::is_directory(status) ? "/dev/shm/turnglass-test-XXXXXX" : (std::filesystem::temp_directory_path() / "turnglass-test-XXXXXX").string();
}

// COUNT tokens that depend on SEED.
inline std::vector<TokenId> tokens(int count, std::uint64_t seed) {
  std::vector<TokenId> out;
  for (int i = 0; i < count; ++i) out.push_back(static_cast<TokenId>(mix(seed, static_cast<std::uint64_t>(i)) % 200));
  return out;
}

inline std::vector<TokenId> operator+(std::vector<TokenId> a, const std::vector<TokenId>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace tg::test
