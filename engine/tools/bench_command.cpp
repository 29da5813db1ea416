// bench: how fast the forward pass reads and writes, at given depths and batch sizes, and what share of the machine's limits that is.
// Drives Forward itself: no scheduler, token ids random but fixed; of a row's logits the most likely token is found, as greedy writing needs it.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <sstream>

#include "engine/measure/limits.h"
#include "engine/sampling/random.h"
#include "engine/schedule/model_runtime.h"
#include "engine/tools/command.h"

namespace tg {
namespace {

constexpr int kDefaultChunk = 512;

struct BenchOptions {
  CommonOptions common;
  std::string model;
  std::vector<int> prompts{512};
  int generate = 128, repeat = 5;
  std::vector<int> depths{0}, parallel{1};
};

// Pages of several sequences of equal length, reused from test to test.
class BenchSequences {
 public:
  BenchSequences(ModelRuntime& runtime, int n, int length) : runtime_(runtime) {
    const CacheLayout layout = runtime.layout();
    Random random(1);
    for (int s = 0; s < n; ++s) {
      Sequence& sequence = sequences_.emplace_back();
      for (const CacheGroup& group : layout.groups) {
        std::vector<std::byte*>& table = sequence.pages.emplace_back();
        for (int i = 0; i < (length + kPageTokens - 1) / kPageTokens; ++i) table.push_back(keep(group.page_bytes));
      }
      for (const auto& table : sequence.pages) sequence.tables.push_back(table.data());
      if (layout.state_bytes > 0) sequence.state = keep(layout.state_bytes);
      const auto vocab = static_cast<std::uint64_t>(runtime.info->description.vocab);
      for (int i = 0; i < length; ++i) sequence.tokens.push_back(static_cast<TokenId>(random.next() % vocab));
    }
  }

  // Computes the tokens of positions FROM .. FROM + N of the first sequence in chunks; the last one's logits are computed.
  Status read(int from, int n, int chunk, StepCounters& counters) {
    Sequence& s = sequences_.front();
    for (int done = 0; done < n;) {
      const int rows = std::min(chunk, n - done);
      const std::vector<int> wanted = done + rows == n ? std::vector<int>{rows - 1} : std::vector<int>{};
      SequenceStep step = s.step(from + done, rows, wanted);
      if (const Status status = run(std::span(&step, 1), counters); !status) return status;
      done += rows;
    }
    return Ok{};
  }
  // All sequences get the first one's pages: what they hold does not matter for the time.
  void copy_first(int n_tokens) {
    const CacheLayout layout = runtime_.layout();
    for (std::size_t s = 1; s < sequences_.size(); ++s)
      for (std::size_t g = 0; g < layout.groups.size(); ++g)
        for (int i = 0; i < (n_tokens + kPageTokens - 1) / kPageTokens; ++i)
          runtime_.memory->copy(sequences_[s].pages[g][static_cast<std::size_t>(i)], sequences_[0].pages[g][static_cast<std::size_t>(i)], layout.groups[g].page_bytes);
  }
  // One token of each sequence at POSITION.
  Status write(int position, StepCounters& counters) {
    static constexpr int kFirst = 0;
    std::vector<SequenceStep> steps;
    for (Sequence& s : sequences_) steps.push_back(s.step(position, 1, std::span(&kFirst, 1)));
    return run(steps, counters);
  }

 private:
  struct Sequence {
    std::vector<TokenId> tokens;
    std::vector<std::vector<std::byte*>> pages;
    std::vector<std::byte* const*> tables;
    std::byte* state = nullptr;
    SequenceStep step(int from, int n, std::span<const int> wanted) {
      return {std::span<const TokenId>(tokens).subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(n)), from, tables, state, wanted};
    }
  };
  std::byte* keep(std::size_t bytes) { return memory_.emplace_back(runtime_.memory->allocate(bytes)).get(); }
  Status run(std::span<SequenceStep> steps, StepCounters& counters) {
    found_.resize(std::max(found_.size(), steps.size()));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      steps[i].wish = {0, 0.0F, false};
      steps[i].candidates = std::span(found_).subspan(i, steps[i].logit_rows.size());
    }
    return runtime_.forward->run(steps, nullptr, interrupt_token(), counters);
  }
  ModelRuntime& runtime_;
  std::vector<Sequence> sequences_;
  std::vector<std::shared_ptr<std::byte>> memory_;
  std::vector<RowCandidates> found_;
};

constexpr int kWarmUpSteps = 8;  // of writing

struct Measured {
  std::vector<double> tokens_per_second;
  PhaseWork work;
};

// body(n, counters) does what N of the TOKENS need. A first run, as short as serves, warms up.
template <class Body>
Status measure(int repeat, int tokens, int warm_up, Measured& out, Body body) {
  StepCounters ignored;
  if (const Status warm = body(std::min(tokens, warm_up), ignored); !warm) return warm;
  for (int i = 0; i < repeat; ++i) {
    StepCounters counters;
    const auto start = std::chrono::steady_clock::now();
    if (const Status status = body(tokens, counters); !status) return status;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    out.tokens_per_second.push_back(tokens / seconds);
    out.work.bytes += counters.bytes;
    out.work.ops += counters.ops;
    out.work.seconds += seconds;
  }
  return Ok{};
}

