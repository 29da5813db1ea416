// `logits`: what the model computes for given tokens, straight from the forward pass. How the tokens are cut into steps is the
// caller's choice and must not show in the result.
#include <algorithm>
#include <fstream>

#include "engine/base/text.h"
#include "engine/forward/forward.h"
#include "engine/tools/command.h"
#include "engine/tools/logits_split.h"

namespace tg {
namespace {

constexpr int kDefaultChunk = 512;
constexpr int kMostLogits = 1 << 25;  // values of one step kept in memory where no chunk is asked for: 128 MiB

struct LogitsOptions {
  std::string model, tokens, batch_with, out;
  bool all = false, one_by_one = false;
  int split = 0;  // 0: none
};

// F is an array of ids or {"tokens":[...]}.
Result<std::vector<TokenId>> read_tokens(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  const Json json = Json::parse(*text, nullptr, false);
  const Json& ids = json.is_object() && json.contains("tokens") ? json["tokens"] : json;
  std::vector<TokenId> tokens;
  if (ids.is_array()) {
    for (const Json& id : ids) {
      if (!id.is_number_integer() || id.get<std::int64_t>() < 0 || id.get<std::int64_t>() > (1 << 30)) break;
      tokens.push_back(id.get<TokenId>());
    }
  }
  if (!ids.is_array() || tokens.empty() || tokens.size() != ids.size()) {
    return make_error(ErrorCode::bad_argument, "The file \"" + printable(path, 120) + "\" holds no list of token ids.");
  }
  return tokens;
}

// One sequence with pages of its own, all kept.
class Sequence {
 public:
  Sequence(std::vector<TokenId> tokens, const KvLayout& layout, Device& device) : tokens_(std::move(tokens)) {
    const std::size_t n_pages = (tokens_.size() + kPageTokens - 1) / kPageTokens;
    for (const KvGroup& group : layout.groups) {
      std::vector<std::byte*>& table = pages_.emplace_back();
      for (std::size_t i = 0; i < n_pages; ++i) table.push_back(keep(device.allocate(group.page_bytes)));
    }
    for (const auto& table : pages_) tables_.push_back(table.data());
    if (layout.state_bytes > 0) state_ = keep(device.allocate(layout.state_bytes));
  }

  int left() const { return static_cast<int>(tokens_.size()) - done_; }
  std::size_t size() const { return tokens_.size(); }

  // The next N tokens as part of a step; the logits of all of them are wanted, or only of the sequence's last.
  SequenceStep next(int n, bool all) {
    wanted_.clear();
    for (int i = all ? 0 : n - 1; i < n && (all || n == left()); ++i) wanted_.push_back(i);
    const std::span<const TokenId> part = std::span<const TokenId>(tokens_).subspan(static_cast<std::size_t>(done_), static_cast<std::size_t>(n));
    const SequenceStep step{part, done_, tables_, state_, wanted_};
    done_ += n;
    return step;
  }

 private:
  std::byte* keep(std::shared_ptr<std::byte> memory) { return memory_.emplace_back(std::move(memory)).get(); }

  std::vector<TokenId> tokens_;
  std::vector<std::shared_ptr<std::byte>> memory_;
  std::vector<std::vector<std::byte*>> pages_;
  std::vector<std::byte* const*> tables_;
  std::byte* state_ = nullptr;
  std::vector<int> wanted_;
  int done_ = 0;
};

// Takes rows as they are computed, of one sequence: a file where one is named, and the last row for the summary.
class Rows {
 public:
  explicit Rows(const std::string& path) : path_(path) {
    if (!path.empty()) file_.open(path, std::ios::binary | std::ios::trunc);
  }
  void add(const float* rows, std::size_t n, std::size_t vocab) {
    if (n == 0) return;
    if (!path_.empty()) file_.write(reinterpret_cast<const char*>(rows), static_cast<std::streamsize>(n * vocab * sizeof(float)));
    last_.assign(rows + (n - 1) * vocab, rows + n * vocab);
    n_ += n;
  }
  Status close() {
    if (path_.empty()) return Ok{};
    file_.close();
    if (!file_) return make_error(ErrorCode::io, "The file \"" + printable(path_, 120) + "\" cannot be written.");
    return Ok{};
  }
  std::size_t count() const { return n_; }
  const std::vector<float>& last() const { return last_; }

