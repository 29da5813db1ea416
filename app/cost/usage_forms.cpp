// The wire forms: one small function each, in the order of the contract's table.
#include <QHash>

#include "app/cost/usage_reader.h"

namespace tg::cost {

namespace {

// The reported prompt contains cached and written tokens.
void splitPrompt(UsageReader& in, Usage& usage) {
  if (!in.error().isEmpty()) return;
  const qint64 known = in.sum({usage.cached.value_or(0), usage.write.value_or(0)});
  in.require(known <= *usage.total);
  if (usage.cached && usage.write) usage.fresh = *usage.total - known;
}

// Cached and written tokens are beside the reported input.
void joinPrompt(UsageReader& in, Usage& usage) {
  if (in.error().isEmpty()) usage.total = in.sum({*usage.fresh, *usage.cached, *usage.write});
}

void thinkingInside(UsageReader& in, const Usage& usage) {
  if (in.error().isEmpty()) in.require(!usage.thinking || *usage.thinking <= *usage.output);
}

struct OpenAiNames { const char16_t *prompt, *promptDetails, *output, *outputDetails, *write; };
constexpr OpenAiNames kChat = {u"prompt_tokens", u"prompt_tokens_details", u"completion_tokens", u"completion_tokens_details", u"cache_write_tokens"};
constexpr OpenAiNames kQwen = {u"prompt_tokens", u"prompt_tokens_details", u"completion_tokens", u"completion_tokens_details", u"cache_creation_input_tokens"};
constexpr OpenAiNames kResponses = {u"input_tokens", u"input_tokens_details", u"output_tokens", u"output_tokens_details", u"cache_write_tokens"};

Usage openAiCounts(UsageReader& in, const OpenAiNames& names) {
  Usage usage;
  usage.total = in.required({names.prompt});
  usage.cached = in.optional({names.promptDetails, u"cached_tokens"});
  usage.write = 0;
  usage.output = in.required({names.output});
  usage.thinking = in.optional({names.outputDetails, u"reasoning_tokens"});
  return usage;
}

Usage openAi(UsageReader& in, const OpenAiNames& names) {
  Usage usage = openAiCounts(in, names);
  usage.write = in.optional({names.promptDetails, names.write});
  usage.writeNotReported = !usage.write;
  if (usage.writeNotReported) usage.write = 0;
  splitPrompt(in, usage);
  thinkingInside(in, usage);
  return usage;
}

Usage openAiChat(UsageReader& in) { return openAi(in, kChat); }
Usage openAiResponses(UsageReader& in) { return openAi(in, kResponses); }

Usage qwenChat(UsageReader& in) {
  Usage usage = openAi(in, kQwen);
  usage.writeNotReported = false;                         // absent is 0 in this form
  const Json* details = in.usage().find(u"prompt_tokens_details");
  usage.explicitRead = details && details->string(u"cache_type") == QStringLiteral("ephemeral");
  return usage;
}

Usage xaiResponses(UsageReader& in) {
  Usage usage = openAiCounts(in, kResponses);
  splitPrompt(in, usage);
  thinkingInside(in, usage);
  return usage;
}

// Reasoning stands outside or inside completion_tokens; only the total tells.
Usage xaiChat(UsageReader& in) {
  Usage usage = openAiCounts(in, kChat);
  const Count reported = in.optional({u"total_tokens"});
  splitPrompt(in, usage);
  if (!in.error().isEmpty() || usage.thinking.value_or(0) == 0) return usage;
  const qint64 inside = in.sum({*usage.total, *usage.output}), outside = in.sum({inside, *usage.thinking});
  if (!in.error().isEmpty()) return usage;
  if (reported == outside) {
    usage.output = in.sum({*usage.output, *usage.thinking});
  } else if (reported == inside) {
    thinkingInside(in, usage);
  } else {
    usage.outputMin = usage.output;
    usage.outputMax = in.sum({*usage.output, *usage.thinking});
    usage.output.reset();
    usage.uncertainty = QStringLiteral("ambiguous_reasoning");
  }
  return usage;
}

Usage deepSeekChat(UsageReader& in) {
  Usage usage = openAiCounts(in, kChat);
  const Count hit = in.optional({u"prompt_cache_hit_tokens"}), miss = in.optional({u"prompt_cache_miss_tokens"});
  if (hit) usage.cached = hit;
  if (hit && miss && usage.total) in.require(in.sum({*hit, *miss}) == *usage.total);
  splitPrompt(in, usage);
  thinkingInside(in, usage);
  return usage;
}

Usage anthropicMessages(UsageReader& in) {
  Usage usage;
  usage.fresh = in.required({u"input_tokens"});
  usage.cached = in.orZero({u"cache_read_input_tokens"});
  const Count sum = in.optional({u"cache_creation_input_tokens"});
  const Count fiveMinutes = in.optional({u"cache_creation", u"ephemeral_5m_input_tokens"});
  const Count oneHour = in.optional({u"cache_creation", u"ephemeral_1h_input_tokens"});
  if (fiveMinutes || oneHour) {
    usage.write5m = fiveMinutes.value_or(0);
    usage.write1h = oneHour.value_or(0);
    usage.write = in.sum({usage.write5m, usage.write1h});
    in.require(!sum || sum == usage.write);
  } else {
    usage.write = usage.write5m = sum.value_or(0);
    if (usage.write > 0) usage.flags.append(QStringLiteral("write_ttl_assumed_5m"));
  }
  usage.output = in.required({u"output_tokens"});
  usage.thinking = in.optional({u"output_tokens_details", u"thinking_tokens"});
  usage.searches = in.orZero({u"server_tool_use", u"web_search_requests"});
  joinPrompt(in, usage);
  thinkingInside(in, usage);
  return usage;
}

Usage bedrockConverse(UsageReader& in) {
  Usage usage;
  usage.fresh = in.required({u"inputTokens"});
  usage.cached = in.orZero({u"cacheReadInputTokens"});
  usage.write = usage.write5m = in.orZero({u"cacheWriteInputTokens"});
  if (usage.write > 0) usage.flags.append(QStringLiteral("write_ttl_assumed_5m"));
  usage.output = in.required({u"outputTokens"});
  joinPrompt(in, usage);
  return usage;
}

qint64 audioTokens(UsageReader& in, QStringView key) {
  const Json* list = in.usage().find(key);
  qint64 sum = 0;
  if (!list) return sum;
  for (const Json& part : list->items) {
    if (part.string(u"modality") != QStringLiteral("AUDIO")) continue;
    UsageReader reader(part);
    sum = in.sum({sum, reader.orZero({u"tokenCount"})});
    if (!reader.error().isEmpty()) in.fail(reader.error());
  }
  return sum;
}

Usage geminiGenerate(UsageReader& in) {
  Usage usage;
  const Count prompt = in.required({u"promptTokenCount"});
  usage.cached = in.orZero({u"cachedContentTokenCount"});
  usage.write = 0;
  usage.thinking = in.orZero({u"thoughtsTokenCount"});
  usage.output = in.sum({in.orZero({u"candidatesTokenCount"}), *usage.thinking});
  const qint64 tools = in.orZero({u"toolUsePromptTokenCount"});
  const qint64 audio = audioTokens(in, u"promptTokensDetails");
  usage.audioCached = audioTokens(in, u"cacheTokensDetails");
  if (!in.error().isEmpty()) return usage;
  in.require(*usage.cached <= *prompt && audio <= *prompt && usage.audioCached <= *usage.cached && usage.audioCached <= audio);
  usage.audioFresh = audio - usage.audioCached;
  in.require(usage.audioFresh <= *prompt - *usage.cached);
  usage.total = in.sum({*prompt, tools});
  usage.fresh = *usage.total - *usage.cached;
  return usage;
}

Usage geminiCachedContents(UsageReader& in) {
  Usage usage;
  usage.total = usage.fresh = in.required({u"cached_content_tokens"});
  usage.storageSeconds = in.required({u"lifetime_seconds"});
  usage.cached = usage.write = usage.output = usage.thinking = 0;
  return usage;
}

Usage llamaServer(UsageReader& in) {
  Usage usage;
  usage.fresh = in.required({u"timings", u"prompt_n"});
  usage.cached = in.required({u"timings", u"cache_n"});     // without it the whole prompt is not known
  usage.write = 0;
  usage.output = in.required({u"timings", u"predicted_n"});
  usage.hostedEquivalent = true;
  joinPrompt(in, usage);
  return usage;
}

Usage ollama(UsageReader& in) {
  Usage usage;
  usage.total = in.required({u"prompt_eval_count"});
  usage.cached = in.optional({u"prompt_eval_cached_count"});
  usage.write = 0;
  usage.output = in.required({u"eval_count"});
  usage.hostedEquivalent = true;
  splitPrompt(in, usage);
  return usage;
}

Usage vllm(UsageReader& in) {
  Usage usage = openAiCounts(in, kChat);
  usage.hostedEquivalent = true;
  splitPrompt(in, usage);
  thinkingInside(in, usage);
  return usage;
}

}  // namespace

WireForm wireForm(const QString& api) {
  static const QHash<QString, WireForm> forms = {
      {QStringLiteral("openai_chat"), openAiChat},
      {QStringLiteral("openai_responses"), openAiResponses},
      {QStringLiteral("qwen_chat"), qwenChat},
      {QStringLiteral("xai_chat"), xaiChat},
      {QStringLiteral("xai_responses"), xaiResponses},
      {QStringLiteral("deepseek_chat"), deepSeekChat},
      {QStringLiteral("anthropic_messages"), anthropicMessages},
      {QStringLiteral("bedrock_converse"), bedrockConverse},
      {QStringLiteral("gemini_generate"), geminiGenerate},
      {QStringLiteral("gemini_cached_contents"), geminiCachedContents},
      {QStringLiteral("llama_server"), llamaServer},
      {QStringLiteral("ollama"), ollama},
      {QStringLiteral("vllm"), vllm},
  };
  return forms.value(api, nullptr);
}

}  // namespace tg::cost
