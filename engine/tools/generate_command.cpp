// generate: one turn, from a raw prompt or from messages, without a chat or a profile.
#include <condition_variable>
#include <iostream>
#include <mutex>

#include "engine/tools/command.h"
#include "engine/chat_template/chat_template.h"
#include "engine/sampling/constraint_json.h"
#include "engine/tools/prompt_files.h"
#include "engine/tools/turn_json.h"

namespace tg {
namespace {

struct GenerateOptions {
  CommonOptions common;
  std::string model, messages, tools, thinking, effort, json_schema, speculative = "off";
  std::optional<std::string> prompt;
  std::vector<std::string> stop, template_args;
  SamplingOptions sampling;
  int max_tokens = 128, thinking_budget = -1;
  bool stream = false, ignore_eos = false;
};

void add_options(CLI::App& app, GenerateOptions& o) {
  add_common_options(app, o.common);
  app.add_option("MODEL", o.model, "GGUF file, or a name in the model folder")->required();
  app.add_option("--prompt", o.prompt, "Text as it is, no chat template");
  app.add_option("--messages", o.messages, "JSON list of messages, or an object with messages (and tools)");
  app.add_option("--tools", o.tools, "JSON list of tools");
  app.add_option("--max-tokens", o.max_tokens, "Longest answer")->check(CLI::Range(1, 1 << 30));
  app.add_option("--temperature", o.sampling.temperature, "0: always the most likely token")->check(CLI::Range(0.0F, 100.0F));
  app.add_option("--top-k", o.sampling.top_k, "0: off")->check(CLI::Range(0, 1 << 30));
  app.add_option("--top-p", o.sampling.top_p, "1: off")->check(CLI::Range(0.0F, 1.0F));
  app.add_option("--min-p", o.sampling.min_p, "0: off")->check(CLI::Range(0.0F, 1.0F));
  app.add_option("--typical", o.sampling.typical, "1: off")->check(CLI::Range(0.0F, 1.0F));
  app.add_option("--repeat-penalty", o.sampling.repeat_penalty, "1: off")->check(CLI::Range(0.01F, 100.0F));
  app.add_option("--repeat-last-n", o.sampling.repeat_last_n, "Tokens looked at; -1: all")->check(CLI::Range(-1, 1 << 30));
  app.add_option("--presence-penalty", o.sampling.presence_penalty, "0: off")->check(CLI::Range(-100.0F, 100.0F));
  app.add_option("--frequency-penalty", o.sampling.frequency_penalty, "0: off")->check(CLI::Range(-100.0F, 100.0F));
  app.add_option("--seed", o.sampling.seed, "0: chosen at random");
  app.add_option("--stop", o.stop, "Texts that end the answer")->allow_extra_args(false);
  app.add_option("--thinking", o.thinking, "on or off; unset: the template's default")->check(CLI::IsMember({"on", "off", "auto"}));
  app.add_option("--thinking-budget", o.thinking_budget, "Most tokens to think; -1: no limit")->check(CLI::Range(-1, 1 << 30));
  app.add_option("--effort", o.effort, "low, medium or high")->check(CLI::IsMember({"low", "medium", "high"}));
  app.add_option("--template-arg", o.template_args, "K=V, a variable of the template")->allow_extra_args(false);
  app.add_option("--speculative", o.speculative, "off, ngram (drafts from earlier text) or draft:MODEL (drafts by a smaller model)")
      ->check([](const std::string& v) { return v == "off" || v == "ngram" || (v.starts_with("draft:") && v.size() > 6) ? std::string() : "off, ngram or draft:MODEL"; });
  app.add_option("--json-schema", o.json_schema, "File with a JSON schema ({}: any JSON) that the answer keeps to; --stop and --ignore-eos do not apply");
  app.add_flag("--ignore-eos", o.ignore_eos, "Go on after an end token");
  app.add_flag("--stream", o.stream, "JSON lines {\"delta\"} while it is written");
}

// Prints what is written and wakes the waiting thread.
class Printer : public TurnListener {
 public:
  Printer(bool json_lines, bool text) : json_lines_(json_lines), text_(text) {}
  void reading(const TurnProgress&) override {}
  void token(const TurnToken& t) override {
    if (t.text.empty()) return;
    if (json_lines_) print_json(t.thinking ? Json{{"thinking", t.text}} : Json{{"delta", t.text}});
    else if (text_ && !t.thinking) std::cout << t.text << std::flush;
  }
  void finished(const TurnReport& report) override {
    const std::lock_guard lock(mutex_);
    report_ = report;
    done_ = true;
    changed_.notify_all();
  }
  // Ctrl+C stops the turn; its record is printed all the same.
  TurnReport wait(Engine& engine, TurnId id) {
    std::unique_lock lock(mutex_);
    bool told = false;
    while (!changed_.wait_for(lock, std::chrono::milliseconds(50), [this] { return done_; })) {
      if (!interrupt_token().cancelled() || told) continue;
      told = true;
      engine.cancel(id);
    }
    return report_;
  }