Json result_json(const char* test, int tokens, int depth, int batch, const ModelRuntime& runtime, const Measured& m, const DeviceLimits& limits) {
  const double n = static_cast<double>(m.tokens_per_second.size()) * tokens * (std::string_view(test) == "tg" ? batch : 1);
  const auto percent = percent_of_limit(m.work, limits, runtime.int8());
  return {{"test", test},
          {"tokens", tokens},
          {"depth", depth},
          {"threads", runtime.info->threads},
          {"batch", batch},
          {"tokens_per_second", m.tokens_per_second},
          {"bytes_per_token", n > 0 ? m.work.bytes / n : 0},
          {"gb_per_s", gb_per_s(m.work)},
          {"ops_per_token", n > 0 ? m.work.ops / n : 0},
          {"gop_per_s", gop_per_s(m.work)},
          {"percent_of_limit", percent ? Json(*percent) : Json(nullptr)}};
}

void print_row(const Json& r) {
  std::vector<double> rates = r["tokens_per_second"].get<std::vector<double>>();
  std::sort(rates.begin(), rates.end());
  std::ostringstream name;
  name << r["test"].get<std::string>() << r["tokens"].get<int>();
  if (r["depth"].get<int>() > 0) name << "@" << r["depth"].get<int>();
  if (r["batch"].get<int>() > 1) name << " x" << r["batch"].get<int>();
  std::printf("%-16s %10.2f tokens/s   %8.2f GB/s %9.1f GOP/s", name.str().c_str(), rates[rates.size() / 2], r["gb_per_s"].get<double>(), r["gop_per_s"].get<double>());
  if (!r["percent_of_limit"].is_null()) std::printf("   %5.1f %%", r["percent_of_limit"].get<double>());
  std::printf("\n");
}

Result<Json> run_tests(const BenchOptions& o, ModelRuntime& runtime, const DeviceLimits& limits) {
  runtime.forward->settle(interrupt_token());
  Json results = Json::array();
  const int chunk = std::min(o.common.chunk > 0 ? o.common.chunk : kDefaultChunk, runtime.forward->max_rows());
  const auto add = [&](Json row) {
    if (!o.common.json) print_row(row);
    results.push_back(std::move(row));
  };
  for (const int depth : o.depths) {
    StepCounters ignored;
    for (const int prompt : o.prompts) {
      if (prompt <= 0) continue;
      BenchSequences one(runtime, 1, depth + prompt);
      if (const Status filled = one.read(0, depth, chunk, ignored); !filled) return filled.error();
      Measured m;
      const Status status = measure(o.repeat, prompt, chunk, m, [&](int n, StepCounters& c) { return one.read(depth, n, chunk, c); });
      if (!status) return status.error();
      add(result_json("pp", prompt, depth, 1, runtime, m, limits));
    }
    for (const int batch : o.parallel) {
      if (o.generate <= 0) continue;
      BenchSequences all(runtime, batch, depth + o.generate);
      if (const Status filled = all.read(0, depth, chunk, ignored); !filled) return filled.error();
      all.copy_first(depth);
      Measured m;
      const Status status = measure(o.repeat, o.generate * batch, kWarmUpSteps * batch, m, [&](int n, StepCounters& c) -> Status {
        for (int i = 0; i < n / batch; ++i)
          if (const Status step = all.write(depth + i, c); !step) return step;
        return Ok{};
      });
      if (!status) return status.error();
      add(result_json("tg", o.generate, depth, batch, runtime, m, limits));
    }
  }
  return results;
}

}  // namespace

int run_bench(int argc, char** argv) {
  CLI::App app("Tokens per second of reading and writing", "bench");
  BenchOptions o;
  add_common_options(app, o.common);
  app.add_option("MODEL", o.model, "GGUF file, or a name in the model folder")->required();
  app.add_option("--prompt", o.prompts, "Tokens read in one go, several with commas; 0: none")->delimiter(',')->check(CLI::Range(0, 1 << 20));
  app.add_option("--generate", o.generate, "Tokens written; 0: none")->check(CLI::Range(0, 1 << 20));
  app.add_option("--depth", o.depths, "Tokens before them, several with commas")->delimiter(',')->check(CLI::Range(0, 1 << 24));
  app.add_option("--parallel", o.parallel, "Sequences written at once, several with commas")->delimiter(',')->check(CLI::Range(1, 256));
  app.add_option("--repeat", o.repeat, "Runs that count")->check(CLI::Range(1, 1000));
  if (const auto code = parse_options(app, argc, argv)) return *code;
  LoadOptions load = o.common.load_options();
  if (!o.common.context) load.context = 0;
  const auto runtime = load_model(model_path(o.model, o.common), load, {}, interrupt_token());
  if (!runtime) return fail(runtime.error());
  Device& device = *(*runtime)->device;
  if (!device.tuned()) device.tune();
  const DeviceLimits limits = device.measure_limits();
  const auto results = run_tests(o, **runtime, limits);
  if (!results) return fail(results.error());
  if (o.common.json)
    print_json({{"results", *results},
                {"tuning", device.tuning()},
                {"limits", {{"read_gb_per_s", limits.read_gb_per_s}, {"int8_gop_per_s", limits.int8_gop_per_s}, {"f32_gop_per_s", limits.f32_gop_per_s}}}});
  else
    std::printf("tuning: %s\nlimits: %.1f GB/s read, %.0f GOP/s int8, %.0f GOP/s f32\n", device.tuning().c_str(), limits.read_gb_per_s, limits.int8_gop_per_s, limits.f32_gop_per_s);
  return kExitDone;
}

}  // namespace tg
