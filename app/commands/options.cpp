#include "app/commands/options.h"

#include <QCoreApplication>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>

#include "engine/device/cpu/processor.h"
#include "engine/sampling/constraint_json.h"

namespace tg {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Options", text); }

struct Option { const char* name; const char* value; const char* help; };

const Option kValueOptions[] = {
    {"system", "TEXT", "System text of the chat"},
    {"max-tokens", "N", "Limit of the answer"},
    {"temperature", "T", "0: greedy"},
    {"top-k", "N", "0: off"},
    {"top-p", "P", "1: off"},
    {"min-p", "P", "0: off"},
    {"typical", "P", "1: off"},
    {"repeat-penalty", "X", "1: off"},
    {"repeat-last-n", "N", "Tokens the penalties look back; -1: all"},
    {"presence-penalty", "X", "0: off"},
    {"frequency-penalty", "X", "0: off"},
    {"seed", "N", "0: chosen at random"},
    {"stop", "TEXT", "Ends the answer; may be given several times"},
    {"thinking", "on|off|auto", "Thinking of models that have it"},
    {"thinking-budget", "N", "Most thinking tokens"},
    {"effort", "low|medium|high", "Reasoning effort of models that have it"},
    {"template-arg", "K=V", "Variable for the chat template; may be given several times"},
    {"speculative", "off|ngram|draft:MODEL", "Speculative decoding"},
    {"on-full", "stop|drop-oldest|head-tail", "When the window is full"},
    {"priced-as", "PROVIDER/MODEL", "Row of the price book"},
    {"backend", "auto|cpu|cuda", "Device"},
    {"kernels", "auto|avx512|avxvnni|avx2|neondot|neon|scalar", "Instruction set"},
    {"threads", "N", "0: physical cores"},
    {"chunk", "N", "Prompt tokens computed per step"},
    {"context", "N", "Window in tokens; 0: the model's"},
    {"kv-type", "f32|f16|bf16|q8_0", "Type of the cache"},
    {"kv-type-k", "TYPE", "Type of the keys alone"},
    {"kv-type-v", "TYPE", "Type of the values alone"},
    {"template", "FILE", "Chat template instead of the model's"},
    {"tools", "FILE", "Tool definitions (JSON)"},
    {"json-schema", "FILE", "JSON schema that the answer keeps to; {}: any JSON"},
    {"attach", "FILE", "Text file to attach; may be given several times"},
};
const Option kFlags[] = {{"ignore-eos", "", "Go on at the end token"}, {"no-cache", "", "Read the whole prompt"}, {"json", "", "JSON on stdout"}, {"quiet", "", "Nothing on stderr but errors"}};

std::optional<KvType> kv_type(const QJsonValue& value) {
  for (const KvType type : {KvType::f32, KvType::f16, KvType::bf16, KvType::q8_0}) {
    if (value.toString().toStdString() == name_of(type)) return type;
  }
  return std::nullopt;
}

bool take_number(int& target, const QJsonValue& value) {
  if (!value.isDouble() || value.toDouble() < 0 || value.toDouble() != value.toInt(-1)) return false;
  target = value.toInt();
  return true;
}

bool take_word(std::string& target, const QJsonValue& value, std::initializer_list<const char*> allowed) {
  for (const char* word : allowed) {
    if (value.toString() != QLatin1String(word)) continue;
    target = word;
    return true;
  }
  return false;
}

// Unset: not an engine option. False: its value is refused.
std::optional<bool> apply_engine_option(RunOptions& o, const QString& name, const QJsonValue& value) {
  if (name == QLatin1String("threads")) return take_number(o.load.threads, value);
  if (name == QLatin1String("chunk")) return take_number(o.load.chunk, value);
  if (name == QLatin1String("context")) return take_number(o.load.context, value);
  if (name == QLatin1String("backend")) return take_word(o.load.backend, value, {"auto", "cpu", "cuda"});
  const std::optional<KvType> type = kv_type(value);
  if (name == QLatin1String("kv_type")) return type ? (o.load.k_type = o.load.v_type = *type, true) : false;
  if (name == QLatin1String("kv_type_k")) return type ? (o.load.k_type = *type, true) : false;
  if (name == QLatin1String("kv_type_v")) return type ? (o.load.v_type = *type, true) : false;
  return std::nullopt;
}

QString read_tools(RunOptions& o, const QJsonValue& value) {
  QByteArray text = value.isArray() ? QJsonDocument(value.toArray()).toJson(QJsonDocument::Compact) : QByteArray();
  if (value.isString()) {
    QFile file(value.toString());
    if (!file.open(QIODevice::ReadOnly)) return tr("The tools file is gone or cannot be read.");
    text = file.readAll();
  }
  o.extras.tools = Json::parse(text.toStdString(), nullptr, false);
  return o.extras.tools.is_discarded() ? tr("The tools are not JSON.") : QString();
}

// A schema as it is, or the name of a file with one.
QString read_schema(RunOptions& o, const QJsonValue& value) {
  QByteArray text = value.isObject() ? QJsonDocument(value.toObject()).toJson(QJsonDocument::Compact) : QByteArray();
  if (value.isString()) {
    QFile file(value.toString());
    if (!file.open(QIODevice::ReadOnly)) return tr("The schema file is gone or cannot be read.");
    text = file.readAll();
  }
  if (const auto schema = read_json_schema(text.toStdString()); !schema) return QString::fromStdString(schema.error().message);
  o.extras.jsonSchema = QString::fromUtf8(text);
  return {};
}

Json argument_value(const QString& text) {
  const Json parsed = Json::parse(text.toStdString(), nullptr, false);
  return parsed.is_discarded() || parsed.is_object() || parsed.is_array() ? Json(text.toStdString()) : parsed;
}

QStringList list_of(const QJsonValue& value) {
  if (!value.isArray()) return {value.toString()};
  QStringList out;
  const QJsonArray array = value.toArray();
  for (const QJsonValue& v : array) out << v.toString();
  return out;
}

// Numbers of a command line come as texts.
QString apply_text(RunOptions& options, const QString& name, const QString& text) {
  bool number = false;
  const double value = text.toDouble(&number);
  const bool exact = number && name != QLatin1String("seed");
  if (exact && apply_option(options, name, value).isEmpty()) return {};
  return apply_option(options, name, text);
}

}  // namespace