 private:
  bool json_lines_, text_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  TurnReport report_;
};

Result<PromptOptions> prompt_options(const GenerateOptions& o) {
  PromptOptions out;
  if (o.thinking == "on" || o.thinking == "off") out.thinking = o.thinking == "on";
  if (!o.effort.empty()) out.template_arguments["reasoning_effort"] = o.effort;
  for (const std::string& argument : o.template_args) {
    const std::size_t at = argument.find('=');
    if (at == std::string::npos || at == 0) return make_error(ErrorCode::bad_argument, "A template argument is written K=V.");
    const Json value = Json::parse(argument.substr(at + 1), nullptr, false);
    out.template_arguments[argument.substr(0, at)] = value.is_discarded() ? Json(argument.substr(at + 1)) : value;
  }
  if (o.tools.empty()) return out;
  auto tools = read_json(o.tools);
  if (!tools) return tools.error();
  out.tools = std::move(*tools);
  return out;
}

Result<Prompt> make_prompt(const GenerateOptions& o, const LoadedModel& model) {
  if (o.prompt) {
    Prompt prompt;
    prompt.text = *o.prompt;
    prompt.ids = model.tokenizer->encode(*o.prompt, {true, true});
    prompt.segments.push_back({SegmentKind::new_text, -1, "", 0, static_cast<int>(prompt.ids.size())});
    return prompt;
  }
  auto options = prompt_options(o);
  if (!options) return options.error();
  const auto chat_template = model_template(o.common.template_file, *model.file, *model.tokenizer);
  if (!chat_template) return chat_template.error();
  const auto messages = read_messages(o.messages, options->tools);
  if (!messages) return messages.error();
  return build_prompt(**chat_template, *model.tokenizer, *messages, *options);
}

int exit_of(const TurnReport& report) {
  if (report.finish_reason == FinishReason::error) return fail(report.error);
  return report.finish_reason == FinishReason::cancelled ? kExitInterrupted : kExitDone;
}

int generate(const GenerateOptions& o) {
  std::string schema;
  if (!o.json_schema.empty()) {
    auto text = read_file(o.json_schema);
    if (!text) return fail(text.error());
    if (const auto read = read_json_schema(*text); !read) return fail(read.error());
    schema = std::move(*text);
  }
  const auto engine = Engine::create({});
  const auto model = engine->load(model_path(o.model, o.common), o.common.load_options(), {}, interrupt_token());
  if (!model) return fail(model.error());
  ModelHandle draft;
  if (o.speculative.starts_with("draft:")) {
    const auto loaded = engine->load(model_path(o.speculative.substr(6), o.common), o.common.load_options(), {}, interrupt_token());
    if (!loaded) return fail(loaded.error());
    draft = *loaded;
  }
  const auto prompt = make_prompt(o, **model);
  if (!prompt) return fail_render(prompt.error());
  TurnRequest request;
  request.model = *model;
  request.sequence = "generate";
  request.prompt = *prompt;
  request.sampling = o.sampling;
  request.max_tokens = o.max_tokens;
  request.stop = o.stop;
  request.ignore_eos = o.ignore_eos;
  request.json_schema = schema;
  request.thinking.budget = o.thinking_budget;
  if (o.speculative == "ngram") request.speculation.kind = SpeculationOptions::Kind::ngram;
  if (draft) request.speculation = {SpeculationOptions::Kind::draft, draft, 5};
  request.use_cache = !o.common.no_cache;
  const auto printer = std::make_shared<Printer>(o.stream, !o.common.json && !o.stream);
  const TurnReport report = printer->wait(*engine, engine->submit(std::move(request), printer));
  if (report.finish_reason == FinishReason::error) return exit_of(report);
  if (o.common.json || o.stream) {
    Json record{{"text", report.text}, {"ids", report.output_ids}, {"thinking_text", report.thinking_text}};
    record.update(turn_json(report, **model, *prompt));
    print_json(record);
  } else {
    std::cout << "\n";
    if (!o.common.quiet)
      std::cerr << report.input_total << " in, " << report.output << " out, first token " << report.ttft_ms << " ms, " << report.decode_tps << " tokens/s\n";
  }
  return exit_of(report);
}

}  // namespace

int run_generate(int argc, char** argv) {
  CLI::App app("One answer to a prompt", "generate");
  GenerateOptions o;
  o.sampling.temperature = 0;
  add_options(app, o);
  if (const auto code = parse_options(app, argc, argv)) return *code;
  if (o.prompt.has_value() == !o.messages.empty()) return refuse_argument("generate needs either --prompt or --messages.");
  return generate(o);
}

}  // namespace tg
