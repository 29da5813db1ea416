// Counts with their checks, and the three streamed forms.
#include "app/cost/usage.h"

#include <algorithm>

#include "app/cost/usage_reader.h"

namespace tg::cost {

Usage Usage::failed(const QString& error) {
  Usage usage;
  usage.error = error;
  return usage;
}

void Usage::resolveWrite(bool rowChargesWrites) {
  if (!writeNotReported || !rowChargesWrites) return;
  write.reset();
  fresh.reset();
}

Count countOf(const Json& value, QString* error) {
  const auto fail = [&](const char16_t* name) -> Count {
    if (error->isEmpty()) *error = QString::fromUtf16(name);
    return std::nullopt;
  };
  if (!value.isNumber()) return fail(u"not_an_integer");
  const auto whole = value.integer();
  if (whole) return *whole < 0 ? fail(u"negative_count") : whole;
  const QString& text = value.text;
  const bool digits = std::all_of(text.begin(), text.end(), [](QChar c) { return c.isDigit() || c == u'-'; });
  if (!digits) return fail(u"not_an_integer");
  return fail(text.startsWith(u'-') ? u"negative_count" : u"count_out_of_range");
}

Count UsageReader::optional(std::initializer_list<QStringView> path) {
  const Json* value = &usage_;
  for (const QStringView key : path) {
    value = value->find(key);
    if (!value) return std::nullopt;
  }
  return countOf(*value, &error_);
}

Count UsageReader::required(std::initializer_list<QStringView> path) {
  const bool cleanBefore = error_.isEmpty();
  const Count count = optional(path);
  if (!count && cleanBefore && error_.isEmpty()) fail(QStringLiteral("missing_usage"));
  return count;
}

qint64 UsageReader::sum(std::initializer_list<qint64> parts) {
  qint64 total = 0;
  for (const qint64 part : parts)
    if (__builtin_add_overflow(total, part, &total)) {
      fail(QStringLiteral("count_out_of_range"));
      return 0;
    }
  return total;
}

namespace {

Usage read(const QString& api, const Json* object) {
  const WireForm form = wireForm(api);
  if (!form) return Usage::failed(QStringLiteral("unknown_api"));
  if (!object || !object->isObject()) return Usage::failed(QStringLiteral("missing_usage"));
  UsageReader reader(*object);
  Usage usage = form(reader);
  return reader.error().isEmpty() ? usage : Usage::failed(reader.error());
}

// An answer whose end was not seen: so much output at least, at most what was allowed.
Usage cutShort(Usage usage, Count seen, Count maxOutput) {
  if (!usage.error.isEmpty()) return usage;
  usage.outputMin = seen.value_or(0);
  usage.outputMax = maxOutput;
  usage.output.reset();
  usage.thinking.reset();
  usage.uncertainty = QStringLiteral("incomplete_usage");
  return usage;
}

Usage openAiStream(const Json& events) {
  const Json* last = nullptr;
  for (const Json& chunk : events.items)
    if (const Json* usage = chunk.find(u"usage"); usage && usage->isObject()) last = usage;
  return last ? read(QStringLiteral("openai_chat"), last) : Usage::failed(QStringLiteral("incomplete_usage"));
}

void overwriteFields(Json& target, const Json& update) {
  for (const auto& [key, value] : update.members) {
    const auto old = std::find_if(target.members.begin(), target.members.end(), [&name = key](const auto& member) { return member.first == name; });
    if (old != target.members.end()) old->second = value;
    else target.members.emplace_back(key, value);
  }
}

Usage anthropicStream(const Json& events, Count maxOutput) {
  Json merged;
  bool stopped = false;
  for (const Json& event : events.items) {
    const QString type = event.string(u"type");
    const Json* holder = type == QStringLiteral("message_start") ? event.find(u"message") : type == QStringLiteral("message_delta") ? &event : nullptr;
    if (const Json* usage = holder ? holder->find(u"usage") : nullptr; usage && usage->isObject()) {
      merged.kind = Json::Kind::Object;
      overwriteFields(merged, *usage);
    }
    stopped = stopped || type == QStringLiteral("message_stop");
  }
  if (!merged.isObject() || !merged.find(u"input_tokens")) return Usage::failed(QStringLiteral("incomplete_usage"));
  const bool outputSeen = merged.find(u"output_tokens") != nullptr;
  if (stopped && outputSeen) return read(QStringLiteral("anthropic_messages"), &merged);
  if (!outputSeen) {                                         // so that the input side can be read
    Json zero;
    zero.kind = Json::Kind::Number;
    zero.text = QStringLiteral("0");
    Json filler;
    filler.kind = Json::Kind::Object;
    filler.members.emplace_back(QStringLiteral("output_tokens"), zero);
    overwriteFields(merged, filler);
  }
  const Usage usage = read(QStringLiteral("anthropic_messages"), &merged);
  return cutShort(usage, usage.output, maxOutput);
}

Usage geminiStream(const Json& events, Count maxOutput) {
  const Json* last = nullptr;
  bool finished = false;
  for (const Json& chunk : events.items) {
    if (const Json* usage = chunk.find(u"usageMetadata"); usage && usage->isObject()) last = usage;
    if (const Json* candidates = chunk.find(u"candidates"))
      for (const Json& candidate : candidates->items) finished = finished || candidate.find(u"finishReason");
  }
  if (!last) return Usage::failed(QStringLiteral("incomplete_usage"));
  const Usage usage = read(QStringLiteral("gemini_generate"), last);
  return finished ? usage : cutShort(usage, usage.output, maxOutput);
}

}  // namespace

Usage usageOf(const QString& api, const Json* usage, const Json* events, Count maxOutput) {
  static const Json none;
  const Json& list = events ? *events : none;
  if (api == QStringLiteral("openai_chat_stream")) return openAiStream(list);
  if (api == QStringLiteral("anthropic_stream")) return anthropicStream(list, maxOutput);
  if (api == QStringLiteral("gemini_stream")) return geminiStream(list, maxOutput);
  return read(api, usage);
}

}  // namespace tg::cost