QString apply_option(RunOptions& o, const QString& name, const QJsonValue& value) {
  if (const std::optional<bool> taken = apply_engine_option(o, name, value)) {
    return *taken ? QString() : tr("The value of %1 is outside what it can be.").arg(name);
  }
  if (name == QLatin1String("template")) return o.templateFile = value.toString(), QString();
  if (name == QLatin1String("attach")) return o.attach = list_of(value), QString();
  if (name == QLatin1String("kernels")) return o.load.kernels = value.toString().toStdString(), QString::fromStdString(cpu::kernels_refusal(o.load.kernels));
  if (name == QLatin1String("tools")) return read_tools(o, value);
  if (name == QLatin1String("json_schema")) return read_schema(o, value);
  if (name == QLatin1String("logits_sha")) return o.extras.logitsSha = value.toBool(), QString();
  if (name == QLatin1String("ignore_eos")) return o.extras.ignoreEos = value.toBool(), QString();
  if (name == QLatin1String("no_cache")) return o.extras.useCache = !value.toBool(), QString();
  if (name == QLatin1String("template_arg")) {
    const QStringList pairs = list_of(value);
    for (const QString& pair : pairs) {
      if (!pair.contains(QLatin1Char('='))) return tr("A template argument is NAME=VALUE.");
      o.extras.templateArguments[pair.section(QLatin1Char('='), 0, 0).toStdString()] = argument_value(pair.section(QLatin1Char('='), 1));
    }
    return {};
  }
  return set_option(o.generation, name, value);
}

QString apply_options(RunOptions& options, const QJsonObject& object) {
  for (auto it = object.begin(); it != object.end(); ++it) {
    if (const QString refused = apply_option(options, it.key(), it.value()); !refused.isEmpty()) return refused;
  }
  return {};
}

void add_run_options(QCommandLineParser& parser) {
  for (const Option& o : kValueOptions) parser.addOption({QString::fromLatin1(o.name), tr(o.help), QString::fromLatin1(o.value)});
  for (const Option& o : kFlags) parser.addOption({QString::fromLatin1(o.name), tr(o.help)});
}

QString read_run_options(const QCommandLineParser& parser, RunOptions& options) {
  for (const Option& o : kValueOptions) {
    const QString name = QString::fromLatin1(o.name);
    if (!parser.isSet(name)) continue;
    const QString key = QString(name).replace(QLatin1Char('-'), QLatin1Char('_'));
    const bool list = key == QLatin1String("stop") || key == QLatin1String("attach") || key == QLatin1String("template_arg");
    const QString refused = list ? apply_option(options, key, QJsonArray::fromStringList(parser.values(name))) : apply_text(options, key, parser.value(name));
    if (!refused.isEmpty()) return refused;
  }
  options.extras.ignoreEos = options.extras.ignoreEos || parser.isSet(QStringLiteral("ignore-eos"));
  if (parser.isSet(QStringLiteral("no-cache"))) options.extras.useCache = false;
  return {};
}

}  // namespace tg
