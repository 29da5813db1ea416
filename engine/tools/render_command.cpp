// render: a chat template and a context (or a model and messages) to the prompt text, its ids and its segments.
#include <iostream>
#include <map>
#include <sstream>

#include "engine/tools/command.h"
#include "engine/chat_template/chat_template.h"
#include "engine/tools/prompt_files.h"

namespace tg {
namespace {

struct RenderOptions {
  CommonOptions common;
  std::string model, messages, context, batch, tools, thinking;
  bool no_generation_prompt = false;
};

// ---- Template and context -----------------------------------------------------------------------------------------------

Json answer(const Result<RenderedText>& rendered) {
  if (rendered) return Json{{"text", rendered->text}};
  return Json{{"error", rendered.error().message}};
}

Json answer_line(const std::string& line, std::map<std::string, Result<TemplatePtr>>& templates) {
  const Json json = Json::parse(line, nullptr, false);
  const bool sound = json.is_object() && json.contains("template") && json["template"].is_string() &&
                     json.contains("context") && json["context"].is_object();
  if (!sound) return Json{{"id", nullptr}, {"error", "bad_line"}};
  const std::string path = json["template"].get<std::string>();
  const auto known = templates.try_emplace(path, load_template(path)).first;
  if (!known->second) return Json{{"error", known->second.error().message}};
  return answer((*known->second)->render(json["context"]));
}

int run_batch(const std::string& path) {
  const auto content = read_file(path);
  if (!content) return fail(content.error());
  std::map<std::string, Result<TemplatePtr>> templates;
  std::istringstream lines(*content);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) print_json(answer_line(line, templates));
  }
  return kExitDone;
}

Json segments_json(const RenderedText& rendered) {
  Json list = Json::array();
  for (const TextSegment& s : rendered.segments) {
    list.push_back({{"role", nullptr},
                    {"index", s.message < 0 ? Json(nullptr) : Json(s.message)},
                    {"kind", s.tools ? "tools" : (s.user_content ? "content" : "template")},
                    {"begin", s.begin},
                    {"end", s.end}});
  }
  return list;
}

int run_context(const RenderOptions& options) {
  const auto chat_template = load_template(options.common.template_file);
  if (!chat_template) {
    return chat_template.error().code == ErrorCode::template_error ? refuse_argument(chat_template.error().message)
                                                                   : fail(chat_template.error());
  }
  const auto context = read_json(options.context);
  if (!context) return fail(context.error());
  if (!context->is_object()) return refuse_argument("A context is a JSON object of the template's variables.");
  Json variables = *context;
  if (options.no_generation_prompt) variables["add_generation_prompt"] = false;
  if (!options.thinking.empty()) variables["enable_thinking"] = options.thinking == "on";
  const auto rendered = (*chat_template)->render(variables);
  if (!rendered) return fail_render(rendered.error());
  if (options.common.json) {
    print_json({{"text", rendered->text}, {"ids", nullptr}, {"segments", segments_json(*rendered)}});
  } else {
    std::cout << rendered->text << std::flush;
  }
  return kExitDone;
}

// ---- Model and messages -------------------------------------------------------------------------------------------------

Json prompt_json(const Prompt& prompt) {
  Json segments = Json::array();
  for (const PromptSegment& s : prompt.segments) {
    segments.push_back({{"role", s.role.empty() ? Json(nullptr) : Json(s.role)},
                        {"index", s.message < 0 ? Json(nullptr) : Json(s.message)},
                        {"kind", name_of(s.kind)},
                        {"begin", s.begin},
                        {"end", s.end}});
  }
  return {{"text", prompt.text}, {"ids", prompt.ids}, {"segments", segments}};
}

int run_messages(const RenderOptions& options) {
  auto file = GgufFile::open(model_path(options.model, options.common));
  if (!file) return fail(file.error());
  const auto tokenizer = Tokenizer::load(*file);
  if (!tokenizer) return fail(tokenizer.error());
  const auto chat_template = model_template(options.common.template_file, **file, **tokenizer);
  if (!chat_template) return fail_render(chat_template.error());
  PromptOptions prompt_options;
  prompt_options.add_generation_prompt = !options.no_generation_prompt;
  if (!options.thinking.empty()) prompt_options.thinking = options.thinking == "on";
  if (!options.tools.empty()) {
    auto tools = read_json(options.tools);
    if (!tools) return fail(tools.error());
    prompt_options.tools = std::move(*tools);
  }
  const auto messages = read_messages(options.messages, prompt_options.tools);
  if (!messages) return fail(messages.error());
  const auto prompt = build_prompt(**chat_template, **tokenizer, *messages, prompt_options);
  if (!prompt) return fail_render(prompt.error());
  if (options.common.json) {
    print_json(prompt_json(*prompt));
  } else {
    std::cout << prompt->text << std::flush;
  }
  return kExitDone;
}

}  // namespace

int run_render(int argc, char** argv) {
  CLI::App app("Prompt text of a chat", "render");
  RenderOptions o;
  // Not the common set: --context is a file here.
  app.add_flag("--json", o.common.json, "Print exactly one JSON object (or one a line)");
  app.add_flag("--quiet", o.common.quiet, "No warnings on stderr");
  app.add_option("--profile", o.common.profile, "Folder with all data of a user");
  app.add_option("--template", o.common.template_file, "Chat template file");
  app.add_option("MODEL", o.model, "GGUF file with vocabulary and chat template");
  app.add_option("--messages", o.messages, "JSON list of messages, or an object with messages (and tools)");
  app.add_option("--context", o.context, "JSON object with the variables of --template");
  app.add_option("--batch", o.batch, "JSON lines {\"template\",\"context\"}");
  app.add_flag("--no-generation-prompt", o.no_generation_prompt, "Without the head of the answer to come");
  app.add_option("--thinking", o.thinking, "on or off")->check(CLI::IsMember({"on", "off"}));
  app.add_option("--tools", o.tools, "JSON list of tools");
  if (const auto code = parse_options(app, argc, argv)) return *code;
  if (!o.batch.empty()) return run_batch(o.batch);
  if (!o.context.empty() && !o.common.template_file.empty()) return run_context(o);
  if (!o.messages.empty() && !o.model.empty()) return run_messages(o);
  return refuse_argument("render needs MODEL and --messages, or --template and --context, or --batch.");
}

}  // namespace tg