 private:
  std::string path_;
  std::ofstream file_;
  std::vector<float> last_;
  std::size_t n_ = 0;
};

// Computes both sequences in the same steps, at most `chunk` tokens of each at once; only the first one's logits are kept.
Status compute(Forward& forward, Sequence& sequence, Sequence* other, int chunk, bool all, std::size_t vocab, Rows& rows) {
  StepCounters counters;
  std::vector<float> logits;
  while (sequence.left() > 0) {
    std::vector<SequenceStep> steps{sequence.next(std::min(chunk, sequence.left()), all)};
    if (other != nullptr && other->left() > 0) steps.push_back(other->next(std::min(chunk, other->left()), false));
    std::size_t wanted = 0;
    for (const SequenceStep& step : steps) wanted += step.logit_rows.size();
    logits.resize(wanted * vocab);
    const Status status = forward.run(steps, logits.data(), interrupt_token(), counters);
    if (!status) return status;
    rows.add(logits.data(), steps[0].logit_rows.size(), vocab);
  }
  return Ok{};
}

void print_summary(const Rows& rows, const std::vector<float>& last, bool json) {
  std::vector<int> order(last.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  const std::size_t n = std::min<std::size_t>(10, order.size());
  const auto higher = [&](int a, int b) {
    const float x = last[static_cast<std::size_t>(a)], y = last[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n), order.end(), higher);
  Json top = Json::array();
  for (std::size_t i = 0; i < n; ++i) top.push_back({{"id", order[i]}, {"logit", last[static_cast<std::size_t>(order[i])]}});
  if (json) {
    print_json({{"rows", rows.count()}, {"vocab", last.size()}, {"top", top}});
    return;
  }
  for (const Json& entry : top) std::printf("%8d %12.5f\n", entry["id"].get<int>(), entry["logit"].get<double>());
}

Result<std::shared_ptr<Device>> make_device(const CommonOptions& common) {
  if (common.backend == "cuda") return make_error(ErrorCode::unsupported, "This program was built without the CUDA backend.");
  auto device = make_cpu_device({common.threads, common.kernels});
  if (!device) return device.error();
  return std::shared_ptr<Device>(std::move(*device));
}

Status finish_rows(const LogitsOptions& options, const CommonOptions& common, Rows& rows) {
  const Status written = rows.close();
  if (!written) return written;
  if (options.out.empty() || common.json) print_summary(rows, rows.last(), common.json);
  return Ok{};
}

Status run_sequences(const LogitsOptions& options, const CommonOptions& common) {
  const auto tokens = read_tokens(options.tokens);
  if (!tokens) return tokens.error();
  std::vector<TokenId> others;
  if (!options.batch_with.empty()) {
    const auto second = read_tokens(options.batch_with);
    if (!second) return second.error();
    others = *second;
  }
  auto file = GgufFile::open(model_path(options.model, common));
  if (!file) return file.error();
  const auto description = describe_model(**file, common.context.value_or(0));
  if (!description) return description.error();
  const int limit = std::min(common.context.value_or(0) > 0 ? *common.context : description->context_length, description->context_length);
  const std::size_t longest = std::max(tokens->size(), others.size());
  if (longest > static_cast<std::size_t>(limit)) {
    return make_error(ErrorCode::does_not_fit, std::to_string(longest) + " tokens do not fit the context of " + std::to_string(limit) + ".");
  }
  auto device = make_device(common);
  if (!device) return device.error();

  const int usual = options.all ? std::clamp(kMostLogits / description->vocab, 1, kDefaultChunk) : kDefaultChunk;
  const int chunk = options.one_by_one ? 1 : std::min(common.chunk > 0 ? common.chunk : usual, static_cast<int>(longest));
  auto forward = Forward::load(*file, *description, *device, common.k_type(), common.v_type(), chunk * (others.empty() ? 1 : 2), {}, interrupt_token());
  if (!forward) return forward.error();
  Rows rows(options.out);
  if (options.split > 0) {
    const auto vocab = static_cast<std::size_t>(description->vocab);
    SplitRun split{*tokens, options.split, chunk, options.all, description->vocab, {}, [&](const float* part, std::size_t n) { rows.add(part, n, vocab); }};
    split.key = {(*file)->fingerprint(), (*device)->backend(), (*device)->kernel_variant(), common.k_type(), common.v_type(), "logits"};
    if (const Status done = run_split(**forward, split); !done) return done;
    return finish_rows(options, common, rows);
  }
  Sequence sequence(*tokens, (*forward)->kv_layout(), **device);
  std::optional<Sequence> other;
  if (!others.empty()) other.emplace(std::move(others), (*forward)->kv_layout(), **device);
  const Status computed = compute(**forward, sequence, other ? &*other : nullptr, chunk, options.all, static_cast<std::size_t>(description->vocab), rows);
  if (!computed) return computed;
  return finish_rows(options, common, rows);
}

}  // namespace

int run_logits(int argc, char** argv) {
  CLI::App app("Logits of given tokens", "logits");
  CommonOptions common;
  LogitsOptions options;
  add_common_options(app, common);
  app.add_option("MODEL", options.model, "Model file, or a name from the model folder")->required();
  app.add_option("--tokens", options.tokens, "File with an array of token ids, or {\"tokens\":[...]}")->required();
  app.add_option("--out", options.out, "File for the rows, float32 [rows x vocabulary]");
  app.add_flag("--all", options.all, "A row for every position, not only the last");
  app.add_flag("--one-by-one", options.one_by_one, "One token per step");
  app.add_option("--split", options.split, "Compute N tokens, save and restore their cache, compute the rest")->check(CLI::Range(0, 1 << 30));
  app.add_option("--batch-with", options.batch_with, "File with a second sequence, computed in the same steps");
  if (const auto code = parse_options(app, argc, argv)) return *code;
  const Status done = run_sequences(options, common);
  return done ? kExitDone : fail(done.error());
}

}  // namespace tg
