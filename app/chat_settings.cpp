#include "app/chat_settings.h"
#include "engine/chat_template/chat_template.h"

#include <QCoreApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <algorithm>
#include <variant>

namespace tg {
namespace {

using Field = std::variant<double GenerationSettings::*, int GenerationSettings::*, quint64 GenerationSettings::*, QString GenerationSettings::*,
                           QStringList GenerationSettings::*>;
struct Row {
  const char* name;
  Field field;
};

const Row kRows[] = {
    {"system", &GenerationSettings::system},
    {"temperature", &GenerationSettings::temperature},
    {"top_p", &GenerationSettings::topP},
    {"min_p", &GenerationSettings::minP},
    {"typical", &GenerationSettings::typical},
    {"repeat_penalty", &GenerationSettings::repeatPenalty},
    {"presence_penalty", &GenerationSettings::presencePenalty},
    {"frequency_penalty", &GenerationSettings::frequencyPenalty},
    {"top_k", &GenerationSettings::topK},
    {"repeat_last_n", &GenerationSettings::repeatLastN},
    {"max_tokens", &GenerationSettings::maxTokens},
    {"seed", &GenerationSettings::seed},
    {"stop", &GenerationSettings::stop},
    {"thinking", &GenerationSettings::thinking},
    {"thinking_budget", &GenerationSettings::thinkingBudget},
    {"effort", &GenerationSettings::effort},
    {"on_full", &GenerationSettings::onFull},
    {"priced_as", &GenerationSettings::pricedAs},
    {"speculative", &GenerationSettings::speculative},
};

struct Reader {
  GenerationSettings& to;
  const QJsonValue& value;
  bool operator()(double GenerationSettings::*f) const {
    if (value.isDouble()) to.*f = value.toDouble();
    return value.isDouble();
  }
  bool operator()(int GenerationSettings::*f) const {
    const bool whole = value.isDouble() && value.toInt(-12345) == value.toDouble();
    if (whole) to.*f = value.toInt();
    return whole;
  }
  bool operator()(quint64 GenerationSettings::*f) const {
    if (value.isString()) {                // beyond 2^53 JSON numbers lose digits
      bool ok = false;
      to.*f = value.toString().toULongLong(&ok);
      return ok;
    }
    if (!value.isDouble() || value.toDouble() < 0) return false;
    to.*f = static_cast<quint64>(value.toInteger());
    return true;
  }
  bool operator()(QString GenerationSettings::*f) const {
    if (value.isString()) to.*f = value.toString();
    return value.isString();
  }
  bool operator()(QStringList GenerationSettings::*f) const {
    if (value.isString()) return to.*f = QStringList{value.toString()}, true;
    if (!value.isArray()) return false;
    QStringList list;
    const QJsonArray array = value.toArray();
    for (const QJsonValue& v : array) list << v.toString();
    to.*f = list;
    return true;
  }
};

struct Writer {
  const GenerationSettings& from;
  QJsonValue operator()(double GenerationSettings::*f) const { return from.*f; }
  QJsonValue operator()(int GenerationSettings::*f) const { return from.*f; }
  QJsonValue operator()(quint64 GenerationSettings::*f) const { return QString::number(from.*f); }
  QJsonValue operator()(QString GenerationSettings::*f) const { return from.*f; }
  QJsonValue operator()(QStringList GenerationSettings::*f) const { return QJsonArray::fromStringList(from.*f); }
};

bool one_of(const QString& value, std::initializer_list<const char*> allowed) {
  return std::any_of(allowed.begin(), allowed.end(), [&](const char* a) { return value == QLatin1String(a); });
}

// Values that would make no sense to the engine are refused here, in one place.
QString judged(const GenerationSettings& s) {
  const auto tr = [](const char* t) { return QCoreApplication::translate("Settings", t); };
  if (!one_of(s.thinking, {"on", "off", "auto"})) return tr("Thinking is on, off or auto.");
  if (!one_of(s.onFull, {"stop", "drop-oldest", "head-tail"})) return tr("When the window is full: stop, drop-oldest or head-tail.");
  if (!s.effort.isEmpty() && !one_of(s.effort, {"low", "medium", "high"})) return tr("Effort is low, medium or high.");
  if (s.speculative != QLatin1String("off") && s.speculative != QLatin1String("ngram") && !s.speculative.startsWith(QLatin1String("draft:"))) {
    return tr("Speculation is off, ngram or draft:MODEL.");
  }
  if (s.maxTokens < 1) return tr("The answer needs at least one token.");
  if (s.temperature < 0 || s.topK < 0 || s.topP <= 0 || s.topP > 1 || s.minP < 0 || s.minP >= 1 || s.typical <= 0 || s.typical > 1) {
    return tr("A sampling value is outside its range.");
  }
  return {};
}

}  // namespace

QJsonObject to_json(const GenerationSettings& settings) {
  QJsonObject out;
  for (const Row& row : kRows) out.insert(QLatin1String(row.name), std::visit(Writer{settings}, row.field));
  return out;
}

GenerationSettings generation_from_json(const QJsonObject& json) {
  GenerationSettings out;
  for (const Row& row : kRows) {
    const QJsonValue value = json.value(QLatin1String(row.name));
    if (!value.isUndefined()) std::visit(Reader{out, value}, row.field);
  }
  return judged(out).isEmpty() ? out : GenerationSettings();
}

QString to_text(const ChatSettings& settings) {
  QJsonObject out = to_json(settings.generation);
  out.insert(QLatin1String("prompt"), QJsonObject{{QStringLiteral("first_kept"), settings.cut.firstKept},
                                                  {QStringLiteral("keep_first_turn"), settings.cut.keepFirstTurn},
                                                  {QStringLiteral("without_documents"), QJsonArray::fromStringList(settings.cut.withoutDocuments)}});
  out.insert(QLatin1String("window"), settings.window);
  out.insert(QLatin1String("template"), settings.templateFile);
  if (settings.keepOnClose != ChatKeep::BySize) out.insert(QLatin1String("keep_on_close"), QString::fromUtf8(name_of(engine_keep(settings.keepOnClose)).data()));
  out.insert(QLatin1String("last_tokens"), settings.lastTokens);
  out.insert(QLatin1String("fingerprint"), settings.fingerprint);
  return QString::fromUtf8(QJsonDocument(out).toJson(QJsonDocument::Compact));
}

ChatSettings chat_settings_from_text(const QString& text) {
  const QJsonObject json = QJsonDocument::fromJson(text.toUtf8()).object();
  const QJsonObject prompt = json.value(QLatin1String("prompt")).toObject();
  ChatSettings out;
  out.generation = generation_from_json(json);
  out.cut.firstKept = prompt.value(QLatin1String("first_kept")).toString();
  out.cut.keepFirstTurn = prompt.value(QLatin1String("keep_first_turn")).toBool();
  const QJsonArray without = prompt.value(QLatin1String("without_documents")).toArray();
  for (const QJsonValue& v : without) out.cut.withoutDocuments << v.toString();
  out.window = json.value(QLatin1String("window")).toInt();
  out.templateFile = json.value(QLatin1String("template")).toString();
  out.keepOnClose = chat_keep_named(json.value(QLatin1String("keep_on_close")).toString()).value_or(ChatKeep::BySize);
  out.lastTokens = json.value(QLatin1String("last_tokens")).toInt();
  out.fingerprint = json.value(QLatin1String("fingerprint")).toString();
  return out;
}

KeepOnClose engine_keep(ChatKeep keep) {
  return keep == ChatKeep::Always ? KeepOnClose::always : keep == ChatKeep::Never ? KeepOnClose::never : KeepOnClose::by_size;
}

std::optional<ChatKeep> chat_keep_named(const QString& name) {
  const std::optional<KeepOnClose> keep = keep_on_close_named(name.toStdString());
  if (!keep) return std::nullopt;
  return *keep == KeepOnClose::always ? ChatKeep::Always : *keep == KeepOnClose::never ? ChatKeep::Never : ChatKeep::BySize;
}

SamplingOptions sampling_of(const GenerationSettings& s) {
  SamplingOptions out;
  out.temperature = static_cast<float>(s.temperature);
  out.top_k = s.topK;
  out.top_p = static_cast<float>(s.topP);
  out.min_p = static_cast<float>(s.minP);
  out.typical = static_cast<float>(s.typical);
  out.repeat_penalty = static_cast<float>(s.repeatPenalty);
  out.repeat_last_n = s.repeatLastN;
  out.presence_penalty = static_cast<float>(s.presencePenalty);
  out.frequency_penalty = static_cast<float>(s.frequencyPenalty);
  out.seed = s.seed;
  return out;
}

PromptOptions prompt_options_of(const GenerationSettings& s) {
  PromptOptions out;
  if (s.thinking != QLatin1String("auto")) out.thinking = s.thinking == QLatin1String("on");
  if (!s.effort.isEmpty()) out.template_arguments["reasoning_effort"] = s.effort.toStdString();
  return out;
}

QString set_option(GenerationSettings& settings, const QString& name, const QJsonValue& value) {
  for (const Row& row : kRows) {
    if (name != QLatin1String(row.name)) continue;
    GenerationSettings changed = settings;
    if (!std::visit(Reader{changed, value}, row.field)) return QCoreApplication::translate("Settings", "The value of %1 is of the wrong kind.").arg(name);
    const QString refused = judged(changed);
    if (refused.isEmpty()) settings = changed;
    return refused;
  }
  return QCoreApplication::translate("Settings", "There is no option named %1.").arg(name);
}

bool is_generation_option(const QString& name) {
  return std::any_of(std::begin(kRows), std::end(kRows), [&](const Row& row) { return name == QLatin1String(row.name); });
}

}  // namespace tg
